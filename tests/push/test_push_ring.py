#!/usr/bin/python3
"""Pushes what is recorded into rings, of one process and of several, at rates that change. Prints TAP.

    test_push_ring.py ALLOTRACE RECORDER TARGET SERVICE [TEST...]

The target, of tests/native, counts in a file what its threads have allocated and freed; the service is that of
test_push.py. Processes that are killed are in tests/native/test_ring_children.py.
"""
import json
import os
import pathlib
import re
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
from rings import ALLOTRACE, allotrace, ask, patiently  # noqa: E402
from tap import same, test  # noqa: E402

KILLED, SERVICE = map(os.path.abspath, sys.argv[3:5])
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


def of_processes(r, read=wire.otlp):
    """What was pushed, by process and program, in the order in which it came."""
    found = {}
    for profile in (read(body) for _, _, body in list(r.got)):
        of = profile["attributes"]["process.pid"], profile["attributes"]["process.executable.name"]
        found.setdefault(of, []).append(profile)
    return found


def enough(is_so):
    """Lets a service end that awaits it."""
    if is_so:
        pathlib.Path("enough").touch()


def run_script(r, script, options=("-r", "1", "--max-size", "200M"), status=0, every="300ms", url=None):
    """What the processes of a shell's script push; and standard error."""
    done = allotrace("run", "-o", "d/%p", *options, "--push", url or r.url, "--every", every, "--", "sh", "-c",
                     re.sub(r"\bSERVICE\b", SERVICE, script), timeout=120)
    same(done.returncode, status, done.stderr)
    return of_processes(r), done.stderr


def services(found):
    return [profiles for (_, program), profiles in sorted(found.items()) if program == "service"]


def kept():
    """Bytes that all segments together say were allocated."""
    return json.loads(ask("hotspots", "--json", "--min-share", "0", "d/"))["total"]["value"]


def judge_ring(found):
    """What was pushed is what the segments have, and nothing is left over."""
    same(sum(v for profiles in found.values() for p in profiles for v in p["samples"].get("alloc_space", {}).values()), kept(), "bytes")
    same([name for name in os.listdir("d") if name.startswith(".")], [], "what is left over")


@test
def each_process_of_a_ring_is_a_series():
    r = make.Receiver()
    r.behave = lambda n: enough(max(map(len, services(of_processes(r))), default=0) > 2) or 200
    found, said = run_script(r, "SERVICE 3 0 & SERVICE 4 0 & SERVICE_AWAITS=enough SERVICE 10 50 >rounds & wait")
    rounds = int(pathlib.Path("rounds").read_text())
    judge_ring(found)
    same(sorted((total(p, "alloc_objects", "short_lived"), total(p[-1:], "inuse_objects", "long_lived")) for p in services(found)),
         [(300, 30), (400, 40), (100 * rounds, 10 * rounds)], "blocks")
    brief, brief_too, long = sorted(services(found), key=lambda p: total(p, "alloc_objects", "short_lived"))
    for p in brief, brief_too:  # once, or twice if one of the pushes came in between
        assert all(push["samples"].get("alloc_space") for push in p), f"nothing new in one of {len(p)} pushes"
    assert len(long) > 1, "one that lives is pushed while it does"
    assert len(found) > 3, "what they were before exec is told, too"
    assert re.search(f"pushed {len(r.got)} times to .*, for {len(found)} processes", said), said
    assert "warning" not in said, said


@test
def what_a_ring_pushes_after_the_end_is_sent_again():
    r = make.Receiver()
    r.behave = lambda n: 503 if n <= 7 else 200
    found, said = run_script(r, "SERVICE 3 0 & SERVICE 4 0 & SERVICE 5 0 & wait", every="1h")
    judge_ring(found)
    same([len(profiles) for profiles in found.values()], [1] * len(found), said)


@test
def processes_of_a_ring_that_are_killed_are_told_of_whole():
    r = make.Receiver()
    found, said = run_script(r, "SERVICE 5 0 7 & SERVICE 1000 50 & child=$!; sleep 1; kill -9 $child; sleep 1; kill -9 $$", status=-9)
    same([total(p, "alloc_objects", "short_lived") for p in services(found)][0] > 0, True, said)
    judge_ring(found)


@test
def a_ring_at_a_low_rate_is_pushed():
    """Children begin theirs at their first sample."""
    r = make.Receiver()
    found, _ = run_script(r, "(x=1; SERVICE 20 10; SERVICE 30 10; : $x) & (SERVICE 40 10; :) ; wait",
                          options=("-r", "0.005", "--keep", "1h"))
    same(len(services(found)), 3)
    judge_ring(found)


@test
def processes_wait_for_a_receiver_that_is_down():
    """More than places; what they have recorded waits on the disk, without names. On one processor, a program often
    begins while the keeper removes what the process has recorded as another one."""
    r = make.Receiver()
    r.behave = lambda n: 503 if n <= 200 else enough(True) or 200
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        found, said = run_script(r, "for i in $(seq 150); do SERVICE 1 0 & done; SERVICE_AWAITS=enough SERVICE 1 100 >rounds; wait",
                                 every="200ms")
    finally:
        os.sched_setaffinity(0, allowed)
    rounds = int(pathlib.Path("rounds").read_text())
    same(sorted(total(p, "alloc_objects", "short_lived") for p in services(found)), sorted([100] * 150 + [100 * rounds]), said)
    judge_ring(found)
    same(said.count("status 503"), 1, said)


@test
def a_receiver_that_stays_down_costs_a_ring_nothing():
    """One line when it fails and one at the end, however many processes there are; some cannot wait."""
    r = make.Receiver()
    r.behave = lambda n: 503
    found, said = run_script(r, "for i in $(seq 500); do SERVICE 1 0; done")
    same(found, {})
    same(said.count("missed data is sent when the server accepts data again"), 1, said)
    same(said.count("nothing was pushed to"), 1, said)
    assert len([line for line in said.splitlines() if "warning: " in line]) <= 4, said
    same(kept() >= 500 * 110 * 1008, True, "the segments have all")
    same([name for name in os.listdir("d") if name.startswith(".")], [], "what is left over")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[5:]))
