#!/usr/bin/python3
"""pair: compares what commands cost, on a machine that others use too.

    bench/pair.py [-n RUNS] [--wall] [--cpu N] NAME='COMMAND' NAME='COMMAND'...

Runs the commands in turn, forwards and then backwards, RUNS times each, pinned to one CPU, and
prints the median time of each and the median of its ratios to the run of the first command next
to it. Such paired ratios hold even when the machine becomes slower for a while; the two figures
behind a ratio are its quartiles. Time is CPU time (user and system, children included), or with
--wall what a clock says. Output of the commands is thrown away; one that fails ends the comparison.
"""
import argparse
import contextlib
import os
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field


@dataclass
class Contestant:
    name: str
    command: list
    env: dict = None  # additional variables
    seconds: list = field(default_factory=list)
    peak: int = 0  # bytes: the memory of its largest process so far


class Failed(Exception):
    pass


def run_once(contestant, wall):
    """Seconds that one run takes."""
    start = time.monotonic()
    child = subprocess.Popen(contestant.command, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env=os.environ | (contestant.env or {}))
    try:
        _, status, usage = os.wait4(child.pid, 0)
    except BaseException:  # interrupted
        child.kill()
        raise
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise Failed(f"{contestant.name}: exit status {child.returncode}: "
                     f"{shlex.join(map(str, contestant.command))}")
    contestant.peak = max(contestant.peak, usage.ru_maxrss * 1024)
    return time.monotonic() - start if wall else usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def pinned(cpu=None):
    """To one CPU, the last one by default."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu if cpu is not None else max(usable)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)


def compare(contestants, runs, wall=False, cpu=None):
    """Fills in the seconds of each; the first run of each is thrown away."""
    with pinned(cpu):
        for contestant in contestants:
            run_once(contestant, wall)
        for turn in range(runs):
            for contestant in contestants if turn % 2 == 0 else reversed(contestants):
                contestant.seconds.append(run_once(contestant, wall))


def ratios(contestant, base):
    """Lower quartile, median and upper quartile of the paired ratios."""
    paired = [a / max(b, 1e-9) for a, b in zip(contestant.seconds, base.seconds)]
    return statistics.quantiles(paired, n=4, method="inclusive") if len(paired) > 1 else paired * 3


def report(contestants):
    width = max(len(c.name) for c in contestants)
    base = contestants[0]
    for contestant in contestants:
        line = f"  {contestant.name:<{width}}  {statistics.median(contestant.seconds):8.3f} s"
        if contestant is not base:
            low, middle, high = ratios(contestant, base)
            line += f"   x {middle:.3f}  ({low:.3f} … {high:.3f})"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=11, metavar="RUNS")
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--cpu", type=int)
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    contestants = []
    for text in options.commands:
        name, equals, command = text.partition("=")
        if not equals:
            parser.error(f"not NAME=COMMAND: {text}")
        contestants.append(Contestant(name, ["sh", "-c", f"exec {command}"]))
    try:
        compare(contestants, options.n, options.wall, options.cpu)
    except Failed as failure:
        print(f"pair: {failure}", file=sys.stderr)
        return 1
    report(contestants)
    return 0


if __name__ == "__main__":
    sys.exit(main())
