#!/usr/bin/python3
"""Spans of distributed tracing that a program publishes: that what is allocated in them is theirs, wherever the variable is, in
each kind of trace and each form in which it is told. Prints TAP.

    test_spans.py ALLOTRACE LIBRARY TARGET OWN LINKED GNU GNU2 INITIAL [PATTERN…]

TARGET opens the library that it is given, OWN has the variable itself, LINKED links one; the others are libraries.
"""
import collections
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "push")]
import receiver
import tap
from recording import ENVIRONMENT
import wire
from tap import same, test

ALLOTRACE, LIBRARY, TARGET, OWN, LINKED, GNU, GNU2, INITIAL = map(os.path.abspath, sys.argv[1:9])
DECODE = TESTS / "decode.py"
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
OURS = "fn:allocate_one"
THREADS = 3


def allotrace(*words):
    done = subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def said(text):
    """What a program says of its blocks: SIZE TRACE SPAN."""
    return [tuple(line.split()) for line in text.splitlines()]


def record(rate, target, rounds, *how, library=GNU, out="t.ctf", options=()):
    return said(allotrace("run", "-q", "--rate", rate, "-o", out, *options, "--", target, library, rounds, *how))


def blocks(trace, *words):
    return list(csv.DictReader(io.StringIO(allotrace("export", "--to", "csv", "--filter", OURS, *words, trace))))


def judge(trace, expected, n_without=None):
    """Each block has the ids that the program says, and no other has any."""
    rows = blocks(trace)
    with_ids = [(r["size"], r["trace_id"], r["span_id"]) for r in rows if r["trace_id"] or r["span_id"]]
    same(sorted(with_ids), sorted(expected))
    if n_without is not None:
        same(len(rows) - len(with_ids), n_without, "blocks in no span")


@test
def each_block_is_of_its_span():
    expected = record(1, OWN, 50)
    same(len(expected), 50 * 2 * THREADS)
    judge("t.ctf", expected, 50 * 2 * THREADS)


@test
def a_library_that_is_linked_may_publish():
    judge("t.ctf", record(1, LINKED, 50), 50 * 2 * THREADS)


@test
def a_library_that_is_opened_may_publish_in_each_model():
    for library in GNU, GNU2, INITIAL:
        for how in [], ["early"]:
            print("#", os.path.basename(library), *how)
            judge("t.ctf", record(1, TARGET, 50, *how, library=library), 50 * 2 * THREADS)


@test
def records_may_be_changed_in_place():
    judge("t.ctf", record(1, OWN, 50, "update"), 50 * 4 * THREADS)


@test
def a_child_goes_on_in_the_span_in_which_it_was_forked():
    expected = record(1, OWN, 1, "fork", out="f.%p.ctf")
    found = [r for p in pathlib.Path(".").glob("f.*.ctf") for r in blocks(p)]
    same([(r["size"], r["trace_id"], r["span_id"]) for r in found], expected)


