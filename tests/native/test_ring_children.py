#!/usr/bin/python3
"""Keeps the recordings of all processes of a run in one ring, kills what takes part in it, and judges what is
left. Prints TAP.

    test_ring_children.py ALLOTRACE LIBRARY TARGET THREADS [PATTERN…]

Each worker of the target counts in a file what it has allocated and freed. At rate 1 the segments together must
hold just that.
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
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "push")]
import receiver as make
import tap
import wire
from recording import ENVIRONMENT
from rings import ALLOTRACE, allotrace, ask, children, patiently, read
from tap import same, test

TARGET, THREADS = map(os.path.abspath, sys.argv[3:5])
SIZE = 20000
F_OFD_SETLK = 37
HELPERS = "allotrace", "run-keepers", "run-keeper"


def name_of(pid):
    """Empty for one that has ended, even if nobody has waited for it."""
    stat = read(f"/proc/{pid}/stat")
    return "" if not stat or stat.rpartition(")")[2].split()[0] == "Z" else read(f"/proc/{pid}/comm").strip()


def end(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


class Run:
    """The target with workers under `run --keep`."""

    def __init__(self, *options, workers=3, mode=("20", "2000"), folder="d", before=(), more=()):
        self.n, counts = workers, f"counts.{folder}.{os.getpid()}.{time.monotonic_ns()}"
        pathlib.Path(counts).write_bytes(bytes(4096))
        with open(counts, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)
        self.said = tempfile.TemporaryFile("w+")  # workers may keep it open
        self.run = subprocess.Popen([ALLOTRACE, "run", "-o", f"{folder}/%p", *options, "--", *before, TARGET, counts,
                                     str(workers), *mode, *more],
                                    env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=self.said, text=True, start_new_session=True)
        self.keepers = patiently(lambda: next((c for c in children(self.run.pid) if name_of(c) == "run-keepers"), None),
                                 "the keepers")
        patiently(lambda: min(born for born, _ in self.counts()) > 0, "the workers count")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in (*self.workers(), self.run.pid):
            end(pid)
        self.wait()
        self.await_end()

    def workers(self):
        return [struct.unpack_from("Q", self.map, 24 * w)[0] for w in range(self.n)]

    def counts(self):
        return [struct.unpack_from("QQ", self.map, 24 * w + 8) for w in range(self.n)]

    def end(self, sig=signal.SIGTERM):
        """Of all workers; what `run` said."""
        for pid in self.workers():
            end(pid, sig)
        return self.wait()

    def wait(self):
        """What `run` said to its end."""
        self.run.wait(timeout=120)
        self.said.seek(0)
        return self.said.read()

    def await_end(self):
        patiently(lambda: name_of(self.keepers) != "run-keepers", "the keepers end")


def segments(folder="d"):
    return sorted(str(path) for path in pathlib.Path(folder).glob("*.ctf"))


def spools(folder="d"):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def events(traces):
    """How many blocks these segments of one process have seen born, and how many dead."""
    shutil.rmtree("window", ignore_errors=True)
    os.mkdir("window")
    for trace in traces:
        shutil.copy(trace, "window")
    born, dead, ours = 0, [], set()
    for line in ask("dump", "window").splitlines():
        word = line.split(None, 3)
        if word[2] == "collect":
            dead.append(word[1])
        elif word[2] == "alloc_ext":
            length = int(line.partition("len=")[2].split()[0])
            if "samples" not in line and length >= SIZE // 8 and " 0 len" not in line:
                ours.add(word[1])
                born += 1
    return born, len(ours & set(dead))


def of_process(pid, folder="d"):
    return sorted(str(path) for path in pathlib.Path(folder).glob(f"*.{pid}-*.ctf"))


def is_whole(pid, counted, folder="d"):
    """All is there, as the worker has counted it, or one more of what it was at."""
    born, died = events(of_process(pid, folder))
    return counted[0] <= born <= counted[0] + 1 and counted[1] <= died <= counted[1] + 1


def judge(run, folder="d"):
    for pid, counted in zip(run.workers(), run.counts()):
        assert is_whole(pid, counted, folder), (counted, events(of_process(pid, folder)), of_process(pid, folder))
    same(spools(folder), [], "what is left over")


def judge_live(run):
    """The last segment of each worker knows what lives."""
    for pid, (born, died) in zip(run.workers(), run.counts()):
        last = of_process(pid)[-1:]
        assert last, f"nothing is left of process {pid}"
        got = events(last)
        assert abs((got[0] - got[1]) - (born - died)) <= 1, (got, born, died)


@test
def killed_workers_are_there_to_their_ends():
    with Run("-r", "1", "--keep", "16s") as r:
        patiently(lambda: len(segments()) >= 9, "three segments of each")
        said = r.end(signal.SIGKILL)
        same(r.run.returncode, 0, said)
        assert "of 4 processes" in said and "allotrace d/" in said.replace(os.getcwd() + "/", ""), said
        judge(r)
        for segment in segments():
            ask("info", "--strict", segment)
        names = ask("hotspots", "d")
        assert "target_workers.c" in names, names


def has_read_all_of(spool, keepers):
    """Whether a keeper has read the file to its end."""
    for keeper in children(keepers):
        for fd in pathlib.Path(f"/proc/{keeper}/fd").glob("*"):
            at = read(f"/proc/{keeper}/fdinfo/{fd.name}").split()
            if os.path.realpath(fd) == spool and at[1] == str(os.path.getsize(spool)):
                return True
    return False


@test
def a_part_of_a_packet_does_not_keep_the_run_from_ending():
    with Run("-r", "1", "--keep", "16s", workers=1) as r:
        patiently(lambda: len(segments()) >= 2, "segments")
        worker, = r.workers()
        os.kill(worker, signal.SIGSTOP)
        spool = next(os.path.realpath(f"d/{name}") for name in spools() if f".{worker}." in name)
        data, magic = pathlib.Path(spool).read_bytes(), pathlib.Path(segments()[0]).read_bytes()[:4]
        with open(spool, "ab") as file:  # as if the program was killed while it wrote
            file.write(data[data.rindex(magic):][:100])
        patiently(lambda: has_read_all_of(spool, r.keepers), "the keeper has read it")
        said = r.end(signal.SIGKILL)
        same(r.run.returncode, 0, said)
        r.await_end()
        born, _ = events(of_process(worker))
        assert r.counts()[0][0] - 2000 <= born <= r.counts()[0][0] + 1, (born, r.counts())
        same(spools(), [], "what is left over")


@test
def without_run_the_keepers_go_on():
    with Run("-r", "1", "--keep", "16s") as r:
        patiently(lambda: len(segments()) >= 4, "segments")
        end(r.run.pid)
        n = len(segments())
        patiently(lambda: len(segments()) > n + 3, "more segments")
        for pid in r.workers():
            end(pid)
        r.await_end()
        judge(r)


@test
def all_may_be_killed_at_once():
    with Run("-r", "1", "--keep", "16s") as r:
        patiently(lambda: len(segments()) >= 5, "segments")
        os.killpg(r.run.pid, signal.SIGKILL)
        r.await_end()
        judge(r)


@test
def workers_that_outlive_the_run_are_recorded_to_their_ends():
    with Run("-r", "1", "--keep", "16s", more=("leave",)) as r:
        said = r.wait()
        same(r.run.returncode, 0, said)
        assert "3 processes of this run are still recording" in said and "allotrace symbolize " in said, said
        n = len(segments())
        patiently(lambda: len(segments()) > n + 3, "more segments")
        for pid in r.workers():
            end(pid, signal.SIGTERM)
        r.await_end()
        judge(r)
        ask("symbolize", "d")
        names = ask("hotspots", "d")
        assert "target_workers.c" in names, names


@test
def what_goes_on_is_read_as_far_as_it_is():
    """A process that does nothing for seconds has not ended: its blocks live, whatever others do meanwhile."""
    pathlib.Path("other").write_bytes(bytes(4096))
    idle = '"$0" other 1 200 3000000 & exec "$0" "$@"'
    with Run("-r", "1", "--keep", "16s", workers=2, before=("sh", "-c", idle)) as r:
        said = []

        def live():
            done = allotrace("hotspots", "--json", "--measure", "live", "--filter", f"size:{SIZE}..{SIZE + 16}", "d")
            said.append(done.stderr)
            return sum(row["blocks"] for row in json.loads(done.stdout)["hotspots"]) if done.stdout else 0

        try:
            patiently(lambda: abs(live() - 3 * 50) <= 3, "all is in segments")
            born = r.counts()[0][0]
            patiently(lambda: r.counts()[0][0] > born + 10000, "others go on")
            for _ in range(5):
                same(abs(live() - 3 * 50) <= 3, True, "the idle one lives")
            for line in said[-5:]:  # of the whole, once
                assert line.count("\n") == 1 and "d: the trace ends early" in line, said
        finally:
            end(struct.unpack("Q", pathlib.Path("other").read_bytes()[:8])[0])
        r.end()


@test
def a_signal_to_all_leaves_things_whole():
    for sig in signal.SIGINT, signal.SIGTERM:
        with Run("-r", "1", "--keep", "16s", folder=f"on{sig}") as r:
            patiently(lambda: len(segments(f"on{sig}")) >= 5, "segments")
            os.killpg(r.run.pid, sig)
            said = r.wait()
            same(r.run.returncode, -sig, said)
            assert "of 4 processes" in said, said
            judge(r, f"on{sig}")


@test
def a_killed_keeper_costs_its_process_alone():
    with Run("-r", "1", "--keep", "16s") as r:
        keepers = patiently(lambda: (c := children(r.keepers)) and len(c) == 3 and c, "a keeper for each")
        patiently(lambda: len(segments()) >= 4, "segments")
        end(keepers[0])
        n = len(segments())
        patiently(lambda: len(segments()) > n + 3, "more segments")
        said = r.end()
        assert "1 process that wrote segments was killed" in said, said
        same([is_whole(*worker) for worker in zip(r.workers(), r.counts())].count(True), 2, "recordings that are whole")
        same(spools(), [], "what is left over")


@test
def without_the_process_that_looks_for_children_keepers_go_on():
    with Run("-r", "1", "--keep", "16s") as r:
        patiently(lambda: len(segments()) >= 4, "segments")
        end(r.keepers)
        n = len(segments())
        patiently(lambda: len(segments()) > n + 3, "more segments")
        said = r.end()
        assert "those that began after that are missing" in said and "recorded into" in said, said
        patiently(lambda: not spools(), "the keepers end")
        judge(r)


@test
def what_others_write_is_not_removed():
    """A segment that is old goes, unless its lock says that it is being written."""
    os.mkdir("d")
    names = [f"d/20200101T000000Z-other.{pid}-000000.ctf" for pid in (1, 2)]
    for name in names:
        pathlib.Path(name).write_bytes(b"a segment")
        os.utime(name, (0, 0))
    with open(names[1], "r+b") as written:
        fcntl.fcntl(written, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        with Run("-r", "1", "--keep", "2s") as r:
            patiently(lambda: not os.path.exists(names[0]), "the old segment goes")
            r.end()
        assert os.path.exists(names[1]), "what is being written went"


@test
def another_program_in_a_child_is_another_recording():
    with Run("-r", "1", "--keep", "16s",
             before=("sh", "-c", '(exec sh -c \'exec "$0" "$@"\' "$0" "$@"); exit $?', )) as r:
        patiently(lambda: len(segments()) >= 6, "segments")
        said = r.end()
        assert "recorded into" in said, said
        judge(r)


@test
def what_other_threads_did_when_one_became_another_program_is_there():
    for program in "true", "sleep 1":  # before the keeper has seen that it is another program, and after
        shutil.rmtree("d", ignore_errors=True)
        pathlib.Path("counts").write_bytes(bytes(4096))
        done = allotrace("run", "-r", "1", "--keep", "16s", "-o", "d/%p", "--", "sh", "-c", '"$@"; exit $?', "sh",
                         THREADS, "counts", "1", "0", "/bin/sh", "-c", program)
        same(done.returncode, 0, done.stderr)
        counts = pathlib.Path("counts").read_bytes()
        born, died = (sum(struct.unpack_from("Q", counts, 16 * t + at)[0] for t in range(3)) for at in (0, 8))
        got = events(name for name in segments() if os.path.basename(THREADS) in name)
        assert born <= got[0] <= born + 3 and died <= got[1] <= died + 3, (born, died, got)
        same(spools(), [], "what is left over")


@test
def workers_that_close_their_files_are_recorded():
    with Run("-r", "1", "--keep", "16s", more=("close",)) as r:
        patiently(lambda: min(born for born, _ in r.counts()) > 5000, "some allocations")
        said = r.end(signal.SIGKILL)
        assert "of 4 processes" in said and "ended" not in said, said
        judge(r)


def shared_memory(pid):
    """What the run shares with its programs: in use, and how much it would be had nothing been given back."""
    for entry in os.scandir(f"/proc/{pid}/fd"):
        if "memfd:allotrace" in os.readlink(entry.path):
            with open(entry.path, "rb") as file:
                return os.stat(entry.path).st_blocks * 512, struct.unpack("QQQ", file.read(24))[2]
    raise AssertionError("no shared memory")


@test
def the_memory_of_those_that_ended_is_given_back():
    pathlib.Path("counts").write_bytes(bytes(4096))
    with subprocess.Popen([ALLOTRACE, "run", "-q", "-r", "1", "--keep", "1h", "-o", "d/%p", "--", "sh", "-c",
                           '"$0" counts 0 200 20; touch done; read line', TARGET],
                          env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        patiently(lambda: os.path.exists("done"), "all have ended")
        patiently(lambda: os.path.exists("d") and len(spools()) <= 1, "all are kept")
        patiently(lambda: shared_memory(run.pid)[0] < 1 << 20, "the memory is given back")
        assert shared_memory(run.pid)[1] > 200 * (64 << 10), shared_memory(run.pid)
        said = run.communicate("\n", timeout=60)[1]
        same(run.returncode, 0, said)


@test
def short_lives_are_kept():
    """Each is a segment; below one sample, a child leaves nothing."""
    pathlib.Path("counts").write_bytes(bytes(4096))
    for rate, blocks, least, most in ("1", "20", 301, 301), ("1e-4", "8", 100, 298):
        done = allotrace("run", "-r", rate, "--keep", "1h", "-o", f"at{rate}/%p", "--", TARGET, "counts", "0", "300", blocks)
        same(done.returncode, 0, done.stderr)
        n = len(segments(f"at{rate}"))
        assert least <= n <= most, (rate, n, done.stderr)
        assert f"{n} segments of {n} processes" in done.stderr, done.stderr
        same(spools(f"at{rate}"), [], "what is left over")
        total = json.loads(ask("hotspots", "--json", "--filter", f"size:{SIZE}..{SIZE + 8}", f"at{rate}"))["total"]
        want = (300 * int(blocks) + 1) * (SIZE + 8)
        if rate == "1":
            same(total["value"], want, "bytes")
        assert abs(total["value"] - want) <= 6 * (total["high"] - total["low"]) / 4, (total, want)


@test
def more_processes_than_keepers_are_kept_in_turn():
    """And many recordings are read where few files may be open."""
    with Run("-r", "1", "--keep", "1h", workers=140, mode=("1", "100000")) as r:
        patiently(lambda: len([c for c in children(r.keepers) if name_of(c)]) == 128, "as many keepers as there may be")
        said = r.end()
        assert "141 segments of 141 processes" in said, said
        judge(r)
    limited = ["sh", "-c", 'ulimit -Sn 100; exec "$0" info d', ALLOTRACE]
    done = subprocess.run(limited, capture_output=True, text=True, env=ENVIRONMENT)
    same(done.returncode, 0, done.stderr)


@test
def programs_that_leave_nothing_are_counted():
    done = allotrace("run", "-r", "1e-9", "--keep", "1h", "-o", "d/%p", "--", "sh", "-c", "/bin/true; /bin/true; exit")
    assert "2 more programs had no samples" in done.stderr and "1 segment of 1 process" in done.stderr, done.stderr


def taken(folder="d"):
    """Bytes of the folder on the disk. Files go while we look."""
    sizes = 0
    for entry in os.scandir(folder):
        try:
            sizes += entry.stat().st_blocks * 512
        except FileNotFoundError:
            pass
    return sizes


@test
def twenty_busy_processes_take_no_more_than_they_may():
    most = 64 << 20
    with Run("-r", "1", "--max-size", "64M", workers=20, mode=("100", "5000")) as r:
        patiently(lambda: len(segments()) > 20, "a segment of each")
        first = segments()
        for _ in range(600):
            assert taken() <= most, (taken(), segments())
            time.sleep(0.01)
        patiently(lambda: len(set(first) - set(segments())) > 10, "the first segments go")
        said = r.end()
        assert taken() <= most, taken()
        if "recording has ended" not in said:  # keepers have kept up
            judge_live(r)


@test
def two_runs_share_a_folder():
    """Neither takes the other's spools, nor removes what it writes."""
    with Run("-r", "1", "--max-size", "64M", workers=2, mode=("100", "2000")) as one:
        with Run("-r", "1", "--max-size", "64M", workers=2, mode=("100", "2000")) as two:
            for r in one, two:
                patiently(lambda: sum(born for born, _ in r.counts()) > 300000, "some allocations")
            assert taken() <= 64 << 20, taken()
            two.end()
        one.end()
        for r in one, two:
            judge_live(r)


