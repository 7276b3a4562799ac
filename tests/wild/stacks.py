#!/usr/bin/python3
"""stacks.py: compares the call stacks that the recorder takes with gdb's, in real programs.

    stacks.py [--build BUILD] [--points N] [--rate RATE] [NAME...]

Each program runs under gdb and the recorder, at rate 1 unless told otherwise. gdb stops where an
allocation is written, N times in each program, at points spread at random, and walks the
stack itself; the codes that the recorder hands to the writer must be the same addresses. Prints a
line a program, and the first stacks that differ.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

PROGRAMS = {
    "jq": ["jq", "-S", "map(.id)|add", "big.json"],
    "python": ["/usr/bin/python3", str(HERE / "work.py")],
    "perl": ["perl", "-e", "my %h; for (1..20000) { $h{$_ % 977} .= join q(,), map { $_ * 2 } 1..5 }"
             " print scalar(keys %h)"],
    "clang": ["clang", "-O2", "-w", "-c", str(HERE / "hostile.c"), "-o", "h.o"],
    "xmllint": ["xmllint", "--format", "big.xml"],
    "sqlite3": ["sqlite3", ":memory:", ".read " + str(HERE / "work.sql")],
    "git": ["git", "-C", str(ROOT), "log", "--stat", "-n", "60"],
    "C++ threads": ["./cxx"],
}

# Inside gdb. At the entry of memtrace_stream_alloc the frames are the sixth argument, their number the
# seventh. At rates from 0.01 on, writing stands in line: when one of two functions has returned, the codes of
# the stack are the domain's, which is found by where its stack is. Frames of the recorder itself are not
# recorded, nor are those that only debug information knows of, since they were inlined or have jumped away.
SCRIPT = r"""
import gdb, json, random
random.seed(7)
ADDRESS = (1 << 48) - 1
REMARKS = 4096
ENTRIES = "_start", "_dl_start_user"  # what the kernel calls: what gdb reads beyond is no frame
points, equal, cut, different, frames = 0, 0, 0, [], 0

def domain():
    sp = int(gdb.parse_and_eval("$rsp"))
    d = gdb.parse_and_eval("recorder_page->current->domains.all")
    while int(d) and not int(d["stack_low"]) <= sp < int(d["stack_high"]):
        d = d["older"]
    return d

def finish():
    back = int(gdb.parse_and_eval("*(unsigned long *)$rsp"))
    gdb.Breakpoint(f"*{back}", temporary=True, internal=True).silent = True
    gdb.execute("set scheduler-locking on")
    gdb.execute("continue", to_string=True)
    gdb.execute("set scheduler-locking off")

def ours():
    if DENSE:
        d = domain()
        whole = int(d["n_frames"])
        n = whole or int(d["n_remarked"]) + 1
        at = int(d["frames"]) + (8 if whole else 0)
    else:
        n = int(gdb.parse_and_eval("*(unsigned long *)($rsp + 8)"))
        at = int(gdb.parse_and_eval("$r9"))
    if n == 0:
        return []
    memory = gdb.selected_inferior().read_memory(at, 8 * n)
    codes = [int.from_bytes(memory[i:i + 8], "little") for i in range(0, 8 * n, 8)]
    return [c & ADDRESS for c in reversed(codes)]

def theirs(low, high, most):
    stack, frame, interrupted, within = [], gdb.newest_frame(), False, False
    while frame is not None and frame.is_valid() and len(stack) < most:
        kind = frame.type()
        if kind == gdb.SIGTRAMP_FRAME:
            stack.append(frame.pc())
            interrupted = True
        elif kind not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pc = frame.pc() + (1 if interrupted else 0)
            interrupted = False
            if stack or not low <= pc - 1 < high:
                stack.append(pc)
            if frame.name() in ENTRIES:
                break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return stack

