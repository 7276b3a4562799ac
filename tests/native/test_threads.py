#!/usr/bin/python3
"""Names of threads: what the recorder writes down of them, and that it stays with what they allocated. Prints TAP.

    test_threads.py ALLOTRACE LIBRARY TARGET [PATTERN…]
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap
from recording import ENVIRONMENT
from tap import same, test

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
DECODE = pathlib.Path(__file__).resolve().parent.parent / "decode.py"
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
BLOCKS, SIZE = 50, 10000


def allotrace(*words):
    done = subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def by_thread(trace, *words):
    """The bytes of each name, and the interval of these."""
    rows = json.loads(allotrace("hotspots", "--by", "thread", "--min-share", 0, "--json", *words, trace))["hotspots"]
    return {row["thread"]: (row["low"], row["value"], row["high"]) for row in rows}


def expected(rounds):
    """What threads allocate, but for what the C library does for their creator."""
    bytes_of = {f"keeper-{i}": rounds * BLOCKS * SIZE * (i + 1) for i in range(4)}
    return bytes_of | {"before": rounds * BLOCKS * SIZE, "after": rounds * BLOCKS * SIZE}


def check(found, rounds):
    for name, size in expected(rounds).items():
        low, value, high = found[name]
        assert low <= size <= high and value > 0, (name, size, found[name])
    same(set(found) - set(expected(rounds)), {"target_threads"} & set(found), "no other name")


def record(rate, *words, out="t.ctf", rounds=1):
    allotrace("run", "--rate", rate, "-o", out, *words, "--", TARGET, rounds)


@test
def each_byte_has_the_name_of_its_thread():
    record(1, rounds=2)
    found = by_thread("t.ctf")
    same({name: found[name][1] for name in expected(2)}, expected(2), "exactly")
    check(found, 2)


@test
def samples_have_it_as_well_at_each_rate():
    for rate in 0.1, 0.005:
        record(rate, rounds=4)
        wide = {}
        for name, (low, value, high) in by_thread("t.ctf").items():
            wide[name] = (value - 3 * (value - low), value, value + 3 * (high - value))  # not by chance once a week
        check(wide, 4)


@test
def readers_of_the_format_read_such_a_trace():
    record(1)
    done = subprocess.run([sys.executable, DECODE, "t.ctf"], capture_output=True, text=True)
    same(done.returncode, 0, done.stderr)
    theirs = sum(1 for line in done.stdout.splitlines() if "<thread>" in line)
    ours = sum(1 for line in allotrace("dump", "t.ctf").splitlines() if "<thread>" in line)
    same(theirs, ours, "names")
    assert ours >= 6, ours


@test
def filters_take_names():
    record(1)
    found = by_thread("t.ctf", "--filter", "thread:keeper-*")
    same(sorted(found), [f"keeper-{i}" for i in range(4)], "names")
    same({n: v[1] for n, v in by_thread("t.ctf", "--filter", "thread:/^after$/").items()}, {"after": BLOCKS * SIZE}, "one")


@test
def segments_know_the_names_of_what_they_carry():
    subprocess.run(["rm", "-rf", "ring"], check=True)
    record(1, "--keep", "1h", "--max-size", "4M", out="ring", rounds=240)
    segments = sorted(pathlib.Path("ring").glob("*.ctf"))
    assert not segments[-1].name.endswith("-000000.ctf"), "the recording is too small to be cut"
    live = by_thread("ring", "--measure", "live")
    last = by_thread(segments[-1], "--measure", "live")
    same({n: last[n][1] for n in expected(1)}, expected(240), "in the last segment")
    same({n: live[n][1] for n in expected(1)}, expected(240), "in all of them")


@test
def a_filter_that_forbids_to_ask_costs_the_names_alone():
    allotrace("run", "--rate", 1, "-o", "t.ctf", "--", TARGET, 1, "sandbox")
    found = by_thread("t.ctf")
    assert list(found) == ["target_threads"] or len(found) == 2, found
    total = sum(value for _, value, _ in found.values())
    assert total >= sum(expected(1).values()), total


def reads_of_run(n_threads):
    """How often `run` itself reads, when its program has had so many threads at once."""
    command = [ALLOTRACE, "run", "-q", "--no-symbolize", "--rate", "1", "-o", "t.ctf", "--", TARGET, str(n_threads), "at-once"]
    with subprocess.Popen(command, env=ENVIRONMENT) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        done = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/io").read_text()
    same(process.returncode, 0, "status")
    return int(re.search(r"^syscr: (\d+)$", done, re.M).group(1))


@test
def many_threads_at_once_take_no_more_reading_each():
    few, more, many = map(reads_of_run, (50, 100, 200))
    assert many - more < 3 * (more - few), f"{few}, {more} and {many} reads after 50, 100 and 200 threads"


sys.exit(tap.main(sys.argv[4:]))
