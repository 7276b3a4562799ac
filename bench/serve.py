#!/usr/bin/python3
"""serve.py: what the viewer's server needs for each question: `serve.py TRACE`, with allotrace in PATH.

Prints a line a question: how long the first answer took, on the clock and of the processor, and the second, which is cached; how large it is; and the memory
of the server afterwards, now and at most so far. Filters are new to the server each time. All endpoints are asked; the last one gets the
trace itself, as one that is dropped on the page. It exits when all are answered.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

FILTERS = ["size:>=64", "life:<1ms", "size:>=1K", "alloc:..1s", "size:<32"]
TABLES = ["hotspots", "functions", "types", "paths", "leaks"]
STACKS = ["line", "function", "thread", "scope", "life"]  # of live memory over time
EXPORTS = ["speedscope", "pprof", "html"]


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        kept = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+)", f.read()))
    return int(kept["VmRSS"]) / 1024, int(kept["VmHWM"]) / 1024


def seconds_used(pid):
    """Of the processor, which says more than the clock on a machine that is busy."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, trace):
        self.child = subprocess.Popen(["allotrace", "view", "--no-open", trace], stdout=subprocess.PIPE, text=True)
        self.url = urllib.parse.urlsplit(self.child.stdout.readline().strip())

    def get(self, endpoint, **parameters):
        return self.fetch(endpoint, urllib.request.Request(self.address(endpoint, parameters)))

    def post(self, trace):
        """Sends a trace, as the page does. What is asked of the server afterwards is of two."""
        with open(trace, "rb") as f:
            headers = {"Origin": f"http://{self.url.netloc}", "X-Allotrace": "open", "Content-Length": str(os.stat(trace).st_size)}
            return self.fetch("open", urllib.request.Request(self.address("open", {"name": "again"}), data=f, headers=headers, method="POST"))

    def address(self, endpoint, parameters):
        return f"http://{self.url.netloc}/api/{endpoint}?{urllib.parse.urlencode(parameters)}&{self.url.query}"

    def fetch(self, endpoint, request):
        start = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            body = error.read()
            print(f"  {endpoint}: {error.code} {body.decode().strip()}")
        return 1000 * (time.monotonic() - start), body

    def wait(self):
        while any(t["state"] != "ready" for t in json.loads(self.get("info")[1])["traces"]):
            time.sleep(0.1)

    def stop(self):
        self.child.terminate()
        self.child.wait()


def ask(server, what, endpoint, **parameters):
    before = seconds_used(server.child.pid)
    first, body = server.get(endpoint, **parameters)
    used = 1000 * (seconds_used(server.child.pid) - before)
    again, _ = server.get(endpoint, **parameters)
    say(server, what, first, used, f"{again:7.0f} ms again", len(body))
    return first, body


def send(server, trace):
    before = seconds_used(server.child.pid)
    first, body = server.post(trace)
    server.wait()
    say(server, "a trace sent and read", first, 1000 * (seconds_used(server.child.pid) - before), 16 * " ", len(body))


def say(server, what, first, used, again, size):
    now, most = memory(server.child.pid)
    print(f"  {what:<34} {first:9.0f} ms ({used:6.0f} of the processor) {again} {size / 1024:8.0f} KB "
          f"{now:7.0f} MB, at most {most:7.0f}", flush=True)


def main(trace):
    size = os.stat(trace).st_size / 1048576
    start = time.monotonic()
    server = Server(trace)
    try:
        server.wait()
        now, most = memory(server.child.pid)
        print(f"{trace}: {size:.0f} MB, all read after {time.monotonic() - start:.1f} s; "
              f"{now:.0f} MB of memory, at most {most:.0f}", flush=True)
        answers = questions(server)
        print(f"  filter, tree: median {statistics.median(answers):.0f} ms")
        now, most = memory(server.child.pid)
        print(f"  memory: {now:.0f} MB, at most {most:.0f}: {most / size:.1f} times the trace")
        send(server, trace)
        ask(server, "two traces, table", "diff")
        ask(server, "two traces, flame", "difftree")
    finally:
        server.stop()


def questions(server):
    _, tree = ask(server, "tree", "tree")
    answer = json.loads(tree)
    path, at = [], 0
    for _ in range(6):  # zoom: the widest frames from the root on
        below = [i for i, p in enumerate(answer["nodes"]["parent"]) if p == at and i > 0 and answer["nodes"]["place"][i] >= 0]
        if not below:
            break
        at = below[0]
        path.append(str(answer["places"]["id"][answer["nodes"]["place"][at]]))
    ask(server, "zoom", "tree", root=".".join(path))
    ask(server, "search", "tree", search="/vector|map/")
    ask(server, "inverted", "tree", mode="inverted")
    ask(server, "recursion collapsed", "tree", collapse=1)
    ask(server, "over time", "timepaths", width=1400)
    ask(server, "graph", "graph")
    for kind in TABLES:
        ask(server, kind, "table", kind=kind)
    ask(server, "hotspots, by thread", "table", kind="hotspots", by="thread")
    if path:
        around(server, path[-1], answer["total"])
    ask(server, "timeline", "timeline")
    for by in STACKS:
        ask(server, f"timeline, by {by}", "timeline", by=by)
    ask(server, "peaks", "peaks", n=8)
    ask(server, "lifetimes", "lifetimes")
    for measure in ["live", "peak", "survived", "byteseconds"]:
        ask(server, f"tree, {measure}", "tree", measure=measure)
    ask(server, "lines", "tree", by="line")
    filtered = [ask(server, f"filter {f}", "tree", filter=f)[0] for f in FILTERS]
    ask(server, "filtered timeline", "timeline", filter=FILTERS[0])
    ask(server, "two moments, table", "diff", **{"from": "1s", "to": "@peak"})
    ask(server, "two moments, flame", "difftree", **{"from": "1s", "to": "@peak"})
    ask(server, "advice", "advice")
    ask(server, "a filter while it is typed", "filter", text="fn:f", cursor=4)
    for to in EXPORTS:
        ask(server, f"as a file, {to}", "export", to=to)
    return filtered


def around(server, place, total):
    """What is asked of one place, and of a number."""
    for kind in ["callers", "callees"]:
        ask(server, kind, "table", kind=kind, focus_ids=place)
        ask(server, f"sandwich, {kind}", "tree", mode=kind, focus_ids=place)
    ask(server, "source", "source", place=place)
    ask(server, "a number explained", "explain", **{k: total[k] for k in ["value", "low", "high", "samples", "blocks"]})


if __name__ == "__main__":
    main(sys.argv[1])
