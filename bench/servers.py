#!/usr/bin/python3
"""servers: what recording costs servers under load: CPU time of a request, memory, and how long requests take.

    bench/servers.py [--minutes M] [--window S] [--turns N] [--rates R,...] [--aside] [SERVER...]

Instances of each server run side by side: one as it is, the same again (the control: how far two equal ones differ here),
one under `allotrace run --keep 1h --max-size 200M`, one to which `allotrace attach --keep` has attached, and one under `run`
for each of --rates. Load goes to each in turn for a window of some seconds, forwards and then backwards, and after N turns all
are started anew, because two processes of one program differ by where their memory happens to lie. An instance's CPU time is
all of its threads' and children's, by the scheduler's own clock; `with helpers` adds the processes of allotrace beside it.

Servers, load generators and allotrace share one CPU, unless --spread lets them use all: how much of the others' work a server
finds when it looks then depends on the scheduler alone, and windows differ by 1 to 3% instead of 6 to 20%. With --aside, allotrace's
own processes (the keeper) get another CPU: what is left is the recorder's part.

A ratio is that to the geometric mean of both plain instances in the same turn, of the control to the other: the geometric mean,
then its 95% interval, by Student's t over the starts, as turns of the same processes are not independent, then in how many of the
turns it was above 1. If an interval holds 1, recording was not distinguishable; the control's says how much would have been. Memory (PSS and RSS, and the highest difference of
RSS) is compared at the ends of turns, where each instance has served the same load. Times of requests are the load generator's.

Servers are `orders` (servers/orders.cc), `redis`, `redis-pipelined`, `nginx` and `postgres`, of Debian. Takes the allotrace that is
first in PATH. Run it for 30 minutes a server (--minutes, 4 by default) before you believe a percent.
"""
import argparse
import collections
import contextlib
import math
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import pair

HERE = pathlib.Path(__file__).resolve().parent
RING = ["--keep", "1h", "--max-size", "200M"]
TICKS = os.sysconf("SC_CLK_TCK")

Load = collections.namedtuple("Load", "requests p50 p99")  # of a window; times in seconds


class Failed(Exception):
    pass


def tool(name, package):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not found:
        raise Failed(f"no {name} here: apt-get install {package}")
    return found


