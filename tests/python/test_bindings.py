#!/usr/bin/python3
"""The Python package of bindings/python: marks, and limits of memory in pytest. Prints TAP.

    test_bindings.py ALLOTRACE FOLDER [TEST...]

Makes an environment in FOLDER, and installs the package and pytest from PyPI there by pip; skips
where that cannot be had. ALLOTRACE finds its library beside itself, in a build or installed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, FOLDER = map(os.path.abspath, sys.argv[1:3])
PYTHON = f"{FOLDER}/venv/bin/python"


def run(*command, **options):
    environment = {k: v for k, v in os.environ.items()
                   if k != "LD_PRELOAD" and not k.startswith("MEMTRACE")}
    return subprocess.run([str(c) for c in command], text=True, timeout=300,
                          env=environment | {"ALLOTRACE": ALLOTRACE}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def install():
    """Once in a run; pip leaves files beside what it builds, so it gets a copy."""
    if os.path.exists(f"{FOLDER}/venv"):
        shutil.rmtree(f"{FOLDER}/venv")
    shutil.rmtree(f"{FOLDER}/package", ignore_errors=True)
    shutil.copytree(HERE.parent.parent / "bindings/python", f"{FOLDER}/package",
                    ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    if run(sys.executable, "-m", "venv", f"{FOLDER}/venv").returncode != 0:
        return "there is no venv"
    done = run(PYTHON, "-m", "pip", "install", "--quiet", f"{FOLDER}/package[pytest]")
    return done.stderr.strip().splitlines()[-1] if done.returncode != 0 else None


def marks(trace):
    return [m["name"] for m in json.loads(run(ALLOTRACE, "info", "--json", trace).stdout)[0]["marks"]]


MARKING = """
import allotrace
@allotrace.mark("call")
def f():
    return 7
with allotrace.mark("block"):
    allotrace.mark_here("here")
    print(f())
try:
    with allotrace.mark("fails"):
        raise KeyError("x")
except KeyError as e:
    print(e)
"""


@test
def marks_stand_in_the_trace():
    pathlib.Path("marking.py").write_text(MARKING)
    done = run(ALLOTRACE, "run", "--rate", "1", "-o", "t.ctf", "--", PYTHON, "marking.py")
    same((done.returncode, done.stdout), (0, "7\n'x'\n"), done.stderr)
    same(marks("t.ctf"), ["block", "here", "call", "call: end", "block: end", "fails", "fails: end"],
         "marks")


SCOPES = """
import allotrace

@allotrace.scope("inner")
def make(n, deep=0):
    return [bytes(10000) for _ in range(n)] + (make(n, deep - 1) if deep else [])

for i in range(10):
    with allotrace.scope("outer"):
        kept = [bytes(10000)]
        make(2, deep=1)
        kept += [bytes(10000)]
    kept = [bytes(10000) for _ in range(3)]
try:
    with allotrace.scope("outer"):
        raise KeyError("x")
except KeyError as e:
    print(e)
kept = bytes(10000)
"""


@test
def scopes_have_what_is_allocated_in_them():
    pathlib.Path("scopes.py").write_text(SCOPES)
    same(run(PYTHON, "scopes.py").stdout, "'x'\n", "without a recorder")
    done = run(ALLOTRACE, "run", "--rate", "1", "-o", "t.ctf", "--", PYTHON, "scopes.py")
    same(done.stdout, "'x'\n", "output")
    rows = json.loads(run(ALLOTRACE, "hotspots", "--json", "--by", "scope", "--min-share", "0", "-m", "blocks",
                          "--filter", "file:scopes.py size:9K..11K", "t.ctf").stdout)["hotspots"]
    found = {row["scope"]: row["value"] for row in rows}
    same((found["outer"], found["inner"], sorted(found)), (20, 40, ["(no scope)", "inner", "outer"]), "blocks")
    assert 31 <= found["(no scope)"] < 40, found  # some of the imports' are as large


TASKS = """
import asyncio
import sys
import allotrace

kept = []
if "python" in sys.argv:  # as packages do that let loops run in loops
    asyncio.Task = asyncio.tasks.Task = asyncio.tasks._CTask = asyncio.tasks._PyTask

async def serve(n):
    for _ in range(n):
        kept.append(bytes(10000))
        await asyncio.sleep(0)
    return n