def pushed(r):
    """What receivers know of each process: bytes that were allocated, and that live."""
    profiles = [wire.otlp(body) for _, _, body in list(r.got)]
    found = {}
    for p in profiles:
        born, live = (sum(v for stack, v in p["samples"].get(kind, {}).items() if stack[0] == "work")
                      for kind in ("alloc_space", "inuse_space"))
        pid = int(p["attributes"]["process.pid"])
        found[pid] = found.get(pid, (0, 0))[0] + born, live
    return found


def judge_pushed(r, run):
    """All of each worker, as it has counted it, or one more of what it was at."""
    found = pushed(r)
    for w, (pid, (born, died)) in enumerate(zip(run.workers(), run.counts())):
        got, live = (n / (SIZE + 8 * w + 8) for n in found[pid])
        assert born <= got <= born + 1 and born - died - 1 <= live <= born - died + 1, (got, live, born, died)


def all_are_pushed(r, run):
    """Something of each worker has arrived; of the first process, too, or not yet."""
    return set(run.workers()) <= set(pushed(r))


def push_to(r):
    return "--push", r.url, "--every", "300ms"


@test
def killed_workers_are_pushed_to_their_ends():
    r = make.Receiver()
    with Run("-r", "1", "--keep", "16s", *push_to(r)) as run:
        patiently(lambda: all_are_pushed(r, run) and len(segments()) >= 9, "all are pushed")
        said = run.end(signal.SIGKILL)
        assert "warning" not in said and "pushed " in said, said
        judge(run)
        judge_pushed(r, run)


