#!/usr/bin/python3
"""Records Go programs as they are, and judges what they did and what the traces say. Prints TAP.

    test_go.py ALLOTRACE SLOW_PTRACE [TEST...]

Each test runs with each Go that is found: `go`, Debian's, and those that $GOS names.
"""
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import golang  # noqa: E402
from recording import births, patiently, run  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, SLOW_PTRACE = (os.path.abspath(word) for word in sys.argv[1:3])
MIB = 1 << 20
SOURCE = {name: (HERE / f"{name}.go").read_text().splitlines() for name in ("amounts", "plain")}


def line(program, text):
    """The number of the one line of a program's source that has a text."""
    found = [i for i, each in enumerate(SOURCE[program], 1) if text in each]
    same(len(found), 1, f"lines with {text}")
    return found[0]


Block = collections.namedtuple("Block", "words samples frames is_freed")


class Trace:
    """Its blocks; a frame is `function@file:line`, outermost first."""

    def __init__(self, path="t.ctf"):
        self.blocks = [Block(event[3] + 1, event[4], tuple(re.sub(r":\d+-\d+$", "", f) for f in frames), is_freed)
                       for event, frames, is_freed, _ in births(path)]

    def below(self, *functions):
        return collections.Counter(b for b in self.blocks
                                   if any(f.startswith(tuple(f"main.{name}" for name in functions)) for f in b.frames))


def live(blocks):
    return collections.Counter({b: n for b, n in blocks.items() if not b.is_freed})


