"""What the tests of rings share. The first argument of the program is allotrace, the second the recorder."""
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from recording import ENVIRONMENT, children  # noqa: E402,F401

ALLOTRACE, LIBRARY = map(os.path.abspath, sys.argv[1:3])
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY


def allotrace(*words, **more):
    return subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT, **more)


def ask(*words):
    done = allotrace(*words)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def patiently(condition, what):
    for _ in range(3000):
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"never: {what}")


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""

