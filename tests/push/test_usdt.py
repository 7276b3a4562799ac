#!/usr/bin/python3
"""Looks at the recorder's probes with a debugger, and compares them with the trace. Prints TAP.

    test_usdt.py ALLOTRACE RECORDER SERVICE [TEST...]
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, RECORDER, SERVICE = map(os.path.abspath, sys.argv[1:4])
ROUNDS = 3
COMMANDS = f"""\
set pagination off
set breakpoint pending on
set confirm off
set startup-with-shell off
set environment MEMTRACE x.ctf
set environment MEMTRACE_RATE @
set environment LD_PRELOAD {RECORDER}
break -probe-stap otel_memory:alloc
commands
silent
printf "alloc %p %llu %llu\\n", $_probe_arg0, $_probe_arg1, $_probe_arg2
continue
end
break -probe-stap otel_memory:free
commands
silent
printf "free %p\\n", $_probe_arg0
continue
end
run
"""


def look(rate):
    """What the probes say: blocks as (address, size, weight), and freed addresses; and the trace."""
    if not shutil.which("gdb"):
        raise tap.Skip("no gdb")
    pathlib.Path("commands").write_text(COMMANDS.replace("@", str(rate)))
    env = dict(ENVIRONMENT)
    out = subprocess.run(["gdb", "-batch", "-nx", "-x", "commands", "--args", SERVICE, str(ROUNDS)], env=env,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200).stdout
    if "ptrace" in out or "exited normally" not in out:
        raise tap.Skip("gdb cannot run a program here") if "ptrace" in out else AssertionError(out)
    born = [(m[1], int(m[2]), int(m[3])) for m in re.finditer(r"^alloc (\S+) (\d+) (\d+)$", out, re.M)]
    freed = re.findall(r"^free (\S+)$", out, re.M)
    [info] = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "x.ctf"], text=True, check=True,
                                       stdout=subprocess.PIPE).stdout)
    same((len(born), len(freed)), (info["allocated"]["blocks"], info["collected_blocks"]))
    live = set()
    for address, _, _ in born:
        live.add(address)
    assert set(freed) <= live, "a free of what was not told of"
    return born


@test
def at_rate_1_weights_are_sizes():
    born = look(1)
    same(len([1 for _, size, weight in born if size == weight == 1000]), ROUNDS * 110)
    same([b for b in born if b[1] != b[2]], [])


@test
def below_rate_1_weights_add_up_to_the_bytes():
    for rate in 0.05, 0.005:
        born = [b for b in look(rate) if b[1] == 1000]
        truth = ROUNDS * 110 * 1000
        variance = truth * 1000 / 126 / rate  # of samples that each stand for so many bytes
        assert abs(sum(weight for _, _, weight in born) - truth) < 5 * math.sqrt(variance), (rate, born)


@test
def the_probes_are_where_tools_look_for_them():
    notes = subprocess.run(["readelf", "-n", RECORDER], text=True, check=True, stdout=subprocess.PIPE).stdout
    found = re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+.*Semaphore: (\S+)\s+Arguments: (.*)", notes)
    same(sorted((p, n, len(a.split())) for p, n, _, a in found),
         [("otel_memory", "alloc", 3), ("otel_memory", "free", 1)])
    assert all(int(s, 16) for _, _, s, _ in found), "without a semaphore, arguments are always computed"


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
