#!/usr/bin/python3
"""Records a program whose signal handlers allocate on alternate stacks: on small ones they go on, and the trace
says what is missing. Prints TAP.

    test_small_stack.py ALLOTRACE LIBRARY PROGRAM
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode  # noqa: E402
import tap  # noqa: E402
import recording  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, LIBRARY, PROGRAM = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = recording.ENVIRONMENT | \
    {"ALLOTRACE_PRELOAD": LIBRARY}


def run(rate, *arguments, output):
    done = subprocess.run([ALLOTRACE, "run", "-q", "-r", rate, "-o", output, "--", PROGRAM, *arguments],
                          env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
    same((done.returncode, done.stdout), (0, "done\n"), f"{rate} {arguments}: {done.stderr}")


def record(rate, room):
    run(rate, room, output="t.ctf")
    decoder = decode.Decoder(pathlib.Path("t.ctf").read_bytes())
    decoder.read_info()
    sizes = [event[3] * 8 for _, _, event in decoder.events() if event[0] == "alloc"]
    info = subprocess.run([ALLOTRACE, "info", "t.ctf"], stdout=subprocess.PIPE, text=True, check=True).stdout
    dropped = re.search(r"dropped (\d+) allocations or frees: a signal handler made them on a small stack", info)
    return sizes, int(dropped[1]) if dropped else 0


@test
def on_small_ones_events_are_dropped_and_counted():
    sizes, dropped = record("1", "640")
    same((sizes.count(8000), sizes.count(24000), sizes.count(4000)), (1, 1, 2))
    same(dropped, 8, "two births in each of four handlers; no death is known of such blocks")
    for rate in "0.1", "1e-4":
        record(rate, "640")


@test
def nothing_of_the_recorder_waits_until_a_handler_has_to_do_it():
    """Neither to find the allocator at the first block, nor to begin the trace of a child."""
    for scene in "first", "child":
        for rate in "1", "0.1", "1e-4":
            run(rate, "640", scene, output="%p.ctf")


@test
def on_others_they_are_recorded():
    sizes, dropped = record("1", "32768")
    same((sizes.count(8000), sizes.count(24000), sizes.count(4000), dropped), (5, 5, 2, 0))


tap.main()