@test
def what_is_no_record_does_no_harm():
    for target in OWN, TARGET:
        done = subprocess.run([ALLOTRACE, "run", "-q", "--rate", "1", "-o", "t.ctf", "--", target, GNU, "1", "broken"],
                              capture_output=True, text=True, env=ENVIRONMENT)
        same((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        judge("t.ctf", [], 7)


@test
def a_process_that_was_attached_to_has_them():
    for target in OWN, TARGET:
        with subprocess.Popen([target, GNU, "50", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            allotrace("attach", "-q", "-r", 1, "-o", os.path.abspath("t.ctf"), program.pid)
            out, _ = program.communicate("go\n")
        allotrace("symbolize", "t.ctf")
        judge("t.ctf", said(out), 50 * 2 * THREADS)


@test
def samples_have_them_as_well():
    expected = set(record(0.002, OWN, 2000))
    rows = blocks("t.ctf")
    found = [(r["size"], r["trace_id"], r["span_id"]) for r in rows if r["trace_id"]]
    assert len(found) > 1000, len(found)
    same([f for f in found if f not in expected], [])
    same({r["size"] for r in rows if not r["trace_id"]}, {"4000"})


@test
def reports_and_filters_know_them():
    expected = record(1, OWN, 50)
    traces, spans = collections.Counter(), {}
    for size, trace, span in expected:
        traces[trace] += (int(size) + 8 + 7) // 8 * 8
        spans[span] = trace
    rows = json.loads(allotrace("hotspots", "--by", "trace", "--min-share", 0, "-n", 1000, "--json", "--filter", OURS, "t.ctf"))["hotspots"]
    found = {r["trace"]: r["bytes"] if "bytes" in r else r["value"] for r in rows}
    found.pop("(no trace)")
    same(found, dict(traces))
    rows = json.loads(allotrace("hotspots", "--by", "span", "--min-share", 0, "-n", 1000, "--json", "--filter", OURS, "t.ctf"))["hotspots"]
    same({r["span"] for r in rows}, set(spans) | {"(no span)"})
    trace = expected[0][1]
    mine = [e for e in expected if e[1] == trace]
    same(len(blocks("t.ctf", "--filter", f"{OURS} trace:{trace.upper()}")), len(mine))
    begin = trace[:20]
    same(len(blocks("t.ctf", "--filter", f"{OURS} trace:{begin}")), sum(e[1].startswith(begin) for e in expected), "a beginning")
    same(len(blocks("t.ctf", "--filter", f"{OURS} trace:{trace} span:{mine[0][2]}")), 1)
    same(len(blocks("t.ctf", "--filter", f"{OURS} -trace:*")), 50 * 2 * THREADS, "in none")
    same(len(blocks("t.ctf", "--filter", f"{OURS} span:*")), len(expected), "in any")
    about, = json.loads(allotrace("info", "--json", "t.ctf"))
    same((about["n_traces"], about["n_spans"]), (len(traces), len(spans)))
    layers = json.loads(allotrace("timeline", "--by", "trace", "-n", 3, "--json", "t.ctf"))
    assert any(t in json.dumps(layers) for t in traces), layers


@test
def an_index_has_them():
    expected = record(1, OWN, 50)
    allotrace("hotspots", "--index", "t.ctf")
    judge("t.ctf", expected, 50 * 2 * THREADS)
    about, = json.loads(allotrace("info", "--json", "t.ctf"))
    same((about["n_traces"], about["n_spans"]), (50 * THREADS, 2 * 50 * THREADS))


@test
def exports_have_them():
    expected = sorted(record(1, OWN, 20))
    lines = allotrace("export", "--to", "json", "--filter", OURS, "t.ctf").splitlines()
    found = [json.loads(line) for line in lines]
    same(sorted((str(b["size"]), b["trace_id"], b["span_id"]) for b in found if b["trace_id"]), expected, "JSON")
    same(sum(b["trace_id"] is None and b["span_id"] is None for b in found), 20 * 2 * THREADS)
    allotrace("export", "--to", "sqlite", "-o", "t.db", "t.ctf")
    with sqlite3.connect("t.db") as db:
        rows = db.execute("SELECT CAST(size AS TEXT), trace_id, span_id FROM blocks WHERE trace_id IS NOT NULL AND size >= 5000").fetchall()
    same(sorted(rows), expected, "SQLite")


@test
def pushes_by_otlp_link_to_them():
    for path, rounds in ("", 50), ("/ingest", 50), ("", 3000):  # the last has more than are kept when they were told
        r = receiver.Receiver()
        expected = record(1, OWN, rounds, options=["--push", r.url + path, "--every", "100ms"])
        if path:
            same(sum(v for _, _, body in r.got for v in wire.pprof(body)["samples"]["alloc_objects"].values()) > 0, True)
            continue
        told, objects = collections.Counter(), 0
        for profile in [wire.otlp(body) for _, _, body in r.got]:
            told.update(profile["spans"].get("alloc_space", {}))
            objects += sum(profile["samples"]["alloc_objects"].values())
        same(dict(told), {(trace, span): (int(size) + 8 + 7) // 8 * 8 for size, trace, span in expected})
        same(objects, json.loads(allotrace("info", "--json", "t.ctf"))[0]["allocated"]["blocks"], "all, also those in no span")


@test
def readers_of_the_format_read_such_a_trace():
    record(1, OWN, 20)
    done = subprocess.run([sys.executable, DECODE, "t.ctf"], capture_output=True, text=True)
    same(done.returncode, 0, done.stderr)
    theirs = sum("<span>" in line for line in done.stdout.splitlines())
    same(theirs, sum("<span>" in line for line in allotrace("dump", "t.ctf").splitlines()), "remarks")
    assert theirs <= 7 * 20 * THREADS, f"a remark where nothing has changed: {theirs}"


@test
def parts_of_a_recording_know_them():
    expected = record(1, OWN, 50, "keep")
    allotrace("trim", "--live", "-o", "part.ctf", "--from", "0s", "t.ctf")
    judge("part.ctf", expected, 50 * 2 * THREADS)
    allotrace("anonymise", "--key", "x", "-o", "a.ctf", "t.ctf")
    assert "<span>" not in allotrace("dump", "a.ctf"), "ids lead to requests"


@test
def segments_know_the_span_of_what_they_carry():
    subprocess.run(["rm", "-rf", "ring"], check=True)
    expected = record(1, OWN, 10000, "keep", out="ring", options=["--keep", "1h", "--max-size", "64M"])
    segments = sorted(pathlib.Path("ring").glob("*.ctf"))
    assert len(segments) > 1, "the recording is too small to be cut"
    judge("ring", expected, 10000 * 2 * THREADS)
    live = [(r["size"], r["trace_id"], r["span_id"]) for r in blocks(segments[-1]) if r["size"] != "4000"]
    same(sorted(live), sorted(expected), "all live at the end of the last segment")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[9:]))
