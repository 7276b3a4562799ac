#!/usr/bin/python3
"""Pushes to the real receivers, and reads back what they took. Prints TAP.

    fleet.py ALLOTRACE RECORDER SERVICE FOLDER [TEST...]

The receivers are built into FOLDER from the Go module proxy, in the versions that go.mod names; they
listen on the loopback interface alone.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import tap  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, RECORDER, SERVICE = map(os.path.abspath, sys.argv[1:4])
FOLDER = pathlib.Path(sys.argv[4]).resolve()


def build(name):
    """A receiver's program."""
    if not shutil.which("go"):
        raise tap.Skip("no go")
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / name
    env = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    done = subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / name, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500)
    if done.returncode and re.search("dial tcp|proxy|toolchain|no such host|checksum database", done.stdout):
        raise tap.Skip("the Go module proxy does not answer")
    assert done.returncode == 0, done.stdout
    return program


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(*command, port, output):
    """A server, once it listens."""
    with open(output, "w") as out, subprocess.Popen([*command], stdout=out) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            yield
        finally:
            server.terminate()


def run(url, *arguments):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))} | {"ALLOTRACE_PRELOAD": RECORDER}
    done = subprocess.run([ALLOTRACE, "run", "-o", "x.ctf", "-r", "1", "--push", url, "--every", "300ms",
                           *arguments, "--", SERVICE, "20", "50"], env=env, text=True,
                          stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == 0 and "pushed" in done.stderr, done.stderr


def sums(requests):
    """{value type: {innermost function: sum}} of what the Collector took, as it shows it."""
    result = {}
    for request in requests:
        dictionary = request["dictionary"]
        strings = dictionary["stringTable"]
        functions = [strings[f.get("nameStrindex", 0)] for f in dictionary["functionTable"]]
        innermost = []
        for stack in dictionary["stackTable"]:
            locations = stack.get("locationIndices", [])
            lines = dictionary["locationTable"][locations[0]]["lines"] if locations else []
            innermost.append(functions[lines[0].get("functionIndex", 0)] if lines else "")
        for profile in request["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
            of = result.setdefault(strings[profile["sampleType"]["typeStrindex"]], {})
            for sample in profile["samples"]:
                name = innermost[sample["stackIndex"]]
                of[name] = of.get(name, 0) + sum(map(int, sample["values"]))
    return result


@test
def the_collector_takes_what_the_trace_has():
    program, port = build("collector"), free_port()
    with running(program, f"127.0.0.1:{port}", port=port, output="taken"):
        run(f"http://127.0.0.1:{port}", "--label", "service=shop")
    taken = sums(map(json.loads, pathlib.Path("taken").read_text().splitlines()))
    same([taken["alloc_space"][f] for f in ("short_lived", "long_lived")], [2000 * 1008, 200 * 1008])
    same([taken["alloc_objects"][f] for f in ("short_lived", "long_lived")], [2000, 200])
    assert "short_lived" in pathlib.Path("taken").read_text() and '"shop"' in pathlib.Path("taken").read_text()


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[5:]))
