#!/usr/bin/python3
"""The viewer follows traces that grow, end, or are replaced.

    test_live.py ALLOTRACE PRELOAD
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys

from viewer import ALLOTRACE, TRACES, Reply, Viewer, check, run_tests, tap

equal, test = tap.same, tap.test
PRELOAD = pathlib.Path(sys.argv[2]).resolve()

# Allocates on each line that it reads.
PROGRAM = """
while read -r line; do
    for i in {1..3000}; do words="$words $i"; done
    words=
    echo done
done
"""


class News:
    """The events of /api/live, as they come."""

    def __init__(self, v):
        self.socket = v.connect()
        self.socket.sendall(f"GET /api/live?token={v.token} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        self.left = b""

    def next(self):
        while True:
            head, found, rest = self.left.partition(b"\n\n")
            if not found:
                more = self.socket.recv(1 << 16)
                check(more, "the stream goes on")
                self.left += more
                continue
            self.left = rest
            for line in head.decode().splitlines():
                if line.startswith("data: "):
                    return json.loads(line[6:])

    def until(self, condition):
        while not condition(news := self.next()):
            pass
        return news


@contextlib.contextmanager
def news_of(v):
    news = News(v)
    with contextlib.closing(news.socket):
        yield news


def weight(v):
    """The sum of what is saved."""
    return weight_of(v.get(f"/api/export?to=collapsed&token={v.token}"))


def weight_of(reply):
    return sum(int(line.rpartition(" ")[2]) for line in reply.body.decode().splitlines())


def weight_of_next(v, work):
    """That of what `work` allocates, while others are refused."""
    for seconds in 3, 3, 20, 60:  # a busy machine may need more, or take the second request for the first
        with contextlib.closing(v.connect()) as s:
            s.sendall(f"GET /api/export?to=collapsed&seconds={seconds}&token={v.token} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            refused = False
            while not refused and not select.select([s], [], [], 0)[0]:
                refused = v.get(f"/debug/pprof/allocs?seconds=1&token={v.token}").status == 503
            work()
            reply = Reply(b"".join(iter(lambda: s.recv(1 << 16), b"")))
        if refused and reply.status == 200 and (found := weight_of(reply)):
            return found
    raise AssertionError("nothing in the next seconds, or nobody was refused")


@test
def a_trace_is_followed_while_its_program_runs():
    program = subprocess.Popen(
        [ALLOTRACE, "run", "-o", "live.ctf", "--rate", "1e-3", "--", "bash", "-c", PROGRAM], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"ALLOTRACE_PRELOAD": str(PRELOAD)})

    def work():
        program.stdin.write("go\n")
        program.stdin.flush()
        equal(program.stdout.readline(), "done\n")

    try:
        work()
        with Viewer("live.ctf") as v, news_of(v) as news:
            check(v.api("info")["live"], "it is live")
            first = news.until(lambda n: n["growing"] and n["samples"] > 0)
            seen = v.api("tree")["total"]["samples"]
            check(seen >= first["samples"], "what was said is there")
            # More may come of the last microsecond.
            until = f"alloc:..{first['duration'] - 1}us"
            past = v.api("tree", filter=until)["total"]["samples"]
            work()
            later = news.until(lambda n: n["samples"] > first["samples"])
            check(later["generation"] > first["generation"], "a new generation")
            check(v.api("tree")["total"]["samples"] >= later["samples"], "more is shown")
            equal(v.api("tree", filter=until)["total"]["samples"], past, "the past")
            check(weight_of_next(v, work) < weight(v), "what is allocated in the next seconds is a part")
            program.stdin.close()
            equal(program.wait(timeout=120), 0, "the program's exit status")
            about = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "live.ctf"], check=True,
                                              capture_output=True).stdout)[0]
            news.until(lambda n: not n["growing"] and n["samples"] == about["allocated"]["samples"])
            whole = v.api("tree", mode="inverted")
            equal(whole["total"]["samples"], about["allocated"]["samples"])
            equal(v.end(), (0, ""))
    finally:
        program.stdin.close()  # which ends what it runs
        program.kill()
        program.wait()


@test
def a_program_is_shown_while_it_is_recorded():
    shutil.copy(TRACES / "ocamlopt.ctf", "live.ctf")  # of an earlier time: not to be shown
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    with Viewer(command=[
            "run", "--view", "-o", "live.ctf", "--rate", "1e-3", "--", "bash", "-c", PROGRAM],
            stdin=subprocess.PIPE, env=environment | {"ALLOTRACE_PRELOAD": str(PRELOAD)}) as v, news_of(v) as news:
        v.process.stdin.write("go\n")
        v.process.stdin.flush()
        equal(v.process.stdout.readline(), "done\n")
        equal(news.until(lambda n: n["growing"] and n["samples"] > 0)["trace"], 0)
        check("ocamlopt" not in v.api("tree")["program"], "it is that of the program")
        v.process.stdin.close()
        news.until(lambda n: not n["growing"])
        while (line := v.process.stderr.readline()) and "the viewer keeps running" not in line:
            pass
        check(line, "how to end it is said")
        v.api("tree", filter="size:>=2w")
        v.process.stdin = None
        equal(v.end()[0], 0, "the program's status")


@test
def a_trace_that_is_replaced_is_read_anew():
    shutil.copy(TRACES / "ocamlopt.ctf", "x.ctf")
    with Viewer("x.ctf") as v, news_of(v) as news:
        equal(news.next()["generation"], 1)
        shutil.copy(TRACES / "irmin-replay.ctf", "y.ctf")
        os.rename("y.ctf", "x.ctf")
        after = news.until(lambda n: n["generation"] > 1)
        equal(after["samples"], v.api("tree")["total"]["samples"])
        check("irmin" in v.api("tree")["program"], "the other program")
        os.unlink("x.ctf")
        check("irmin" in v.api("tree", filter="size:>=2w")["program"], "a trace that is gone is still shown")


@test
def a_trace_that_grows_is_read_on():
    whole = (TRACES / "ocamlopt.ctf").read_bytes()
    pathlib.Path("x.ctf").write_bytes(whole[:90000])
    with Viewer("x.ctf") as v, news_of(v) as news:
        first = news.next()["samples"]
        with open("x.ctf", "ab") as file:
            file.write(whole[90000:])
        news.until(lambda n: n["samples"] == 1676)
        check(0 < first < 1676, "there was less before")
        equal(v.api("tree")["total"]["samples"], 1676)
        equal(v.api("info")["traces"][0]["about"]["warnings"], [])


@test
def large_traces_are_shown_before_their_blocks_are_read():
    # As large as it takes: many copies of a trace in one.
    copies = [str(TRACES / "irmin-replay.ctf")] * 40
    subprocess.run([ALLOTRACE, "merge", "-o", "large.ctf", *copies], check=True, capture_output=True)
    check(os.path.getsize("large.ctf") > 8 << 20, "it is large")
    info = json.loads(subprocess.run([ALLOTRACE, "info", "--json", "large.ctf"], check=True,
                                     capture_output=True).stdout)[0]
    with Viewer("large.ctf") as v, news_of(v) as news:
        first = v.api("tree")
        check(first["total"]["samples"] > 0, "there is something to show at once")
        live = v.api("tree", measure="live")["total"]["samples"]  # waits for the blocks
        seen = []
        news.until(lambda n: seen.append(n) or n["state"] == "ready")
        samples = [n["samples"] for n in seen]
        equal(samples, sorted(samples), "more and more of it")
        equal(samples[-1], info["allocated"]["samples"], "then all")
        check(first["total"]["samples"] <= samples[-1], "the first picture is of some of it")
        for n in seen:
            check(n["state"] != "reading" or 0 <= n["progress"] <= 1, "how much was read is said")
            if n["state"] == "partial":
                equal((n["generation"], n["samples"]), (seen[-1]["generation"], samples[-1]), "the same trace")
        check(0 < live < samples[-1], "some is live")
        equal(seen[-1]["live"]["samples"], live)
        equal(v.api("info")["traces"][0]["about"]["promoted"], info["promoted"])


if __name__ == "__main__":
    run_tests()
