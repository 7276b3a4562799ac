#!/usr/bin/python3
"""index.py: questions with and without an index beside the trace.

    bench/index.py TRACE...

The question of the first column needs the tree alone, the others the table of blocks, or columns of it.
Prints the time that passes, medians of runs in turn, in brackets that of processors with the
index, of which several read it; and the sizes of both files.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
QUESTIONS = {"tree": ["hotspots"], "table": ["hotspots", "--measure", "live"],
             "peak": ["hotspots", "--measure", "peak"],
             "filter": ["hotspots", "--filter", "live:@peak size:>=64"]}


def seconds(question, trace):
    """Time that passes, processor time, and the answer."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(["allotrace", *QUESTIONS[question], trace], check=True,
                          stdout=subprocess.PIPE)
    passed, after = time.monotonic() - start, os.times()
    used = after.children_user - before.children_user
    return passed, used + after.children_system - before.children_system, done.stdout


def measure(trace, folder):
    plain = pathlib.Path(folder) / "plain.ctf"
    indexed = pathlib.Path(folder) / "indexed.ctf"
    os.symlink(os.path.abspath(trace), plain)
    shutil.copy(trace, indexed)
    subprocess.run(["allotrace", "hotspots", "--index", indexed], check=True,
                   stdout=subprocess.DEVNULL)
    size, index = (os.path.getsize(p) / 1e6 for p in (indexed, f"{indexed}.idx"))
    print(f"  {os.path.basename(trace):<20} {size:8.1f} MB, index {index:8.1f} MB", end="")
    for question in QUESTIONS:
        times = []
        for _ in range(RUNS):
            (without, _, a), (with_index, used, b) = (seconds(question, p)
                                                      for p in (plain, indexed))
            if a != b:
                sys.exit(f"\nindex: {trace}: another answer with the index")
            times.append((without, with_index, used))
        without, with_index, used = (statistics.median(t) for t in zip(*times))
        print(f"  {question} {without:6.2f} -> {with_index:5.2f} s ({used:.2f})", end="", flush=True)
    print()


for name in sys.argv[1:]:
    if not os.path.exists(name):
        print(f"  {os.path.basename(name):<20} not there: left out")
        continue
    with tempfile.TemporaryDirectory() as place:
        measure(name, place)
