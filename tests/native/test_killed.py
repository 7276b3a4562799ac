#!/usr/bin/python3
"""Kills recorded programs by SIGKILL at random moments, or by exec, and judges what is left. Prints TAP.

    test_killed.py ALLOTRACE LIBRARY TARGET [KILLS [RATE]]

The target counts what it has done in a file. Under `allotrace run`, whatever it had counted when it
was killed must stand in the trace, whether it was busy or had been idle for long, and the trace must
be without defects and last until then. That holds for other threads, too, when one becomes another program. Where `run` is killed with it, the trace must say that its end is missing. Below rate 1 the trace has a share of that, and no block more than there were.
"""
import json
import mmap
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from recording import children, executable_of  # noqa: E402

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 8
RATE = sys.argv[5] if len(sys.argv) > 5 else "1"
THREADS, SIZE = 3, 20000
WORDS = SIZE // 8 + 1  # of a block, with the allocator's own
BUSY, RESTING, IDLE = ("1", "0"), ("200", "2000"), ("700", "10000000")


def child_of(pid):
    """The program that `run` has started; it has another child, which is no program."""
    return next(c for c in children(pid) if executable_of(c) == TARGET)


def begin_counting(folder):
    path = folder / "counts"
    path.write_bytes(bytes(4096))
    with open(path, "r+b") as file:
        return path, mmap.mmap(file.fileno(), 4096)


def counted(counts):
    return [struct.unpack_from("QQ", counts, 16 * t) for t in range(THREADS)]


def run_command(rate, trace, *words):
    return [ALLOTRACE, "run", "-r", rate, "-o", trace, "--", TARGET, *words], {
        k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD"))} | {"ALLOTRACE_PRELOAD": LIBRARY}


def become_once(folder, mode, rate, name, earlier, program):
    """The first thread becomes another program while the others allocate; `earlier` is what the trace is called then."""
    path, counts = begin_counting(folder)
    command, env = run_command(rate, folder / name, path, *mode, *program)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=100)
    assert done.returncode == 0, done
    found = list(folder.glob(earlier))
    assert len(found) == 1, sorted(folder.iterdir())
    return counted(counts), found[0]


def kill_once(folder, mode, rate, moment, together=False):
    """Records and kills, the program alone or with all of its group; gives the counts and the trace."""
    path, counts = begin_counting(folder)
    trace = folder / "t.ctf"
    command, env = run_command(rate, trace, path, *mode)
    run = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           start_new_session=True)
    least = 700 if mode is IDLE else 1  # the idle ones have done all that they do
    while any(born < least for born, _ in counted(counts)):
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.001)
    time.sleep(moment)
    if together:
        os.killpg(run.pid, signal.SIGKILL)
    else:
        os.kill(child_of(run.pid), signal.SIGKILL)
    said = run.communicate()[1]
    assert run.returncode == -signal.SIGKILL, (run.returncode, said)
    return counted(counts), trace


def ask(*words):
    done = subprocess.run([ALLOTRACE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.decode()


def judge_end(trace, idle):
    """The trace lasts to the kill, as long as the program was idle before, in seconds."""
    last = max(int(line.split()[0]) for line in ask("dump", trace).splitlines())
    lasted = json.loads(ask("info", "--json", trace))[0]["duration"]
    assert lasted >= last + idle * 1e6, (last, lasted, idle)


def judge_open_end(trace):
    """Nobody was left to complete it: doctor, info and check must know, whatever is missing."""
    doctor = subprocess.run([ALLOTRACE, "doctor", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert doctor.returncode == 3, (doctor.returncode, doctor.stdout, doctor.stderr)
    about = json.loads(ask("info", "--json", trace))[0]
    end = about["ends_early"]
    assert 0 <= end["time"] <= about["duration"] and end["reason"], end
    check = subprocess.run([ALLOTRACE, "check", "--expect", "total=1000GB", trace],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert check.returncode == 4, (check.returncode, check.stdout, check.stderr)


def judge(counts, trace):
    """Each thread allocates a size of its own."""
    ask("doctor", trace)
    born, size_of = [0] * THREADS, {}
    died = [0] * THREADS
    for line in ask("dump", trace).splitlines():
        word = line.split(None, 3)
        if word[2] == "collect":
            if word[1] in size_of:
                died[size_of[word[1]]] += 1
        elif word[2] == "alloc_ext":
            length = int(line.partition("len=")[2].split()[0])
            if 0 <= length - SIZE // 8 < THREADS:
                size_of[word[1]] = length - SIZE // 8
                born[size_of[word[1]]] += 1
    if float(RATE) < 1:
        judge_sampled(counts, born, died)
        return
    for t, (least_born, least_died) in enumerate(counts):
        assert least_born <= born[t] <= least_born + 1, (t, counts, born, died)
        assert least_died <= died[t] <= least_died + 1, (t, counts, born, died)


def judge_sampled(counts, born, died):
    """How many of n blocks are seen varies by chance: by 6 standard deviations at most, or, where
    they are few, some more."""
    seen = 1 - (1 - float(RATE)) ** WORDS
    for t, (least_born, least_died) in enumerate(counts):
        for n, got in (least_born, born[t]), (least_died, died[t]):
            spread = 6 * (n * seen * (1 - seen)) ** 0.5 + 3
            assert n * seen - spread <= got <= min((n + 1) * seen + spread, n + 1), \
                (t, counts, born, died, seen)


def kill(rng, folder, mode, together=False):
    moment = rng.random() * (0.05 if mode is BUSY else 0.3)
    counts, trace = kill_once(folder, mode, RATE, moment, together)
    if together:
        judge_open_end(trace)
        return
    judge(counts, trace)
    judge_end(trace, moment if mode is IDLE else 0)


# Programs, and what the trace is called once the process is one.
BECOMES = (("t.ctf", "t.1.ctf", ("/bin/sh", "-c", "true")), ("t.%p.ctf", "t.*.1.ctf", ("/bin/sh", "-c", "true")))


def become(rng, folder):
    judge(*become_once(folder, BUSY, RATE, *rng.choice(BECOMES)))


def test(number, name, times, once, *how):
    rng = random.Random(number)
    try:
        for i in range(times):
            with tempfile.TemporaryDirectory(prefix="killed.") as folder:
                once(rng, pathlib.Path(folder), *how)
        print(f"ok {number} - {name}: {times} times", flush=True)
        return True
    except AssertionError as failure:
        print(f"not ok {number} - {name}: time {i}", flush=True)
        print(f"# {failure}"[:2000].replace("\n", "\n# "), flush=True)
        return False


def main():
    print("1..5", flush=True)
    results = [test(1, "busy", KILLS // 2, kill, BUSY), test(2, "with short rests", KILLS // 4, kill, RESTING),
               test(3, "idle", KILLS // 4, kill, IDLE), test(4, "with `run`", KILLS // 2, kill, BUSY, True),
               test(5, "by exec", KILLS // 2, become)]
    sys.exit(0 if all(results) else 1)


main()
