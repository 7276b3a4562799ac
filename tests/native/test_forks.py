#!/usr/bin/python3
"""Records programs whose forked children go on allocating, which must do them no harm. Prints TAP.

    test_forks.py ALLOTRACE LIBRARY TARGET [TEST...]
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

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
RATES = "0.000001", "0.001", "0.01", "1"
CHILDREN = 60


def run(rate, name, *arguments):
    done = subprocess.run([ALLOTRACE, "run", "--rate", rate, "-o", name, "--", TARGET, *arguments], env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    same(done.returncode, 0, f"status at rate {rate}: {done.stderr}")
    return done.stdout.split(), done.stderr


@test
def children_that_start_threads_live():
    for rate in RATES:
        said, _ = run(rate, "one.ctf", "threads", str(CHILDREN))
        same(said, ["0", "0"], f"at rate {rate}, where only the parent is recorded")


@test
def children_that_start_threads_are_recorded():
    for rate in RATES:
        folder = pathlib.Path(f"at{rate}")
        folder.mkdir()
        said, _ = run(rate, f"{folder}/%p.ctf", "threads", str(CHILDREN))
        same(said, ["0", "0"], f"at rate {rate}")
        traces = len(list(folder.iterdir()))
        if float(rate) < 0.01:  # a child of which nothing is sampled leaves none
            traces = CHILDREN + 1 if 0 < traces <= CHILDREN + 1 else traces
        same(traces, CHILDREN + 1, f"traces at rate {rate}")


@test
def a_fork_in_a_signal_handler_leaves_parent_and_child_whole():
    for rate in RATES:
        said, told = run(rate, "t.ctf", "handler", str(CHILDREN))
        same(said[0], "0", f"at rate {rate}: {told}")
        assert "ended" not in told, told
        checked = subprocess.run([ALLOTRACE, "doctor", "t.ctf"], capture_output=True, text=True, check=False)
        same(checked.returncode, 0, checked.stdout)
    info = subprocess.run([ALLOTRACE, "info", "--json", "t.ctf"], capture_output=True, check=True)
    blocks = json.loads(info.stdout)[0]["allocated"]["blocks"]  # few are the library's own
    assert int(said[1]) <= blocks < int(said[1]) + 100, (blocks, said)


@test
def so_does_one_that_interrupts_the_first_event():
    for us in range(20, 260, 6):
        said, told = run("0.05", "t.ctf", "handler", "2", str(us))
        same(said[0], "0", f"after {us} us: {told}")
        checked = subprocess.run([ALLOTRACE, "doctor", "t.ctf"], capture_output=True, text=True, check=False)
        same(checked.returncode, 0, f"after {us} us: {checked.stdout}")


def check_short_lives(mode, rate, blocks, also):
    """Of all that 400 short lives allocate, as many words are sampled as chance lets expect."""
    folder = pathlib.Path(f"{mode}{rate}-{blocks}")
    folder.mkdir()
    run(rate, f"{folder}/%p.ctf", mode, "400", str(blocks))
    rows = subprocess.run([ALLOTRACE, "hotspots", "--by", "function", "--json", "-f", "fn:allocate_shortly",
                           *folder.iterdir()], capture_output=True, check=True)
    samples = json.loads(rows.stdout)["total"]["samples"]
    truth = (400 * blocks + also) * 64 * float(rate)
    assert abs(samples - truth) < 5 * truth ** 0.5 + 5, (mode, rate, samples, truth)  # 5: few samples are skewed
    return len(list(folder.iterdir()))


@test
def short_lives_are_sampled_like_long_ones():
    for mode, also in ("programs", 0), ("crews", 0), ("children", 1), ("offspring", 1), ("aside", 0):
        traces = check_short_lives(mode, "0.0001", 96, also)
        assert 100 < traces < 300, (mode, traces)  # of the others, nothing was sampled
        check_short_lives(mode, "0.02", 4, also)
    check_short_lives("crews", "0.0001", 384, 0)  # while a thread begins the recording, the others have samples, too
    check_short_lives("children", "0.00015", 12, 1)  # their parent is still waiting, most likely


def pages(*command):
    """Page faults of a child and its parent for a fork, the least of some: more where code lies badly."""
    least = []
    for _ in range(8):
        done = subprocess.run([*command, TARGET, "pages", "20"], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              capture_output=True, check=True)
        least.append(sum(map(int, done.stdout.split())))
    return min(least)


@test
def who_becomes_another_program_beside_a_new_child_is_recorded():
    """On one processor, the child of a shell often runs only after the shell has become the program: until then it holds the
    trace that the shell has written."""
    for i in range(20):
        done = subprocess.run([ALLOTRACE, "run", "--rate", "1", "-o", "x.ctf", "--", "sh", "-c", 'true & exec "$0" -c true', "bash"],
                              env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        info = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "x.ctf"], capture_output=True, check=True).stdout)[0]
        same(os.path.basename(info["program"]), "bash", f"{i}: {done.stderr}")
        for trace in pathlib.Path().glob("x*.ctf"):
            trace.unlink()


@test
def a_fork_copies_few_pages_of_the_recorder():
    plain = pages()
    for name in "p.ctf", "p%p.ctf":
        recorded = pages(ALLOTRACE, "run", "-q", "-o", name, "--")
        assert recorded <= plain + 4, (name, recorded, plain)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
