#!/usr/bin/python3
"""fleet.py: how the export to Parquet and the queries of docs/fleet.md grow with the number of traces.

    bench/fleet.py ALLOTRACE FOLDER [--sizes 100,1000,10000] [--hosts 200] [--megabytes 2.9] [--engines FOLDER]
                   [--ask duckdb,spark,differ] [--files exported,compacted] [--most SECONDS] [--from N] TRACE...

Makes traces of simulated hosts in FOLDER from real ones, which it subsamples, to about --megabytes each, and anonymises,
exports them one by one as processes of services and versions, and asks DuckDB, or two workers of Spark, each query of
docs/fleet.md, as exported and compacted; DuckDB in a process of its own each. Prints what each took, by what it grew since
the size before, compared with the blocks (1.00: in proportion), and whether all gave the same answers. A query that takes
longer than --most seconds is given up. --ask differ has DuckDB ask for lifetimes of which no two are the same, as those of
traces made from the same ones repeat. --from N goes on with the N traces that an earlier run with the same TRACEs exported
into FOLDER, or asks them again if --sizes has no more. The folder --engines is that of tests/fleet/run (default: out/fleet).
Traces are removed once they are exported, so that only one or two are on the disk.
"""
import argparse
import concurrent.futures
import decimal
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fleet"))
import simulate
import sql

PAGE = ROOT / "docs/fleet.md"
TITLES = {"duckdb": "DuckDB", "spark": "Spark", "differ": "DuckDB, differing"}
QUERIES = ["top sites", "growth", "deploy", "leaks", "lifetimes", "stack"]
VARIANTS = 16  # of each trace: other samples, with names of their own by service
DUCKDB = {"memory_limit": "4GB", "threads": 2, "max_temp_directory_size": "10GB"}
QUIET = "SET enable_progress_bar = false"  # what it draws would stand between the answers
KEPT_FREE = 12e9  # bytes of the disk that are left to others
TICKS = os.sysconf("SC_CLK_TCK")


def thin_traces(arguments):
    """Some different traces, from which those of all processes are made. In files: what a process has in memory when it
    starts another counts for the peak of that one."""
    made, folder = [], arguments.folder / "made"
    folder.mkdir(exist_ok=True)
    for number, trace in enumerate(arguments.traces):
        factor = max(2, round(os.stat(trace).st_size / 1e6 / arguments.megabytes))
        for seed in range(VARIANTS):
            thin, hidden = arguments.folder / "thin.ctf", folder / f"{number}.{seed}.ctf"
            made.append((number, hidden))
            if hidden.exists():
                continue
            subprocess.run([arguments.allotrace, "subsample", str(factor), "--seed", str(seed), "-o", thin,
                            trace], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([arguments.allotrace, "anonymise", "--key", f"service {number}", "--keep-lines",
                            "--keep-structure", "-o", hidden, thin], check=True, stderr=subprocess.DEVNULL)
    return made


def export(arguments, made, number):
    """Process `number` of the fleet; what its export took."""
    assert shutil.disk_usage(arguments.folder).free > KEPT_FREE, "the disk is nearly full"
    service, path = made[number * 7 % len(made)]
    host = number % arguments.hosts
    trace = arguments.folder / f"{number}.ctf"
    trace.write_bytes(simulate.process(path.read_bytes(), f"host-{host:04}", 1000 + number, number // arguments.hosts))
    size = trace.stat().st_size
    name = "leaky" if service == 0 else f"service-{service}"
    begin = time.monotonic()
    child = subprocess.Popen([arguments.allotrace, "export", "--to", "parquet", "-o", arguments.folder / "fleet",
                              "--label", f"service={name}", "--label", f"version={1 + host % 2}", trace])
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    trace.unlink()
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size


def tree_size(folder):
    files = [path.stat().st_size for path in folder.rglob("*.parquet")]
    return sum(files), len(files)


def ask(arguments, engine, queries, folder):
    """Of a process that asks `queries`, a dictionary each; those that it had no time for are missing."""
    child = subprocess.Popen([arguments.engines / "venv/bin/python", "-B", __file__, "--answer", engine, ",".join(queries)],
                             cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE if engine == "spark" else None,
                             text=True, start_new_session=True)
    giving_up = threading.Timer(arguments.most * len(queries), os.killpg, (child.pid, signal.SIGKILL))
    giving_up.start()
    out, said = child.communicate()
    giving_up.cancel()
    if child.returncode == -signal.SIGKILL:
        print(f"  {engine}: given up after {arguments.most * len(queries)} s", flush=True)
    elif child.returncode:
        print(f"  {engine}: status {child.returncode}, {(said or '').strip()[-300:]}", flush=True)
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def connect_duckdb(change=lambda statement: statement):
    import duckdb
    connection = duckdb.connect(config=DUCKDB)
    connection.execute(QUIET)
    for block in "prepare DuckDB", "functions", "blocks":
        for statement in sql.statements(sql.blocks_of(PAGE)[block]):
            connection.execute(change(statement))
    return lambda query: connection.execute(query).fetchall()


def ask_duckdb(folder):
    return connect_duckdb()


def ask_differing(folder):
    """DuckDB, but each lifetime is another: a row's number in its file, in which each file has microseconds of its own."""
    files = sum(1 for _ in (folder / "fleet/samples").rglob("*.parquet"))
    differing = f"SELECT * REPLACE (lifetime - lifetime + file_index + {files} * file_row_number AS lifetime)"
    return connect_duckdb(lambda statement: statement.replace("SELECT *", differing)
                          if statement.startswith("CREATE VIEW samples") else statement)


def ask_spark(folder):
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
               .config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC")
               .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
               .config("spark.local.dir", folder / "spark").config("spark.sql.shuffle.partitions", "8").getOrCreate())
    for block in "prepare Spark", "functions", "blocks":
        for statement in sql.statements(sql.blocks_of(PAGE)[block]):
            session.sql(sql.for_spark(statement))
    return lambda query: session.sql(query).collect()


def family():
    """CPU seconds so far, and MB at most, of this process and all below it: Spark's workers are others."""
    parents, cpu = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)], cpu[int(path.name)] = int(fields[1]), sum(map(int, fields[11:15])) / TICKS
        except OSError:
            pass
    def is_ours(pid):
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))
    ours = [pid for pid in parents if is_ours(pid)]
    return sum(cpu[pid] for pid in ours), sum(map(peak_of, ours))


