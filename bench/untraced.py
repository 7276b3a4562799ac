#!/usr/bin/python3
"""untraced: what it costs a Lox program that it could be traced: instructions, counted by callgrind.

    bench/untraced.py LOX LOX_UNTRACED

The second is built without all that tracing needs (LOX_TRACEABLE=0 in lox/heap.h). The first column
is the instructions of the interpreter's loop in LOX, the second how many more these are than in
LOX_UNTRACED; the third is how many more it takes for everything together, and the last the same
for each time that the collector runs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "lox"


def instructions(lox, program):
    """All, and those of the loop alone."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "out")
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", lox, program],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        shown = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", out], stdout=subprocess.PIPE, check=True)
    text = shown.stdout.decode().replace(",", "")
    total = re.search(r"(\d+) .*PROGRAM TOTALS", text)[1]
    return int(total), sum(map(int, re.findall(r"^ *(\d+) .*:interpret(?: \[|$)", text, re.M)))


def collections(lox, program):
    done = subprocess.run([lox, program], env=os.environ | {"LOX_GC_STATS": "1"}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True)
    return sum(int(n) for n in re.findall(r"_collections (\d+)", done.stderr.decode()))


def main(lox, untraced):
    if not shutil.which("valgrind"):
        print("  skipped: no valgrind")
        return
    print(f"  {'':<14} {'loop':>14} {'more':>8} {'more in all':>14} {'a collection':>14}")
    for program in sorted(PROGRAMS.glob("*.lox")):
        all_, loop = instructions(lox, program)
        all_without, loop_without = instructions(untraced, program)
        n = collections(lox, program)
        print(f"  {program.stem:<14} {loop:>14} {loop - loop_without:>+8} {all_ - all_without:>+14} "
              f"{f'{(all_ - all_without) / n:+.0f}' if n else '-':>14}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
