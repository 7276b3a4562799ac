"""fleet.py: `run` starts it. Reads exported files by DuckDB, pyarrow and Spark, which share no code, and compares the
answers of docs/fleet.md with those of `allotrace merge` and then hotspots, diff, leaks and lifetimes."""
import datetime
import decimal
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import simulate
import sql
import tap
from tap import Skip, same, test

ALLOTRACE, WRITE = os.environ["ALLOTRACE"], os.environ["WRITE_PARQUET"]
ROWS = (1 << 17) + 20000  # two groups
SQL = sql.blocks_of(ROOT / "docs/fleet.md")
QUERIES = ["top sites", "growth", "deploy", "leaks", "lifetimes", "stack"]
TABLES = ["samples", "frames", "stacks", "marks", "traces"]
WORK = None  # the folder of all tests


def allotrace(*arguments, **settings):
    done = subprocess.run([ALLOTRACE, *map(str, arguments)], env=os.environ | settings, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.stdout


def answer(*arguments):
    return json.loads(allotrace(*arguments, "--json"))


def near(got, want, part, what):
    assert math.isclose(got, want, rel_tol=part, abs_tol=1e-12), f"{what}: got {got}, expected {want}"


# ---- the fleet -----------------------------------------------------------------------------------


def record_leaky(version):
    """The second version's notes are larger; its file and lines are the same."""
    source = (ROOT / "examples/leaky.c").read_text()
    (WORK / "leaky.c").write_text(source.replace("reason[32]", "reason[64]") if version == 2 else source)
    program, trace = WORK / "leaky", WORK / f"leaky{version}.ctf"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, "leaky.c"], check=True, cwd=WORK)
    allotrace("run", "--rate", "1e-3", "-o", trace, "--", program, MEMTRACE_SEED=str(version))
    return trace


def processes_of(trace, name, n, factor, clocks):
    """Traces of `n` processes, each with samples of its own."""
    made = []
    for i in range(n):
        path = WORK / f"{name}.{i}.ctf"
        thin = allotrace("subsample", factor, "--seed", i, "-o", "-", trace)
        path.write_bytes(simulate.process(thin, f"host-{i:03}", 100 + i, i * clocks))
        made.append(path)
    return made


def export(traces, service, version):
    for trace in traces:
        allotrace("export", "--to", "parquet", "-o", WORK / "fleet", "--label", f"service={service}", "--label",
                  f"version={version}", "--label", "region=eu", trace)


def merged(name, traces):
    allotrace("merge", "-o", WORK / f"{name}.ctf", *traces)
    return WORK / f"{name}.ctf"


class Fleet:
    """Leaky processes that run at the same time, of two versions; others that run one after the other, which overlap."""

    def __init__(self):
        self.leaky = {v: processes_of(record_leaky(v), f"leaky{v}", 5, 2, 0) for v in (1, 2)}
        self.irmin = processes_of(HERE.parent / "traces/irmin-replay.ctf", "irmin", 4, 2, 1)
        for version, traces in self.leaky.items():
            export(traces, "leaky", version)
        export(self.irmin, "irmin", 1)
        self.groups = {("leaky", "1"): merged("all1", self.leaky[1]), ("leaky", "2"): merged("all2", self.leaky[2]),
                       ("irmin", "1"): merged("alli", self.irmin)}


def duck(folder="fleet"):
    import duckdb
    os.chdir(WORK)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for block in "prepare DuckDB", "functions", "blocks":
        for statement in sql.statements(SQL[block]):
            connection.execute(statement.replace("'fleet/", f"'{folder}/"))
    return connection


def ask(connection, query):
    result = connection.execute(sql.statements(SQL[query])[0])
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]


def place(row):
    return row.get("function"), row.get("file") or None, row.get("line") or None


def group(rows, service, version=None):
    return [row for row in rows if row["service"] == service and version in (None, row.get("version"))]


# ---- the files -----------------------------------------------------------------------------------