async def waits_in_a_scope():
    kept.append(bytes(10000))
    with allotrace.scope("inner"):
        await asyncio.sleep(0.001)
        kept.append(bytes(10000))
        kept.append(bytes(10000))
    await asyncio.sleep(0)
    kept.append(bytes(10000))

async def fails():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        kept.append(bytes(10000))
        raise

async def main():
    allotrace.scope_tasks()
    if "eager" in sys.argv:
        allotrace.scope_tasks(asyncio.get_running_loop())
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        allotrace.scope_tasks()
    tasks = [asyncio.create_task(serve(5), name="five"), asyncio.create_task(serve(3), name="three"),
             asyncio.create_task(serve(2)), asyncio.create_task(serve(1)),
             asyncio.create_task(waits_in_a_scope())]
    cancelled = asyncio.create_task(fails())
    print(await asyncio.gather(*tasks))
    cancelled.cancel()
    try:
        await cancelled
    except asyncio.CancelledError:
        print("cancelled")
    kept.append(bytes(10000))
    print(cancelled.cancelled(), cancelled.get_coro().__name__, tasks[0].get_name())

asyncio.run(main())
"""


def tasks_by_scope(python, *more):
    """The blocks of each scope; with Python's objects recorded, or only malloc, or with tasks in Python."""
    want = "[5, 3, 2, 1, None]\ncancelled\nTrue fails five\n"
    plain = run(PYTHON, "tasks.py", *more)
    same((plain.stdout, plain.stderr), (want, ""), "without a recorder")
    done = run("env", f"MEMTRACE_PYTHON={python}", ALLOTRACE, "run", "--rate", "1", "-o", "t.ctf", "--", PYTHON, "tasks.py", *more)
    same(done.stdout, want, "output")
    only = "" if python == "malloc" else "file:tasks.py type:bytes "
    rows = json.loads(run(ALLOTRACE, "hotspots", "--json", "--by", "scope", "--min-share", "0", "-m", "blocks",
                          "--filter", only + "size:10000..10048", "t.ctf").stdout)["hotspots"]
    found = {row["scope"]: row["value"] for row in rows}
    got = {k: found.pop(k, 0) for k in ("five", "three", "serve", "waits_in_a_scope", "inner", "fails")}
    if more and got["five"] == 4:  # the names came after the first steps
        got.update(five=got["five"] + 1, three=got["three"] + 1, serve=got["serve"] - 2)
    same(got, {"five": 5, "three": 3, "serve": 3, "waits_in_a_scope": 2, "inner": 2, "fails": 1}, "blocks")
    return found  # imports may have some of that size


@test
def tasks_are_scopes():
    """Those that the recorder finds, to which the package adds nothing, and those of the package alone."""
    pathlib.Path("tasks.py").write_text(TASKS)
    has_eager = run(PYTHON, "-c", "import asyncio; asyncio.eager_task_factory").returncode == 0
    for more in [[], ["eager"]] if has_eager else [[]]:
        found = tasks_by_scope("both", *more)
        same((found["main"], set(found) - {"(no scope)"}), (1, {"main"}), "other scopes")
        run(ALLOTRACE, "export", "--to", "collapsed", "-o", "stacks", "t.ctf")
        stacks = pathlib.Path("stacks").read_text()
        assert "serve" in stacks and "Steps.send" not in stacks, "steps are wrapped"
        same(list(tasks_by_scope("malloc", *more)), ["(no scope)"], "other scopes")
    same(list(tasks_by_scope("both", "python")), ["(no scope)"], "other scopes")


@test
def marks_do_nothing_where_nothing_is_recorded():
    pathlib.Path("marking.py").write_text(MARKING)
    done = run(PYTHON, "marking.py")
    same((done.returncode, done.stdout, done.stderr), (0, "7\n'x'\n", ""), "the run")


