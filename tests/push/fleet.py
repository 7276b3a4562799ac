#!/usr/bin/python3
"""Pushes to the real receivers, and reads back what they took. Prints TAP.

    fleet.py ALLOTRACE RECORDER SERVICE FOLDER [TEST...]

The receivers are built into FOLDER from the Go module proxy, in the versions that go.mod names; they
listen on the loopback interface alone. Pyroscope, which takes some five minutes to build, only if $CHECK_PYROSCOPE is set,
as `make check-fleet` does.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import tap  # noqa: E402
from tap import same, test  # noqa: E402

ALLOTRACE, RECORDER, SERVICE = map(os.path.abspath, sys.argv[1:4])
FOLDER = pathlib.Path(sys.argv[4]).resolve()


def build(name):
    """A receiver's program."""
    if not shutil.which("go"):
        raise tap.Skip("no go")
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / name
    env = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    done = subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / name, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500)
    if done.returncode and re.search("dial tcp|proxy|toolchain|no such host|checksum database", done.stdout):
        raise tap.Skip("the Go module proxy does not answer")
    assert done.returncode == 0, done.stdout
    return program


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(*command, port, output):
    """A server, once it listens."""
    with open(output, "w") as out, open(output + ".err", "w") as err, subprocess.Popen([*command], stdout=out, stderr=err) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            yield
        finally:
            server.terminate()


