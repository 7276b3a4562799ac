#!/usr/bin/python3
"""Prints what recording a Python program costs beside memray, which must be installed for PYTHON.

    bench/runtimes.py [-n RUNS] PYTHON SCRIPT [ARGUMENT...]

The ways take turns. Printed is the median CPU time of each, of all processes that it takes, and the
median ratio to plain. `allotrace` is that of the PATH.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile


def cpu_time(command):
    def used():
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        return u.ru_utime + u.ru_stime
    before = used()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return used() - before


def ways(python, script, folder):
    def memray(*options):
        return [python, "-m", "memray", "run", "-f", "-q", *options, "-o", f"{folder}/m", *script]

    def allotrace(*options):
        return ["allotrace", "run", *options, "-o", f"{folder}/a", "--", python, *script]
    return {"plain": [python, *script],
            "allotrace": allotrace(),
            "allotrace --rate 1": allotrace("--rate", "1"),
            "memray": memray(),
            "memray --trace-python-allocators": memray("--trace-python-allocators"),
            "memray --trace-python-allocators --native": memray("--trace-python-allocators", "--native")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("script", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = ways(os.path.abspath(options.python), options.script, folder)
        times = {name: [] for name in commands}
        for _ in range(options.n):
            for name, command in commands.items():
                times[name].append(cpu_time(command))
    for name, measured in times.items():
        ratio = statistics.median(a / b for a, b in zip(measured, times["plain"]))
        print(f"{name:42} {statistics.median(measured):8.3f} s  {ratio:6.2f}")


main()