def hash_u64(x):
    """hash.h"""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    x ^= x >> 31
    return x - 2**64 if x >= 2**63 else x


def expected_row(i):
    """write_parquet.c; times in microseconds."""
    name = f"f{i}" + ("x" * 100 if i % 1000 == 2 else "")
    return {"wide": hash_u64(i), "rises": None if i % 3 == 0 else i * 1000 + i % 7, "small": i % 11 - 5,
            "ends": 2**63 - 1 if i % 2 else -2**63, "at": 1700000000000000 + i * 997, "real": i / 8 - 1000,
            "few": ["minor", "major", "external"][i % 3], "names": None if i % 5 == 0 else "" if i % 5 == 1 else name,
            "bad": "\ufffd" if i % 2 else "é", "none": None, "same": 42}


def write_rows():
    path = WORK / "rows.parquet"
    if not path.exists():
        subprocess.run([WRITE, path, str(ROWS)], check=True)
    return path


def micros(value):
    return round((value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) / datetime.timedelta(microseconds=1))


def same_rows(rows, reader):
    count = 0
    for i, row in enumerate(rows):
        same(row, expected_row(i), f"{reader}, row {i}")
        count += 1
    same(count, ROWS, reader)


@test
def pyarrow_reads_every_value():
    import pyarrow.parquet
    rows = pyarrow.parquet.read_table(write_rows()).to_pylist()
    same_rows((row | {"at": micros(row["at"])} for row in rows), "pyarrow")


@test
def DuckDB_reads_every_value():
    names = list(expected_row(0))
    columns = ", ".join('epoch_us("at")' if name == "at" else f'"{name}"' for name in names)
    import duckdb
    result = duckdb.connect().execute(f"SELECT {columns} FROM read_parquet('{write_rows()}')").fetchall()
    same_rows((dict(zip(names, row)) for row in result), "DuckDB")


@test
def groups_say_their_limits():
    import pyarrow.parquet
    meta = pyarrow.parquet.ParquetFile(write_rows()).metadata
    same(meta.num_row_groups, 2)
    for number, (first, end) in enumerate([(0, 1 << 17), (1 << 17, ROWS)]):
        rows = [expected_row(i) for i in range(first, end)]
        for column in range(meta.num_columns):
            chunk = meta.row_group(number).column(column)
            values = [row[chunk.path_in_schema] for row in rows if row[chunk.path_in_schema] is not None]
            limits = chunk.statistics
            same(limits.null_count, len(rows) - len(values), chunk.path_in_schema)
            low, high = min(values, default=""), max(values, default="")
            if not values or chunk.path_in_schema == "names" and len(low + high) > 64:  # long ones are left out
                same(limits.has_min_max, False, chunk.path_in_schema)
                continue
            got = [micros(x) if chunk.path_in_schema == "at" else x for x in (limits.min, limits.max)]
            same(got, [low, high], chunk.path_in_schema)


@test
def columns_are_encoded_as_it_pays():
    import pyarrow.parquet
    group_ = pyarrow.parquet.ParquetFile(write_rows()).metadata.row_group(0)
    got = {group_.column(i).path_in_schema: group_.column(i).encodings[0] for i in range(group_.num_columns)}
    same(got, {"wide": "DELTA_BINARY_PACKED", "rises": "DELTA_BINARY_PACKED", "small": "RLE_DICTIONARY",
               "ends": "RLE_DICTIONARY", "at": "DELTA_BINARY_PACKED", "real": "PLAIN", "few": "RLE_DICTIONARY",
               "names": "DELTA_LENGTH_BYTE_ARRAY", "bad": "RLE_DICTIONARY", "none": "PLAIN", "same": "RLE_DICTIONARY"})


@test
def readers_agree_on_a_fleet():
    import pyarrow.dataset
    connection = duck()
    for table in TABLES:
        files = pyarrow.dataset.dataset(WORK / "fleet" / table, partitioning="hive").to_table()
        ours = connection.sql(f"SELECT * FROM {table}").to_arrow_table().select(files.column_names)
        assert files.num_rows == ours.num_rows and (files.num_rows or table == "marks"), table
        key = [(name, "ascending") for name in files.column_names]
        same(ours.cast(files.schema).sort_by(key).to_pylist(), files.sort_by(key).to_pylist(), table)


