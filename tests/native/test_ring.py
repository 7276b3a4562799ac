#!/usr/bin/python3
"""Keeps recordings as rings of segments, kills what takes part in it, and judges what is left. Prints TAP.

    test_ring.py ALLOTRACE LIBRARY TARGET [PATTERN…]

The target counts in a file what it has allocated and freed. At rate 1 the segments together must hold just
that, whoever is killed but the keeper itself; and each segment by itself must know what is live.
"""
import fcntl
import json
import mmap
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap
from recording import ENVIRONMENT, executable_of
from rings import ALLOTRACE, allotrace, ask, children, patiently, read
from tap import same, test

TARGET = os.path.abspath(sys.argv[3])
DECODE = pathlib.Path(__file__).resolve().parent.parent / "decode.py"
THREADS, SIZE = 3, 20000
F_OFD_SETLK = 37
STEADY, FAST, BUSY = ("20", "2000"), ("100", "2000"), ("1", "0")


class Run:
    """The target under `run --keep`."""

    def __init__(self, *options, mode=STEADY, before=()):
        pathlib.Path("counts").write_bytes(bytes(4096))
        with open("counts", "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)
        self.run = subprocess.Popen([ALLOTRACE, "run", "-o", "d", *options, "--", *before, TARGET, "counts", *mode],
                                    env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True, start_new_session=True)
        patiently(lambda: min(born for born, _ in self.counts()) > 0, "the target counts")
        self.program = next(c for c in children(self.run.pid) if executable_of(c) == TARGET)
        self.keeper = patiently(lambda: next((c for c in children(self.run.pid)
                                              if read(f"/proc/{c}/comm").strip() == "run-keeper"), None), "a keeper")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.program, self.run.pid, self.keeper:
            if read(f"/proc/{pid}/comm").strip() in ("target_killed", "allotrace", "run-keeper"):
                os.kill(pid, signal.SIGKILL)
        if not self.run.stderr.closed:
            self.run.communicate()

    def counts(self):
        return [struct.unpack_from("QQ", self.map, 16 * t) for t in range(THREADS)]

    def until_segments(self, n):
        patiently(lambda: len(segments()) >= n, f"{n} segments")

    def await_keeper(self):
        """It outlives `run`, and is then no child of ours."""
        patiently(lambda: read(f"/proc/{self.keeper}/comm").strip() != "run-keeper", "the keeper ends")


def segments():
    return sorted(str(path) for path in pathlib.Path("d").glob("*.ctf"))


def events(trace, *options):
    """Of each thread, how many blocks were born, how many died, and how many are live at the end."""
    born, died, size_of = [0] * THREADS, [0] * THREADS, {}
    dead = []
    for line in ask("dump", *options, trace).splitlines():
        word = line.split(None, 3)
        if word[2] == "collect":
            dead.append(word[1])
        elif word[2] == "alloc_ext":
            length = int(line.partition("len=")[2].split()[0])
            if "samples" not in line and 0 <= length - SIZE // 8 < THREADS and " 0 len" not in line:
                assert word[1] not in size_of, f"twice: {line}"
                size_of[word[1]] = length - SIZE // 8
                born[size_of[word[1]]] += 1
    for block in dead:
        if block in size_of:
            died[size_of[block]] += 1
    return born, died


def live(trace):
    return [b - d for b, d in zip(*events(trace))]


def judge(counts, traces="d"):
    """All is there, as the target has counted it, or one more of what it was at."""
    born, died = events(traces)
    for t, (least_born, least_died) in enumerate(counts):
        assert least_born <= born[t] <= least_born + 1, (t, counts, born, died)
        assert least_died <= died[t] <= least_died + 1, (t, counts, born, died)


def judge_segments(counts):
    """The last segment alone, and each window up to it, knows what lives."""
    want = [b - d for b, d in counts]
    for trace in segments()[-1:], segments()[-2:]:
        got = live_of(trace)
        assert all(abs(g - w) <= 1 for g, w in zip(got, want)), (trace, got, want)
    for given in segments()[-2:], segments()[-2:-1], segments()[-3:-1]:
        said = allotrace("peak", *given).stderr
        assert "the recording continues after this segment" not in said, said


def window_of(traces):
    shutil.rmtree("window", ignore_errors=True)
    os.mkdir("window")
    for trace in traces:
        shutil.copy(trace, "window")
    return "window"


def live_of(traces):
    """Of these segments alone."""
    return live(window_of(traces))


def judge_no_spool():
    same([name for name in os.listdir("d") if name.startswith(".")], [], "what is left over")


@test
def a_killed_program_is_there_to_its_end():
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(3)
        os.kill(r.program, signal.SIGKILL)
        said = r.run.communicate()[1]
        same(r.run.returncode, -signal.SIGKILL, said)
        assert "recorded into" in said and "allotrace d/" in said.replace(os.getcwd() + "/", ""), said
        judge(r.counts())
        judge_segments(r.counts())
        judge_no_spool()


@test
def without_run_the_keeper_goes_on():
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(2)
        os.kill(r.run.pid, signal.SIGKILL)
        n = len(segments())
        r.until_segments(n + 1)
        os.kill(r.program, signal.SIGKILL)
        r.await_keeper()
        judge(r.counts())
        judge_segments(r.counts())
        judge_no_spool()


@test
def both_may_be_killed_at_once():
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(2)
        os.killpg(r.run.pid, signal.SIGKILL)
        r.await_keeper()
        judge(r.counts())
        judge_segments(r.counts())
        judge_no_spool()


@test
def only_what_nobody_records_any_more_is_removed():
    """A spool of a living process may be one that it has made and not locked yet."""
    os.mkdir("d")
    gone = subprocess.Popen(["true"])
    gone.wait()
    young, old, dead = (f".{os.getpid()}.spool", f".{os.getppid()}.spool", f".{gone.pid}.spool")
    for name in young, old, dead:
        pathlib.Path("d", name).touch()
    os.utime(f"d/{old}", (0, 0))
    with Run("-r", "1", "--keep", "16s") as r:
        left = [name for name in (young, old, dead) if os.path.exists(f"d/{name}")]
        same(left, [young], "what is left over")
        os.kill(r.program, signal.SIGTERM)
        r.run.communicate()


@test
def without_a_keeper_nothing_grows_without_end():
    """What was kept stays readable, the program goes on, and the recording ends where the spool is full."""
    with Run("-r", "1", "--max-size", "4MB", mode=FAST) as r:
        r.until_segments(2)
        os.kill(r.keeper, signal.SIGKILL)
        before = r.counts()
        spool = next(path for path in pathlib.Path("d").glob(".*.spool"))
        patiently(lambda: spool.stat().st_blocks * 512 > (1 << 20) * 0.9, "the spool is full")
        patiently(lambda: all(now[0] > 2 * then[0] for now, then in zip(r.counts(), before)), "it goes on")
        assert spool.stat().st_blocks * 512 < (1 << 20) + (1 << 18), spool.stat()
        os.kill(r.program, signal.SIGTERM)
        said = r.run.communicate()[1]
        assert "was killed" in said, said
        ask("hotspots", "d")
        judge_no_spool()


@test
def a_keeper_that_was_stopped_catches_up():
    for ends_meanwhile in False, True:
        shutil.rmtree("d", ignore_errors=True)
        with Run("-r", "1", "--keep", "16s") as r:
            r.until_segments(2)
            os.kill(r.keeper, signal.SIGSTOP)
            before, n = r.counts(), len(segments())
            patiently(lambda: all(now[0] > 2 * then[0] + 5000 for now, then in zip(r.counts(), before)), "it goes on")
            if ends_meanwhile:
                os.kill(r.program, signal.SIGKILL)
                patiently(lambda: executable_of(r.program) is None, "it ends")
            os.kill(r.keeper, signal.SIGCONT)
            if not ends_meanwhile:
                patiently(lambda: len(segments()) > n + 1, "more segments")
                os.kill(r.program, signal.SIGKILL)
            said = r.run.communicate()[1]
            same(r.run.returncode, -signal.SIGKILL, said)
            judge(r.counts())
            judge_segments(r.counts())
            judge_no_spool()


@test
def a_segment_that_has_just_been_made_is_none_yet():
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(2)
        os.kill(r.program, signal.SIGKILL)
        r.run.communicate()
    before = allotrace("hotspots", "--json", "d")
    same(before.stderr, "", "what is said")
    last = segments()[-1]
    made = f"{last[:-len('000000.ctf')]}{int(last[-len('000000.ctf'):-len('.ctf')]) + 1:06}.ctf"
    with open(made, "w") as file:
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        meanwhile = allotrace("hotspots", "--json", "d")
        same((meanwhile.returncode, meanwhile.stdout, meanwhile.stderr), (0, before.stdout, ""))
    assert made in allotrace("hotspots", "--json", "d").stderr, "an empty file that nobody writes is remarked on"


def taken():
    """Bytes of the folder on the disk. Files go while we look."""
    sizes = 0
    for entry in os.scandir("d"):
        try:
            sizes += entry.stat().st_blocks * 512
        except FileNotFoundError:
            pass
    return sizes


@test
def it_takes_no_more_than_it_may():
    most, first = 4 << 20, None
    with Run("-r", "1", "--max-size", "4M", mode=FAST) as r:
        r.until_segments(1)
        first = segments()[0]
        for _ in range(400):
            assert taken() <= most, (taken(), segments())
            time.sleep(0.01)
        patiently(lambda: first not in segments(), "the first segment goes")
        os.kill(r.program, signal.SIGTERM)
        r.run.communicate()
        assert taken() <= most, taken()
        judge_segments(r.counts())


@test
def what_is_older_goes():
    with Run("-r", "1e-3", "--keep", "2s") as r:
        r.until_segments(2)
        first = segments()[0]
        patiently(lambda: first not in segments(), "the first segment goes")
        assert segments(), "some stay"
        os.kill(r.program, signal.SIGTERM)
        r.run.communicate()


@test
def each_segment_is_a_trace():
    """Another decoder reads it as well, and our own strictly."""
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(3)
        os.kill(r.program, signal.SIGKILL)
        r.run.communicate()
    for segment in segments():
        ask("info", "--strict", segment)
        decoded = subprocess.run([sys.executable, DECODE, segment], capture_output=True, text=True)
        same(decoded.returncode, 0, decoded.stderr)
        ours = [line for line in ask("dump", segment).splitlines()]
        assert len(ours) > 100, segment


@test
def what_is_missing_between_is_said():
    with Run("-r", "1", "--keep", "8s") as r:
        r.until_segments(5)
        os.kill(r.program, signal.SIGKILL)
        r.run.communicate()
        counts = r.counts()
    os.unlink(segments()[2])
    done = allotrace("hotspots", "d")
    same(done.returncode, 0, done.stderr)
    assert "1 segments are missing" in done.stderr or "1 segment is missing" in done.stderr, done.stderr
    got, want = live("d"), [b - d for b, d in counts]
    assert all(abs(g - w) <= 1 for g, w in zip(got, want)), (got, want)
    damaged = segments()[1]
    os.truncate(damaged, os.path.getsize(damaged) // 2)
    got = live("d")
    assert all(abs(g - w) <= 1 for g, w in zip(got, want)), (got, want)
    pathlib.Path(segments()[1]).write_bytes(b"no trace")
    done = allotrace("hotspots", "d")
    same(done.returncode, 0, done.stderr)
    assert "skipped" in done.stderr, done.stderr


@test
def the_last_of_it_is_a_window():
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(4)
        os.kill(r.program, signal.SIGKILL)
        r.run.communicate()
        counts = r.counts()
    for trace in "d", segments()[-1]:
        total = json.loads(ask("hotspots", "--last", "500ms", "--json", "--measure", "blocks", trace))
        assert total["of_blocks"] > total["kept_blocks"], total  # those from before are no allocations
        want = sum(b - d for b, d in counts)
        left = json.loads(ask("hotspots", "--last", "500ms", "--json", "--measure", "survived",
                              "--filter", f"size:{SIZE}..{SIZE + 8 * THREADS}", trace))
        live_blocks = sum(row["blocks"] for row in left["hotspots"])
        assert abs(live_blocks - want) <= THREADS, (live_blocks, want)
    window = window_of(segments()[-2:])
    want = json.loads(ask("hotspots", "--json", window))["total"]["value"]
    check, = json.loads(allotrace("check", "--json", "--max-allocated", "1B", window).stdout)["checks"]
    same(check["value"], want, "what a check counts of a window")


@test
def messages_name_the_folder():
    """What its segments were joined into is in memory, and nothing to name."""
    with Run("-r", "1", "--keep", "16s") as r:
        r.until_segments(2)
        os.kill(r.program, signal.SIGTERM)
        r.run.communicate()
    for words in (["summary"], ["hotspots"], ["leaks"], ["peak"], ["advise"], ["info"], ["timeline"],
                  ["check", "--update", "budgets.toml"], ["advise", "--last", "500ms"], ["hotspots", "--filter", "fn:nobody"]):
        said = allotrace(*words, "d/")
        assert "/proc/self" not in said.stdout + said.stderr, (words, said)


@test
def another_program_in_the_process_is_another_recording():
    with Run("-r", "1", "--keep", "16s", before=("sh", "-c", 'exec sh -c \'exec "$0" "$@"\' "$0" "$@"')) as r:
        r.until_segments(3)
        os.kill(r.program, signal.SIGKILL)
        r.run.communicate()
        judge(r.counts())
        judge_no_spool()


@test
def what_other_threads_did_when_one_became_another_program_is_there():
    for program in "true", "sleep 1":  # before the keeper has seen that it is another program, and after
        shutil.rmtree("d", ignore_errors=True)
        pathlib.Path("counts").write_bytes(bytes(4096))
        done = allotrace("run", "-r", "1", "--keep", "16s", "-o", "d", "--", TARGET, "counts", *BUSY, "/bin/sh", "-c", program)
        same(done.returncode, 0, done.stderr)
        counts = pathlib.Path("counts").read_bytes()
        judge([struct.unpack_from("QQ", counts, 16 * t) for t in range(THREADS)],
              window_of(name for name in segments() if os.path.basename(TARGET) in name))
        judge_no_spool()


@test
def nothing_is_left_over_where_the_keeper_of_an_attached_process_was_killed():
    pathlib.Path("counts").write_bytes(bytes(4096))
    with subprocess.Popen([TARGET, "counts", *STEADY]) as target, subprocess.Popen(
            [ALLOTRACE, "attach", "-r", "1", "--keep", "16s", "-o", "d", str(target.pid)],
            env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as attach:
        try:
            patiently(lambda: os.path.isdir("d") and len(segments()) >= 2, "segments")
            os.kill(next(c for c in children(attach.pid) if read(f"/proc/{c}/comm").strip() == "run-keeper"), signal.SIGKILL)
            attach.send_signal(signal.SIGINT)
            said = attach.communicate()[1]
            assert "was killed" in said, said
            same(target.poll(), None, "the target goes on")
            judge_no_spool()
        finally:
            target.kill()


@test
def an_attached_process_has_a_ring():
    pathlib.Path("counts").write_bytes(bytes(4096))
    target = subprocess.Popen([TARGET, "counts", *STEADY])
    try:
        done = allotrace("attach", "-r", "1", "--keep", "8s", "--duration", "2500ms", "-o", "d", target.pid)
        same(done.returncode, 0, done.stderr)
        assert len(segments()) >= 2, done.stderr
        assert sum(events("d")[0]) > 1000
        judge_no_spool()
    finally:
        target.kill()
        target.wait()


@test
def the_rate_follows_what_it_costs():
    """It falls, and what is recorded stands for as much as there was."""
    with Run("-r", "5e-3", "--keep", "600s", "--overhead", "0.1%", mode=FAST) as r:
        r.until_segments(2)  # the rate has fallen
        patiently(lambda: sum(born for born, _ in r.counts()) > 200000, "some more allocations")
        os.kill(r.program, signal.SIGKILL)
        said = r.run.communicate()[1]
        counts = r.counts()
    rates = [json.loads(ask("info", "--json", segment))[0]["rate"] for segment in segments()]
    assert min(rates) < rates[0] == 5e-3, (rates, said)
    assert all(abs(5e-3 / rate - round(5e-3 / rate)) < 1e-9 for rate in rates), rates
    size = f"size:{SIZE}..{SIZE + 8 * THREADS}"
    total = json.loads(ask("hotspots", "--json", "--filter", size, "d"))["total"]
    want = sum(born * (SIZE + 8 * t + 8) for t, (born, _) in enumerate(counts))
    spread = 6 * (total["high"] - total["low"]) / 4  # of an interval of two standard errors to each side
    assert abs(total["value"] - want) <= spread, (total, want, rates)
    left = json.loads(ask("hotspots", "--json", "--measure", "survived", "--filter", size, segments()[-1]))["total"]
    want = sum((born - died) * (SIZE + 8 * t + 8) for t, (born, died) in enumerate(counts))
    assert left["low"] / 3 <= want <= left["high"] * 3, (left, want, rates)


@test
def the_rate_of_an_attached_process_follows_what_it_costs():
    pathlib.Path("counts").write_bytes(bytes(4096))

    def allocated():
        words = struct.unpack_from(f"{2 * THREADS}Q", pathlib.Path("counts").read_bytes())
        return sum(born * (SIZE + 8 * t + 8) for t, born in enumerate(words[::2]))

    with subprocess.Popen([TARGET, "counts", *FAST]) as target:
        before = allocated()
        attach = subprocess.Popen(
            [ALLOTRACE, "attach", "-r", "5e-3", "--keep", "600s", "--overhead", "0.1%", "-o", "d", str(target.pid)],
            env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        try:
            said = attach.stderr.readline()
            assert said.startswith("allotrace: recording process"), said + attach.stderr.read()
            begun = allocated()
            patiently(lambda: len(segments()) >= 2, "a second segment: the rate has fallen")
            patiently(lambda: allocated() > begun + 100000 * SIZE, "some more allocations")
            least = allocated() - begun
            attach.send_signal(signal.SIGINT)
            said = attach.communicate()[1]
            most = allocated() - before
            same(attach.returncode, 0, said)
            assert "overhead" not in said, said
            same(target.poll(), None, "the target goes on")
        finally:
            target.kill()
            attach.kill()
            attach.wait()
    rates = [json.loads(ask("info", "--json", segment))[0]["rate"] for segment in segments()]
    assert min(rates) < rates[0] == 5e-3, (rates, said)
    assert all(abs(5e-3 / rate - round(5e-3 / rate)) < 1e-9 for rate in rates), rates
    size = f"size:{SIZE}..{SIZE + 8 * THREADS}"
    total = json.loads(ask("hotspots", "--json", "--filter", size, "d"))["total"]
    spread = 6 * (total["high"] - total["low"]) / 4
    assert least - spread <= total["value"] <= most + spread, (total, least, most, rates)


@test
def what_cannot_be_is_refused():
    for words, status, what in [
            (("run", "--keep", "1h", "--view", "--", "true"), 2, "--view"),
            (("run", "--overhead", "1%", "--", "true"), 2, "--overhead"),
            (("run", "--overhead", "1%", "--keep", "1h", "-r", "0.1", "--", "true"), 2, "--overhead"),
            (("attach", "--overhead", "1%", "1"), 2, "--overhead requires --keep or --max-size"),
            (("attach", "--overhead", "1%", "--keep", "1h", "-r", "0.1", "1"), 2, "--overhead requires a --rate below"),
            (("run", "--max-size", "12", "--", "true"), 2, "--max-size"),
            (("run", "--max-size", "1x", "--", "true"), 2, "--max-size"),
            (("run", "--keep", "1h", "-o", "/dev/null", "--", "true"), 1, "/dev/null"),
            (("hotspots", "."), 1, "this folder contains no trace")]:
        done = allotrace(*words)
        same(done.returncode, status, done.stderr)
        assert what in done.stderr, done.stderr


sys.exit(tap.main(sys.argv[4:]))
