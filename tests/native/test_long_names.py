#!/usr/bin/python3
"""Judges how functions are called whose names are too long for the format: each by a name of its own, which has its
beginning and its end. Prints TAP.

    test_long_names.py ALLOTRACE LIBRARY TARGET SPLIT PLAIN
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, LIBRARY, TARGET, SPLIT, PLAIN = map(os.path.abspath, sys.argv[1:6])
MOST = 4095  # bytes
FUNCTIONS = {"by_type_take": 10, "by_list_take": 3, "inlined_take": 5, "outer_take": 2}


def allotrace(*words, status=0):
    env = dict(ENVIRONMENT)
    done = subprocess.run([ALLOTRACE, *words], env=env | {"ALLOTRACE_PRELOAD": LIBRARY}, capture_output=True, text=True)
    same(done.returncode, status, done.stderr)
    return done.stdout


def record(program, trace):
    allotrace("run", "-r", "1", "-o", trace, "--", program)
    return trace


def stacks(trace):
    """The call stack of each block of the program's, innermost function last."""
    lines = allotrace("export", "--to", "collapsed", trace).splitlines()
    found = [line.rpartition(" ")[0].split(";") for line in lines]
    return [stack for stack in found if any("_take(" in function for function in stack)]


def check_names(trace, names):
    everything = {function for stack in stacks(trace) for function in stack}
    for name, number in names.items():
        called = [function for function in everything if f"{name}(" in function.partition(" [")[0][-40:]]
        same(len(called), number, (trace, name, [function[:80] for function in called]))
        assert all(len(function.encode()) <= MOST + 200 and not function.startswith("_Z") for function in called), called
    assert any("…" in function for function in everything)


def rows(trace):
    found = json.loads(allotrace("hotspots", "--json", "--by", "function", "--min-share", "0", trace))["hotspots"]
    return {row["function"]: row["value"] for row in found if "_take" in row["function"]}


@test
def each_function_has_a_row():
    found = rows(record(TARGET, "t.ctf"))
    same(len(set(found.values())), len(found))
    same(sum("by_type_take" in name for name in found), 10)
    same(sum("by_list_take" in name for name in found), 3)
    same(sum(value for name, value in found.items() if "by_list_take" in name), 3 * (1000000 + 8 * 201 + 8))


@test
def names_survive_with_debug_information():
    check_names(record(TARGET, "t.ctf"), FUNCTIONS)


@test
def names_survive_with_debug_information_of_its_own():
    check_names(record(SPLIT, "t.ctf"), FUNCTIONS)


@test
def names_survive_without_debug_information():
    check_names(record(PLAIN, "t.ctf"), {name: n for name, n in FUNCTIONS.items() if name != "inlined_take"})


@test
def what_is_inlined_keeps_who_it_was_inlined_into():
    chains = [stack for stack in stacks(record(TARGET, "t.ctf")) if any("chain_take" in frame for frame in stack)]
    same([sum("chain_take" in frame for frame in stack) for stack in chains], [21, 21])
    same(len({frame for stack in chains for frame in stack if "outer_take" in frame}), 2)


@test
def two_builds_call_a_function_alike():
    """What was not inlined has one name in both, so nothing changed there."""
    record(TARGET, "one.ctf"), record(PLAIN, "two.ctf")
    one, two = rows("one.ctf"), rows("two.ctf")
    for name in "by_type_take", "by_list_take":
        same({k: v for k, v in one.items() if name in k}, {k: v for k, v in two.items() if name in k})


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[6:]))