class Started:
    """A program that waits; it ends with its input."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        same(self.process.stdout.readline(), b"ready\n")

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        same(self.process.stdout.read(), b"", "what it said then")
        same(self.process.returncode, 0, "its status")


def attach(pid, *options):
    return run([ALLOTRACE, "attach", "-o", "t.ctf", *options, pid])


def started(go, period):
    return f"allotrace: ./plain is a Go program ({go.version}): recording Go's heap profile, {period}\n"


def same_moment(go, rate, *flags):
    """What was read of a process, and what Go itself said of it just before."""
    go.build("amounts", *flags)
    with Started("./amounts", "own.pb.gz", rate) as pid:
        same(attach(pid, "-q"), (0, "", ""))
    done = run([ALLOTRACE, "import", "-o", "own.ctf", "own.pb.gz"])
    same(done.status, 0, done.err)
    return Trace(), Trace("own.ctf")


# ---- numbers


SIZES = {"work": (10000, 14000), "push": (80, 80), "deep": (4096, 4096)}


def is_made(function, block):
    """Not what the runtime, or a slice that grows, takes on the way."""
    least, most = SIZES[function]
    last = "main.push" if function == "push" else "main.inner"
    return block.frames[-1].startswith(last) and least <= block.words * 8 <= most


@test
def every_block_is_that_of_gos_own_profile(go):
    read, own = same_moment(go, 1)
    functions = "work", "push", "deep"
    same(read.below(*functions), own.below(*functions))
    for function, blocks, kept in ("work", 800, 200), ("push", 20000, 20000), ("deep", 200, 200):
        found = collections.Counter({b: n for b, n in read.below(function).items() if is_made(function, b)})
        same((sum(found.values()), sum(live(found).values())), (blocks, kept), function)
    same({b.words for b in read.below("deep") if is_made("deep", b)}, {4096 // 8})


@test
def samples_weigh_as_in_gos_own_profile(go):
    for rate in 512 * 1024, 10000:
        read, own = same_moment(go, rate)
        functions = "work", "push", "deep", "main"
        same(live(read.below(*functions)), live(own.below(*functions)), f"live, every {rate} bytes")
        got, wanted = (sum(b.samples * n for b, n in t.below("work", "push", "deep").items()) for t in (read, own))
        assert abs(got - wanted) <= 3, f"samples: {got} and {wanted}"


@test
def what_was_allocated_is_estimated(go):
    """Half of the blocks of 256 KiB are seen at Go's own rate; there are 96."""
    go.build("plain")
    words = 0
    for _ in range(5):
        done = run([ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./plain", "return"])
        same((done.status, done.out, done.err), (0, "out\n", "err\n"))
        words += sum(b.samples * n for b, n in Trace().below("keep").items()) * 512 * 1024
    total = words / 5
    assert 0.6 < total / (96 * 256 * 1024) < 1.5, total


@test
def a_rate_is_set_before_it_begins(go):
    go.build("plain")
    done = run([ALLOTRACE, "run", "--rate", "1", "-o", "t.ctf", "--", "./plain", "return"])
    if go.minor < 20:
        assert "--rate has no effect on Go 1.19" in done.err, done.err
        return
    assert done.err.startswith(started(go, "every block")), done.err
    blocks = collections.Counter({b: n for b, n in Trace().below("block").items() if b.words * 8 == 256 << 10})
    same({b.samples for b in blocks}, {(256 << 10) // 8})
    same(sum(blocks.values()), 96)
    done = run([ALLOTRACE, "run", "-o", "t.ctf", "--", "./plain", "return"], {"MEMTRACE_RATE": "1e-3"})
    assert done.err.startswith(started(go, "a sample every 7.8 KB")), done.err


# ---- stacks


@test
def stacks_have_lines_and_inlined_functions(go):
    read, _ = same_moment(go, 1)
    here = HERE / "amounts.go"

    def at(function, text):
        return f"main.{function}@{here}:{line('amounts', text)}"

    inner = [at("outer", "return inner"), at("inner", "return make")]
    same({b.frames[-3:] for b in read.below("work") if is_made("work", b)}, {(at("work", "b := outer("), *inner)})
    deep = at("deep", "return deep(n-1")
    expected = {(at("main", "deep(i, 4096)"), *[deep] * min(i, 200), at("deep", "return outer(size)"), *inner)
                for i in range(200)}
    got = {b.frames[1:] for b in read.below("deep") if is_made("deep", b) and b.frames[0].startswith("runtime.main@")}
    assert got <= expected, sorted(got - expected)[:1]
    assert len(got) >= 28, len(got)
    cut = {b.frames for b in read.below("deep") if is_made("deep", b) and not b.frames[0].startswith("runtime.main@")}
    others = {frame for frames in cut for frame in frames[:-3]} - {deep, at("main", "deep(i, 4096)")}
    same(others, set(), "in stacks that Go has cut off")


# ---- with C


LEAST_SEEN = 12 # of 32 blocks of 1 MiB, of which some 28 are seen at Go's own rate


def both_halves(go, *flags):
    go.build("mixed", *flags, c="1")
    done = run([ALLOTRACE, "run", "-o", "t.ctf", "--rate", "1e-4", "--", "./mixed"])
    same((done.status, done.out), (0, "ready\n"), done.err)
    assert f"allotrace: ./mixed is a Go program ({go.version}): recording Go's heap profile" in done.err, done.err
    assert ", and malloc" in done.err, done.err
    for path, last in ("t.ctf", "take@"), ("t.go.ctf", "main.main@"):
        found = [b for b in Trace(path).blocks if any(f.startswith(last) for f in b.frames) and b.words * 8 >= MIB]
        least = 32 if path == "t.ctf" or go.minor >= 20 else LEAST_SEEN
        assert least <= len(found) <= 32, f"{len(found)} blocks of {last}"


@test
def both_halves_of_a_program_with_c(go):
    both_halves(go)
    both_halves(go, "-buildmode=pie")


@test
def both_halves_of_a_static_program_with_c(go):
    both_halves(go, "-ldflags=-linkmode external -extldflags -static")


@test
def attach_chooses_a_half(go):
    go.build("mixed", c="1")
    with Started(ALLOTRACE, "run", "-q", "-o", "x.ctf", "--", "./mixed") as pid:
        child = int(run(["pgrep", "-x", "-P", pid, "mixed"]).out)
        done = attach(child, "--go")
        same((done.status, done.out), (1, ""), done.err)
        assert done.err.endswith(f" is being traced by process {pid}\n"), done.err
        same(run([ALLOTRACE, "ctl", str(child), "mark", "followed"]), (0, "", "")) # by a thread beside the first
    done = attach(os.getpid(), "--go")
    same(done, (1, "", f"allotrace: --go: process {os.getpid()} is no Go program\n"))
    with Started("./mixed") as pid:
        done = attach(pid)
        same(done.status, 0, done.err)
        assert f"process {pid} is a Go program: only malloc is recorded: its sampling is switched off" in done.err, done.err


# ---- the program


@test
def a_program_is_as_it_would_have_been(go):
    go.build("plain")
    for how in "return", "exit", "panic", "thread", "kill", "signals", "children", "spin":
        plain, recorded = run(["./plain", how]), run([ALLOTRACE, "run", "-q", "-o", f"{how}.ctf", "--", "./plain", how])
        if how == "panic": # its goroutines may have other numbers
            plain, recorded = (each._replace(err=each.err.split("\n")[0]) for each in (plain, recorded))
        same(recorded, plain, how)
        assert Trace(f"{how}.ctf").blocks, how


@test
def a_program_that_becomes_another(go):
    go.build("plain")
    done = run([ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./plain", "exec"])
    same((done.status, done.out), (0, "another\n"))
    if not pathlib.Path("t.ctf").exists(): # by its first thread, it is gone at once
        same(done.err, "allotrace: warning: ./plain: Go's profile was not recorded: the program became another one by exec\n")


@test
def it_can_be_stopped_and_continued(go):
    go.build("plain")
    with Started(ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./plain", "wait") as pid:
        child = int(run(["pgrep", "-x", "-P", pid, "plain"]).out)
        state = pathlib.Path(f"/proc/{child}/stat")
        for sig, wanted in (signal.SIGSTOP, "Tt"), (signal.SIGCONT, "S"):
            os.kill(child, sig)
            patiently(lambda: state.read_text().rpartition(")")[2].split()[0] in wanted, f"{wanted} after {sig}")
    assert Trace().blocks


@test
def run_may_be_killed(go):
    """The program goes on alone."""
    go.build("plain")
    process = subprocess.Popen([ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./plain", "wait"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same(process.stdout.readline(), b"ready\n")
    child = int(run(["pgrep", "-x", "-P", process.pid, "plain"]).out)
    process.kill()
    process.wait()
    time.sleep(0.1) # if it does not go on alone, it ends soon
    assert pathlib.Path(f"/proc/{child}").exists()
    process.stdin.close()
    same(process.stdout.read(), b"")
    same(process.stderr.read(), b"")


# ---- as a child of another program


def profiles(pattern="t.*.ctf"):
    """Where there is Go's profile, among traces."""
    return [str(p) for p in sorted(pathlib.Path().glob(pattern)) if Trace(p).below("")]


@test
def children_have_a_trace_each(go):
    go.build("plain")
    hows = "return", "exit", "panic", "thread", "kill", "signals", "children"
    pathlib.Path("t.sh").write_text("".join(f"./plain {how} 2>/dev/null; echo $?\n" for how in hows))
    plain, recorded = run(["sh", "t.sh"]), run([ALLOTRACE, "run", "-o", "t.%p.ctf", "--", "sh", "t.sh"])
    same((recorded.status, recorded.out), (plain.status, plain.out), recorded.err)
    assert "warning" not in recorded.err, recorded.err
    same(len(profiles()), len(hows), recorded.err)
    for trace in profiles():
        assert Trace(trace).below("keep"), trace


@test
def what_a_process_becomes_is_its_trace(go):
    go.build("plain")
    done = run([ALLOTRACE, "run", "--rate", "1", "-o", "t.ctf", "--", "sh", "-c", "exec ./plain return"])
    same((done.status, done.out), (0, "out\n"), done.err)
    if go.minor >= 20:
        assert f"/plain is a Go program ({go.version}): recording Go's heap profile, every block\n" in done.err, done.err
    assert "t.1.ctf is the first, t.ctf the last" in done.err and "peak" not in done.err, done.err
    assert Trace().below("keep")
    done = run([ALLOTRACE, "run", "-q", "-o", "u.%p.ctf", "--", "sh", "-c", "exec ./plain exec"])  # and then another
    same((done.status, done.out), (0, "another\n"), done.err)
    done = run([ALLOTRACE, "run", "-q", "--", "sh", "-c", "exec ./plain return"])
    same((done.status, done.out, done.err), (0, "out\n", "err\n"))
    same(len(profiles("sh.*.ctf")), 1)


@test
def both_halves_of_a_child_with_c(go):
    for flags in [], ["-ldflags=-linkmode external -extldflags -static"]:
        go.build("mixed", *flags, c="1")
        for trace in pathlib.Path().glob("*.ctf"):
            trace.unlink()
        done = run([ALLOTRACE, "run", "--rate", "1e-4", "-o", "t.%p.ctf", "--", "sh", "-c", "./mixed </dev/null; ./mixed </dev/null"])
        same((done.status, done.out), (0, "ready\nready\n"), done.err)
        assert "allotrace: Go's own profiles of 2 programs with C stand beside: t.PID.go.ctf\n" in done.err, done.err
        for trace in pathlib.Path().glob("t.*.go.ctf"):
            assert trace.name in profiles(), trace
            halves = [[b for b in Trace(p).blocks if b.words * 8 >= MIB and any(f.startswith(("main.main@", "take@")) for f in b.frames)]
                      for p in (trace, str(trace).replace(".go", ""))]
            assert all(LEAST_SEEN <= len(half) <= 32 for half in halves), [len(half) for half in halves]


@test
def a_short_program_is_followed_before_it_begins(go):
    go.build("mixed", "-ldflags=-linkmode external -extldflags -static", c="1")
    for words in ["./mixed"], ["sh", "-c", "./mixed; true"]:
        done = run([ALLOTRACE, "run", "-o", "t.%p.ctf", "--", *words], {"LD_PRELOAD": SLOW_PTRACE})
        same((done.status, done.out), (0, "ready\n"), done.err)
        trace, = pathlib.Path().glob("t.*.go.ctf")
        assert len([b for b in Trace(trace).blocks if b.words * 8 >= MIB]) >= LEAST_SEEN, done.err
        trace.unlink()


@test
def what_a_program_starts_itself(go):
    """Programs that load the recorder, and what those start."""
    go.build("plain")
    done = run([ALLOTRACE, "run", "--rate", "1", "-o", "t.%p.ctf", "--", "./plain", "start", "sh", "-c", "./plain return; ls -d ."])
    same((done.status, done.out), (0, "out\n.\n"), done.err)
    same(len(profiles()), 2, done.err)
    found = [re.search(r"program +\S*/(\S+)", run([ALLOTRACE, "info", p]).out) for p in sorted(pathlib.Path().glob("t.*.ctf"))]
    same(sorted(m[1] if m else "plain" for m in found), ["ls", "plain", "plain", "sh"])
    assert f"/plain is a Go program ({go.version})" in done.err and "by 4 programs" in done.err, done.err
    for trace in pathlib.Path().glob("t.*.ctf"):
        trace.unlink()
    words = "./plain", "start", "./plain", "start", "./plain", "start", "./plain", "return"
    for before in [], ["sh", "-c", "\"$@\"; exit 3", "sh"]:
        done = run([ALLOTRACE, "run", "-q", "-o", "t.%p.ctf", "--", *before, *words])
        same((done.status, done.out, done.err), (3 if before else 0, "out\n", ""))
        same(len(profiles()), 4)
        for trace in pathlib.Path().glob("t.*.ctf"):
            trace.unlink()


STATIC = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) { free(malloc(40001)); printf("%d %d\n", getuid() == 0, geteuid()); }
"""


@test
def what_a_program_starts_unseen(go):
    go.build("plain")
    pathlib.Path("t.c").write_text(STATIC)
    subprocess.run(["cc", "-g", "-static", "-fno-builtin", "t.c", "-o", "t"], check=True)
    for program, n in ("./t", 1), ("/bin/echo", 1):
        for how in "start", "exec":
            words = ["./plain", how, program] if how == "start" else ["./plain", "start", "./plain", "start", program]
            plain, done = run(words), run([ALLOTRACE, "run", "-q", "--rate", "1", "-o", "t.%p.ctf", "--", *words])
            same(done[:2], plain[:2], done.err)
            infos = [run([ALLOTRACE, "info", p]).out for p in sorted(pathlib.Path().glob("t.*.ctf"))]
            same(sum(f"{program.strip('.')}\n" in info for info in infos), n, program)
            for trace in pathlib.Path().glob("t.*.ctf"):
                trace.unlink()
    done = run([ALLOTRACE, "run", "-q", "-o", "t.%p.ctf", "--", "./plain", "start", "./nothing"])
    assert done.status == 2 and "no such file" in done.err, done


@test
def a_set_user_id_program_keeps_its_rights(go):
    nobody = "env", f"TMPDIR={os.getcwd()}", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"
    if os.geteuid() != 0 or run([*nobody, "test", "-x", ALLOTRACE]).status != 0:
        raise Skip("needs root, and a command that others may execute")
    go.build("plain")
    pathlib.Path("t.c").write_text(STATIC)
    subprocess.run(["cc", "-static", "t.c", "-o", "t"], check=True)
    os.chmod("t", 0o4755)
    os.chmod(".", 0o777)
    for words in ["./plain", "start", "./t"], ["./plain", "start", "sh", "-c", "./t"], ["sh", "-c", "./t; exit 3"], ["sh", "-c", "exec ./t"]:
        plain, done = run([*nobody, *words]), run([*nobody, ALLOTRACE, "run", "-q", "-o", "t.%p.ctf", "--", *words])
        same(done, plain)
        same(done.out, "0 0\n")


@test
def many_children_at_once(go):
    go.build("plain")
    done = run([ALLOTRACE, "run", "-o", "t.%p.ctf", "--", "sh", "-c", "seq 20 | xargs -P8 -I% ./plain return"])
    same((done.status, done.out), (0, "out\n" * 20), done.err)
    same(len(profiles()), 20, done.err)


@test
def a_child_can_be_stopped_and_continued(go):
    go.build("plain")
    pathlib.Path("t.py").write_text("""
import os, signal, subprocess
child = subprocess.Popen(["./plain", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
for sig in signal.SIGSTOP, signal.SIGSTOP:
    os.kill(child.pid, sig)
    status = os.waitpid(child.pid, os.WUNTRACED)[1]
    print(os.WIFSTOPPED(status), os.WSTOPSIG(status) == sig)
    os.kill(child.pid, signal.SIGCONT)
    print(os.WIFCONTINUED(os.waitpid(child.pid, os.WCONTINUED)[1]))
child.stdin.close()
print(child.wait())
""")
    done = run([ALLOTRACE, "run", "-q", "-o", "t.%p.ctf", "--", sys.executable, "t.py"])
    same(done, (0, "True True\nTrue\nTrue True\nTrue\n0\n", ""))
    same(len(profiles()), 1)


@test
def a_child_outlives_run(go):
    go.build("plain")
    for kill in False, True:
        os.mkfifo("pipe")
        writer = os.open("pipe", os.O_RDWR)
        process = subprocess.Popen([ALLOTRACE, "run", "-o", "t.%p.ctf", "--", "sh", "-c", "./plain wait <pipe & wait" if kill else
                                    "./plain wait <pipe 2>/dev/null & read line; exit 4"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        same(process.stdout.readline(), b"ready\n")
        if kill:
            process.kill()
        else:
            process.stdin.close()
            err = process.stderr.read().decode()
            assert "allotrace: warning: 1 Go program of this run is still running; the profile of each is written when it ends\n" in err, err
        same(process.wait(), -9 if kill else 4)
        same(profiles(), [])
        os.write(writer, b"x")
        same(process.stdout.read(), b"")
        same(len(patiently(profiles, "the profile of the program")), 1)
        os.close(writer)
        os.unlink("pipe")
        for trace in pathlib.Path().glob("*.ctf"):
            trace.unlink()


# ---- a process that runs


@test
def snapshots_are_kept_and_compared(go):
    go.build("amounts")
    with Started("./amounts", "own.pb.gz", 1000) as pid:
        first = attach(pid)
        same((first.status, first.out), (0, ""), first.err)
        assert re.fullmatch(r"allotrace: \S+/t\.ctf: \d+ stacks, \S+ MB allocated, \S+ MB of it live after the last "
                            r"garbage collection, after which \S+ MB was allocated\n"
                            r"allotrace: what is live: allotrace tree --measure live \S+/t\.ctf\n", first.err), first.err
        attach(pid)
    same(sorted(p.name for p in pathlib.Path().glob("*.ctf")), ["t.1.ctf", "t.ctf"])
    done = run([ALLOTRACE, "diff", "t.1.ctf", "t.ctf"])
    same(done.status, 0, done.err)
    done = run([ALLOTRACE, "leaks", "t.ctf"])
    same(done.err, "allotrace: leaks needs times of allocations and frees; this trace was imported from Go's own heap "
                   "profile: there are no times\n")


@test
def several_look_at_the_same_moment(go):
    go.build("amounts")
    with Started("./amounts", "own.pb.gz", 1) as pid:
        all_ = [subprocess.Popen([ALLOTRACE, "attach", "-q", "-o", f"{i}.ctf", str(pid)], stderr=subprocess.PIPE, text=True)
                for i in range(6)]
        for each in all_:
            same((each.communicate(timeout=60)[1], each.returncode), ("", 0))
    for i in range(1, 6):
        same(Trace(f"{i}.ctf").below("work"), Trace("0.ctf").below("work"))


@test
def a_process_without_sampling_is_told_of(go):
    go.build("plain")
    with Started("./plain", "wait") as pid:
        done = attach(pid)
        same(done, (1, "", f"allotrace: process {pid} is a Go program ({go.version}) that is not recorded: its sampling is "
                           "switched off, as its linker does where nothing in the program uses runtime.MemProfile; start "
                           "it by `allotrace run`\n"))


# ---- what is refused


@test
def an_unknown_version_is_refused(go):
    go.build("plain")
    program = pathlib.Path("plain")
    program.write_bytes(re.sub(rb"go1\.\d\d", b"go1.99", program.read_bytes()))
    done = run([ALLOTRACE, "run", "--", "./plain", "return"])
    same(done.out, "out\n")
    assert done.err.startswith("allotrace: warning: ./plain: it is built with Go 1.99"), done.err
    assert "of which only 1.19 to 1.26 are known, so it runs without being recorded" in done.err, done.err


@test
def a_stripped_program_is_read_too(go):
    go.build("plain", "-ldflags=-s -w")
    done = run([ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./plain", "return"])
    same((done.status, done.out, done.err), (0, "out\n", "err\n"))
    place = f"main.block@{HERE}/plain.go:{line('plain', 'func block()')}"
    assert any(b.frames[-1] == place for b in Trace().blocks), [b.frames for b in Trace().blocks]
    read, own = same_moment(go, 1, "-ldflags=-s -w")
    same(read.below("work", "push", "deep"), own.below("work", "push", "deep"))
    read, own = same_moment(go, 512 * 1024, "-ldflags=-s -w")
    same(live(read.below("main")), live(own.below("main")))


@test
def a_stripped_program_without_a_fixed_place_is_refused(go):
    go.build("plain", "-ldflags=-s", "-buildmode=pie")
    done = run([ALLOTRACE, "run", "-o", "t.ctf", "--", "./plain", "return"])
    same((done.status, done.out), (0, "out\n"))
    assert f"it is a stripped Go program ({go.version}), whose profile cannot be found, so only what it takes from malloc is " \
        "recorded" in done.err, done.err


sys.exit(golang.main(sys.argv[3:]))