@test
def blocks_are_those_of_the_trace():
    """Against the export of the same trace as CSV."""
    import csv
    import io
    trace = FLEET.irmin[0]
    wanted = [(int(r["time"]), r["lifetime"], r["promoted"], int(r["size"]), int(r["samples"]), float(r["bytes"]),
               r["source"]) for r in csv.DictReader(io.StringIO(allotrace("export", "--to", "csv", trace).decode()))]
    rows = duck().execute("""
        SELECT epoch_us(s.born) - epoch_us(t.started), s.lifetime, s.promoted, s.size, s.samples, s.bytes, s.heap
        FROM samples s JOIN traces t ON s.trace = t.trace WHERE s.service = 'irmin' AND host = 'host-000'""").fetchall()
    text = lambda x: "" if x is None else str(x)
    same([(r[0], text(r[1]), text(r[2]), *r[3:]) for r in rows], wanted)


@test
def a_trace_is_described():
    row = duck().execute("""SELECT pid, version, labels ->> 'region', rate, bytes_per_sample, blocks, samples, filter,
        epoch_us(ended) - epoch_us(started), CAST(day AS TEXT) FROM traces
        WHERE service = 'irmin' AND host = 'host-002'""").fetchall()
    info, = answer("info", FLEET.irmin[2])
    same(row, [(102, "1", "eu", 5e-7, 16e6, info["allocated"]["blocks"],
                info["allocated"]["samples"], None, 35879437, "2022-11-10")])


@test
def gauges_are_marks():
    got = duck().execute("SELECT name, max(value), count(*) FROM marks WHERE service = 'leaky' GROUP BY name").fetchall()
    same(sorted(name for name, _, _ in got), ["anonymous", "heap", "rss"])
    assert all(most > 1e6 and n >= 10 for _, most, n in got), got


@test
def samples_are_of_the_spans_that_the_program_says():
    program, trace = WORK / "spans", WORK / "spans.ctf"
    subprocess.run(["gcc", "-O1", "-pthread", "-rdynamic", "-DWITH_VARIABLE", "-o", program, HERE.parent / "native/target_spans.c"], check=True)
    said = allotrace("run", "-q", "--rate", "1", "-o", trace, "--", program, "own", "100").decode()
    allotrace("export", "--to", "parquet", "-o", WORK / "of_spans", trace)
    rows = duck("of_spans").execute("SELECT CAST(size AS TEXT), trace_id, span_id FROM samples WHERE trace_id IS NOT NULL")
    same(sorted(rows.fetchall()), sorted(tuple(line.split()) for line in said.splitlines()))


@test
def exporting_again_replaces():
    before = sorted(p.relative_to(WORK) for p in (WORK / "fleet").rglob("*.parquet"))
    export(FLEET.irmin[:1], "irmin", 1)
    same(sorted(p.relative_to(WORK) for p in (WORK / "fleet").rglob("*.parquet")), before)


# ---- the queries ---------------------------------------------------------------------------------


@test
def top_sites_are_those_of_hotspots():
    for service, trace in ("irmin", FLEET.groups["irmin", "1"]), ("leaky", merged("both", FLEET.leaky[1] + FLEET.leaky[2])):
        rows = {place(r): r for r in group(ask(duck(), "top sites"), service)}
        sites = answer("hotspots", "--top", 10000, "--min-share", 0, trace)["hotspots"]
        assert len(sites) >= 3, sites
        same(set(rows) ^ {place(s) for s in sites}, set(), service)
        for s in sites:
            r = rows[place(s)]
            same((r["samples"], r["bytes"]), (s["samples"], s["value"]), place(s))
            assert abs(r["percent"] - 100 * s["share"]) < 1e-3, (r, s)
            for end in "low", "high":  # of few samples they are approximate
                assert abs(r[end] - s[end]) <= 0.02 * s["value"], (end, r, s)


