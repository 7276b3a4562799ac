"""golang.py: each Go that is found, what it builds, and the tests that run with each of them."""
import glob
import os
import pathlib
import re
import shutil
import subprocess

import tap
from tap import Skip

HERE = pathlib.Path(__file__).resolve().parent


class Go:
    """One Go, by its command."""

    def __init__(self, command):
        self.command = command
        self.version = re.search(r"go(1\.\d+\S*)", self.call("version"))[1]
        self.minor = int(self.version.split(".")[1])

    def call(self, *words, c="0"):
        # Of an installation that is named, not the one that another's environment means.
        env = {k: v for k, v in os.environ.items() if k not in ("GOROOT", "GOFLAGS")}
        env |= {"CGO_ENABLED": c, "GOTOOLCHAIN": "local", "GO111MODULE": "off"}
        env.setdefault("GOCACHE", os.path.expanduser("~/.cache/go-build"))
        return subprocess.run([self.command, *words], check=True, capture_output=True, text=True, env=env).stdout

    def build(self, program, *flags, c="0"):
        self.call("build", *flags, "-o", program, str(HERE / f"{program}.go"), c=c)


def gos():
    paths = [shutil.which("go"), *sorted(glob.glob("/usr/lib/go-*/bin/go")), *os.environ.get("GOS", "").split(":")]
    found = {go.version: go for go in (Go(p) for p in paths if p and os.access(p, os.X_OK))}
    return found.values()


def with_each(gos, function):
    return [(f"{tap.plain(function.__name__)}, Go {go.version}", lambda go=go: function(go)) for go in gos]


def none():
    raise Skip("needs go")


def main(words):
    found = list(gos())
    return tap.main(words, [each for f in tap.TESTS for each in with_each(found, f)] or [("Go", none)])