@test
def a_killed_keeper_ends_no_pushing():
    """What is recorded until the run ends is pushed; what was not written then, is not."""
    r = make.Receiver()
    with Run("-r", "1", "--keep", "1h", *push_to(r), mode=("20", "20000")) as run:
        keepers = patiently(lambda: (c := children(run.keepers)) and len(c) == 3 and c, "a keeper for each")
        patiently(lambda: all_are_pushed(r, run), "all are pushed")
        end(keepers[0])
        before = pushed(r)
        patiently(lambda: all(pushed(r)[pid][0] > before[pid][0] for pid in run.workers()), "all are pushed further")
        said = run.end()
        assert "1 process that wrote segments was killed" in said, said
        found = pushed(r)
        for w, (pid, (born, _)) in enumerate(zip(run.workers(), run.counts())):
            assert 0.5 * born <= found[pid][0] / (SIZE + 8 * w + 8) <= born + 1, (found[pid], born)


@test
def without_run_nobody_waits_for_a_receiver():
    """Keepers see that nobody pushes any more, and free what they have read."""
    r = make.Receiver()
    r.behave = lambda n: make.slow
    with Run("-r", "1", "--keep", "16s", "--max-size", "64M", *push_to(r)) as run:
        patiently(lambda: len(segments()) >= 4, "segments")
        end(run.run.pid)
        n = len(segments())
        patiently(lambda: len(segments()) > n + 6, "more segments")
        patiently(lambda: all(os.stat(f"d/{name}").st_blocks * 512 < 1 << 20 for name in spools()), "spools are freed")
        for pid in run.workers():
            end(pid)
        run.await_end()
        judge(run)


