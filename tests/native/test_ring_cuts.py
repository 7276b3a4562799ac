#!/usr/bin/python3
"""Segments of a ring, each alone, against all that the recorder wrote. Prints TAP.

    test_ring_cuts.py ALLOTRACE LIBRARY TARGET [PATTERN…]

The recorder writes one trace, the spool, from which the segments are made. It is copied while it grows, before
its bytes are freed, and read without anything that knows of segments: by a decoder of its own. The segments
are linked elsewhere before they are trimmed.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode
import tap
from rings import ALLOTRACE, ENVIRONMENT, allotrace, ask, children, patiently, read
from tap import same, test

TARGET = os.path.abspath(sys.argv[3])
REST, NEVER = "5000", 1 << 62
GOES_ON = "the recording continues in the next segment"


class Blocks:
    """What a trace says of blocks, by their ids in the recording: when they came to be and died, µs since the epoch,
    and which of them were carried over. `size` is each one's."""

    def __init__(self, data):
        decoder = decode.Decoder(data)
        decoder.read_info()
        self.start, self.pid = decoder.head.begin, decoder.head.pid
        self.born, self.died, self.size, self.carried, told, ids = {}, {}, {}, set(), {}, {}
        deaths = []
        for domain, stack, (kind, when, block, *rest) in decoder.events():
            when += self.start
            if kind == "collect":
                deaths.append((block, when))
            elif kind == "alloc":
                length, samples = rest[:2]
                if samples == 0:
                    if decoder.frame_text(stack[-1]).startswith("block@<segment>"):
                        told[domain] = length
                    continue
                ids[block] = told.pop(domain, block)
                if ids[block] != block:
                    self.carried.add(ids[block])
                self.born[ids[block]] = when
                self.size[ids[block]] = length
        for block, when in deaths:
            if block in ids:
                self.died[ids[block]] = when

    def moments(self, start, end):
        """What is live at `start`; what comes to be, and what dies, later than that and up to `end`, and when."""
        live = {b for b, born in self.born.items() if born <= start < self.died.get(b, start + 1)}
        born = {b: born for b, born in self.born.items() if start < born <= end}
        died = {b: died for b, died in self.died.items() if start < died <= end}
        return live, born, died


