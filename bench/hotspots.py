#!/usr/bin/python3
"""hotspots: how long `allotrace hotspots` takes for each trace, and what merely reading it takes.

    bench/hotspots.py TRACE...

Takes the allotrace that is first in PATH. `info` reads every event and no backtrace.
"""
import pathlib
import sys

import pair

RUNS = 9


def main(traces):
    for trace in map(pathlib.Path, traces):
        if not trace.exists():
            print(f"  {trace.name}: left out, it is not there")
            continue
        print(f"  {trace.name}, {trace.stat().st_size / 1e6:.1f} MB")
        contestants = [pair.Contestant("  hotspots", ["allotrace", "hotspots", trace]),
                       pair.Contestant("  info", ["allotrace", "info", trace])]
        pair.compare(contestants, RUNS)
        pair.report(contestants)


if __name__ == "__main__":
    main(sys.argv[1:])
