#!/usr/bin/python3
"""symbolize: resolves addresses of a C++ program with debug information, beside binutils and LLVM.

    bench/symbolize.py BENCH_SYMBOLIZE

The program is generated (large_program.py) and compiled under out/bench/ once, which takes a minute
or two. The addresses are spread over its whole text, and are given to all in one go.
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys

import pair

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "out" / "bench" / "large_program"
UNITS, FUNCTIONS = 6, 60
ADDRESSES = 10_000
RUNS = 5


def program():
    made = FOLDER / "program"
    if not made.exists():
        subprocess.run([sys.executable, HERE / "large_program.py", FOLDER, str(UNITS),
                        str(FUNCTIONS)], check=True)
        sources = sorted(FOLDER.glob("*.cc"))
        subprocess.run(["make", "-s", "-C", FOLDER, "-j2", "CXX=g++", "CXXFLAGS=-O2 -g",
                        *(f"{source.stem}.o" for source in sources)], check=True)
        subprocess.run(["g++", "-o", made, *FOLDER.glob("*.o")], check=True)
    return made


def addresses(made):
    """A file of them."""
    sections = subprocess.run(["readelf", "-SW", made], check=True, stdout=subprocess.PIPE, text=True)
    start, size = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", sections.stdout).groups()
    rng, start, size = random.Random(1), int(start, 16), int(size, 16)
    path = FOLDER / "addresses"
    path.write_text("".join(f"0x{start + rng.randrange(size):x}\n" for _ in range(ADDRESSES)))
    return path


def main(ours):
    made = program()
    listed = addresses(made)
    commands = [("ours", [ours, made]),
                ("addr2line -a -i -f -C", ["addr2line", "-a", "-i", "-f", "-C", "-e", made]),
                ("llvm-symbolizer --inlines",
                 ["llvm-symbolizer", "--inlines", f"--obj={made}"])]
    print(f"  {ADDRESSES:,} addresses of {UNITS * FUNCTIONS:,} functions and their templates, "
          f"{made.stat().st_size / 1e6:.0f} MB")
    contestants = [pair.Contestant(f"  {name}", ["sh", "-c", f"exec \"$@\" < {listed}", "sh", *command])
                   for name, command in commands if shutil.which(command[0])]
    pair.compare(contestants, RUNS)
    pair.report(contestants)


if __name__ == "__main__":
    main(*sys.argv[1:])
