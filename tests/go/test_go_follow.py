#!/usr/bin/python3
"""Follows the heaps of Go programs while they run, and compares what arrives with Go's own profile of the same moment.
Prints TAP.

    test_go_follow.py ALLOTRACE [TEST...]

Each test runs with each Go that is found: see golang.py.
"""
import contextlib
import fcntl
import gzip
import http.client
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in ("", "push", "view"))]
import golang  # noqa: E402
import receiver as make  # noqa: E402
import wire  # noqa: E402
from recording import ENVIRONMENT, patiently, run  # noqa: E402
from tap import same, test  # noqa: E402
from viewer import Viewer  # noqa: E402

ALLOTRACE = os.path.abspath(sys.argv[1])
GOS_OWN = 512 * 1024  # bytes between two samples, where nobody says otherwise
LABELS = ("bytes", "heap", "type", "size class", "lifetime class", "thread", "scope")


def build_rounds(go, c=False):
    """With C, or without."""
    if not c:
        return go.build("rounds")
    shutil.copy(HERE / "rounds.go", ".")
    pathlib.Path("c.go").write_text("package main\n\nimport \"C\"\n")
    go.call("build", "-o", "rounds", "rounds.go", "c.go", c="1")


class Rounds:
    """The program, by itself or under a command; it does a round each time that it is told to."""

    def __init__(self, go, rate, *under, c=False):
        build_rounds(go, c)
        words = [*map(str, under), "./rounds", "own.pb.gz", str(rate)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
        self.await_ready()

    def await_ready(self):
        same(self.process.stdout.readline(), b"ready\n", "what it says")

    def tell(self, byte):
        self.process.stdin.write(byte)
        self.process.stdin.flush()

    def rounds(self, n, pause=0.0):
        for _ in range(n):
            self.tell(b".")
            self.await_ready()
            time.sleep(pause)

    def end(self):
        """Its status, and what it and the command said."""
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        return self.process.wait(60), said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stderr.close()
        self.process.wait(60)


FUNCTIONS = "main.short", "main.long"


def sums(profiles, kind):
    return {f: sum(v for p in profiles for stack, v in p["samples"].get(kind, {}).items() if stack[0] == f) for f in FUNCTIONS}


def own():
    return wire.pprof(gzip.decompress(pathlib.Path("own.pb.gz").read_bytes()), labels=LABELS)


def exported(*words):
    done = subprocess.run([ALLOTRACE, "export", "--to", "pprof", *map(str, words)], env=ENVIRONMENT, capture_output=True, timeout=60)
    return wire.pprof(gzip.decompress(done.stdout), labels=LABELS) if done.returncode == 0 else None


def received(r):
    return [wire.otlp(body) for _, _, body in r.got]


def same_sums(profiles, last, wanted, rate, what):
    """Exactly, or to the sample that each stack may be rounded by."""
    for kind, among in ("alloc_space", profiles), ("inuse_space", last):
        got, expected = sums(among, kind), sums([wanted], kind)
        least = 0 if rate == 1 else rate
        assert all(abs(got[f] - expected[f]) <= least for f in FUNCTIONS), f"{kind} of {what}: {got}, not {expected}"
        if rate == 1:
            assert expected["main.long"] > 0, expected


# ---- receivers


def of_go(profiles):
    return [p for p in profiles if p["attributes"].get("process.runtime.name") == "go"]


def pushed(go, rate, *words, crash=False):
    r = make.Receiver()
    more = ["--rate", "1"] if rate == 1 and go.minor >= 20 else []
    with Rounds(go, rate, ALLOTRACE, "run", *more, "--push", r.url, "--every", "100ms", *words) as program:
        patiently(lambda: program.rounds(1, 0.1) or len(of_go(received(r))) > 2, "it is pushed")
        program.rounds(1)
        if crash:
            program.tell(b"x")
        status, said = program.end()
    same(status, 2 if crash else 0, said)
    return r, said


@test
def what_is_pushed_sums_up_to_gos_own_profile(go):
    for rate in 1, GOS_OWN:
        r, said = pushed(go, rate, "-o", "t.ctf", "--")
        profiles = received(r)
        assert "warning" not in said, said
        same_sums(profiles, profiles[-1:], own(), rate, f"what is pushed, every {rate} bytes")
        same({p["attributes"].get("process.runtime.name") for p in profiles}, {"go"})
        same_sums([exported("t.ctf")], [exported("--measure", "live", "t.ctf")], own(), rate, "the trace")


@test
def what_comes_last_is_pushed_though_the_program_crashes(go):
    r, _ = pushed(go, 1, "-q", "-o", "t.ctf", "--", crash=True)
    profiles = received(r)
    same_sums(profiles, profiles[-1:], own(), 1, "a crash")


@test
def children_are_pushed(go):
    for words in ["-q", "-o", "t.%p.ctf", "--"], ["-q", "-o", "t.%p.ctf", "--", "sh", "-c", "\"$@\"; exit 0", "sh"]:
        r, _ = pushed(go, 1, *words)
        profiles = of_go(received(r))
        same_sums(profiles, profiles[-1:], own(), 1, words)


@test
def both_halves_are_pushed(go):
    go.build("mixed", c="1")
    for path in "t.ctf", "t.%p.ctf":
        r = make.Receiver()
        done = run([ALLOTRACE, "run", "-q", "--rate", "1e-3", "--push", r.url, "--every", "100ms", "-o", path, "--", "./mixed"])
        same(done[:2], (0, "ready\n"), done.err)
        for name, function in ("go", "main.main"), (None, "take"):
            half = [p for p in received(r) if p["attributes"].get("process.runtime.name") == name]
            total = sum(v for p in half for stack, v in p["samples"].get("alloc_space", {}).items() if stack[0] == function)
            least = 28 if name is None or go.minor >= 20 else 14 # of 32 MiB; at Go's own rate, a block counts as 1.2 MiB or not
            assert total >= least << 20, f"{name} of {path}: {total}"


# ---- a process that runs


@contextlib.contextmanager
def attached(pid, *options):
    process = subprocess.Popen([ALLOTRACE, "attach", *map(str, options), str(pid)], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        begun = process.stderr.readline()
        if "is a Go program with C" in begun:
            begun = process.stderr.readline()
        assert f"recording process {pid}, a Go program" in begun, begun + process.stderr.read()
        yield process
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        same(process.wait(60), 0, said)
        same("warning" in said, False, said)
    finally:
        process.kill()
        process.wait()


def since(before, after):
    """What Go's own profile says of the time between: live is live, and what was allocated."""
    allocated = {(f,): v - sums([before], "alloc_space")[f] for f, v in sums([after], "alloc_space").items()}
    return {"samples": {"alloc_space": allocated, "inuse_space": after["samples"]["inuse_space"]}}


@test
def an_attached_process_is_pushed_from_then_on(go):
    for rate in 1, GOS_OWN:
        with Rounds(go, rate) as program:
            program.rounds(2)
            before, r = own(), make.Receiver()
            with attached(program.process.pid, "-o", "t.ctf", "--push", r.url, "--every", "100ms"):
                patiently(lambda: pathlib.Path("t.ctf").exists() and pathlib.Path("t.ctf").stat().st_size, "the first reading")
                program.rounds(3, 0.2)
                about = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
                assert "TracerPid:\t0\n" in about, "it is traced"
            after = own()
            profiles = received(r)
            wanted = since(before, after)
            for f, v in sums([before], "inuse_space").items():
                wanted["samples"]["alloc_space"][(f,)] += v  # what lived then
            same_sums(profiles, profiles[-1:], wanted, 2 * rate if rate > 1 else 1, f"attached, every {rate} bytes")
            pathlib.Path("t.ctf").unlink()


# ---- damaged memory


class Memory:
    """That of the program, whose profile is changed in it."""

    def __init__(self, pid):
        self.file = open(f"/proc/{pid}/mem", "r+b", buffering=0)
        symbols = run(["nm", "rounds"]).out.split("\n")
        self.head = next(int(line.split()[0], 16) for line in symbols if line.endswith(" runtime.mbuckets"))

    def get(self, at, n=1):
        self.file.seek(at)
        return struct.unpack(f"{n}Q", self.file.read(8 * n))

    def put(self, at, *words):
        self.file.seek(at)
        self.file.write(struct.pack(f"{len(words)}Q", *words))

    def counts_of_short(self):
        """Where those are which are published."""
        at = self.get(self.head)[0]
        while True:
            _, following, _, _, size, n_frames = self.get(at, 6)
            counts = at + 48 + 8 * n_frames
            if size == 1024 and self.get(counts)[0] >= 500:
                return counts
            at = following


def attach(program, *options):
    """In bounded memory, since the program's may say anything."""
    return run(["prlimit", f"--data={256 << 20}", ALLOTRACE, "attach", "-q", *options, str(program.process.pid)])


@test
def a_profile_that_cannot_be_read_is_an_error(go):
    with Rounds(go, 1) as program:
        program.rounds(1)
        memory = Memory(program.process.pid)
        head = memory.get(memory.head)[0]
        following = memory.get(head + 8)[0]
        for where, broken, why in (
            (memory.head, 16, "is not as Go lays it out"),
            (memory.head, 0, "has nothing in it"),
            (following + 8, head, "is endless"),
        ):
            whole = memory.get(where)[0]
            memory.put(where, broken)
            for options in ("--duration", "300ms", "-o", "t.ctf"), ("--duration", "300ms", "--keep", "1min", "-o", "ring"):
                done = attach(program, *options)
                assert done.status == 1 and "nothing is recorded: its profile " + why in done.err, done
                same(pathlib.Path("t.ctf").exists(), False)
            memory.put(where, whole)


@test
def what_the_first_reading_left_out_does_not_begin_with_what_was_freed(go):
    with Rounds(go, 1) as program:
        program.rounds(2)
        before = own()
        memory = Memory(program.process.pid)
        at = memory.counts_of_short() + 16
        whole = memory.get(at)[0]
        memory.put(at, whole + 1) # as while it is changed
        with attached(program.process.pid, "-o", "t.ctf", "--push", make.Receiver().url, "--every", "100ms"):
            patiently(lambda: pathlib.Path("t.ctf").exists() and pathlib.Path("t.ctf").stat().st_size, "the first reading")
            memory.put(at, whole)
            program.rounds(5, 0.3)
        got = sums([exported("t.ctf")], "alloc_space")["main.short"]
        most = since(before, own())["samples"]["alloc_space"][("main.short",)] + sums([before], "inuse_space")["main.short"]
        assert 0 < got <= most, f"{got} of {most}"


@test
def counts_that_cannot_be_take_no_space(go):
    with Rounds(go, 1) as program:
        program.rounds(1)
        memory, n = Memory(program.process.pid), 1 << 40
        at = memory.counts_of_short()
        memory.put(at, n, 0, n * 1024, 0)
        same(attach(program, "--duration", "300ms", "-o", "t.ctf"), (0, "", ""))
        assert pathlib.Path("t.ctf").stat().st_size < 200 << 20, "the trace is too large"
        for words, kind in ([], "alloc_space"), (["--measure", "live"], "inuse_space"):
            same(sums([exported(*words, "t.ctf")], kind)["main.short"], n * 1024, kind)


# ---- segments


def segments(folder):
    return sorted(pathlib.Path(folder).glob("**/*.ctf"))


@test
def segments_have_what_was_allocated_in_them_and_begin_with_what_lives(go):
    for rate in 1, GOS_OWN:
        more = ["--rate", "1"] if rate == 1 else []
        folder = f"ring{rate}"
        with Rounds(go, rate, ALLOTRACE, "run", *more, "-o", folder, "--keep", "16s", "--") as program:
            patiently(lambda: program.rounds(1, 0.2) or len(segments(folder)) > 1, "a second segment")
            program.rounds(1, 0.5)
            same(program.end()[0], 0)
        found = segments(folder)
        same_sums([exported(folder)], [exported("--measure", "live", found[-1])], own(), rate, "segments")
        each = [exported(found[0]), *(exported("--filter", "alloc:1us..", path) for path in found[1:])] # without what they carry
        same_sums([p for p in each if p], [exported("--measure", "live", found[-1])], own(), rate, "segments, each by itself")
        same([p.name for p in pathlib.Path(folder).glob(".*")], [], "spools that are left")
        done = run([ALLOTRACE, "lifetimes", folder])
        assert done.status != 0 and "there are no times" in done.err, done


@test
def segments_of_a_program_with_c_have_its_own_heap_or_its_malloc(go):
    with Rounds(go, 1, ALLOTRACE, "run", "--rate", "1", "-o", "ring", "--keep", "1min", "--", c=True) as program:
        program.rounds(3, 0.2)
        status, said = program.end()
    same(status, 0)
    assert "./rounds is a Go program with C; Go's own heap is kept; to keep what C takes from malloc instead: --native\n" in said, said
    if go.minor >= 20:
        same_sums([exported("ring")], [exported("--measure", "live", "ring")], own(), 1, "segments")
    with Rounds(go, 1, ALLOTRACE, "run", "--native", "--rate", "1", "-o", "malloc", "--keep", "1min", "--", c=True) as program:
        program.rounds(1)
        status, said = program.end()
    same((status, "Go program" in said), (0, False), said)
    found = {s[-1] for p in segments("malloc") for s in exported(p)["samples"]["alloc_space"]}
    assert found and not any(f.startswith("main.") for f in found), found


@test
def children_have_segments(go):
    for words in [], ["sh", "-c", "\"$@\"; exit 0", "sh"]:
        with Rounds(go, 1, ALLOTRACE, "run", "-q", "--rate", "1", "-o", f"ring{len(words)}/%p", "--max-size", "64M", "--", *words) as program:
            program.rounds(3, 0.2)
            same(program.end()[0], 0)
        found = [p for p in segments(f"ring{len(words)}") if "-rounds." in p.name]
        same_sums([exported(*found)], [exported("--measure", "live", *found)], own(), 1, words)
        same([p.name for p in pathlib.Path(f"ring{len(words)}").glob(".*")], [], "spools that are left")


@test
def an_attached_process_has_segments(go):
    for c in False, True:
        shutil.rmtree("ring", ignore_errors=True)
        with Rounds(go, 1, c=c) as program:
            program.rounds(2)
            before = own()
            with attached(program.process.pid, "-o", "ring", "--keep", "1min"):
                patiently(lambda: segments("ring"), "a segment")
                time.sleep(0.5)
                program.rounds(3, 0.2)
            same_sums([exported("--filter", "alloc:1us..", "ring")], [exported("--measure", "live", "ring")], since(before, own()), 1, "attached")


@test
def an_attached_process_with_c_has_a_choice(go):
    with Rounds(go, 1, c=True) as program:
        program.rounds(1)
        pid = program.process.pid
        done = run([ALLOTRACE, "attach", "-o", "t.ctf", pid])
        note = f"allotrace: process {pid} is a Go program with C: Go's own heap is recorded; --native records what C takes from malloc instead\n"
        same((done.status, done.err.startswith(note)), (0, True), done.err)
        same_sums([exported("t.ctf")], [exported("--measure", "live", "t.ctf")], own(), 1, "the snapshot")
        done = run([ALLOTRACE, "attach", "--native", "--rate", "1", "-o", "n.ctf", pid])
        same((done.status, "Go" in done.err), (0, False), done.err)
        done = run([ALLOTRACE, "detach", pid])
        assert done.err.startswith("allotrace: recorded") and "n.ctf" in done.err, done.err


@test
def a_trace_is_of_one_recording_at_a_time(go):
    with Rounds(go, 1) as program:
        program.rounds(1)
        for options, recorded in (("-o", "t.ctf", "--duration", "60s"), "t.ctf"), (("-o", "ring", "--keep", "1min"), ".*.spool"):
            with attached(program.process.pid, *options):
                patiently(lambda: next(pathlib.Path(".").rglob(recorded), None), "the first reading")
                for more in options, options[:2] if options[1] == "t.ctf" else options:
                    done = attach(program, *more)
                    assert done.status == 1 and "is being recorded already" in done.err, done
                program.rounds(1)
        same(len(segments("ring")), 1)
        same([p.name for p in pathlib.Path(".").glob("t*.ctf")], ["t.ctf"])


@test
def a_spool_whose_keeper_was_killed_does_not_grow_on(go):
    rate = ["--rate", "1"] if go.minor >= 20 else []
    with Rounds(go, 1, ALLOTRACE, "run", "-q", *rate, "-o", "ring", "--max-size", "4M", "--") as program:
        program.rounds(3)
        patiently(lambda: segments("ring"), "a segment")
        os.kill(int(run(["pgrep", "-x", "-P", program.process.pid, "run-keeper"]).out), signal.SIGKILL)
        [spool] = pathlib.Path("ring").glob(".*.spool")
        sizes = [spool.stat().st_size]
        while len(sizes) < 3 or (sizes[-1] > sizes[-2] and len(sizes) < 30):
            program.rounds(1200)
            program.rounds(100, 0.01) # over several readings, each of which may add a lot
            sizes.append(spool.stat().st_size)
        assert sizes[-1] == sizes[-2] and 1 << 20 <= sizes[-1] <= 16 << 20, sizes
        status, said = program.end()
        assert status == 0 and "the process that wrote the segments was killed" in said, (status, said)


class Local(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect("socket")


def ask(path):
    connection = Local("localhost")
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return body if answer.status == 200 else None


def agent_serves(go, c):
    pathlib.Path("agent.toml").write_text(f"""
[agent]
folder = "{os.getcwd()}/rings"
status = "unix:{os.getcwd()}/socket"
scan = "100ms"
pprof = true
[[process]]
name = "rounds"
command = "rounds"
arguments = "*own.pb.gz 1"
go = {"false" if c else "true"}
""")
    with Rounds(go, 1, c=c) as program:
        program.rounds(2)
        before = own()
        agent = subprocess.Popen([ALLOTRACE, "agent", "agent.toml"], stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        pid = program.process.pid

        def of_it():
            found = pathlib.Path("socket").exists() and json.loads(ask("/status"))["processes"]
            return [p for p in found or [] if p["pid"] == pid and p["state"] == "recording"]

        def serves(kind, path, wanted):
            body = ask(f"/debug/pprof/{path}?pid={pid}")
            return body and sums([wire.pprof(gzip.decompress(body), labels=LABELS)], kind) == sums([wanted], kind)

        try:
            patiently(of_it, "it is recorded")
            patiently(lambda: serves("inuse_space", "heap", before), "what lives")
            program.rounds(3)
            wanted = since(before, own())
            patiently(lambda: serves("inuse_space", "heap", wanted), "what lives then")
            patiently(lambda: serves("alloc_space", "allocs", wanted), "what was allocated")
        finally:
            agent.terminate()
            agent.wait(60)


@test
def the_agent_serves_what_go_would(go):
    for c in False, True:
        agent_serves(go, c)


# ---- a viewer


@test
def a_program_is_shown_while_it_runs(go):
    for c in False, True:
        build_rounds(go, c)
        is_shown_while_it_runs(go)


def is_shown_while_it_runs(go):
    env = {k: v for k, v in ENVIRONMENT.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    for path in "t.ctf", "t.%p.ctf":
        rate = ["--rate", "1"] if go.minor >= 20 else []
        words = ["run", "-q", "--view", *rate, "-o", path, "--", "./rounds", "own.pb.gz", "1"]
        with Viewer(command=words, stdin=subprocess.PIPE, env=env) as v:
            for _ in range(3):
                v.process.stdin.write(".")
                v.process.stdin.flush()
            for _ in range(4):
                same(v.process.stdout.readline(), "ready\n")

            def is_shown():
                reply = v.get("/api/tree?measure=live&filter=fn:main.long&token=" + v.token)
                lives = reply.json()["total"]["value"] if reply.status == 200 else None # there was no reading yet
                return lives == sums([own()], "inuse_space")["main.long"]

            patiently(is_shown, "what lives")
            v.process.stdin.close()
            while (line := v.process.stderr.readline()) and "the viewer keeps running" not in line:
                pass
            v.process.stdin = None
            patiently(is_shown, "what lived")
            same(v.end()[0], 0)


@test
def a_live_table_waits_for_the_first_reading_and_tells_of_no_peak(go):
    """All of a reading is at one time: that is no moment at which all of it lived."""
    rate = ["--rate", "1"] if go.minor >= 20 else []
    for c in False, True:
        with Rounds(go, 1, c=c) as program:
            program.rounds(1)
            a_table_is_shown(b"main.long", ALLOTRACE, "top", str(program.process.pid))
        a_table_is_shown(b"/src/runtime/", ALLOTRACE, "run", "--live", *rate, "-o", "t.ctf", "--", "./rounds", "own.pb.gz", "1")


def a_table_is_shown(text, *words):
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 130, 0, 0))
    with subprocess.Popen(words, stdin=inner, stdout=inner, stderr=inner, start_new_session=True, env=ENVIRONMENT | {"TERM": "linux"},
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(inner)
        shown = b""

        def is_shown():
            nonlocal shown
            if select.select([outer], [], [], 0)[0]:
                shown += os.read(outer, 1 << 16)
            return text in shown and b"RSS" in shown

        try:
            patiently(is_shown, "what lives")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            os.close(outer)
    assert b"Cannot" not in shown and b"peak" not in shown, shown


sys.exit(golang.main(sys.argv[2:]))