def peak_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    except (OSError, IndexError):
        return 0


def digest(rows):
    """The sum of each column of numbers, to compare answers by: sums of floats depend on their order a little."""
    columns = zip(*map(tuple, rows))
    return [sum(float(v) for v in column if isinstance(v, (int, float, decimal.Decimal))) for column in columns]


def answer(engine, queries):
    run = {"duckdb": ask_duckdb, "spark": ask_spark, "differ": ask_differing}[engine](pathlib.Path.cwd())
    for query in queries:
        begin, before = time.monotonic(), family()[0]
        rows = run(sql.statements(sql.blocks_of(PAGE)[query])[0])
        cpu, memory = family()
        print(json.dumps({"query": query, "seconds": time.monotonic() - begin, "cpu": cpu - before, "memory": memory,
                          "rows": len(rows), "digest": digest(rows)}), flush=True)


def compact(arguments, fleet, to):
    """Each day's rows in few files. What it took: seconds, CPU, MB."""
    to.mkdir()
    begin = time.monotonic()
    child = subprocess.Popen([arguments.engines / "venv/bin/python", "-B", __file__, "--compact", fleet, to])
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compact_here(fleet, to):
    import duckdb
    connection = duckdb.connect(config=DUCKDB)
    connection.execute(QUIET)
    text = sql.blocks_of(PAGE)["compact"].replace("'fleet/", f"'{fleet}/").replace("'compact/", f"'{to}/")
    for statement in sql.statements(text):
        connection.execute(statement)


def median(values):
    return sorted(values)[len(values) // 2]


def report_export(results, n, fleet, seconds):
    size, files = tree_size(fleet)
    samples, _ = tree_size(fleet / "samples")
    print(f"{n} traces, {sum(r[3] for r in results) / 1e6:.0f} MB of traces in this step, {seconds:.0f} s; one: "
          f"{1000 * median([r[0] for r in results]):.0f} ms, CPU {1000 * median([r[1] for r in results]):.0f} ms, "
          f"{max(r[2] for r in results):.0f} MB at most")
    print(f"  {files} files, {size / 1e6:.1f} MB, of which samples {samples / 1e6:.1f} MB", flush=True)


class Growth:
    """What the size before took, by what is measured."""

    def __init__(self):
        self.before, self.now, self.blocks = {}, {}, [0, 0]

    def next(self, blocks):
        self.before, self.now, self.blocks = self.now, {}, [self.blocks[1], blocks]

    def of(self, what, cpu):
        self.now[what] = cpu
        if what not in self.before or not self.before[what]:
            return ""
        return f" {cpu / self.before[what] / (self.blocks[1] / self.blocks[0]):5.2f} of proportion"


def is_near(a, b):
    return len(a) == len(b) and all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-6) for x, y in zip(a, b))


def report_answer(title, found, answers, growth):
    first = answers.setdefault(found["query"], (title, found["digest"], found["rows"]))
    same = first[2] == found["rows"] and is_near(first[1], found["digest"])
    said = "" if first[0] == title else ", as " + first[0] if same else ", OTHER THAN " + first[0]
    grown = growth.of((title, found["query"]), found["cpu"])
    print(f"  {title:<18} {found['query']:<10} {found['seconds']:8.2f} s, CPU {found['cpu']:7.2f} s{grown} "
          f"{found['memory']:8.0f} MB {found['rows']:7} rows{said}", flush=True)


