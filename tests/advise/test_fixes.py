#!/usr/bin/python3
"""The programs of examples/fixes: the advice on each leads to its fix, and docs/fixes.md has the numbers. Prints TAP.

    test_fixes.py LIBRARY ALLOTRACE LOX [TEST...]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import Skip  # noqa: E402

LIBRARY, ALLOTRACE, LOX = map(os.path.abspath, sys.argv[1:4])
FIXES = ROOT / "examples/fixes"
COMPILERS = {"c": ["gcc", "-O1", "-g"], "cc": ["g++", "-std=c++17", "-O1", "-g"], "rs": ["rustc", "-g", "-O"]}
SLACK = 0.02  # other versions of a standard library allocate a little more or less at their start


def run(*command, **settings):
    env = dict(ENVIRONMENT)
    return subprocess.run(command, env=env | settings, check=True, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def record(language, version):
    source, trace = FIXES / f"{language}_{version}.{language}", f"{version}.ctf"
    if language == "lox":
        out = run(LOX, str(source), MEMTRACE=trace, MEMTRACE_RATE="1")
        return trace, out
    compiler = COMPILERS[language]
    if not shutil.which(compiler[0]):
        raise Skip(f"{compiler[0]} is missing")
    run(*compiler, "-o", version, str(source))
    out = run(f"./{version}", LD_PRELOAD=LIBRARY, MEMTRACE=trace, MEMTRACE_RATE="1")
    run(ALLOTRACE, "symbolize", trace)
    return trace, out


def total(trace):
    return json.loads(run(ALLOTRACE, "hotspots", "--json", trace))["total"]["value"]


def documented(language):
    page = (ROOT / "docs/fixes.md").read_text()
    row = re.search(rf"^\| `{language}_before\.{language}` \| `(.*?)` \| line (\d+), `(.*?)` \| ([\d.]+)% \| "
                    r"([\d,]+) B \| ([\d,]+) B \|$", page, re.M)
    assert row, f"docs/fixes.md has no row of {language}"
    rule, line, function, share, before, after = row.groups()
    return rule, int(line), function, float(share), int(before.replace(",", "")), int(after.replace(",", ""))


def near(got, said, what):
    assert abs(got - said) <= SLACK * said + 2000, f"{what}: {got}, docs/fixes.md says {said}"


def check(language):
    rule, line, function, share, said_before, said_after = documented(language)
    (before, printed), (after, printed_after) = record(language, "before"), record(language, "after")
    assert printed == printed_after, f"{printed!r} and {printed_after!r}"
    near(total(before), said_before, "before")
    near(total(after), said_after, "after")
    item = json.loads(run(ALLOTRACE, "advise", "--json", before))["advice"][0]
    place = item["places"][0]
    assert item["rule"] == rule and place["line"] == line and function in place["function"], item
    assert abs(100 * item["share"] - share) < 1, item["share"]
    rest = [i["rule"] for i in json.loads(run(ALLOTRACE, "advise", "--json", after))["advice"]
            if i["places"][0]["line"] == line and i["rule"] == rule]
    assert not rest, f"the advice after the fix is still {rest}"


def tests():
    for language in "c", "cc", "rs", "lox":
        yield f"the fix of {language}", lambda language=language: check(language)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:], list(tests())))
