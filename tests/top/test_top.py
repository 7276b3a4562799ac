#!/usr/bin/python3
"""`allotrace top` and `run --live`, in a terminal of their own, against programs that do as they are told.

    test_top.py ALLOTRACE PRELOAD TARGET [TEST…]
"""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap

try:
    import pyte
except ImportError:
    pyte = None

test, equal = tap.test, tap.same
ALLOTRACE, PRELOAD, TARGET = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
TRACES = pathlib.Path(__file__).resolve().parent.parent / "traces"
PATIENCE = 120  # seconds that anything may take on a machine that is busy
LEAVES_SCREEN = b"\033[?1049l"
ENVIRONMENT = os.environ | {"ALLOTRACE_PRELOAD": PRELOAD, "LC_ALL": "C.UTF-8"}
for name in "NO_COLOR", "COLUMNS", "LINES", "MEMTRACE":
    ENVIRONMENT.pop(name, None)


def set_size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


class Terminal:
    """A command in a terminal, as a context: what is on its screen, and keys."""

    def __init__(self, *words, lines=24, columns=130, term="linux", **environment):
        if not pyte:
            raise tap.Skip("python3-pyte is not installed")
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.raw, self.status = b"", None
        self.fd, inner = pty.openpty()
        set_size(inner, lines, columns)
        self.before = termios.tcgetattr(inner)
        self.process = subprocess.Popen(
            [ALLOTRACE, *words], stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=ENVIRONMENT | {"TERM": term} | environment)
        self.inner = inner

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.inner)
        os.close(self.fd)

    def take(self, seconds):
        """Whether something has come."""
        if select.select([self.fd], [], [], seconds)[0]:
            got = os.read(self.fd, 1 << 16)
            self.raw += got
            self.stream.feed(got)
            return True
        return False

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def until(self, condition, what, meanwhile=lambda: None):
        """Waits for something on the screen: a pattern, or a function of its text. What a program did last is written
        when it does more, which it can be told meanwhile."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition(self.text()) if callable(condition) else re.search(condition, self.text(), re.M)
            if found:
                return
            meanwhile()
            self.take(0.05)
        raise AssertionError(f"{what}: not on the screen:\n{self.text()}")

    def key(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        set_size(self.inner, lines, columns)

    def end(self):
        """Waits for the end of the command; gives its status, once the terminal is as it was."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.take(0.05)
        while self.take(0.2):
            pass
        equal(termios.tcgetattr(self.inner), self.before, "the terminal's settings")
        return self.process.returncode


@contextlib.contextmanager
def orders():
    """A pipe that a target reads its orders from, and a function that gives them."""
    os.mkfifo("orders")
    fd = os.open("orders", os.O_RDWR)
    try:
        yield lambda letters: os.write(fd, letters.encode())
    finally:
        os.close(fd)


