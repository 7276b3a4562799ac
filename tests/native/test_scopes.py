#!/usr/bin/python3
"""Scopes that a program names: that what is allocated in them is theirs, in each kind of trace. Prints TAP.

    test_scopes.py ALLOTRACE LIBRARY TARGET [PATTERN…]
"""
import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "push")]
import receiver
import tap
from recording import ENVIRONMENT
import wire
from tap import same, test

ALLOTRACE, LIBRARY, TARGET = map(os.path.abspath, sys.argv[1:4])
DECODE = TESTS / "decode.py"
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
SIZE = 10008  # with malloc's header


def allotrace(*words):
    done = subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def record(rate, *words, out="t.ctf", rounds=10, how=()):
    allotrace("run", "--rate", rate, "-o", out, *words, "--", TARGET, rounds, *how)


def by_scope(trace, *words):
    """The blocks of each scope that the function `allocate_some` has made."""
    rows = json.loads(allotrace("hotspots", "--by", "scope", "--min-share", 0, "--json", "-m", "blocks", *words, trace))["hotspots"]
    return {row["scope"]: row["value"] for row in rows}


def ours(trace, *words):
    return by_scope(trace, "--filter", "fn:allocate_some", *words)


@test
def each_block_is_of_its_scope():
    record(1)
    same(ours("t.ctf"), {"handle": 20, "parse": 20, "(no scope)": 40, "job": 80}, "blocks")
    same(by_scope("t.ctf", "--filter", "fn:work size:>=1K")["job"], 90, "also outside of the function")


@test
def samples_are_as_well():
    record(0.005, rounds=400)
    text = allotrace("hotspots", "--by", "scope", "--json", "--min-share", 0, "--filter", "size:>=1K", "t.ctf")
    for row in json.loads(text)["hotspots"]:
        blocks = {"handle": 800, "parse": 800, "(no scope)": 1600, "job": 3600}[row["scope"]]
        wide = row["high"] - row["low"]  # six standard errors to each side
        assert row["low"] - wide <= blocks * SIZE <= row["high"] + wide, (row, blocks * SIZE)


@test
def filters_take_scopes():
    record(1)
    same(ours("t.ctf", "--filter", "fn:allocate_some scope:parse"), {"parse": 20})
    same(ours("t.ctf", "--filter", "fn:allocate_some scope:/^$/"), {"(no scope)": 40})
    same(sorted(ours("t.ctf", "--filter", "fn:allocate_some -scope:*")), [])


@test
def exports_have_them():
    record(1)
    rows = list(csv.DictReader(io.StringIO(allotrace("export", "--to", "csv", "--filter", "fn:allocate_some", "t.ctf"))))
    same({s: sum(r["scope"] == s for r in rows) for s in ("handle", "parse", "", "job")},
         {"handle": 20, "parse": 20, "": 40, "job": 80})
    blocks = [json.loads(line) for line in allotrace("export", "--to", "json", "--filter", "fn:allocate_some", "t.ctf").splitlines()]
    same(sum(b["scope"] is None for b in blocks), 40)
    layers = json.loads(allotrace("timeline", "--by", "scope", "--json", "t.ctf"))
    assert "job" in json.dumps(layers), layers


LABELS = ("thread", "scope", "heap", "type", "size class", "lifetime class")
PATTERN = "fn:allocate_some"


@test
def pprof_has_them_as_labels():
    record(1)
    allotrace("export", "--to", "pprof", "--filter", PATTERN, "-o", "t.pb.gz", "t.ctf")
    found = wire.pprof(gzip.decompress(pathlib.Path("t.pb.gz").read_bytes()), labels=LABELS)
    same(found["scopes"]["alloc_objects"], {"handle": 20, "parse": 20, "job": 80}, "blocks")
    same(found["scopes"]["alloc_space"], {"handle": 20 * SIZE, "parse": 20 * SIZE, "job": 80 * SIZE}, "bytes")
    same(sum(found["samples"]["alloc_objects"].values()), 160, "all, also those in no scope")