@test
def workers_that_outlive_the_run_are_pushed_until_then():
    r = make.Receiver()
    with Run("-r", "1", "--keep", "16s", *push_to(r), more=("leave",)) as run:
        said = run.wait()
        assert "3 processes of this run are still recording" in said, said
        found, n = pushed(r), len(segments())
        patiently(lambda: len(segments()) > n + 3, "more segments")
        assert set(run.workers()) <= set(found) and all(found[pid][0] > 0 for pid in run.workers()), found
        same(pushed(r), found, "what is pushed later")
        for pid in run.workers():
            end(pid, signal.SIGTERM)
        run.await_end()
        judge(run)


@test
def a_receiver_that_hangs_costs_a_ring_no_room():
    """What it lacks is said once, whoever it is missing of; the ring is as without."""
    r = make.Receiver()
    r.behave = lambda n: make.slow
    with Run("-r", "1", "--max-size", "64M", *push_to(r), workers=6, mode=("100", "2000")) as run:
        patiently(lambda: sum(born for born, _ in run.counts()) > 10000, "some allocations")
        first = segments()
        for _ in range(300):
            assert taken() <= 64 << 20, (taken(), segments())
            time.sleep(0.01)
        patiently(lambda: set(first) - set(segments()), "the first segments go")
        said = run.end()
        assert taken() <= 64 << 20, taken()
        same(said.count("receivers were too slow"), 1, said)
        same(said.count("nothing was pushed to"), 1, said)
        if "recording has ended" not in said:
            judge_live(run)