def output_of(command, **more):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300, **more)
    if done.returncode:
        raise Failed(f"{pathlib.Path(command[0]).name}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# The servers: how one is started, and how load goes to it.

class Server:
    """`per_process`: it forks a process for each connection, and these are to be recorded."""
    per_process = False
    user = None  # whose it runs as, if we are root

    def prepare(self, folder):
        pass

    def command(self, folder, port):
        raise NotImplementedError

    def started(self, folder, port):
        pass

    def load(self, folder, port, seconds):
        raise NotImplementedError


UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def wrk(url, seconds, *more):
    text = output_of([tool("wrk", "wrk"), "-t1", "-c8", f"-d{seconds}s", "--latency", *more, url])
    failed = re.search(r"Non-2xx.*|Socket errors.*", text)
    if failed:
        raise Failed(f"wrk: {failed.group()}")
    times = {m[1]: float(m[2]) * UNITS[m[3]] for m in re.finditer(r"^\s+(\d+)%\s+([\d.]+)(us|ms|s|m)$", text, re.M)}
    return Load(int(re.search(r"(\d+) requests in", text)[1]), times["50"], times["99"])


class Orders(Server):
    """JSON over HTTP in four threads; some 250 allocations a request, and thousands of orders that are kept."""

    def prepare(self, folder):
        tool("wrk", "wrk")
        for header, package in ("httplib.h", "libcpp-httplib-dev"), ("nlohmann/json.hpp", "nlohmann-json3-dev"):
            if not pathlib.Path("/usr/include", header).exists():
                raise Failed(f"no {header} here: apt-get install {package}")
        self.program = folder / "orders"
        output_of([tool("g++", "g++"), "-O2", "-g", "-o", self.program, HERE / "servers/orders.cc", "-lcpp-httplib", "-pthread"])

    def command(self, folder, port):
        return [self.program, port]

    def load(self, folder, port, seconds):
        return wrk(f"http://127.0.0.1:{port}/orders", seconds, "-s", HERE / "servers/orders.lua")


class Redis(Server):
    """Strings, lists and hashes of random keys; jemalloc."""
    pipeline = 1

    def __init__(self):
        self.rates = {}  # requests a second, of each test, by the first window

    def prepare(self, folder):
        tool("redis-server", "redis-server")
        tool("redis-benchmark", "redis-tools")

    def command(self, folder, port):
        return [tool("redis-server", "redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--loglevel", "warning", "--dir", folder]

    def load(self, folder, port, seconds):
        loads = [self.ask(port, test, seconds / 5) for test in ("set", "get", "hset", "lpush", "lpop")]
        mean = lambda values: math.exp(statistics.fmean(map(math.log, values)))
        return Load(sum(one.requests for one in loads), mean([one.p50 for one in loads]), mean([one.p99 for one in loads]))

    def ask(self, port, test, seconds):
        """redis-benchmark takes a number of requests: the same in every window, so that every instance keeps as much."""
        n = int(self.rates[test] * seconds) if test in self.rates else 20000
        begin = time.monotonic()
        text = output_of([tool("redis-benchmark", "redis-tools"), "-p", port, "-c", 8, "-P", self.pipeline, "-r", 50000, "-d", 200,
                          "-n", n, "-t", test, "--csv"])
        self.rates.setdefault(test, n / (time.monotonic() - begin))
        names, values = (re.findall(r'"([^"]*)"', line) for line in text.strip().splitlines()[-2:])
        row = dict(zip(names, values))
        return Load(n, float(row["p50_latency_ms"]) / 1000, float(row["p99_latency_ms"]) / 1000)


class RedisPipelined(Redis):
    """The same, 16 requests at a time: less of the time is the kernel's."""
    pipeline = 16


class Nginx(Server):
    """A static page of 4 KB with compression, in one process, so that `attach` has all of it."""

    def prepare(self, folder):
        tool("nginx", "nginx-light")
        tool("wrk", "wrk")

    def command(self, folder, port):
        (folder / "index.html").write_text("<p>A page with some text.</p>\n" * 140)
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
            "events { worker_connections 256; }\n"
            f"http {{ access_log off; keepalive_requests 1000000; gzip on; gzip_types text/html;\n"
            + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n")
        return [tool("nginx", "nginx-light"), "-e", folder / "error.log", "-c", folder / "nginx.conf"]

    def load(self, folder, port, seconds):
        return wrk(f"http://127.0.0.1:{port}/", seconds, "-H", "Accept-Encoding: gzip")


class Postgres(Server):
    """pgbench's reading transactions over four connections, each a process that is recorded, too."""
    per_process = True
    user = "postgres" if os.getuid() == 0 else None

    def binary(self, name):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        if not found:
            raise Failed(f"no {name} here: apt-get install postgresql")
        return found[-1]

    def prepare(self, folder):
        self.binary("postgres")

    def command(self, folder, port):
        data = folder / "data"
        output_of(as_user(self.user, [self.binary("initdb"), "-D", data, "-A", "trust", "-U", "bench", "--no-sync"]))
        return [self.binary("postgres"), "-D", data, "-p", port, "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
                "-c", "autovacuum=off", "-c", "shared_buffers=64MB"]

    def started(self, folder, port):
        for _ in range(300):  # it listens before it answers
            if subprocess.run([self.binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]).returncode == 0:
                break
            time.sleep(0.1)
        output_of([self.binary("pgbench"), "-h", "127.0.0.1", "-p", port, "-U", "bench", "-i", "-s", 2, "-q", "postgres"])

    def load(self, folder, port, seconds):
        with tempfile.TemporaryDirectory() as log:
            output_of([self.binary("pgbench"), "-h", "127.0.0.1", "-p", port, "-U", "bench", "-S", "-c", 4, "-j", 1, "-T", seconds, "-n",
                       "-l", "--log-prefix", f"{log}/log", "postgres"])
            times = sorted(int(line.split()[2]) / 1e6 for file in pathlib.Path(log).iterdir() for line in file.open())
        return Load(len(times), percentile(times, 0.5), percentile(times, 0.99))


SERVERS = {"orders": Orders, "redis": Redis, "redis-pipelined": RedisPipelined, "nginx": Nginx, "postgres": Postgres}


# Processes: what they used.

def as_user(user, command):
    if not user:
        return command
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--", *command]


def stat(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rsplit(")", 1)[1].split()


def family(root):
    """The process and its descendants."""
    parents = collections.defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                parents[int(stat(entry)[1])].append(int(entry))
    found = [root]
    for pid in found:
        found += parents[pid]
    return found


def is_helper(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name == "allotrace"
    return False


def cpu_seconds(pids):
    """Of all threads, ended ones too, and of children that were waited for. The process's own clock is in nanoseconds."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += sum(map(int, stat(pid)[13:15])) / TICKS
            total += time.clock_gettime((~pid << 3) | 2)
    return total


def memory(pids):
    """PSS and RSS, in bytes."""
    sums = collections.Counter()
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            sums.update({name: 1024 * int(kb) for name, kb in re.findall(r"^(Pss|Rss):\s+(\d+)", f.read(), re.M)})
    return sums["Pss"], sums["Rss"]


# Instances

class Instance:
    """One server that runs, in one way: `plain`, `again`, `run`, `attach`, or `run` at a rate."""

    def __init__(self, server, way, folder):
        self.server, self.way, self.folder = server, way, folder
        self.output = open(folder / "output", "wb")
        if server.user and os.getuid() == 0:
            owner = pwd.getpwnam(server.user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        self.port, self.attached = free_port(), None
        command = list(map(str, server.command(folder, self.port)))
        self.child = self.start(self.recorded(command) if way not in ("plain", "again", "attach") else command)
        try:
            self.wait()
            server.started(folder, self.port)
            if way == "attach":
                self.attach()
        except BaseException:
            self.stop()
            raise

    def recorded(self, command):
        rate = ["--rate", self.way.split()[1]] if " " in self.way else []
        ring = self.folder / ("ring/%p" if self.server.per_process else "ring")
        return ["allotrace", "run", *rate, *RING, "-o", str(ring), "--", *command]

    def start(self, command):
        return subprocess.Popen(as_user(self.server.user, command), stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
                                cwd=self.folder)

    def attach(self):
        self.attached = self.start(["allotrace", "attach", *RING, "-o", str(self.folder / "ring"), str(self.child.pid)])
        for _ in range(100):
            time.sleep(0.1)
            if b"recording process" in (self.folder / "output").read_bytes():
                return
        raise Failed(f"attach did not begin: {self.said()}")

    def said(self):
        return (self.folder / "output").read_text(errors="replace")[-500:]

    def wait(self):
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self.child.poll() is not None:
                break
            time.sleep(0.1)
        raise Failed(f"the server does not listen: {self.said()}")

    def processes(self):
        """Those of the server, and those of allotrace."""
        own = [family(self.child.pid), family(self.attached.pid) if self.attached else []]
        pids = [pid for some in own for pid in some]
        helpers = [pid for pid in pids if is_helper(pid)]
        return [pid for pid in pids if pid not in helpers], helpers

    def run(self, seconds, aside):
        """A window of load: the row of what it cost."""
        served, helping = self.processes()
        for pid in helping if aside else []:
            os.sched_setaffinity(pid, aside)
        before, helped = cpu_seconds(served), cpu_seconds(helping)
        load = self.server.load(self.folder, self.port, seconds)
        time.sleep(0.2)  # processes of its connections end
        served, helping = self.processes()
        used, helped = cpu_seconds(served) - before, cpu_seconds(helping) - helped
        return {"cpu": used / load.requests, "all": (used + helped) / load.requests, "p50": load.p50, "p99": load.p99}

    def memory(self):
        served, helping = self.processes()
        return memory(served) + memory(helping)[:1]

    def stop(self):
        served, _ = self.processes()
        with contextlib.suppress(OSError):
            os.kill(served[0], signal.SIGTERM if not self.server.per_process else signal.SIGINT)
        for child in (self.child, self.attached):
            if child:
                try:
                    child.wait(60)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
        self.output.close()


# Measuring

class Start:
    """What was measured between two starts: rows by way, one a turn."""

    def __init__(self, ways):
        self.rows = {way: [] for way in ways}
        self.memory = {way: [] for way in ways}


def measure_start(server, ways, options, folder, end):
    instances, start = [], Start(ways)
    try:
        for way in ways:
            home = folder / way.replace(" ", "-")
            home.mkdir()
            instances.append(Instance(server, way, home))
        for instance in instances:
            instance.run(options.window, options.aside)
        for turn in range(options.turns):
            for instance in instances if turn % 2 == 0 else reversed(instances):
                start.rows[instance.way].append(instance.run(options.window, options.aside))
            for instance in instances:
                start.memory[instance.way].append(instance.memory())
            if time.monotonic() > end:
                break
    finally:
        for instance in instances:
            instance.stop()
    shortest = min(map(len, start.rows.values()))
    start.rows = {way: rows[:shortest] for way, rows in start.rows.items()}
    return start


def bases(start, way, what):
    """What each turn's row is compared with."""
    plain = [row[what] for row in start.rows["plain"]]
    again = plain if way == "again" else [row[what] for row in start.rows["again"]]
    return [math.sqrt(a * b) for a, b in zip(plain, again)]


def interval(starts, way, what):
    """Geometric mean of the ratios, its 95% interval, how many were above 1, and how many there were."""
    logs = [[math.log(row[what] / base) for row, base in zip(start.rows[way], bases(start, way, what))] for start in starts]
    means, every = [statistics.fmean(one) for one in logs], sum(logs, [])
    middle = statistics.fmean(means)
    margin = student(len(means) - 1) * statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.inf
    return math.exp(middle), math.exp(middle - margin), math.exp(min(99, middle + margin)), sum(x > 0 for x in every), len(every)


def student(freedom):
    """97.5% quantile; from the normal one where there are many (Hill's expansion, cut)."""
    table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
    return table[freedom - 1] if freedom <= len(table) else 1.96 + 2.372 / freedom + 2.822 / freedom ** 2


def ratio_text(starts, way, what):
    middle, low, high, above, n = interval(starts, way, what)
    return f"{middle:.3f} ({low:.3f} … {high:.3f}) {above}/{n}" if len(starts) > 1 else f"{middle:.3f} (one start) {above}/{n}"


def megabytes(values):
    return statistics.median(values) / 1048576


def report(starts, ways):
    rows = [row for start in starts for row in start.rows["plain"]]
    print(f"  plain: {1e6 * statistics.median(row['cpu'] for row in rows):.1f} µs of CPU time a request, p50 "
          f"{1000 * statistics.median(row['p50'] for row in rows):.3f} ms, p99 {1000 * statistics.median(row['p99'] for row in rows):.3f} ms, "
          f"{megabytes([m[1] for start in starts for m in start.memory['plain']]):.1f} MB of RSS; {len(starts)} starts, {len(rows)} windows each")
    for way in ways[1:]:
        print(f"  {way:<11}" + "".join(f"  {label} {ratio_text(starts, way, what)}" for label, what in
              (("CPU", "cpu"), ("with helpers", "all"))))
        print(f"  {'':<11}" + "".join(f"  {what} {ratio_text(starts, way, what)}" for what in ("p50", "p99")))
        pairs = [(one, plain) for start in starts for one, plain in zip(start.memory[way], start.memory["plain"])]
        print(f"  {'':<11}  PSS {megabytes([one[0] - plain[0] for one, plain in pairs]):+.1f} MB, RSS "
              f"{megabytes([one[1] - plain[1] for one, plain in pairs]):+.1f} MB, at most "
              f"{max(one[1] - plain[1] for one, plain in pairs) / 1048576:+.1f} MB; helpers' PSS {megabytes([one[2] for one, _ in pairs]):.1f} MB")


def measure(name, options):
    server, starts = SERVERS[name](), []
    print(f"\n{name}: {server.__doc__.splitlines()[0]}", flush=True)
    ways = ["plain", "again", "run"] + ([] if server.per_process or options.no_attach else ["attach"]) + [f"run {rate}" for rate in options.rates]
    with tempfile.TemporaryDirectory(prefix="allotrace-bench-") as folder:
        os.chmod(folder, 0o755)
        server.prepare(pathlib.Path(folder))
        try:
            measure_starts(server, ways, options, pathlib.Path(folder), starts)
        finally:
            if starts:
                report(starts, ways)


def measure_starts(server, ways, options, folder, starts):
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        home = folder / str(len(starts))
        home.mkdir()
        start = measure_start(server, ways, options, home, end)
        starts += [start] if all(start.rows.values()) else []
        shutil.rmtree(home)
        if options.verbose:
            print(f"  {len(starts)}: " + "; ".join(f"{way} {interval([start], way, 'cpu')[0]:.3f}" for way in ways[1:]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="*", metavar="SERVER")
    parser.add_argument("--minutes", type=float, default=4, help="for each server")
    parser.add_argument("--window", type=int, default=2, metavar="SECONDS")
    parser.add_argument("--turns", type=int, default=2, help="between two starts")
    parser.add_argument("--rates", type=lambda text: text.split(","), default=[], help="other sampling rates, such as 1e-4,1e-3")
    parser.add_argument("--spread", action="store_true", help="over all CPUs")
    parser.add_argument("--aside", action="store_true", help="allotrace's own processes on another CPU")
    parser.add_argument("--no-attach", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="a line after each start")
    options = parser.parse_args()
    unknown = set(options.servers) - set(SERVERS)
    if unknown:
        parser.error(f"no such server: {min(unknown)} (there are: {', '.join(SERVERS)})")
    if not shutil.which("allotrace"):
        sys.exit("servers: no allotrace in PATH")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("servers: told to end"))
    cpus, failed = os.sched_getaffinity(0), False
    for name in options.servers or SERVERS:
        try:
            with contextlib.nullcontext() if options.spread else pair.pinned():
                options.aside = options.aside and cpus - os.sched_getaffinity(0)
                measure(name, options)
        except Failed as failure:
            print(f"  servers: {name}: {failure}", file=sys.stderr)
            failed = True
        print(f"  load of the machine: {' '.join(f'{x:.1f}' for x in os.getloadavg())}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
