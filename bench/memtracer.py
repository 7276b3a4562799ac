#!/usr/bin/python3
"""memtracer: what it costs to count the allocations of Lox programs, against running them plain.

    bench/memtracer.py LOX [RUNS]

All ways of running a program take turns (pair.py). `exact` counts each allocation with its place
and type, `stacks` also knows the call stack of each, `sampled` estimates at .Rate=1e-3.
"""
import math
import pathlib
import sys

import pair

PROGRAMS = pathlib.Path(__file__).resolve().parent / "lox"
QUIET = ["--memtracer", "--memtracer.OutputFile=/dev/null"]
MODES = {
    "plain": [],
    "exact": QUIET,
    "stacks": [*QUIET, "--memtracer.TraceStackTraces=true"],
    "sampled": [*QUIET, "--memtracer.Rate=1e-3"],
}


def main(lox, runs=7):
    all_ratios = {mode: [] for mode in MODES}
    print(f"  {'':<14} " + " ".join(f"{mode:>25}" for mode in list(MODES)[1:]))
    for program in sorted(PROGRAMS.glob("*.lox")):
        contestants = [pair.Contestant(mode, [lox, *options, str(program)]) for mode, options in MODES.items()]
        pair.compare(contestants, int(runs))
        cells = []
        for contestant in contestants[1:]:
            low, middle, high = pair.ratios(contestant, contestants[0])
            all_ratios[contestant.name].append(middle)
            cells.append(f"x {middle:.3f} ({low:.3f} … {high:.3f})")
        print(f"  {program.stem:<14} " + " ".join(f"{cell:>25}" for cell in cells), flush=True)
    means = [math.exp(sum(map(math.log, ratios)) / len(ratios)) for mode, ratios in all_ratios.items() if ratios]
    print(f"  {'geometric mean':<14} " + " ".join(f"{f'x {mean:.3f}':>25}" for mean in means))


if __name__ == "__main__":
    main(*sys.argv[1:])