def rates_of(traces):
    return [info["rate"] for trace in traces for info in json.loads(ask("info", "--json", trace))]


def judge_estimate(row, want, what):
    """The interval is two standard errors to each side; six are allowed."""
    assert abs(row["value"] - want) <= 6 * (row["high"] - row["low"]) / 4, (what, row, want)


@test
def one_rate_follows_what_all_processes_cost():
    """It falls for all, and what is recorded stands for as much as there was: of each, of all, and where it is pushed."""
    r = make.Receiver()
    with Run("-r", "5e-3", "--keep", "600s", "--overhead", "0.1%", *push_to(r), mode=("100", "2000")) as run:
        patiently(lambda: all(len(of_process(pid)) >= 2 for pid in run.workers()), "the rate has fallen")
        patiently(lambda: sum(born for born, _ in run.counts()) > 200000, "some more allocations")
        said = run.end(signal.SIGKILL)
        size, sums = f"size:{SIZE}..{SIZE + 8 * 3}", []
        least = min(rates_of(segments()))
        for w, (pid, (born, died)) in enumerate(zip(run.workers(), run.counts())):
            rates, each = rates_of(of_process(pid)), SIZE + 8 * w + 8
            assert min(rates) < rates[0] == 5e-3, (rates, said)
            assert all(abs(5e-3 / rate - round(5e-3 / rate)) < 1e-9 for rate in rates), rates
            sums.append(born * each)
            judge_estimate(json.loads(ask("hotspots", "--json", "--filter", size, *of_process(pid)))["total"], sums[-1], pid)
            left = json.loads(ask("hotspots", "--json", "--measure", "survived", "--filter", size, of_process(pid)[-1]))["total"]
            assert left["low"] / 3 <= (born - died) * each <= left["high"] * 3, (left, born - died, rates)
            got = pushed(r)[pid][0]
            assert abs(got / sums[-1] - 1) <= 6 / (sums[-1] / 8 * least) ** 0.5, (got, sums[-1], rates)
        judge_estimate(json.loads(ask("hotspots", "--json", "--filter", size, "d"))["total"], sum(sums), "all")


