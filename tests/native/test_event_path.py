#!/usr/bin/python3
"""Counts which functions of the recorder an event passes on its way from malloc to the packet, by breakpoints at all of
them, each of which is met once. Prints TAP.

    test_event_path.py LIBRARY PROGRAM
"""
import collections
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
import recording  # noqa: E402
from tap import Skip, test  # noqa: E402

LIBRARY, PROGRAM = map(os.path.abspath, sys.argv[1:3])
ROUNDS = 60
MOST_FUNCTIONS, MOST_FILES = 20, 6
BREAKPOINT, PC = b"\xcc", 16  # an instruction of x86; its pc in the registers as the kernel gives them
TRACEME, CONT, GETREGS, SETREGS, SETOPTIONS, EXITKILL = 0, 7, 12, 13, 0x4200, 1 << 20


def ptrace(request, pid, address=0, data=0):
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.argtypes, call.restype = [ctypes.c_long] * 4, ctypes.c_long
    return call(request, pid, address, data)


class Traced:
    """A recorded program, which stands whenever it gets a signal."""

    def __init__(self, n_blocks, rate):
        settings = recording.environment() | {"LD_PRELOAD": LIBRARY, "MEMTRACE": "x.ctf", "MEMTRACE_RATE": rate}
        self.pid = os.fork()
        if self.pid == 0:
            if ptrace(TRACEME, 0) == 0:
                os.execve(PROGRAM, [PROGRAM, str(n_blocks), str(2 + ROUNDS)], settings)
            os._exit(99)
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            raise Skip("no program may be traced here")
        ptrace(SETOPTIONS, self.pid, 0, EXITKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def next_signal(self):
        ptrace(CONT, self.pid)
        _, status = os.waitpid(self.pid, 0)
        assert os.WIFSTOPPED(status), f"it has ended: {status:#x}"
        return os.WSTOPSIG(status)

    def step_back(self):
        """From behind a breakpoint to it: its address."""
        registers = (ctypes.c_uint64 * 27)()
        ptrace(GETREGS, self.pid, 0, ctypes.addressof(registers))
        registers[PC] -= 1
        ptrace(SETREGS, self.pid, 0, ctypes.addressof(registers))
        return registers[PC]


def symbols(file, kinds):
    """Where each begins, and its name."""
    listed = subprocess.run(["nm", "--defined-only", file], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {int(at, 16): name for at, name in re.findall(rf"^(\S+) [{kinds}] (\S+)$", listed, re.M)}


def code_of(pid, file=LIBRARY):
    """Where the file lies, and which of that is code."""
    ranges = re.findall(r"^(\w+)-(\w+) (\S+) .* " + re.escape(os.path.realpath(file)) + "$",
                        pathlib.Path(f"/proc/{pid}/maps").read_text(), re.M)
    return int(ranges[0][0], 16), [range(int(a, 16), int(b, 16)) for a, b, rights in ranges if "x" in rights]


def stop_time(pid, memory, base):
    """Time stands nearly still from now on, so that what the recorder does now and then is left out."""
    [source] = [at for at, name in symbols(LIBRARY, "dDbB").items() if name == "clock_source"]
    [clock] = [at for at, name in symbols(PROGRAM, "T").items() if name == "standing_clock"]
    os.pwrite(memory, (clock + code_of(pid, PROGRAM)[0]).to_bytes(8, "little"), source + base)


def passed(traced, memory, first_bytes):
    """Which of the functions are called, in order, up to the next of the program's own signals."""
    met = []
    while (number := traced.next_signal()) == signal.SIGTRAP:
        at = traced.step_back()
        os.pwrite(memory, first_bytes[at], at)
        met.append(at)
    assert number == signal.SIGUSR1, f"signal {number}"
    for at in met:
        os.pwrite(memory, BREAKPOINT, at)
    return tuple(met)


def watch(n_blocks, rate):
    """How often which addresses were passed, and where the library lies."""
    with Traced(n_blocks, rate) as traced:
        traced.next_signal()
        base, code = code_of(traced.pid)
        memory = os.open(f"/proc/{traced.pid}/mem", os.O_RDWR)
        stop_time(traced.pid, memory, base)
        functions = [at + base for at in symbols(LIBRARY, "tTW")]
        first_bytes = {at: os.pread(memory, 1, at) for at in functions if any(at in c for c in code)}
        for at in first_bytes:
            os.pwrite(memory, BREAKPOINT, at)
        ways = collections.Counter()
        for _ in range(ROUNDS):
            ways[passed(traced, memory, first_bytes)] += 1
        os.close(memory)
        return ways, base


def described(addresses):
    """The function and the file of each; parts of a function that stand apart are of it."""
    listed = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", LIBRARY, *map(hex, addresses)], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for frames in re.split(r"^0x\w+\n", listed, flags=re.M)[1:]:
        *_, name, place = frames.splitlines()
        if place.startswith("??"):
            raise Skip("the library has no debug information")
        yield name, os.path.basename(place.rpartition(":")[0])


def check_way(n_blocks, rate, through):
    for tool in "nm", "addr2line":
        if not shutil.which(tool):
            raise Skip(f"no {tool}")
    ways, base = watch(n_blocks, rate)
    # Where nothing is sampled, malloc alone is called.
    [(way, times)] = collections.Counter({way: n for way, n in ways.items() if len(way) > 1}).most_common(1)
    assert times >= ROUNDS // 6, f"no way is the usual one: {[(len(way), n) for way, n in ways.most_common()]}"
    found = dict.fromkeys(described([at - base for at in way]))
    files = {file for _, file in found}
    text = ", ".join(f"{file}:{name}" for name, file in found)
    assert through <= {name for name, _ in found}, f"the way is not that of an event: {text}"
    assert len(found) <= MOST_FUNCTIONS, f"{len(found)} functions: {text}"
    assert len(files) <= MOST_FILES, f"{len(files)} files: {text}"
    print(f"# rate {rate}: {len(found)} functions in {len(files)} files: {text}")


@test
def the_way_of_an_event_is_short_where_all_are_recorded():
    check_way(1, "1", {"malloc", "backtrace_take"})


@test
def the_way_of_an_event_is_short_where_few_are_sampled():
    check_way(80, "1e-3", {"malloc", "memprof_sample", "backtrace_take"})


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[3:]))
