"""Memory limits for tests: see README.md. pytest runs under `allotrace run`. A test with a limit is
enclosed in two marks, and when it has ended, the command line tells what was allocated between
them."""
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import allotrace

BEGIN, END = "pytest: test", "pytest: end of test"
MARKERS = {
    "limit_memory": "limit_memory(limit): the peak of what the test allocates, such as '24 MB'",
    "limit_leaks": "limit_leaks(limit): what the test allocates and leaves behind, such as '1 MB'",
}
UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def bytes_of(limit):
    """Returns None if `limit` is not an amount."""
    if isinstance(limit, int):
        return limit
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(B|[KMG]i?B|)\s*", str(limit), re.IGNORECASE)
    if not found:
        return None
    return int(float(found.group(1)) * UNITS[found.group(2).upper().replace("I", "")])


def text_of(amount):
    for unit in "GB", "MB", "KB":
        if amount >= UNITS[unit]:
            return f"{amount / UNITS[unit]:.1f} {unit}"
    return f"{amount} B"


# ---- the recorder


def flush():
    """Writes what is buffered. Returns the trace's path, or None if nothing is recorded."""
    recorder = allotrace._recorder()
    if recorder is None:
        return None
    recorder.allotrace_flush.restype = ctypes.c_char_p
    path = recorder.allotrace_flush()
    return None if path is None else os.fsdecode(path)


def command():
    return os.environ.get("ALLOTRACE") or shutil.which("allotrace")


def ask(*arguments):
    """Returns the output of an allotrace command, which is not recorded itself."""
    environment = {k: v for k, v in os.environ.items()
                   if k != "LD_PRELOAD" and not k.startswith("MEMTRACE")}
    done = subprocess.run([command(), *arguments], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"allotrace {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


class Measured:
    """What a test allocated, between the last two marks of a trace."""

    def __init__(self, trace):
        marks = json.loads(ask("info", "--json", trace))[0]["marks"]
        times = [m["time"] for m in marks if m["name"] in (BEGIN, END)][-2:]
        self.trace = trace
        self.within = f"alloc:{times[0]}us..{times[1]}us"
        self.left = f"{self.within} live:{times[1]}us"

    def filter_of(self, marker):
        return self.within if marker == "limit_memory" else self.left

    def estimate(self, marker):
        """Returns a value and its interval, in bytes."""
        if marker == "limit_memory":
            return json.loads(ask("timeline", "--json", "--filter", self.within, self.trace))["peak"]
        return json.loads(ask("hotspots", "--json", "--filter", self.left, self.trace))["total"]

    def sites(self, marker):
        name = "peak" if marker == "limit_memory" else "hotspots"
        said = ask(name, "--top", "5", "--color", "never", "--filter", self.filter_of(marker),
                   self.trace)
        return said[max(said.rfind("\n  share"), 0):].strip("\n")


# ---- pytest


def pytest_addoption(parser):
    group = parser.getgroup("allotrace")
    group.addoption("--allotrace", action="store_true",
                    help="record the tests, and check their limits of memory")
    group.addoption("--allotrace-rate", default="1", metavar="RATE",
                    help="sampling rate of the recording (default: 1, everything)")
    group.addoption("--allotrace-trace", metavar="FILE", help="keep the trace in FILE")


def is_recorded():
    return allotrace._recorder() is not None and os.environ.get("MEMTRACE") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Restarts pytest under the recorder."""
    if not config.option.allotrace or is_recorded():
        return
    if not command():
        raise pytest.UsageError("--allotrace: there is no command `allotrace` on the PATH")
    trace = config.option.allotrace_trace
    if not trace:
        trace = os.path.join(tempfile.mkdtemp(prefix="pytest-allotrace."), "tests.ctf")
    sys.stdout.flush()
    os.execv(command(), [command(), "run", "--rate", config.option.allotrace_rate, "-o",
                         os.path.abspath(trace), "--", sys.executable, "-m", "pytest",
                         *config.invocation_params.args])


def pytest_configure(config):
    for line in MARKERS.values():
        config.addinivalue_line("markers", line)
    config.stash[RESULTS] = []


RESULTS = pytest.StashKey()


def pytest_report_header(config):
    del config
    return None if is_recorded() else "allotrace: limits of memory are not checked (--allotrace)"


def limits_of(item):
    found = {name: item.get_closest_marker(name) for name in MARKERS}
    for name, marker in found.items():
        if marker and (len(marker.args) != 1 or marker.kwargs):
            raise pytest.UsageError(f"{item.nodeid}: {name} takes one limit, such as '24 MB', and "
                                    "nothing else")
        if marker and bytes_of(marker.args[0]) is None:
            raise pytest.UsageError(f"{item.nodeid}: {name}: {marker.args[0]!r} is no amount such "
                                    "as '24 MB'")
    return {name: bytes_of(marker.args[0]) for name, marker in found.items() if marker}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Reports an invalid limit before any test runs."""
    for item in items:
        limits_of(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    limits = limits_of(item)
    if not limits or not is_recorded():
        return (yield)
    gc.collect()
    allotrace.mark_here(BEGIN)
    try:
        result = yield
    finally:
        if "limit_leaks" in limits:
            gc.collect()
        allotrace.mark_here(END)
    check(item, limits)
    return result


def check(item, limits):
    trace = flush()
    if trace is None:
        raise RuntimeError("allotrace: the recording has ended")
    measured = Measured(trace)
    for name, limit in limits.items():
        got = measured.estimate(name)
        verdict = ("exceeded" if got["low"] > limit else
                   "kept" if got["high"] <= limit else "undecided")
        item.config.stash[RESULTS].append((item.nodeid, name, got, limit, verdict))
        if verdict == "exceeded":
            what = "peak" if name == "limit_memory" else "left behind"
            pytest.fail(f"{name}: {text_of(got['value'])} {what}, more than {text_of(limit)}\n\n"
                        + measured.sites(name), pytrace=False)


def pytest_terminal_summary(terminalreporter, config):
    results = config.stash[RESULTS]
    if not results:
        return
    terminalreporter.section("limits of memory")
    for node, name, got, limit, verdict in results:
        spread = "" if got["low"] == got["high"] else \
            f" ({text_of(got['low'])} … {text_of(got['high'])})"
        terminalreporter.line(f"{verdict:9} {text_of(got['value']):>9}{spread} of {text_of(limit)}"
                              f" {name} {node}")
    trace = flush()
    if trace and os.path.exists(trace) and config.option.allotrace_trace:
        terminalreporter.line(f"look closer: allotrace {trace}")
