#!/usr/bin/python3
"""Runs test files of CPython's own suite plain and recorded, all processes that they start as well:
what passes plain must pass recorded. Prints TAP, a test for each file.

    cpython.py ALLOTRACE OUT [FILE...]

OUT is a folder for what they write. The variable PYTHON names the interpreter, RATE the sampling
rate; `all` stands for all files that the interpreter has. A test that failed when recorded is asked
three more times each way: what then passes, or fails plain as well, fails by chance.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as tree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from recording import environment  # noqa: E402

ALLOTRACE, OUT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
RATE = os.environ.get("RATE", "1")
PLAIN, RECORDED = 120, 240  # seconds that a file may take

# What is quick, and asks of memory, threads, processes, signals and the interpreter's end.
FILES = """test_atexit test_ctypes test_embed test_faulthandler test_finalization test_fork1 test_gc
test_interpreters test_memoryview test_os test_posix test_thread test_threading test_threadsignals
test_tracemalloc test_wait4""".split()

# See docs/python.md.
NOT_ALIKE = {
    "test_debugmallocstats", "test_python_malloc_stats", "test_pythonmalloc", "test_xdev",
    "test_pass_fds_redirected", "test_vfork_used_when_expected",
}
WAITS_FOREVER = "*VSOCK*"  # in many virtual machines, recorded or not


def settle():
    """Whoever started this in the background may have made children ignore the interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_for(command, seconds, **options):
    """The exit status, `late` if it took longer; its children go with it."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=settle, **options)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        status = "late"
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return status


def outcomes(path):
    """What each test did, by its name; one of which a part failed has none."""
    found = {}
    for case in tree.parse(path).iter("testcase") if path.exists() else ():
        kinds = {child.tag for child in case}
        bad = kinds & {"error", "failure"}
        found[case.get("name")] = "failed" if bad else "skipped" if "skipped" in kinds else "passed"
    return found


def ask(name, recorded, only=()):
    """Runs a file, or only some of its tests: its exit status, and what each test did."""
    work, traces, xml = OUT / "work", OUT / "traces", OUT / "results.xml"
    for folder in work, traces:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    xml.unlink(missing_ok=True)
    command = [PYTHON, "-m", "test", "-v", "--junit-xml", xml, "-i", WAITS_FOREVER]
    command += [word for test in only for word in ("-m", test)] + [name]
    if recorded:
        command = [ALLOTRACE, "run", "-q", "-r", RATE, "--no-symbolize", "-o", traces / "t.%p.ctf",
                   "--", *command]
    with open(OUT / "output", "wb") as output:
        status = run_for(command, RECORDED if recorded else PLAIN, cwd=work, stdin=subprocess.DEVNULL,
                         stdout=output, stderr=subprocess.STDOUT, env=environment() | {"TMPDIR": str(work)})
    shutil.rmtree(traces)
    return status, outcomes(xml)


def fails_only_recorded(name, test):
    return all(ask(name, True, [test])[1].get(test) != "passed" and
               ask(name, False, [test])[1].get(test) == "passed" for _ in range(3))


def compare(name):
    status, plain = ask(name, False)
    passed = [test for test, did in plain.items() if did == "passed"]
    if not passed:
        raise tap.Skip(f"no test passes plain ({status})")
    status, recorded = ask(name, True)
    assert recorded, f"recorded, it has no results: {status}"
    lost = [test for test in passed
            if recorded.get(test) != "passed" and test.split(".")[-1] not in NOT_ALIKE]
    lost = [f"{test}: {recorded.get(test)}" for test in lost if fails_only_recorded(name, test)]
    assert not lost, f"of {len(passed)} tests that pass plain, recorded fail: {'; '.join(lost)}"


def all_files():
    code = "import os, test; print(*sorted(n.removesuffix('.py') for n in os.listdir(test.__path__[0])))"
    names = subprocess.run([PYTHON, "-c", code], check=True, stdout=subprocess.PIPE).stdout.decode().split()
    return [name for name in names if name.startswith("test_") and "." not in name]


def main():
    files = sys.argv[3:] or FILES
    return tap.main(tests=[(name, lambda name=name: compare(name))
                           for name in (all_files() if files == ["all"] else files)])


if __name__ == "__main__":
    sys.exit(main())
