"""recording.py: programs that are run plain and recorded, and what their traces hold."""
import collections
import functools
import os
import pathlib
import subprocess
import time

import decode
from tap import same


def environment():
    """As it is now, without what would record a program, or would say where to."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD"))}


ENVIRONMENT = environment()

Run = collections.namedtuple("Run", "status out err")
Birth = collections.namedtuple("Birth", "event texts is_freed domain")


def run(command, settings=None, timeout=300, **options):
    done = subprocess.run([str(c) for c in command], env=environment() | (settings or {}), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **options)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def patiently(condition, what, seconds=120):
    """What the condition gives, once that is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"never: {what}")


class Recorder:
    """A recorder, by the path of its library."""

    def __init__(self, library):
        self.library = library

    def run(self, command, rate="1", file="t.ctf", env=None, **settings):
        return run(command, {"LD_PRELOAD": self.library, "MEMTRACE": file, "MEMTRACE_RATE": rate} |
                   {f"MEMTRACE_{k.upper()}": v for k, v in settings.items()} | (env or {}))

    def compare(self, command, err="", env=None, **options):
        """Records a run that must look like a plain one, but for `err`."""
        wanted = run(command, env)
        got = self.run(command, env=env, **options)
        same(got, wanted._replace(err=err + wanted.err), "the run itself")


def children(pid):
    """Of its first thread; none if it has ended."""
    try:
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def executable_of(pid):
    """None if it has ended meanwhile."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except (FileNotFoundError, ProcessLookupError):
        return None


def births(path="t.ctf"):
    """What was allocated, with the texts of its frames, outermost first: a frame, or, where names
    have spaces, a part of one. Each block must have been born, and end once at most."""
    decoder = decode.Decoder(pathlib.Path(path).read_bytes())
    decoder.read_info()
    born, dead = {}, set()
    for domain, stack, event in decoder.events():
        if event[0] == "alloc":
            born[event[2]] = event, tuple(stack), domain
        elif event[0] == "collect":
            assert event[2] not in dead, "a block that ended twice"
            dead.add(event[2])
    assert dead <= set(born), "the end of no block"
    texts = functools.lru_cache(None)(lambda code: decoder.frame_text(code).split(" "))
    frames = functools.lru_cache(None)(lambda stack: [f for c in stack for f in texts(c)])
    return [Birth(event, frames(stack), i in dead, domain) for i, (event, stack, domain) in born.items()]