@test
def marks_reach_a_recorder_that_comes_later():
    code = ("import allotrace, sys\nallotrace.mark_here('too early')\nprint(flush=True)\n"
            "sys.stdin.readline()\nallotrace._next_look = 0\nallotrace.mark_here('attached')\n"
            "print(flush=True)\nsys.stdin.readline()\n")
    program = subprocess.Popen([PYTHON, "-c", code], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    program.stdout.readline()
    done = run(ALLOTRACE, "attach", "-o", "t.ctf", program.pid)
    if done.returncode != 0:
        program.communicate("\n\n")
        raise Skip(done.stderr.strip().splitlines()[-1])
    program.stdin.write("\n")
    program.stdin.flush()
    program.stdout.readline()
    run(ALLOTRACE, "detach", program.pid)
    program.communicate("\n")
    same((program.returncode, marks("t.ctf")), (0, ["attached"]), "marks")


TESTS_WITH_LIMITS = """
import pytest
KEPT = []

def load(n):
    return [bytes(1 << 20) for _ in range(n)]

@pytest.mark.limit_memory("24 MB")
def test_small():
    load(10)

@pytest.mark.limit_memory("24 MB")
def test_large():
    load(40)

@pytest.mark.limit_leaks("100 KB")
def test_clean():
    load(40)

@pytest.mark.limit_leaks("100 KB")
@pytest.mark.limit_memory("24 MB")
def test_leaks():
    KEPT.append(load(2))

@pytest.mark.limit_memory("24 MB")
def test_fails_by_itself():
    assert 1 == 2

def test_without_limit():
    load(100)
"""


def pytest(*options):
    pathlib.Path("test_limits.py").write_text(TESTS_WITH_LIMITS)
    done = run(PYTHON, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options)
    return done, {name: word for word, name in
                  re.findall(r"(?m)^(PASSED|FAILED) test_limits.py::(\w+)", done.stdout)}


@test
def tests_are_held_to_their_limits():
    done, verdicts = pytest("--allotrace", "--allotrace-trace", "t.ctf")
    same(verdicts, {"test_small": "PASSED", "test_large": "FAILED", "test_clean": "PASSED",
                    "test_leaks": "FAILED", "test_fails_by_itself": "FAILED",
                    "test_without_limit": "PASSED"}, done.stdout + done.stderr)
    same(done.returncode, 1, "the status of pytest")
    for text in ("limit_memory: 40.0 MB peak, more than 24.0 MB",
                 "limit_leaks: 2.0 MB left behind, more than 100.0 KB",
                 "test_limits.py:6 load", "assert 1 == 2", "exceeded    40.0 MB of 24.0 MB"):
        assert text in done.stdout, f"`{text}` is missing: {done.stdout}"
    same(len(marks("t.ctf")), 10, "marks")


@test
def samples_fail_tests_only_if_they_are_sure():
    done, verdicts = pytest("--allotrace", "--allotrace-rate", "1e-4")
    same((verdicts["test_small"], verdicts["test_large"], verdicts["test_leaks"]),
         ("PASSED", "FAILED", "FAILED"), done.stdout)


@test
def without_a_recorder_limits_are_not_checked():
    done, verdicts = pytest()
    same([name for name in verdicts if verdicts[name] == "FAILED"], ["test_fails_by_itself"],
         done.stdout)
    assert "limits of memory are not checked" in done.stdout, done.stdout


@test
def a_limit_that_is_none_is_refused_before_tests_run():
    for mark, what in (("limit_memory('much')", "limit_memory: 'much' is no amount such as '24 MB'"),
                       ("limit_leaks('1.2.3 MB')", "limit_leaks: '1.2.3 MB' is no amount such as '24 MB'"),
                       ("limit_memory", "limit_memory takes one limit, such as '24 MB', and nothing else"),
                       ("limit_memory('1 MB', x=1)", "limit_memory takes one limit, such as '24 MB', and nothing else")):
        pathlib.Path("test_bad.py").write_text(
            f"import pytest\ndef test_first(): pass\n@pytest.mark.{mark}\ndef test_it(): pass\n")
        done = run(PYTHON, "-m", "pytest", "-p", "no:cacheprovider")
        same(done.returncode, 4, "the status of pytest")
        said = done.stdout + done.stderr
        assert f"ERROR: test_bad.py::test_it: {what}\n" in said, said
        assert "Traceback" not in said and "pytest_plugin.py" not in said and "passed" not in said, said


@test
def limits_have_units():
    code = ("from allotrace.pytest_plugin import bytes_of\n"
            "print(*map(bytes_of, [7, '7', '7B', '1.5 KB', '24MiB', '1 gb', ' 2 mb ']))\n"
            "print(*map(bytes_of, ['', 'MB', '1 TB', '1i', '1 iB', '-1', '1,5 MB', None]))\n")
    same(run(PYTHON, "-c", code).stdout.splitlines(),
         ["7 7 7 1536 25165824 1073741824 2097152", " ".join(["None"] * 8)], "amounts")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    why = install()
    if why:
        print(f"1..1\nok 1 - the package # SKIP pip cannot install it: {why}")
        return 0
    return tap.main(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
