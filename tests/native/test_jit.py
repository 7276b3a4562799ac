#!/usr/bin/python3
"""Judges stacks with code in them that was made at run time, and the names that it gets from the
map which its maker leaves for perf. Prints TAP.

    test_jit.py ALLOTRACE LIBRARY TARGET
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
SCRIPT = """function makeBuffers(n) {
  const kept = [];
  for (let i = 0; i < n; i++) kept.push(Buffer.alloc(20000));
  return kept.length;
}
let sum = 0;
for (let i = 0; i < 500; i++) sum += makeBuffers(40);
console.log(sum);
"""


def record(*command):
    """What the program printed, the stacks of its trace, outermost first, and the map."""
    env = dict(ENVIRONMENT)
    env["ALLOTRACE_PRELOAD"] = LIBRARY
    run = subprocess.run([ALLOTRACE, "run", "-r", "1", "-o", "t.ctf", "--", *command], env=env,
                         stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if run.returncode == 77:
        raise Skip("code cannot be made at run time here")
    same(run.returncode, 0, run.stderr)
    pid = re.search(r'"pid":(\d+)', allotrace("info", "--json", "t.ctf")).group(1)
    pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=command[1:] == ("unnamed",))
    return run.stdout, allotrace("dump", "t.ctf").splitlines()


def allotrace(*words):
    done = subprocess.run([ALLOTRACE, *words], capture_output=True, text=True)
    same(done.returncode, 0, done.stderr)
    return done.stdout


@test
def made_code_is_passed_through_and_named():
    _, lines = record(TARGET)
    made = [line for line in lines if f"len={(0x1389 + 7) // 8} " in line]
    same(len(made), 100)
    # A stack is written from where it differs from the one before.
    assert re.search(r"main@\S+ call_it@\S+ malloc@<type>:0:0-0 made at run time@\[JIT\]",
                     made[0]), made[0]


@test
def made_code_that_nobody_named_is_called_by_its_address():
    _, lines = record(TARGET, "unnamed")
    made = [line for line in lines if f"len={(0x1389 + 7) // 8} " in line]
    same(len(made), 100)
    assert re.search(r" malloc@<type>:0:0-0 0x[0-9a-f]+@\[JIT\]:0:0-0$", made[0]), made[0]


@test
def functions_of_javascript_have_their_names():
    node = shutil.which("node")
    if not node:
        raise Skip("there is no node")
    pathlib.Path("work.js").write_text(SCRIPT)
    out, lines = record(node, "--perf-basic-prof", "work.js")
    same(out, "20000\n")
    place = re.escape(os.path.realpath("work.js")) + ":1:"
    assert any(re.search(rf" makeBuffers@{place}", line) for line in lines), lines[-3:]


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