def is_keeper(file):
    """Whether another process still keeps the spool."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(file, fcntl.LOCK_UN)
        return False
    except (BlockingIOError, ValueError):
        return not file.closed


class Ring:
    """The target under `run --keep`, for a while. All that keepers read and write is copied, or linked, meanwhile."""

    def __init__(self, *options, output="d", arguments=(REST,)):
        self.spools, self.ended, self.is_late = {}, False, False
        os.mkdir("kept")
        self.run = subprocess.Popen([ALLOTRACE, "run", "-o", output, *options, "--", TARGET, *arguments], env=ENVIRONMENT,
                                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)

    def tell(self, how):
        """All processes of the target."""
        for path in pathlib.Path("/proc").glob("[0-9]*/exe"):
            try:
                if os.readlink(path) == TARGET and os.getsid(int(path.parent.name)) == self.run.pid:
                    os.kill(int(path.parent.name), how)
            except OSError:
                pass

    def keeper(self):
        """None if there is none yet."""
        return next((c for c in children(self.run.pid) if read(f"/proc/{c}/comm").strip() == "run-keeper"), None)

    def is_kept(self):
        return any(is_keeper(file) for file, _ in list(self.spools.values()))

    def end(self, how):
        """Ends these, and waits for keepers, which are of other sessions."""
        try:
            self.tell(how)
            if not self.run.stderr.closed:
                self.said = self.run.communicate()[1]
            patiently(lambda: not self.is_kept(), "keepers end")
        finally:
            self.ended = True
            self.watcher.join()

    def watch(self):
        """The spool is freed behind what was read, but for its end; and it is open here when its name is gone."""
        while not self.ended:
            with contextlib.suppress(FileNotFoundError):  # the folder goes in one of the tests
                self.look()
            time.sleep(0.02)
        self.look()

    def look(self):
        for path in pathlib.Path("d").glob(".*.spool*"):
            try:
                inode = path.stat().st_ino
                if inode not in self.spools:
                    self.spools[inode] = open(path, "rb"), bytearray()
            except FileNotFoundError:
                continue
        for file, data in self.spools.values():
            at = len(data)
            data += os.pread(file.fileno(), max(os.fstat(file.fileno()).st_size - at, 0), at)
            if len(data) > at and os.lseek(file.fileno(), at, os.SEEK_DATA) != at:
                self.is_late = True
        for path in pathlib.Path("d").glob("*.ctf"):
            try:
                if not os.path.exists(f"kept/{path.name}"):
                    os.link(path, f"kept/{path.name}")
            except FileNotFoundError:
                pass

    def recordings(self):
        """Of each: all blocks, and its segments in order."""
        if self.is_late:
            raise tap.Skip("this machine is too busy to copy what is recorded before it is freed")
        for file, data in self.spools.values():
            file.close()
            truth = Blocks(bytes(data))
            yield truth, sorted(pathlib.Path("kept").glob(f"*.{truth.pid}-*.ctf"))


def judge(truth, paths):
    """Each segment whose cut is said to be at one time holds just what belongs to it. Gives how many are, of how many."""
    all_data = [path.read_bytes() for path in paths]
    segments = [Blocks(data) for data in all_data]
    at_time = [GOES_ON.encode() in data for data in all_data]
    at_time[-1] = True  # it has all that is left
    for i, segment in enumerate(segments):
        is_last = i == len(segments) - 1
        live, born, died = truth.moments(segment.start, NEVER if is_last else segments[i + 1].start)
        new = {block: when for block, when in segment.born.items() if block not in segment.carried}
        for is_right, what, got, want in ((at_time[i] and (i == 0 or at_time[i - 1]), "comes to be", new, born),
                                          (at_time[i] and (i == 0 or at_time[i - 1]), "dies", segment.died, died),
                                          (i > 0 and at_time[i - 1], "is live at first", segment.carried, live)):
            assert not is_right or got == want, (paths[i].name, what, len(got), len(want),
                                                 list(set(got) ^ set(want))[:5])
        assert all(truth.size[block] == size for block, size in segment.size.items()), "sizes"
    return sum(at_time[:-1]), len(segments) - 1


def judge_all(ring, least):
    recordings = list(ring.recordings())
    for symbolized in False, True:
        got = [judge(truth, paths) for truth, paths in recordings]
        n_at_time, n = map(sum, zip(*got))
        assert n_at_time >= least and n_at_time >= 0.9 * n, got
        assert all(len(truth.born) > 100 for truth, _ in recordings)
        if not symbolized:
            said = allotrace("symbolize", "kept")
            same(said.returncode, 0, said)
    return [paths for _, paths in recordings]


def judge_warnings(paths):
    """Of windows that end at a segment which is not right alone, and of no others. How many are not."""
    n_wrong = 0
    for i, path in enumerate(paths[:-1]):
        is_wrong = GOES_ON.encode() not in path.read_bytes()
        n_wrong += is_wrong
        for window in [path], paths[max(i - 1, 0):i + 1]:
            said = allotrace("peak", *window).stderr
            same("the recording continues after this segment" in said, is_wrong, said)
    return n_wrong


@test
def full_segments_are_right_alone():
    with Ring("-r", "1", "--max-size", "4M", arguments=("1000",)) as ring:
        patiently(lambda: len(os.listdir("kept")) >= 25, "segments")
        ring.end(signal.SIGTERM)
        for paths in judge_all(ring, 20):
            judge_warnings(paths)


@test
def a_lower_rate_does_not_wait_for_that_which_is_said():
    """Where the rate falls when a segment is full anyway, that is right alone: then it is tried again."""
    n_wrong, tries = 0, 0
    while n_wrong == 0 and tries < 5:
        tries += 1
        for folder in "d", "kept":
            shutil.rmtree(folder, ignore_errors=True)
        with Ring("-r", "5e-3", "--keep", "8s", "--overhead", "0.01%", arguments=("100",)) as ring:
            patiently(lambda: len(os.listdir("kept")) >= 6, "segments")
            ring.end(signal.SIGTERM)
            n_wrong = sum(judge_warnings(paths) for _, paths in ring.recordings())
    assert n_wrong > 0, tries


@test
def old_segments_are_right_alone():
    with Ring("-r", "0.05", "--keep", "3s") as ring:
        patiently(lambda: len(os.listdir("kept")) >= 20, "segments")
        ring.end(signal.SIGTERM)
        judge_all(ring, 15)


@test
def those_of_child_processes_are_too():
    with Ring("-r", "0.1", "--keep", "6s", output="d/%p", arguments=(REST, "3")) as ring:
        patiently(lambda: len(os.listdir("kept")) >= 30, "segments")
        ring.end(signal.SIGTERM)
        same(len(judge_all(ring, 20)), 4, "processes")


@test
def a_program_that_rests_has_its_cut_and_loses_nothing():
    """Its threads are stopped at any moment, and have events that are in no packet yet."""
    with Ring("-r", "1", "--keep", "4s") as ring:
        for _ in range(8):
            time.sleep(random.uniform(0.2, 0.6))
            ring.tell(signal.SIGSTOP)
            time.sleep(random.uniform(0.2, 1.5))
            ring.tell(signal.SIGCONT)
        patiently(lambda: len(os.listdir("kept")) >= 6, "segments")
        ring.end(signal.SIGKILL)
        judge_all(ring, 4)


@test
def what_cannot_be_written_is_not_said_to_be_there():
    with Ring("-r", "1", "--keep", "1h", "--no-symbolize", arguments=("200",)) as ring:
        keeper = patiently(ring.keeper, "a keeper")
        resource.prlimit(keeper, resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
        patiently(lambda: os.listdir("kept"), "a segment")
        patiently(lambda: not ring.is_kept(), "the file is full")
        ring.end(signal.SIGTERM)
        assert "File too large; the recording ends" in ring.said and "wrote the segments" not in ring.said, ring.said
        same([name for name in os.listdir("d") if name.startswith(".")], [], "what is left over")
        [(truth, [path])] = ring.recordings()
        end = json.loads(ask("info", "--json", path))[0]["ends_early"]
        assert end["reason"] == "the segments cannot be written: File too large" and end["lost_allocations"] > 0, end
        there = {int(line.split()[1]) for line in ask("dump", path).splitlines() if " alloc_ext " in line}
        assert there - set(truth.born) != there and set(truth.born) - there
        same([b for b, born in truth.born.items() if born - truth.start < end["time"] and b not in there], [], end)


@test
def without_a_next_segment_the_last_one_says_that_it_is():
    with Ring("-r", "1", "--keep", "4s", "--no-symbolize") as ring:
        patiently(lambda: len(os.listdir("kept")) >= 2, "segments")
        os.rename("d", "away")
        patiently(lambda: not ring.is_kept(), "no next segment can be made")
        ring.end(signal.SIGTERM)
        assert "No such file or directory; the recording ends" in ring.said, ring.said
        [(truth, paths)] = ring.recordings()
        last = Blocks(paths[-1].read_bytes())
        end = json.loads(ask("info", "--json", "away"))[0]["ends_early"]
        same(end["reason"], "the segments cannot be written", end)
        until = min(truth.start + end["time"], max(truth.born.values()))
        live, born, _ = truth.moments(last.start, until)
        same((live | set(born)) - set(last.born), set(), end)


@test
def nothing_is_said_where_threads_cannot_be_made_to_see():
    with Ring("-r", "1", "--max-size", "4M", arguments=(REST, "0", "sandbox")) as ring:
        patiently(lambda: len(os.listdir("kept")) >= 2, "segments")
        ring.end(signal.SIGTERM)
        [(_, data)] = ring.spools.values()
        assert len(data) > 1 << 16 and b"left\0" not in data, len(data)
        list(ring.recordings())


sys.exit(tap.main(sys.argv[4:]))
