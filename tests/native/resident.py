"""A program that runs and does what it is told, the command that is tried on it, and what traces say,
for the tests of attaching. Their arguments:

    LIBRARY ALLOTRACE RESIDENT RESIDENT_FIXED RESIDENT_STATIC LOCKED_MALLOC WATCHFUL PLUGIN_ONE
    PLUGIN_TWO [TEST...]
"""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import Skip, same  # noqa: E402

LIBRARY, ALLOTRACE, RESIDENT, FIXED, STATIC, LOCKED, WATCHFUL, PLUGIN, OTHER_PLUGIN = map(
    os.path.abspath, sys.argv[1:10])
ROUNDS = 40  # of what has failed in one of as many


class Resident:
    """The program, which does what it is told and must come to its end as if nothing had been."""

    def __init__(self, program=RESIDENT, **settings):
        command = program if isinstance(program, list) else [program]
        self.process = subprocess.Popen(command, env=ENVIRONMENT | settings, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.pid = str(self.process.pid)
        self.watchdog = threading.Timer(250, self.process.kill)
        self.watchdog.start()
        self.tell("f")

    def __enter__(self):
        return self

    def tell(self, line, answer="0"):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        same(self.process.stdout.readline().strip(), answer, line)

    def start(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __exit__(self, kind, *_):
        self.watchdog.cancel()
        if kind:
            self.process.kill()
        out, err = self.process.communicate(None if kind else "q\n", timeout=60)
        if not kind:
            same((self.process.returncode, out, err), (5, "", ""), "the end of the program")


def allotrace(*words, **settings):
    environment = ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY} | settings
    done = subprocess.run([ALLOTRACE, *words], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)
    if "may not be traced" in done.stderr and os.getuid() != 0:
        raise Skip("this user may not trace processes")
    return done


def good(*words, **settings):
    done = allotrace(*words, **settings)
    same(done.returncode, 0, f"{words}: {done.stderr}")
    return done


def refused(*words, **settings):
    done = allotrace(*words, **settings)
    same((done.returncode, done.stdout), (1, ""), " ".join(words))
    same(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    return done.stderr


def wait_until_recorded(pid, path, is_there):
    """Until what the process has recorded so far is as `is_there` wants it, which takes the CPU as long as others leave
    it."""
    deadline = time.monotonic() + 60
    while True:
        good("ctl", str(pid), "flush")
        if is_there(path):
            return
        assert time.monotonic() < deadline, f"{path}: it records nothing"
        time.sleep(0.02)


def read(path, size):
    """How many blocks of that many bytes were made and how many died; and the marks."""
    decoder = decode.Decoder(pathlib.Path(path).read_bytes())
    decoder.read_info()
    made, died, marks = set(), set(), []
    for _, stack, event in decoder.events():
        if event[0] == "alloc" and event[3] == (size + 7) // 8:
            made.add(event[2])
        elif event[0] == "collect":
            died.add(event[2])
        if event[0] == "alloc" and "@<mark>" in (text := decoder.frame_text(stack[-1])):
            marks.append(text.partition("@")[0])
    return len(made), len(made & died), marks


def check_between(resident, begin):
    """Just what a program does between attach and detach is recorded, all of it; `begin` attaches to it."""
    with Resident(resident) as program:
        program.tell("a 1000 6400")
        begin(program.pid)
        program.tell("a 500 12000")
        program.tell("f")
        done = good("detach", program.pid)
        program.tell("a 300 12000")
        program.tell("f")
    assert "recorded" in done.stderr and "look closer: allotrace " in done.stderr, done.stderr
    same(read("t.ctf", 12000), (500, 500, []))
    same(read("t.ctf", 6400)[0], 0, "blocks from before")
    same(allotrace("doctor", "t.ctf").returncode, 0, "doctor")
    assert "keep" in allotrace("hotspots", "t.ctf").stdout


def check_killed(orders, resident=RESIDENT):
    with Resident(resident) as program:
        for order in orders:
            program.tell(order)
        program.tell("b 2")
        for i in range(ROUNDS):
            attach = subprocess.Popen(
                [ALLOTRACE, "attach", "-r", "1e-3", "-o", f"{i}.ctf", program.pid],
                env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}, stderr=subprocess.PIPE, text=True)
            time.sleep(i / ROUNDS * 0.06)
            attach.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGKILL)[i % 3])
            said = attach.communicate(timeout=60)[1]
            if "may not be traced" in said:
                raise Skip("this user may not trace processes")
            untraced(program)
            if "detach" in said:  # it has said that it records: it does
                good("detach", "--no-symbolize", program.pid)
            else:
                allotrace("detach", "--no-symbolize", program.pid)
        program.tell("e", "0")


def untraced(program):
    """Waits until nobody stops the program any more."""
    while "TracerPid:\t0" not in pathlib.Path(f"/proc/{program.pid}/status").read_text():
        time.sleep(0.01)