@test
def pushes_have_them_as_labels():
    for path, read in ("", wire.otlp), ("/ingest", wire.pprof):
        for threads in [], ["--push-threads"]:
            r = receiver.Receiver()
            record(1, "--push", r.url + path, "--every", "200ms", *threads)
            found = [read(body) for _, _, body in r.got]
            blocks = {}
            for profile in found:
                for name, value in profile["scopes"]["alloc_objects"].items():
                    blocks[name] = blocks.get(name, 0) + value
            same(sorted(blocks), ["handle", "job", "parse"])
            of_all = by_scope("t.ctf")
            same(blocks, {name: value for name, value in of_all.items() if name != "(no scope)"}, "blocks")
            same(sum(v for p in found for v in p["samples"]["alloc_objects"].values()), sum(of_all.values()), "all")
            same(any(of for p in found for of in p["threads"].values()), bool(threads), "threads")


@test
def readers_of_the_format_read_such_a_trace():
    record(1)
    done = subprocess.run([sys.executable, DECODE, "t.ctf"], capture_output=True, text=True)
    same(done.returncode, 0, done.stderr)
    theirs = sum(1 for line in done.stdout.splitlines() if "<scope>" in line)
    same(theirs, sum(1 for line in allotrace("dump", "t.ctf").splitlines() if "<scope>" in line), "remarks")
    assert theirs <= 4 * 10 + 3, f"a remark where nothing has changed: {theirs}"


@test
def parts_of_a_recording_know_them():
    record(1, rounds=100)
    allotrace("trim", "--live", "-o", "part.ctf", "--from", "0s", "t.ctf")
    same(ours("part.ctf"), ours("t.ctf"), "a part of all")
    allotrace("anonymise", "--key", "x", "-o", "a.ctf", "t.ctf")
    found = by_scope("a.ctf", "--filter", "size:>=1K")
    same(sorted(found.values()), [200, 200, 400, 900], found)
    assert "(no scope)" in found and "handle" not in found, found


@test
def segments_know_the_scope_of_what_they_carry():
    subprocess.run(["rm", "-rf", "ring"], check=True)
    record(1, "--keep", "1h", "--max-size", "64M", out="ring", rounds=20000)
    segments = sorted(pathlib.Path("ring").glob("*.ctf"))
    assert len(segments) > 1, "the recording is too small to be cut"
    for trace in "ring", segments[-1]:
        live = json.loads(allotrace("hotspots", "--by", "scope", "--json", "-m", "live", "--filter", "size:>=1K", trace))["hotspots"]
        same({row["scope"]: row["value"] for row in live}, {"job": 20000 * SIZE}, str(trace))
    same(ours("ring"), {"handle": 40000, "parse": 40000, "(no scope)": 80000, "job": 160000})


@test
def a_child_is_in_the_scope_in_which_it_was_forked():
    record(1, out="f.%p.ctf", how=["fork"])
    found = [ours(p) for p in pathlib.Path(".").glob("f.*.ctf")]
    assert {"parent": 3} in found, found


@test
def names_beyond_the_limit_are_one_and_long_ones_are_cut():
    record(1, how=["many"])
    found = ours("t.ctf")
    same(sum(found.values()), 2000)
    same((len(found), found["(other scopes)"]), (1024, 2000 - 1023))
    cut = next(name for name in found if name.startswith("scope 0000"))
    same((len(cut.encode()) in (62, 63), "\ufffd" in cut), (True, False), cut)


@test
def a_process_that_was_attached_to_has_them():
    with subprocess.Popen([TARGET, "10", "wait"], stdin=subprocess.PIPE, text=True) as target:
        allotrace("attach", "-q", "-r", 1, "-o", os.path.abspath("t.ctf"), target.pid)
        target.communicate("go\n")
    allotrace("symbolize", "t.ctf")
    same(ours("t.ctf"), {"handle": 20, "parse": 20, "(no scope)": 40, "job": 80}, "blocks")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
