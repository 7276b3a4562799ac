#!/usr/bin/python3
"""fleet.py: how the export to Parquet and the queries of docs/fleet.md grow with the number of traces.

    bench/fleet.py ALLOTRACE FOLDER [--sizes 100,1000] [--hosts 200] [--engines FOLDER] [--spark] TRACE...

Makes traces of simulated hosts in FOLDER from real ones, which it subsamples and anonymises, exports them one by one as
processes of services and versions, and asks DuckDB (and with --spark Spark, once, at the largest size) each query of
docs/fleet.md, in a process of its own each. Prints a table. The folder --engines is that of tests/fleet/run (default:
out/fleet). Traces are removed once they are exported.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fleet"))
import simulate
import sql

PAGE = ROOT / "docs/fleet.md"
QUERIES = ["top sites", "growth", "deploy", "leaks", "lifetimes", "stack"]
VARIANTS = 16  # of each trace: other samples, with names of their own by service


def thin_traces(arguments):
    """Some different traces, from which those of all processes are made."""
    made = []
    for number, trace in enumerate(arguments.traces):
        for seed in range(VARIANTS):
            thin, hidden = arguments.folder / "thin.ctf", arguments.folder / "hidden.ctf"
            subprocess.run([arguments.allotrace, "subsample", str(arguments.factor), "--seed", str(seed), "-o", thin,
                            trace], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([arguments.allotrace, "anonymise", "--key", f"service {number}", "--keep-lines",
                            "--keep-structure", "-o", hidden, thin], check=True, stderr=subprocess.DEVNULL)
            made.append((number, hidden.read_bytes()))
    return made


def export(arguments, made, number):
    """Process `number` of the fleet; what its export took."""
    service, data = made[number * 7 % len(made)]
    host = number % arguments.hosts
    trace = arguments.folder / f"{number}.ctf"
    trace.write_bytes(simulate.process(data, f"host-{host:04}", 1000 + number, number // arguments.hosts))
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
    """Seconds and MB, by query, of a process that asks them."""
    done = subprocess.run([arguments.engines / "venv/bin/python", "-B", __file__, "--ask", engine, ",".join(queries)],
                          cwd=folder, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.decode().splitlines() if line.startswith("[")]


def ask_duckdb(queries):
    import duckdb
    connection = duckdb.connect(config={"memory_limit": "4GB", "threads": 2})
    for block in "prepare DuckDB", "functions", "blocks":
        for statement in sql.statements(sql.blocks_of(PAGE)[block]):
            connection.execute(statement)
    return lambda query: connection.execute(query).fetchall()


def ask_spark(queries):
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
               .config("spark.sql.session.timeZone", "UTC").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2").getOrCreate())
    for block in "prepare Spark", "functions", "blocks":
        for statement in sql.statements(sql.blocks_of(PAGE)[block]):
            session.sql(sql.for_spark(statement))
    return lambda query: session.sql(query).collect()


def answer(engine, queries):
    run = {"duckdb": ask_duckdb, "spark": ask_spark}[engine](queries)
    for query in queries:
        begin, before = time.monotonic(), sum(os.times()[:2])
        rows = run(sql.statements(sql.blocks_of(PAGE)[query])[0])
        print(json.dumps([query, time.monotonic() - begin, sum(os.times()[:2]) - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                          len(rows)]), flush=True)


def compact(arguments, folder, to):
    """The rows of each day and service in one file, frames and stacks once."""
    done = subprocess.run([arguments.engines / "venv/bin/python", "-B", "-c", COMPACT, folder, to], check=True,
                          stdout=subprocess.PIPE)
    return float(done.stdout.split()[-1])


COMPACT = """
import pathlib, sys, time
sys.path.insert(0, %r)
import duckdb, sql
begin = time.monotonic()
connection = duckdb.connect(config={"memory_limit": "4GB", "threads": 2})
text = sql.blocks_of(pathlib.Path(%r))["compact"].replace("'fleet/", "'" + sys.argv[1] + "/").replace(
    "'compact/", "'" + sys.argv[2] + "/")
pathlib.Path(sys.argv[2]).mkdir(exist_ok=True)
for statement in sql.statements(text):
    connection.execute(statement)
print()
print(time.monotonic() - begin)
""" % (str(ROOT / "tests/fleet"), str(PAGE))


def median(values):
    return sorted(values)[len(values) // 2]


def report_export(results, n, fleet, seconds):
    size, files = tree_size(fleet)
    samples, _ = tree_size(fleet / "samples")
    print(f"{n} traces, {sum(r[3] for r in results) / 1e6:.0f} MB of traces in this step, {seconds:.0f} s; one: "
          f"{1000 * median([r[0] for r in results]):.0f} ms, CPU {1000 * median([r[1] for r in results]):.0f} ms, "
          f"{max(r[2] for r in results):.0f} MB at most")
    print(f"  {files} files, {size / 1e6:.1f} MB, of which samples {samples / 1e6:.1f} MB", flush=True)


def report_queries(arguments, engine, folder, title):
    for query in QUERIES if engine == "duckdb" else [QUERIES]:
        for name, seconds, cpu, memory, rows in ask(arguments, engine, [query] if engine == "duckdb" else query, folder):
            print(f"  {title:<18} {name:<10} {seconds:8.2f} s, CPU {cpu:7.2f} s {memory:8.0f} MB {rows:7} rows", flush=True)


def count_rows(arguments, folder):
    code = ("import duckdb; print(duckdb.connect().execute(\"SELECT count(*), sum(samples) FROM "
            "read_parquet('fleet/samples/*/*/*.parquet')\").fetchone())")
    done = subprocess.run([arguments.engines / "venv/bin/python", "-c", code], cwd=folder, check=True, stdout=subprocess.PIPE)
    print("  blocks, samples:", done.stdout.decode().strip(), flush=True)


def measure(arguments, made, first, n):
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda i: export(arguments, made, i), range(first, n)))
    report_export(results, n, arguments.folder / "fleet", time.monotonic() - begin)
    count_rows(arguments, arguments.folder)
    report_queries(arguments, "duckdb", arguments.folder, "DuckDB")
    whole = arguments.folder / "compacted"
    shutil.rmtree(whole, ignore_errors=True)
    whole.mkdir()
    print(f"  compacted in {compact(arguments, arguments.folder / 'fleet', whole / 'fleet'):.1f} s: "
          f"{tree_size(whole / 'fleet')[1]} files, {tree_size(whole / 'fleet')[0] / 1e6:.1f} MB", flush=True)
    report_queries(arguments, "duckdb", whole, "DuckDB, compacted")


def main():
    if sys.argv[1:2] == ["--ask"]:
        return answer(sys.argv[2], sys.argv[3].split(","))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("allotrace", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--sizes", default="100,1000")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--factor", type=int, default=2, help="by which traces are subsampled")
    parser.add_argument("--engines", type=pathlib.Path, default=ROOT / "out/fleet")
    parser.add_argument("--spark", action="store_true")
    arguments = parser.parse_args()
    arguments.allotrace, arguments.folder = arguments.allotrace.resolve(), arguments.folder.resolve()
    arguments.engines = arguments.engines.resolve()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    made, first = thin_traces(arguments), 0
    print(f"{len(made)} different traces of {median([len(data) for _, data in made]) / 1e6:.2f} MB, "
          f"{arguments.hosts} hosts", flush=True)
    for n in map(int, arguments.sizes.split(",")):
        measure(arguments, made, first, n)
        first = n
    if arguments.spark:
        report_queries(arguments, "spark", arguments.folder / "compacted", "Spark, compacted")


if __name__ == "__main__":
    sys.exit(main())
