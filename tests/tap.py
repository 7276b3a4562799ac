"""tap.py: functions that are tests, each run in a folder of its own, and what they say as TAP."""
import os
import shutil
import subprocess
import sys
import tempfile

import decode

TESTS = []


class Skip(Exception):
    """What a test needs is not there."""


def test(function):
    """Makes a function without arguments a test; it fails by raising."""
    TESTS.append(function)
    return function


def same(got, want, what=""):
    assert got == want, f"{what}: got {got!r}, expected {want!r}"


def perform(function):
    """None if the test passed, else what went wrong."""
    here, folder = os.getcwd(), tempfile.mkdtemp(prefix="allotrace-test.")
    os.chdir(folder)
    try:
        return function()
    except (AssertionError, decode.Malformed, subprocess.SubprocessError, OSError, ValueError,
            LookupError, StopIteration) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        os.chdir(here)
        shutil.rmtree(folder, ignore_errors=True)  # what a test left behind may still write there


def plain(name):
    return name.replace("_", " ")


def main(wanted=(), tests=None):
    """Runs tests, pairs of a name and a function (if none are given, those that `test` made): all,
    or those in whose names a wanted word stands. Gives the exit status."""
    tests = tests or [(plain(t.__name__), t) for t in TESTS]
    chosen = [t for t in tests if not wanted or any(plain(word) in plain(t[0]) for word in wanted)]
    failed = 0
    print(f"1..{len(chosen)}")
    for number, (name, function) in enumerate(chosen, 1):
        try:
            trouble = perform(function)
            print(f"{'not ok' if trouble else 'ok'} {number} - {name}")
        except Skip as reason:
            trouble = None
            print(f"ok {number} - {name} # SKIP {reason}")
        if trouble:
            failed += 1
            print("\n".join("# " + line for line in trouble[:2000].splitlines()))
        sys.stdout.flush()
    return 1 if failed else 0