def bounds():
    # Of the recorder's mapping.
    pages = [line.split() for line in open(f"/proc/{gdb.selected_inferior().pid}/maps")
             if "liballotrace-preload" in line]
    ends = [tuple(int(x, 16) for x in p[0].split("-")) for p in pages]
    return min(e[0] for e in ends), max(e[1] for e in ends)

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set breakpoint pending off")
gdb.execute("set print thread-events off")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("handle all nostop noprint pass")
gdb.execute("catch load liballotrace-preload")
gdb.execute("run", to_string=True)
# An address: behind the prologue, registers differ.
stop = gdb.Breakpoint(f"*{PLACE}")
stop.silent = True
gdb.execute("continue", to_string=True)
while points < N and gdb.selected_inferior().pid:
    if DENSE:
        finish()
    low, high = bounds()
    mine = ours()
    remark = bool(mine) and mine[-1] < REMARKS
    if remark:
        mine.pop()
    other = theirs(low, high, len(mine) if remark else 4096)
    points += 1
    frames += len(other)
    cut += remark
    if mine == other:
        equal += 1
    elif len(different) < 3:
        different.append([[hex(x) for x in mine], [hex(x) for x in other]])
    stop.ignore_count = random.randrange(2 * SPREAD)
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error as error:
        print(error)
        break
json.dump(dict(points=points, equal=equal, cut=cut, frames=frames, different=different), open(OUT, "w"))
if gdb.selected_inferior().pid:
    gdb.execute("kill")
gdb.execute("quit")
"""


def inputs(folder):
    items = [{"id": i, "name": f"item {i}", "tags": ["a", "b", str(i)]} for i in range(8000)]
    (folder / "big.json").write_text(json.dumps(items, indent=1))
    (folder / "big.xml").write_text(
        "<r>" + "".join(f'<e i="{i}"><n>x{i}</n></e>' for i in range(8000)) + "</r>")
    subprocess.run(["g++", "-O1", HERE / "work.cc", "-pthread", "-ldl", "-o", folder / "cxx"])


def place(rate):
    """The function of the recorder that each allocation passes through, or nearly each."""
    if rate < 0.01:
        return "native_born"
    return "native_sampled_fast" if rate < 1 else "native_born_fast"


def compare(name, command, args, folder):
    """What the script found out."""
    script, out = folder / "script.py", folder / "out.json"
    out.unlink(missing_ok=True)
    script.write_text(f"N, SPREAD, OUT = {args.points}, {args.spread}, {str(out)!r}\n"
                      f"DENSE, PLACE = {float(args.rate) >= 0.01}, {place(float(args.rate))!r}\n" + SCRIPT)
    preload = args.build.resolve() / "src/record/liballotrace-preload.so"
    settings = {"LD_PRELOAD": preload, "MEMTRACE": folder / "t.ctf", "MEMTRACE_RATE": args.rate}
    words = ["gdb", "-nx", "-q", "--batch"]
    words += ["-ex", "set exec-wrapper env " + " ".join(f"{k}={v}" for k, v in settings.items())]
    done = subprocess.run([*words, "-x", script, "--args", *command], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not out.exists():
        print(f"{name}: gdb did not get there: {done.stdout[-600:]}")
        return None
    return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--points", type=int, default=1500)
    parser.add_argument("--spread", type=int, default=20, help="allocations from point to point")
    parser.add_argument("--rate", default="1")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    points = equal = 0
    with tempfile.TemporaryDirectory(prefix="stacks.") as folder:
        inputs(pathlib.Path(folder))
        for name, command in PROGRAMS.items():
            there = shutil.which(os.path.join(folder, command[0])) or shutil.which(command[0])
            if args.names and name not in args.names or not there:
                continue
            found = compare(name, command, args, pathlib.Path(folder))
            if not found:
                continue
            points += found["points"]
            equal += found["equal"]
            print(f"{name:<12} {found['points']:6} points, {found['equal']} equal, {found['cut']} cut "
                  f"or lost, {found['frames'] / max(found['points'], 1):.1f} frames", flush=True)
            for mine, other in found["different"]:
                print(f"    recorder {mine}\n    gdb      {other}")
    print(f"{points} points, {100 * equal / max(points, 1):.3f} % equal")
    return equal < 0.999 * points


if __name__ == "__main__":
    sys.exit(main())
