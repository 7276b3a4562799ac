#!/usr/bin/python3
"""Sends signals to `allotrace run`, and to it and its program, which must get each of them once. Prints TAP.

    test_signals.py ALLOTRACE LIBRARY TARGET [TEST...]
"""
import contextlib
import ctypes
import functools
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT, children, executable_of, patiently  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
# Of several that wait, a process takes this one last: what came before has been passed on by then.
LAST = signal.SIGRTMIN
WAIT = 60


def read_line(fd):
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([fd], [], [], WAIT)[0], f"nothing more than {line!r}"
        byte = os.read(fd, 1)
        assert byte, f"the end after {line!r}"
        line += byte
    return line


def files_of(pid):
    files = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            files.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            continue  # it was closed meanwhile
    return files


class Run:
    """The command with the program, in a process group of their own."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", TARGET, *arguments], env=ENVIRONMENT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            process_group=0)
        self.pid = self.group = self.process.pid
        self.said = self.process.stdout.fileno()
        same(read_line(self.said), b"0\n")
        while len(self.members()) < 3:
            time.sleep(0.001)  # it is about to start the last of those that are no program

    def members(self):
        return children(self.pid)

    def program(self):
        return next(p for p in self.members() if executable_of(p) == TARGET)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        program = self.program()
        for p in {self.pid, program}:  # one that is gone may be reaped by its new parent at once
            os.kill(p, signal.SIGKILL)
        self.process.communicate()

    def heard(self):
        """What the program has got up to now."""
        os.kill(self.pid, LAST)
        numbers = []
        while (number := int(read_line(self.said))) != LAST:
            numbers.append(signal.Signals(number).name)
        return numbers


SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCONT


@test
def a_signal_to_the_command_alone_is_passed_on():
    with Run() as run:
        for sig in SIGNALS:
            os.kill(run.pid, sig)
            same(run.heard(), [sig.name])


@test
def a_signal_to_the_group_comes_once():
    with Run() as run:
        for i in range(20):
            for sig in SIGNALS:
                os.killpg(run.group, sig)
                same(run.heard(), [sig.name])
        os.kill(run.pid, signal.SIGTERM)
        same(run.heard(), ["SIGTERM"], "to the command alone, after those to the group")


def heard_if_sent_together(run, *sends):
    """What the program has got when all are sent before the command passes on the first, which waits 10 ms for more."""
    for _ in range(1000):
        begun = time.monotonic()
        for send in sends:
            send()
        is_together = time.monotonic() - begun < 0.005
        heard = run.heard()
        if is_together:
            return heard
    raise Skip("this machine is too busy to send two signals within 5 ms")


@test
def a_signal_to_each_process_comes_once():
    with Run() as run:
        sends = [functools.partial(os.kill, p, signal.SIGTERM) for p in (run.pid, *run.members())]
        same(heard_if_sent_together(run, *sends), ["SIGTERM"])


@test
def a_signal_to_the_group_reaches_a_program_that_has_left_it():
    with Run("g") as run:
        os.killpg(run.group, signal.SIGTERM)
        same(run.heard(), ["SIGTERM"])


@test
def a_signal_to_the_command_and_then_to_the_group_comes_once():
    """As timeout(1) sends them."""
    with Run() as run:
        same(heard_if_sent_together(run, lambda: os.kill(run.pid, signal.SIGTERM),
                                    lambda: os.killpg(run.group, signal.SIGTERM)), ["SIGTERM"])


@test
def a_job_that_was_stopped_and_continued_gets_signals_as_before():
    with Run() as run:
        for whom in -run.group, run.pid:
            os.killpg(run.group, signal.SIGSTOP)
            os.waitpid(run.pid, os.WUNTRACED)
            os.kill(whom, signal.SIGCONT)
            same(run.heard(), ["SIGCONT"])
            os.kill(run.pid, signal.SIGUSR1)
            same(run.heard(), ["SIGUSR1"])


@test
def who_looks_for_the_command_by_its_words_finds_it_alone():
    with Run() as run:
        run.heard()  # the other one has answered

        def found():
            return [p for p in (run.pid, *run.members())
                    if b"run" in pathlib.Path(f"/proc/{p}/cmdline").read_bytes().split(b"\0")
                    or "allotrace" in pathlib.Path(f"/proc/{p}/comm").read_text()]
        deadline = time.monotonic() + WAIT
        while found() != [run.pid] and time.monotonic() < deadline:
            time.sleep(0.01)  # each takes another name as soon as it runs
        same(found(), [run.pid])


@test
def nothing_but_the_program_outlives_the_command():
    with Run() as run:
        program = run.program()
        others = [p for p in run.members() if p != program]
        run.heard()  # they have answered
        output = f"pipe:[{os.fstat(run.said).st_ino}]"
        deadline = time.monotonic() + WAIT
        while any(output in files_of(p) for p in others) and time.monotonic() < deadline:
            time.sleep(0.01)  # each lets go of it as soon as it runs
        assert not any(output in files_of(p) for p in others), [files_of(p) for p in others]
        os.kill(run.pid, signal.SIGKILL)
        run.process.wait()
        while any(os.path.exists(f"/proc/{p}/exe") for p in others) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(os.path.exists(f"/proc/{p}/exe") for p in others), "one is still there"
        run.pid, run.program = program, lambda: program


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


@contextlib.contextmanager
def standing(pid):
    """A process that does not run, which SIGCONT does not change."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    if libc.ptrace(PTRACE_SEIZE, pid, 0, 0) != 0:
        raise Skip(f"this user may not trace processes: {os.strerror(ctypes.get_errno())}")
    same(libc.ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0)
    os.waitpid(pid, WALL)
    yield
    same(libc.ptrace(PTRACE_DETACH, pid, 0, 0), 0)


@test
def a_signal_to_the_group_comes_once_where_the_machine_is_busy():
    with Run() as run:
        witness = patiently(lambda: next((p for p in run.members() if pathlib.Path(f"/proc/{p}/comm").read_text() == "run-witness\n"),
                                         None), "it has its name")
        for _ in range(2):
            with standing(witness):
                os.killpg(run.group, signal.SIGTERM)
                time.sleep(1)
            same(run.heard(), ["SIGTERM"])
        os.kill(run.pid, signal.SIGTERM)
        same(run.heard(), ["SIGTERM"], "to the command alone")


@test
def control_c_comes_once():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(ALLOTRACE, [ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", TARGET], ENVIRONMENT)
    try:
        same(read_line(terminal), b"0\r\n")
        for _ in range(3):
            os.write(terminal, b"\x03")
            same(read_line(terminal).replace(b"^C", b""), b"2\r\n")
        os.kill(pid, LAST)
        same(read_line(terminal).replace(b"^C", b""), b"%d\r\n" % LAST)
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
