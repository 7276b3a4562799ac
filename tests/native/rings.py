"""What the tests of rings share. The first argument of the program is allotrace, the second the recorder."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from recording import ENVIRONMENT, children, patiently  # noqa: E402,F401

ALLOTRACE, LIBRARY = map(os.path.abspath, sys.argv[1:3])
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY


def allotrace(*words, **more):
    return subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT, **more)


def ask(*words):
    done = allotrace(*words)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""