@contextlib.contextmanager
def target(*before):
    process = subprocess.Popen([*before, TARGET, "orders"], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def recorded():
    return target(ALLOTRACE, "run", "-q", "-o", "live.ctf", "--rate", "0.01", "--")


def await_file(path):
    end = time.monotonic() + PATIENCE
    while not (os.path.exists(path) and os.path.getsize(path)) and time.monotonic() < end:
        time.sleep(0.02)


def bytes_of(text, column, row):
    """What a row says in a column, or None."""
    unit = re.search(rf"{column}, ([KMG]?B)", text)
    found = re.search(row, text, re.M)
    factor = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
    return float(found.group(1).replace(",", "")) * factor[unit.group(1)] if unit and found else None


def live_of(text, function):
    return bytes_of(text, "live", rf"^ +([\d,.]+) .*{function}")


def growth_of(text, function):
    return bytes_of(text, "growth", rf" \+([\d,.]+) .*{function}") or 0


@test
def a_growing_trace_is_shown_with_names_while_it_grows():
    with orders() as order, recorded():
        await_file("live.ctf")
        order("kk")
        with Terminal("top", "live.ctf") as t:
            t.until(r"target_top\.c:\d+ keep_blocks", "a site with its line", lambda: order("c"))
            t.until(r"^target_top, process \d+, recorded for", "the head")
            first = live_of(t.text(), "keep_blocks")
            order("kkkkkk")
            t.until(lambda text: (live_of(text, "keep_blocks") or 0) > 2 * first, "more is live", lambda: order("c"))
            order("d")  # which is written when the program does more
            t.until(lambda text: live_of(text, "keep_blocks") == 0, "nothing is live", lambda: order("c"))
            order("q")
            t.until(r"ended after", "the end of the program")
            t.key("q")
            equal(t.end(), 0, "status")


@test
def a_removed_trace_is_followed_to_its_end():
    with orders() as order, recorded():
        await_file("live.ctf")
        order("kk")
        with Terminal("top", "live.ctf") as t:
            t.until(r"recorded for[^~]*keep_blocks", "a site", lambda: order("c"))
            first = live_of(t.text(), "keep_blocks")
            os.unlink("live.ctf")
            order("kkkkkk")
            t.until(lambda text: "ended" in text or (live_of(text, "keep_blocks") or 0) > 2 * first, "more is live", lambda: order("c"))
            equal("recorded for" in t.text(), True, "the program is said to run")
            order("q")
            t.until(r"ended after", "the end of the program")


@test
def a_truncated_trace_does_not_mean_that_the_program_ended():
    with orders() as order, recorded():
        await_file("live.ctf")
        order("kk")
        with Terminal("top", "live.ctf") as t:
            t.until(r"recorded for[^~]*keep_blocks", "a site", lambda: order("c"))
            os.truncate("live.ctf", 0)
            t.until(r"trace can no longer be read", "what happened to the trace")
            t.until(r"keep_blocks", "the last numbers")


@test
def keys_sort_select_filter_and_explain():
    with orders() as order, recorded():
        await_file("live.ctf")
        order("kccc")
        with Terminal("top", "live.ctf") as t:
            first_row = lambda name: rf"site\n.* {name}$"
            t.until("▼ live", "sorted by live")
            t.until(first_row("keep_blocks"), "what holds most is first", lambda: order("c"))
            t.key("a")
            t.until("▼ allocated", "sorted by allocated")
            t.until(first_row("churn_blocks"), "what allocated most is first", lambda: order("cccc"))
            t.key("\n")
            t.until(r"Callers, by allocated memory\n(.*\n)+.*churn_blocks\n.*via .*obey", "its caller")
            t.key("\033")
            t.key("g")
            t.until("▼ growth", "sorted by growth")
            t.key("r")
            t.until("▼ rate", "sorted by rate")
            t.key("h")
            t.until("95% confidence interval", "the help")
            t.key("h")
            t.key("/churn\n")
            t.until(lambda text: "filter: fn:churn" in text and "keep_blocks" not in text, "filtered")
            t.key("/\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7fsize:x\n")
            t.until("does not begin with a number", "a filter that is wrong")
            t.key("\033")
            t.until("fn:churn", "the filter before")
            t.key("\033")
            t.until("keep_blocks", "no filter")
            t.key("l\033[B\033[B\033[A\n")
            t.until(r"Callers, by live memory", "callers of a selected site")
            t.key("q")
            equal(t.end(), 0, "status")


@test
def every_size_is_filled_and_not_exceeded():
    with orders() as order, recorded():
        await_file("live.ctf")
        order("kc")
        with Terminal("top", "live.ctf", lines=24, columns=80) as t:
            t.until("keep_b", "a site", lambda: order("c"))
            for lines, columns in (10, 40), (24, 20), (7, 60), (50, 200), (24, 104), (3, 80), (1, 30), (24, 80):
                t.resize(lines, columns)
                t.until(lambda text: text.count("\n") == lines - 1 and " q quit" in text.splitlines()[-1],
                        f"the keys at {lines}x{columns}")
                if lines >= 10:
                    t.until(r"▼ live, [KMG]?B", f"titles at {lines}x{columns}")
            t.until(r"live, [KMG]?B +allocated, [KMG]?B +rate, [KMG]?B/s +growth, [KMG]?B +site", "80 columns")
            t.key("q")
            equal(t.end(), 0, "status")


@test
def without_times_nothing_is_said_of_the_last_seconds():
    for name, others in ("go.pb.gz", "main.keep"), ("memray-aggregated.bin", "p.py"):
        subprocess.run([ALLOTRACE, "import", "-o", "t.ctf", str(TRACES.parent / "import" / name)], check=True,
                       capture_output=True)
        with Terminal("top", "t.ctf") as t:
            t.until(rf"▼ live, [KMG]?B.* site\n(.*\n)*.*{others}", "the table")
            assert re.search("^.*, imported without times$", t.text(), re.M), t.text()
            assert not re.search("rate,|growth,|/s in the", t.text()), t.text()
            t.key("q")
            equal(t.end(), 0, "status")


@test
def a_program_is_recorded_and_shown():
    with orders() as order, Terminal("run", "--live", "-o", "live.ctf", "--rate", "0.01", "--", TARGET, "orders") as t:
        order("pkrp")
        t.until(r"keep_blocks", "a site", lambda: order("c"))
        assert "printed" not in t.text(), "the program writes into the table"
        order("q")
        t.until("ended after", "the end of the program")
        assert b"recorded" in t.raw and "allotrace: recorded" not in t.text(), t.text()
        t.key("q")
        equal(t.end(), 7, "the program's status")
        screen = t.text()
        equal(screen.count("printed by the program"), 2, "its output")
        assert "read -1" in screen, "its input is empty"
        assert "allotrace: recorded" in screen, "the summary"
        assert "keep_blocks" in subprocess.run([ALLOTRACE, "hotspots", "live.ctf"], capture_output=True, check=True,
                                               text=True).stdout


@test
def who_leaves_early_sees_the_output_as_it_comes():
    with orders() as order, Terminal("run", "--live", "-o", "live.ctf", "--rate", "0.01", "--", TARGET, "orders") as t:
        order("k")
        t.until("keep_blocks", "a site", lambda: order("c"))
        t.key("q")
        t.until("the program continues", "that it goes on")
        order("p")
        t.until("printed by the program", "its output")
        order("q")
        t.until("allotrace: recorded", "the summary")
        equal(t.end(), 7, "the program's status")


@test
def the_terminal_is_restored_however_it_ends():
    ends = {"q": 0, "\x03": 0, signal.SIGTERM: 0, signal.SIGHUP: 0, signal.SIGSEGV: -signal.SIGSEGV,
            signal.SIGABRT: -signal.SIGABRT}
    for how, status in ends.items():
        with Terminal("top", str(TRACES / "ocamlopt.ctf"), term="xterm") as t:
            t.until("q quit", "a table")
            assert termios.tcgetattr(t.inner) != t.before, "the terminal is as always"
            t.key(how) if isinstance(how, str) else t.process.send_signal(how)
            equal(t.end(), status, f"status after {how!r}")
            assert LEAVES_SCREEN in t.raw, f"after {how!r} the screen is left"


@test
def ctrl_c_ends_the_program_and_the_table():
    with orders() as order, Terminal("run", "--live", "-o", "live.ctf", "--rate", "0.01", "--", TARGET, "orders") as t:
        order("k")
        t.until("keep_blocks", "a site", lambda: order("c"))
        t.key("\x03")
        equal(t.end(), -signal.SIGINT, "the program's end")
        assert "allotrace: recorded" in t.text(), t.text()


@test
def a_process_is_attached_to_for_as_long_as_the_table_is_shown():
    with orders() as order, target() as process:
        with Terminal("top", str(process.pid)) as t:
            t.until("recorded for|Waiting|No sample", "the table")
            t.until("churn_blocks", "a site", lambda: order("cccccccc"))
            t.key("q")
            equal(t.end(), 0, "status")
            assert "allotrace: recorded" in t.text(), t.text()
        ctl = subprocess.run([ALLOTRACE, "ctl", str(process.pid), "status"], env=ENVIRONMENT, capture_output=True,
                             text=True)
        assert "is not being recorded" in ctl.stderr, ctl
        subprocess.run([ALLOTRACE, "attach", "--rate", "0.01", "-o", "mine.ctf", str(process.pid)], env=ENVIRONMENT,
                       check=True, capture_output=True)
        order("k")
        with Terminal("top", str(process.pid)) as t:
            t.until("keep_blocks", "what is recorded already", lambda: order("c"))
            t.key("q")
            equal(t.end(), 0, "status")
        ctl = subprocess.run([ALLOTRACE, "ctl", str(process.pid), "status"], env=ENVIRONMENT, capture_output=True,
                             text=True)
        assert "mine.ctf: recording" in ctl.stdout, ctl


@test
def colours_are_left_out_where_they_are_not_wanted():
    colored = re.compile(rb"\033\[(?:\d+;)*3[0-7](?:;\d+)*m")
    with orders() as order, recorded():
        await_file("live.ctf")
        for environment, wanted in ({}, True), ({"NO_COLOR": "1"}, False):
            with Terminal("top", "live.ctf", term="xterm", **environment) as t:
                t.until(lambda text: growth_of(text, "keep_blocks") > 40000, "a site that certainly grows",
                        lambda: order("kkkkc"))
                t.key("q")
                equal(t.end(), 0, "status")
                equal(bool(colored.search(t.raw)), wanted, f"colours with {environment}")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