@test
def growth_is_that_of_live_hotspots():
    rows = ask(duck(), "growth")
    for (service, version), trace in FLEET.groups.items():
        begin = duck().execute("SELECT min(epoch_us(started)) FROM traces WHERE service = ? AND version = ?",
                               [service, version]).fetchone()[0]
        before = None
        steps = group(rows, service, version)
        same(len(steps), 8)
        for r in steps:
            total = answer("hotspots", "--measure", "live", "--at", f"{r['at'] - begin}us", trace)["total"]
            same(r["live"] or 0, total["value"], (service, version, r))
            if total["samples"] > 2:
                near(r["low"], total["low"], 0.01, "low")
                near(r["high"], total["high"], 0.01, "high")
            if before is not None:
                same(r["change"] or 0, total["value"] - before, "change")
            before = total["value"]
    live = [row["live"] for row in group(rows, "leaky", "1")]
    assert live[0] < live[-1], live  # from one step to the next, it may have been paused


def compare_deploy(want, rows):
    got = {place(r): r for r in rows}
    assert len(want["sites"]) == len(got) >= 3, (want["sites"], got)
    for s in want["sites"]:
        r = got[place(s.get("site_after") or s["site_before"])]
        near(r["before"], s["before"]["value"], 1e-9, "before")
        near(r["after"], s["after"]["value"], 1e-9, "after")
        near(r["change"], s["change"]["value"], 1e-6, "change")
        near(r["p"], s["p"], 0.05, ("p", s))
        near(r["q"], s["q"], 0.05, ("q", s))
        if abs(s["q"] - 0.05) > 0.005:  # as near as q is
            same(r["is_sure"], s["sure"], s)
        width = s["change"]["high"] - s["change"]["low"]
        for end in "low", "high":
            assert abs(r[end] - s["change"][end]) <= 0.03 * width, (end, r, s)
    return got


@test
def a_deploy_changed_what_diff_says():
    want = answer("diff", "--top", 0, "--before", *FLEET.leaky[1], "--after", *FLEET.leaky[2])
    got = compare_deploy(want, ask(duck(), "deploy"))
    # Of what is called sure, one in twenty may be chance: so may another site be.
    assert "note_step" in {name[0] for name, row in got.items() if row["is_sure"]}, got


@test
def leaks_are_those_of_leaks():
    rows = ask(duck(), "leaks")
    for (service, version), trace in FLEET.groups.items():
        if service != "leaky":
            continue
        want = answer("leaks", "--top", 10000, trace)
        got = {place(r): r for r in group(rows, service, version)}
        assert want["sites"], want
        for s in want["sites"]:
            r = got[place(s)]
            same(r["live"], s["value"], s)
            width = s["slope"]["high"] - s["slope"]["low"]  # either may be near 0; `late` begins at a whole microsecond
            for what, got_slope, want_slope in ("slope", r["slope"], s["slope"]["value"]), ("late", r["late"], s["late"]):
                assert abs(got_slope - want_slope) <= 1e-3 * width + 1e-9 * abs(want_slope), (what, got_slope, s)
            assert r["p"] >= s["p"] * 0.999, (r, s)
            assert not r["grows"] or s["class"] == "growing", (r, s)
        same([r["function"] for r in got.values() if r["grows"]], ["note_step"])


@test
def lifetimes_are_those_of_lifetimes():
    rows = ask(duck(), "lifetimes")
    for (service, version), trace in FLEET.groups.items():
        row, = group(rows, service, version)
        want = [q["us"] for q in answer("lifetimes", trace)["quantiles"]]
        for name, exact in zip(["half_us", "most_us", "nearly_all_us"], want, strict=True):
            if exact is None:
                same(row[name], None, (service, version, name))
            else:  # four digits
                near(row[name], exact, 5.1e-4, (service, version, name))