def runs_of(engine):
    """Which queries a process asks: Spark's starts slowly."""
    return {"duckdb": [[query] for query in QUERIES], "spark": [QUERIES], "differ": [["lifetimes"]]}[engine]


def report_queries(arguments, engine, folder, title, answers, growth):
    for queries in runs_of(engine):
        found = ask(arguments, engine, queries, folder)
        for one in found:
            report_answer(title, one, answers, growth)
        for query in queries[len(found):]:
            print(f"  {title:<18} {query:<10} no answer", flush=True)


def count_rows(arguments, folder):
    """Rows of samples, and whether they are those of which the traces' own rows tell."""
    code = (f"import duckdb; c = duckdb.connect(config={DUCKDB}); c.execute('{QUIET}'); print(*c.execute(\"SELECT count(*), sum(samples) FROM "
            "read_parquet('fleet/samples/*/*/*.parquet')\").fetchone(), *c.execute(\"SELECT sum(blocks), sum(samples), "
            "count(*), count(DISTINCT host) FROM read_parquet('fleet/traces/*/*/*.parquet')\").fetchone())")
    done = subprocess.run([arguments.engines / "venv/bin/python", "-c", code], cwd=folder, check=True, stdout=subprocess.PIPE)
    blocks, samples, own_blocks, own_samples, traces, hosts = map(int, done.stdout.split())
    assert (blocks, samples) == (own_blocks, own_samples), "the traces' sums are others than those of their rows"
    each = tree_size(folder / "fleet")[0] / samples
    print(f"  {blocks} blocks, {samples} samples, {traces} traces of {hosts} hosts; {each:.2f} bytes a sample", flush=True)
    return blocks


def compact_all(arguments, whole, growth):
    whole.mkdir()
    seconds, cpu, memory = compact(arguments, arguments.folder / "fleet", whole / "fleet")
    size, files = tree_size(whole / "fleet")
    print(f"  compacted in {seconds:.1f} s, CPU {cpu:.2f} s{growth.of('compact', cpu)}, {memory:.0f} MB: {files} files, "
          f"{size / 1e6:.1f} MB", flush=True)


def measure_queries(arguments, growth, is_new):
    growth.next(count_rows(arguments, arguments.folder))
    answers, whole, files = {}, arguments.folder / "compacted", arguments.files.split(",")
    if is_new:
        shutil.rmtree(whole, ignore_errors=True)
    if "compacted" in files and not whole.exists():
        compact_all(arguments, whole, growth)
    for engine in arguments.ask.split(","):
        known = {} if engine == "differ" else answers
        if "exported" in files:
            report_queries(arguments, engine, arguments.folder, TITLES[engine], known, growth)
        if "compacted" in files:
            report_queries(arguments, engine, whole, TITLES[engine] + ", compacted", known, growth)


def measure(arguments, made, first, n, growth):
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda i: export(arguments, made, i), range(first, n)))
    if results:
        report_export(results, n, arguments.folder / "fleet", time.monotonic() - begin)
    measure_queries(arguments, growth, bool(results))


def main():
    if sys.argv[1:2] == ["--answer"]:
        return answer(sys.argv[2], sys.argv[3].split(","))
    if sys.argv[1:2] == ["--compact"]:
        return compact_here(sys.argv[2], sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("allotrace", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("traces", nargs="*")
    parser.add_argument("--sizes", default="100,1000")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=2.9, help="of a trace, about; smaller ones are halved")
    parser.add_argument("--engines", type=pathlib.Path, default=ROOT / "out/fleet")
    parser.add_argument("--ask", default="duckdb", help="which engines: duckdb,spark,differ")
    parser.add_argument("--files", default="exported,compacted", help="which of them are asked")
    parser.add_argument("--most", type=int, default=600, help="seconds for a query")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N")
    arguments = parser.parse_intermixed_args()
    arguments.allotrace, arguments.folder = arguments.allotrace.resolve(), arguments.folder.resolve()
    arguments.engines = arguments.engines.resolve()
    growth = Growth()
    if not arguments.first:
        shutil.rmtree(arguments.folder, ignore_errors=True)
        arguments.folder.mkdir(parents=True)
    made, first = thin_traces(arguments), arguments.first
    print(f"{len(made)} different traces, on average of {sum(path.stat().st_size for _, path in made) / len(made) / 1e6:.2f} MB, "
          f"{arguments.hosts} hosts", flush=True)
    for n in map(int, arguments.sizes.split(",")):
        measure(arguments, made, first, n, growth)
        first = n


if __name__ == "__main__":
    sys.exit(main())