@test
def workers_that_change_user_have_the_rate_of_the_others():
    """They share the memory in which it is, though they could not open it."""
    if os.geteuid() != 0:
        raise tap.Skip("it takes root to change user")
    os.chmod(".", 0o711)
    os.mkdir("d")
    os.chmod("d", 0o1777)
    with Run("-r", "5e-3", "--keep", "600s", "--overhead", "0.1%", mode=("100", "2000"), more=("user",)) as run:
        patiently(lambda: all(len(of_process(pid)) >= 2 for pid in run.workers()), "the rate has fallen")
        run.end()
        for pid in run.workers():
            assert min(rates_of(of_process(pid))) < 5e-3, rates_of(of_process(pid))


@test
def without_a_ring_workers_that_may_not_write_are_told_of():
    """Once at the end, as the standard error of a server may be anywhere."""
    if os.geteuid() != 0:
        raise tap.Skip("it takes root to change user")
    pathlib.Path("counts").write_bytes(bytes(4096))
    os.chmod(".", 0o711)
    for rate in "1", "1e-3":
        with subprocess.Popen([ALLOTRACE, "run", "-r", rate, "-o", "x.%p.ctf", "--", TARGET, "counts", "2", "20", "2000", "user"],
                              env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
            patiently(lambda: min(struct.unpack_from("QQQQQ", pathlib.Path("counts").read_bytes())[1::3]) > 300, "the workers count")
            os.killpg(run.pid, signal.SIGTERM)
            said = run.communicate(timeout=60)[1]
        assert "2 processes could not be recorded" in said and said.count("before the next run: chmod 1777 .") == 1, said
        pathlib.Path("counts").write_bytes(bytes(4096))


@test
def short_lives_have_the_rate_of_the_others():
    """Each begins at the rate that was found for all, and they count as much as those that last."""
    pathlib.Path("counts").write_bytes(bytes(4096))
    done = allotrace("run", "-r", "5e-3", "--keep", "1h", "--overhead", "0.1%", "-o", "d/%p", "--", TARGET, "counts", "0",
                     "1000", "10000")
    same(done.returncode, 0, done.stderr)
    rates = rates_of(segments())
    assert rates[0] == 5e-3 and min(rates) < 5e-3 and rates.count(5e-3) < len(rates) * 0.9, (rates, done.stderr)
    total = json.loads(ask("hotspots", "--json", "--filter", f"size:{SIZE}..{SIZE + 8}", "d"))["total"]
    judge_estimate(total, (1000 * 10000 + 1) * (SIZE + 8), rates)


@test
def without_it_the_first_process_alone_is_recorded():
    pathlib.Path("counts").write_bytes(bytes(4096))
    done = allotrace("run", "-r", "1", "--keep", "1h", "-o", "d", "--", TARGET, "counts", "0", "3", "20")
    same(done.returncode, 0, done.stderr)
    same(len(segments()), 1, "segments")
    assert "1 segment, " in done.stderr, done.stderr


@test
def that_the_folder_is_gone_is_said_once():
    pathlib.Path("counts").write_bytes(bytes(4096))
    done = allotrace("run", "-r", "1", "--keep", "1h", "-o", "d/%p", "--", "sh", "-c",
                     f"rm -r d; '{TARGET}' counts 0 9 20; : > d; '{TARGET}' counts 0 9 20; :")
    same(done.returncode, 0, done.stderr)
    same(done.stderr.count("nothing is recorded of"), 2, done.stderr)
    for why in "No such file or directory", "Not a directory":
        assert f"(said of the first such process): {why}\n" in done.stderr, done.stderr


@test
def what_cannot_be_is_refused():
    for words, what in [
            (("--keep", "1h", "-o", "%p"), "%p only as its last part, as in `-o server.ring/%p`"),
            (("--keep", "1h", "-o", "x.%p.ring"), "%p only as its last part"),
            (("--keep", "1h", "-o", "x.%p/%p"), "%p only as its last part"),
            (("--keep", "1h", "-o", "x/a%p"), "%p only as its last part"),
            (("--keep", "1h", "--overhead", "1%", "-r", "0.1", "-o", "x/%p"), "--overhead requires a --rate below"),
            (("--max-size", "32M", "-o", "x/%p"), "--max-size must be at least 64M")]:
        done = allotrace("run", *words, "--", "true")
        same(done.returncode, 2, done.stderr)
        assert what in done.stderr, done.stderr
        same(os.listdir("."), [], "what is left over")
    done = allotrace("run", "--keep", "1h", "-o", "d/%p", "--", "./no-such-program")
    same(done.returncode, 127, done.stderr)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[5:]))