@test
def a_stack_has_its_callers():
    rows = ask(duck(), "stack")
    assert [r["function"] for r in rows][1:3] == ["use_cache", "main"], rows
    same([r["depth"] for r in rows], list(range(len(rows), 0, -1)))


@test
def compacted_files_answer_the_same():
    import duckdb
    os.chdir(WORK)
    os.mkdir("compact")
    days = [day.name for day in (WORK / "fleet/samples").iterdir()]
    for day in days + days[:1]:  # one day after the other, and one once more
        for statement in sql.statements(SQL["compact"]):
            duckdb.execute(statement.replace("/*/*/", f"/{day}/*/"))
    count = lambda folder: sum(1 for _ in (WORK / folder).rglob("*.parquet"))
    same((count("fleet") // count("compact")) > 3, True, "files")
    for query in QUERIES:
        same_answers(ask(duck("compact"), query), ask(duck(), query), query)


# ---- Spark ---------------------------------------------------------------------------------------


def spark():
    """Two workers, each a process of one processor."""
    if not shutil.which("java"):
        raise Skip("there is no Java for Spark")
    from pyspark.sql import SparkSession
    return (SparkSession.builder.master("local-cluster[2,1,1024]").appName("fleet")
            .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.shuffle.partitions", "2").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1").getOrCreate())


def spark_rows(session, path):
    """By way of JSON that Spark's workers write."""
    session.read.parquet(str(path)).selectExpr("* EXCEPT (at)", "unix_micros(at) AS at").coalesce(1).write.option(
        "ignoreNullFields", "false").json(str(WORK / "rows.json"))
    for part in sorted((WORK / "rows.json").glob("part-*")):
        for line in part.read_text().splitlines():
            yield json.loads(line)


def is_number(value):
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def in_order(rows):
    """By what is exact: names, lines, numbers of samples; then roughly by the rest."""
    exact = lambda x: not isinstance(x, (float, decimal.Decimal))
    return sorted(rows, key=lambda row: ([str(row[k]) for k in sorted(row) if exact(row[k])],
                                         [f"{row[k]:.3g}" for k in sorted(row) if not exact(row[k])]))


def same_answers(got, want, query):
    """Sums in another order are rounded differently."""
    same(len(got), len(want), query)
    for g, w in zip(in_order(got), in_order(want)):
        same(set(g), set(w), query)
        for name in g:
            if is_number(g[name]) and is_number(w[name]):
                assert math.isclose(g[name], w[name], rel_tol=1e-5, abs_tol=1e-6), f"{query}, {name}: {g}, expected {w}"
            else:
                same(g[name], w[name], (query, name))


def ask_spark(session):
    for block in "prepare Spark", "functions", "blocks":
        for statement in sql.statements(SQL[block]):
            session.sql(sql.for_spark(statement))
    return {query: [row.asDict() for row in session.sql(sql.statements(SQL[query])[0]).collect()] for query in QUERIES}


@test
def two_workers_of_Spark_agree():
    os.chdir(WORK)  # against which Spark takes paths, from its start on
    session = spark()
    try:
        same_rows(sorted(spark_rows(session, write_rows()), key=lambda row: row["at"]), "Spark")
        answers, connection = ask_spark(session), duck()
    finally:
        session.stop()
    for query in QUERIES:
        same_answers(answers[query], ask(connection, query), query)


def guarded(function):
    """Engines have errors of their own, which fail a test like others."""
    def call():
        try:
            return function()
        except (AssertionError, Skip):
            raise
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
    return call


def main():
    global WORK, FLEET
    WORK = pathlib.Path(tempfile.mkdtemp(prefix="allotrace-test."))
    try:
        FLEET = Fleet()
        return tap.main(sys.argv[1:], [(tap.plain(t.__name__), guarded(t)) for t in tap.TESTS])
    finally:
        os.chdir("/")
        shutil.rmtree(WORK)


if __name__ == "__main__":
    sys.exit(main())
