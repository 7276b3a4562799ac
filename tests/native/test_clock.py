#!/usr/bin/python3
"""Records programs whose clock is not the kernel's, as under libfaketime: times in the trace are the kernel's. Prints TAP.

    test_clock.py ALLOTRACE LIBRARY PROGRAM CLOCK
"""
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode  # noqa: E402
import tap  # noqa: E402
import recording  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, PROGRAM, CLOCK = map(os.path.abspath, sys.argv[1:5])
ENVIRONMENT = recording.ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}
SLEPT, HOUR = 200_000, 3600 * 1000_000  # µs


def judge(begun):
    """The trace t.ctf, of a program that was started then."""
    decoder = decode.Decoder(pathlib.Path("t.ctf").read_bytes())
    decoder.read_info()
    births = {event[3] * 8: event[1] for _, _, event in decoder.events() if event[0] == "alloc"}
    [info] = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "t.ctf"], env=ENVIRONMENT, check=True,
                                       stdout=subprocess.PIPE).stdout)
    for what, us in ("between two allocations", births[60000] - births[50000]), ("of the trace", info["duration"]):
        assert SLEPT <= us < HOUR, f"{us} µs {what}"
    assert abs(info["start"] - begun * 1e6) < HOUR, f"begun at {info['start']}, not {begun}"


def check(*words, **more):
    begun = time.time()
    done = subprocess.run([ALLOTRACE, "run", "-q", "-r", "1", "-o", "t.ctf", "--", PROGRAM, *words], text=True,
                          env=ENVIRONMENT | more, stderr=subprocess.PIPE, timeout=100)
    same((done.returncode, done.stderr), (-9 if "kill" in words else 0, ""), f"{words}")
    judge(begun)


@test
def of_a_program_that_has_a_clock_of_its_own():
    check()
    check("back")


@test
def of_a_program_that_is_killed():
    check("kill")
    check("back", "kill")


@test
def of_a_program_with_a_preloaded_clock_recorded_by_a_command_with_one():
    check(LD_PRELOAD=CLOCK)
    check("kill", LD_PRELOAD=CLOCK)


@test
def a_command_with_another_clock_attaches():
    program = subprocess.Popen([PROGRAM, "wait"], stdin=subprocess.PIPE, env=ENVIRONMENT)
    try:
        for words in ["attach", "-o", "t.ctf"], ["detach"]:
            done = subprocess.run([ALLOTRACE, *words, str(program.pid)], env=ENVIRONMENT | {"LD_PRELOAD": CLOCK},
                                  stderr=subprocess.PIPE, text=True, timeout=100)
            if "may not be traced" in done.stderr and os.getuid() != 0:
                raise Skip("this user may not trace processes")
            same(done.returncode, 0, done.stderr)
    finally:
        program.communicate()
    same(program.returncode, 0, "the program's end")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[5:]))
