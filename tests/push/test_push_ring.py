#!/usr/bin/python3
"""Pushes what is recorded into rings, of one process and of several, at rates that change. Prints TAP.

    test_push_ring.py ALLOTRACE RECORDER TARGET [TEST...]

The target, of tests/native, counts in a file what its threads have allocated and freed.
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "native")]
import receiver as make  # noqa: E402
import tap  # noqa: E402
import wire  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from rings import ALLOTRACE, ask, patiently  # noqa: E402
from tap import same, test  # noqa: E402

KILLED = os.path.abspath(sys.argv[3])
SIZE = 20000


def numbers(path, n):
    return struct.unpack_from(f"{n}Q", pathlib.Path(path).read_bytes())


def total(profiles, kind, function="work"):
    return sum(value for p in profiles for stack, value in p["samples"].get(kind, {}).items() if stack[0] == function)


@test
def samples_weigh_what_the_rate_says_when_it_changes():
    """Of one process, in a ring: the error follows the lowest rate that there was."""
    r = make.Receiver()
    pathlib.Path("counts").write_bytes(bytes(4096))

    def born():
        words = numbers("counts", 6)
        return sum(n * (SIZE + 8 * t + 8) for t, n in enumerate(words[::2]))

    with subprocess.Popen([ALLOTRACE, "run", "-q", "-r", "5e-3", "--keep", "600s", "--overhead", "0.1%", "-o", "d", "--push",
                           r.url, "--every", "300ms", "--", KILLED, "counts", "100", "2000"],
                          env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        patiently(lambda: len(list(pathlib.Path("d").glob("*.ctf"))) >= 2, "the rate has fallen")
        fallen = born()
        patiently(lambda: born() > 2 * fallen + 100000 * SIZE, "some more allocations")
        os.killpg(run.pid, signal.SIGTERM)
        said = run.communicate(timeout=60)[1]
    rates = [json.loads(ask("info", "--json", str(s)))[0]["rate"] for s in sorted(pathlib.Path("d").glob("*.ctf"))]
    assert min(rates) < 5e-3, (rates, said)
    profiles = [wire.otlp(body) for _, _, body in r.got]
    n = born() / 8 * min(rates)
    pushed = total(profiles, "alloc_space")
    assert abs(pushed / born() - 1) <= 6 / n ** 0.5, (pushed, born(), rates)
    blocks = sum(numbers("counts", 6)[::2])
    assert abs(total(profiles, "alloc_objects") / blocks - 1) <= 6 / n ** 0.5, (total(profiles, "alloc_objects"), blocks)
    assert total(profiles, "alloc_samples") < born() / 8 * 5e-3 * 0.9, "samples are those that were taken"


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