def run(url, *arguments, rounds=20, out="x.ctf", warns=False, scopes=False, command=None):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("MEMTRACE", "LD_PRELOAD", "OTEL_"))} | {"ALLOTRACE_PRELOAD": RECORDER}
    env |= {"SERVICE_SCOPES": "1"} if scopes else {}
    done = subprocess.run([ALLOTRACE, "run", "-o", out, "-r", "1", "--push", url, "--every", "300ms",
                           *arguments, "--", *(command or [SERVICE, str(rounds), "50"])], env=env, text=True,
                          stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == 0 and "pushed" in done.stderr, done.stderr
    assert warns or "warning" not in done.stderr, done.stderr
    return done.stderr


def sums(requests):
    """{value type: {innermost function: sum}} of what the Collector took, as it shows it."""
    result = {}
    for request in requests:
        dictionary = request["dictionary"]
        strings = dictionary["stringTable"]
        functions = [strings[f.get("nameStrindex", 0)] for f in dictionary["functionTable"]]
        innermost = []
        for stack in dictionary["stackTable"]:
            locations = stack.get("locationIndices", [])
            lines = dictionary["locationTable"][locations[0]]["lines"] if locations else []
            innermost.append(functions[lines[0].get("functionIndex", 0)] if lines else "")
        for profile in request["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
            of = result.setdefault(strings[profile["sampleType"]["typeStrindex"]], {})
            for sample in profile["samples"]:
                name = innermost[sample["stackIndex"]]
                of[name] = of.get(name, 0) + sum(map(int, sample["values"]))
    return result


@test
def the_collector_takes_scopes():
    program, port = build("collector"), free_port()
    with running(program, f"127.0.0.1:{port}", port=port, output="taken"):
        run(f"http://127.0.0.1:{port}", scopes=True)
    told = 0
    for request in map(json.loads, pathlib.Path("taken").read_text().splitlines()):
        dictionary = request["dictionary"]
        attributes = [(dictionary["stringTable"][a.get("keyStrindex", 0)], a.get("value", {}).get("stringValue"))
                      for a in dictionary["attributeTable"]]
        for profile in request["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
            if dictionary["stringTable"][profile["sampleType"]["typeStrindex"]] == "alloc_objects":
                told += sum(sum(map(int, sample["values"])) for sample in profile["samples"]
                            if ("scope", "short") in [attributes[i] for i in sample.get("attributeIndices", [])])
    same(told, 2000, "blocks")


@test
def the_collector_takes_what_the_trace_has():
    program, port = build("collector"), free_port()
    with running(program, f"127.0.0.1:{port}", port=port, output="taken"):
        run(f"http://127.0.0.1:{port}", "--label", "service=shop")
    taken = sums(map(json.loads, pathlib.Path("taken").read_text().splitlines()))
    same([taken["alloc_space"][f] for f in ("short_lived", "long_lived")], [2000 * 1008, 200 * 1008])
    same([taken["alloc_objects"][f] for f in ("short_lived", "long_lived")], [2000, 200])
    assert "short_lived" in pathlib.Path("taken").read_text() and '"shop"' in pathlib.Path("taken").read_text()


def go_pprof(*words):
    """What Go's own tool says, which newer versions of Go build when it is first asked."""
    done = subprocess.run(["go", "tool", "pprof", "-sample_index=alloc_objects", *words, "t.pb.gz"], capture_output=True,
                          text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    return done.stdout


@test
def go_filters_exports_by_scope():
    if not shutil.which("go"):
        raise tap.Skip("no go")
    run("http://127.0.0.1:1", scopes=True, warns=True)
    subprocess.run([ALLOTRACE, "export", "--to", "pprof", "--filter", "fn:main", "-o", "t.pb.gz", "x.ctf"], check=True)
    tags = go_pprof("-tags")
    assert re.search(r"scope: Total 2000 of 2200 .*\n +2000 .*: short\n", tags), tags
    assert "accounting for 2000," in go_pprof("-tagfocus", "scope=^short$", "-top")


class Pyroscope:
    """All of it in one process, which keeps what it has below the current folder."""

    def __init__(self):
        if not os.environ.get("CHECK_PYROSCOPE"):
            raise tap.Skip("takes some minutes to build: make check-fleet")
        self.program, self.port = build("pyroscope"), free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def running(self):
        rings = "compactor.ring distributor.ring overrides-exporter.ring query-frontend query-scheduler.ring store-gateway.sharding-ring"
        flags = [f"-{ring}.instance-addr=127.0.0.1" for ring in rings.split()]
        return running(self.program, *flags, "-ingester.lifecycler.addr=127.0.0.1", "-server.http-listen-address=127.0.0.1",
                       f"-server.http-listen-port={self.port}", "-server.grpc-listen-address=127.0.0.1",
                       f"-server.grpc-listen-port={free_port()}", "-memberlist.bind-addr=127.0.0.1",
                       "-memberlist.advertise-addr=127.0.0.1", f"-memberlist.bind-port={free_port()}",
                       "-storage.backend=filesystem", f"-storage.filesystem.dir={os.getcwd()}/data",
                       f"-pyroscopedb.data-path={os.getcwd()}/db", "-usage-stats.enabled=false",
                       "-self-profiling.disable-push=true", port=self.port, output="pyroscope.log")

    def until_ready(self):
        for _ in range(600):
            with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(self.url + "/ready", timeout=5):
                return
            time.sleep(0.1)
        raise AssertionError("it does not become ready")

    def ask(self, service, kind, unit, period, more=""):
        """What it has of a service, by the innermost function, in its own query language."""
        now = int(time.time() * 1000)
        question = {"profileTypeID": f"memory:{kind}:{unit}:{period}:bytes", "labelSelector": f'{{service_name="{service}"{more}}}',
                    "start": now - 600000, "end": now + 60000, "maxNodes": 10000}
        request = urllib.request.Request(self.url + "/querier.v1.QuerierService/SelectMergeStacktraces",
                                         json.dumps(question).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            graph = json.load(answer)["flamegraph"]
        own = {}
        for level in graph["levels"]:
            values = list(map(int, level["values"]))
            for _, _, self_, name in zip(*[iter(values)] * 4):
                own[graph["names"][name]] = own.get(graph["names"][name], 0) + self_
        return own


def judge(pyroscope, service, rounds, period="space"):
    for kind, unit, of in ("alloc_space", "bytes", 1008), ("alloc_objects", "count", 1), ("alloc_samples", "count", 126):
        found = pyroscope.ask(service, kind, unit, period)
        same([found.get(f) for f in ("short_lived", "long_lived")], [rounds * 100 * of, rounds * 10 * of], kind)


@test
def pyroscope_has_what_the_trace_has():
    pyroscope = Pyroscope()
    with pyroscope.running():
        pyroscope.until_ready()
        run(pyroscope.url + "/ingest", "--label", "service=by-pprof")
        run(pyroscope.url, "--label", "service=by-otlp")
        time.sleep(1)
        judge(pyroscope, "by-pprof", 20)
        judge(pyroscope, "by-otlp", 20, period="memory")


@test
def pyroscope_filters_by_scope():
    pyroscope = Pyroscope()
    with pyroscope.running():
        pyroscope.until_ready()
        run(pyroscope.url + "/ingest", "--label", "service=by-pprof", scopes=True)
        run(pyroscope.url, "--label", "service=by-otlp", scopes=True)
        time.sleep(1)
        for service, period in ("by-pprof", "space"), ("by-otlp", "memory"):
            judge(pyroscope, service, 20, period)
            found = pyroscope.ask(service, "alloc_space", "bytes", period, ',scope="short"')
            same((found.get("short_lived"), found.get("long_lived")), (2000 * 1008, None), service)


@test
def pyroscope_has_a_series_for_each_child():
    pyroscope = Pyroscope()
    with pyroscope.running():
        pyroscope.until_ready()
        said = run(pyroscope.url + "/ingest", "--label", "service=family", out="f.%p.ctf", warns=True,
                   command=["sh", "-c", f"for i in 1 2 3 4 5; do {SERVICE} 4 0 & done; {SERVICE} 20 50; wait; :"])
        time.sleep(1)
        judge(pyroscope, "family", 40)
        traces = pathlib.Path().glob("f.*.ctf")
        pids = {path.name.split(".")[1] for path in traces}
        own = [pyroscope.ask("family", "alloc_objects", "count", "space", f',process_pid="{pid}"').get("short_lived") for pid in pids]
        same(sorted(filter(None, own)), [400] * 5 + [2000], said)


@test
def what_pyroscope_could_not_take_while_it_started_comes_later():
    pyroscope = Pyroscope()
    with pyroscope.running():
        said = run(pyroscope.url + "/ingest", "--label", "service=early", rounds=400, warns=True)
        time.sleep(1)
        judge(pyroscope, "early", 400)
    assert "refused" not in said, said


@test
def pyroscope_takes_many_processes():
    pyroscope, processes = Pyroscope(), 100
    with pyroscope.running(), concurrent.futures.ThreadPoolExecutor(8) as pool:
        pyroscope.until_ready()
        for done in [pool.submit(run, pyroscope.url + "/ingest", "--label", "service=many", out=f"{i}.ctf", warns=True)
                     for i in range(processes)]:
            done.result()
        time.sleep(1)
        judge(pyroscope, "many", 20 * processes)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[5:]))
