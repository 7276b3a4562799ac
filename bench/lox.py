#!/usr/bin/python3
"""lox: the Lox interpreter against Debian's Lua 5.4 on programs that were written in both.

    bench/lox.py LOX [RUNS]

The two run in turn (pair.py); each program checks its result. Below 1 is faster than Lua.
"""
import math
import pathlib
import shutil
import subprocess
import sys

import pair

PROGRAMS = pathlib.Path(__file__).resolve().parent / "lox"


def check(command):
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode or done.stdout != b"true\n":
        sys.exit(f"lox: {' '.join(command)}: wrong result")


def main(lox, runs=7):
    lua = shutil.which("lua5.4")
    if not lua:
        print("  skipped: no lua5.4")
        return
    all_ratios = []
    for program in sorted(PROGRAMS.glob("*.lox")):
        commands = {"lua": [lua, str(program.with_suffix(".lua"))], "lox": [lox, str(program)]}
        for command in commands.values():
            check(command)
        contestants = [pair.Contestant(name, command) for name, command in commands.items()]
        pair.compare(contestants, int(runs))
        low, middle, high = pair.ratios(contestants[1], contestants[0])
        all_ratios.append(middle)
        print(f"  {program.stem:<12} x {middle:.3f}  ({low:.3f} … {high:.3f})", flush=True)
    mean = math.exp(sum(map(math.log, all_ratios)) / len(all_ratios))
    print(f"  {'geometric mean':<12} x {mean:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
