#!/usr/bin/python3
"""Blocks that a program has from pools of its own, and tells the recorder of: that they stand in traces as malloc's
do, and no byte twice. Prints TAP.

    test_pools.py ALLOTRACE LIBRARY POOLS CXX HEAPTRACK [PATTERN…]
"""
import collections
import glob
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap
from recording import ENVIRONMENT
from tap import Skip, same, test

ALLOTRACE, LIBRARY, POOLS, CXX, HEAPTRACK = map(os.path.abspath, sys.argv[1:6])
ENVIRONMENT["ALLOTRACE_PRELOAD"] = LIBRARY
CHUNK = 65536
NODE, CELL = 48, 24  # bytes with a header
ARENA_CHUNKS = 1     # of a round


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=ENVIRONMENT, timeout=200)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr)
    return done.stdout


def allotrace(*words):
    return run(ALLOTRACE, *words)


def record(rate, rounds, *how, program=POOLS, out="t.ctf", options=()):
    """What the program printed."""
    return allotrace("run", "-q", "--rate", rate, "-o", out, *options, "--", program, rounds, *how)


Sum = collections.namedtuple("Sum", "blocks bytes live live_bytes")


def sums(trace="t.ctf", *filters):
    """By type: blocks and bytes asked for, allocated and live at the end. Of malloc, what the pools' chunks are."""
    found = {}
    for line in allotrace("export", "--to", "json", *filters, trace).splitlines():
        block = json.loads(line)
        kind = block["type"]
        if kind in ("malloc", "mmap", "realloc"):
            kind += "" if "chunk_new" in block["site"] or "use_grown" in block["site"] else " elsewhere"
        old = found.get(kind, Sum(0, 0, 0, 0))
        lives = block["lifetime"] is None
        found[kind] = Sum(old.blocks + 1, old.bytes + block["size"], old.live + lives, old.live_bytes + lives * block["size"])
    return found


def expected(rounds, workers=1):
    nodes, cells = rounds * 100 + 10, rounds * 50
    return {"nodes": Sum(nodes * workers, nodes * 40 * workers, 10 * workers, 400 * workers),
            "cells": Sum(cells * workers, cells * 16 * workers, cells // 5 * workers, cells // 5 * 16 * workers)}


def pools_of(found):
    return {kind: found.get(kind) for kind in ("nodes", "cells")}


@test
def each_block_stands_in_the_trace():
    for how in "silent", "taken", "announced", "mapped":
        record(1, 20, how)
        found = sums()
        same(pools_of(found), expected(20), how)
    record(1, 20, "silent", options=["--depth", 2])
    same(pools_of(sums()), expected(20), "of stacks that are cut")


@test
def no_byte_of_a_chunk_is_live_beside_its_blocks():
    cells_chunks = 1
    chunks = 20 * ARENA_CHUNKS + 1 + cells_chunks
    for how, live in ("silent", 2), ("announced", 0):
        record(1, 20, how)
        same(sums()["malloc"], Sum(chunks, chunks * CHUNK, live, live * CHUNK), how)
    record(1, 20, "taken")
    assert "malloc" not in sums(), sums()
    record(1, 20, "mapped", options=["--mmap"])
    same(sums()["mmap"], Sum(chunks, chunks * CHUNK, 0, 0))
    record(1, 20, "silent", options=["--mmap"])
    assert "mmap" not in sums(), "malloc's own"


@test
def a_chunk_may_grow_while_it_is_taken():
    record(1, 1, "taken", "grown")
    found = sums()
    same(found["(unnamed pool)"], Sum(1, 1000, 1, 1000))
    same(found["malloc"], Sum(1, CHUNK // 2, 0, 0), "the block of before")
    assert "realloc" not in found, found


@test
def stacks_begin_where_the_pool_is():
    record(1, 3, "taken")
    for line in allotrace("export", "--to", "json", "--filter", "type:nodes", "t.ctf").splitlines():
        stack = [frame.partition("@")[0] for frame in json.loads(line)["stack"]]
        same(stack[-4:], ["main", "work", "parse", "arena_give"])
    types = json.loads(allotrace("types", "--json", "-m", "blocks", "--min-share", 0, "t.ctf"))["hotspots"]
    same({t["type"]: t["value"] for t in types if t["type"] != "malloc"}, {"nodes": 310, "cells": 150})


@test
def pools_are_told_apart_at_one_place():
    record(1, 300, "taken", "twins")
    found = sums()
    same((found["one"].blocks, found["other"].blocks), (200, 100))
    record(1, 300, "taken", "one")
    sites = collections.Counter((block["type"], block["site"].partition("@")[0], len(block["stack"])) for block in map(
        json.loads, allotrace("export", "--to", "json", "--filter", "fn:call_any", "t.ctf").splitlines()))
    same(sorted(sites.values()), [300, 300], sites)
    same({(kind, site) for kind, site, _ in sites}, {("malloc", "call_any"), ("nodes", "call_any")})


@test
def another_decoder_reads_the_same():
    record(1, 5, "silent")
    said = run(sys.executable, pathlib.Path(__file__).resolve().parent.parent / "decode.py", "t.ctf").splitlines()
    for kind, blocks in ("nodes", 510), ("cells", 250):
        same(sum(f"{kind}@<type>" in line for line in said), blocks, kind)


@test
def samples_tell_how_much_there_was():
    for rate in 0.001, 0.05:
        inside = total = 0
        for _ in range(6):
            record(rate, 1500, "taken")
            for measure, nodes, cells in ("allocated", 150010 * NODE, 75000 * CELL), ("live", 10 * NODE, 15000 * CELL):
                rows = json.loads(allotrace("types", "--json", "-m", measure, "--min-share", 0, "t.ctf"))["hotspots"]
                for row in rows:
                    true = {"nodes": nodes, "cells": cells}.get(row["type"])
                    if true is None:
                        continue
                    wide = row["high"] - row["low"]
                    inside += row["low"] <= true <= row["high"]
                    total += 1
                    assert row["low"] - 1.5 * wide <= true <= row["high"] + 1.5 * wide, (rate, measure, row, true)
        assert inside >= 0.6 * total, (rate, inside, total)  # of 18 or more, of which one is outside on average


@test
def a_program_does_what_it_does_unrecorded():
    for program, *words in [(POOLS, 30, "silent"), (POOLS, 30, "taken"), (POOLS, 30, "announced"), (POOLS, 30, "mapped"),
                            (POOLS, 30, "taken", "threads"), (POOLS, 5, "silent", "fork"), (POOLS, 1, "", "many"),
                            (POOLS, 1, "", "odd"), (CXX, 1000, "taken"), (HEAPTRACK, 100), (HEAPTRACK, 100, "dlsym")]:
        plain = run(program, *words)
        for rate in 1, 0.05, 1e-5:
            same(record(rate, *words, program=program), plain, f"{program} {words} at {rate}")


@test
def threads_share_a_pool():
    record(1, 50, "taken", "threads")
    same(pools_of(sums()), expected(50, 4))
    record(0.05, 50, "silent", "threads")


@test
def a_child_goes_on_by_itself():
    record(1, 10, "taken", "fork", out="f.%p.ctf")
    parent, child = sorted((sums(p) for p in glob.glob("f.*.ctf")), key=lambda found: -found["cells"].blocks)
    same(parent["cells"], Sum(501, 501 * 16, 101, 101 * 16))
    same(parent["nodes"], expected(10)["nodes"])
    same(pools_of(child), expected(10), "of the parent's cells nothing is known")
    record(1, 10, "taken", "fork", out="one.ctf")
    same(sums("one.ctf")["nodes"], expected(10)["nodes"], "the child is not recorded")


@test
def there_may_be_many_pools():
    record(1, 1, "taken", "many")
    found = {kind: n for kind, n in sums().items() if not kind.endswith("elsewhere")}
    same(found.pop("(other pools)"), Sum(3 * 1978, 120 * 1978, 0, 0))
    same(found, {f"pool {i:04}": Sum(3, 120, 0, 0) for i in range(1022)})  # and "cells"


TELLING = """
import ctypes
recorder = ctypes.CDLL(None)
def tell(pool, n):
    for i in range(n):
        recorder.allotrace_pool_alloc(pool, 4096 + 16 * i, 16)
        kept.append([i])
kept = []
recorder.allotrace_pool_create(1, b"of Python")
tell(1, 100)
tell(2, 50)
recorder.allotrace_pool_reset(1)
tell(1, 10)
"""


@test
def a_language_whose_frames_are_recorded_may_tell():
    allotrace("run", "-q", "--rate", 1, "-o", "t.ctf", "--", "/usr/bin/python3", "-c", TELLING)
    found = sums("t.ctf", "--filter", "type:/^(of Python|.unnamed pool.)$/")
    same(found, {"of Python": Sum(110, 110 * 16, 10, 160), "(unnamed pool)": Sum(50, 800, 50, 800)})
    line = allotrace("export", "--to", "json", "--filter", "type:/of Python/", "t.ctf").splitlines()[0]
    assert any(frame.startswith("tell@") for frame in json.loads(line)["stack"]), line


@test
def a_handler_of_signals_may_tell():
    for rate in 1, 0.05:
        same(record(rate, 2, "taken", "signals"), "0\n")
    same({kind for kind in sums() if not kind.endswith("elsewhere")} - {"nodes", "cells", "of a handler"}, set())


@test
def what_makes_no_sense_harms_nothing():
    record(1, 1, "", "odd")
    found = sums()
    same(found["(unnamed pool)"], Sum(3, 16, 2, 8), found)


@test
def programs_in_cxx_tell_as_well():
    record(1, 1000, "taken", program=CXX)
    found = sums()
    same(found["nodes"], Sum(1000, 16000, 500, 8000))
    same(found["numbers"], Sum(11, 4 * 2047 + 4, 1, 4096), "a vector that doubles; 4 bytes are a word")


@test
def a_process_that_was_attached_to_tells():
    for rate in 1, 0.05:
        with subprocess.Popen([POOLS, "50", "taken", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
            allotrace("attach", "-q", "-r", rate, "-o", os.path.abspath("t.ctf"), target.pid)
            said = target.communicate("go\n")[0]
        same(said, run(POOLS, 50, "taken"))
        allotrace("symbolize", "t.ctf")
        found = sums()
        if rate == 1:
            same(found.pop("(unnamed pool)"), Sum(1, 16, 1, 16))
            same(pools_of(found), expected(50))
        assert found["cells"].blocks > 0 and "malloc" not in found, found


@test
def heaptracks_names_are_understood():
    for how in [], ["dlsym"]:
        record(1, 100, *how, program=HEAPTRACK)
        same(sums()["heaptrack"], Sum(201, 100 * 104 + 100 * 200 + 304, 51, 50 * 200 + 304), str(how))
        line = allotrace("export", "--to", "json", "--filter", "type:heaptrack", "t.ctf").splitlines()[1]
        assert json.loads(line)["site"].startswith("grow@"), line


@test
def heaptrack_itself_is_left_alone():
    theirs = next(iter(glob.glob("/usr/lib*/heaptrack/libheaptrack_preload.so") + glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so")), None)
    if not theirs:
        raise Skip("no heaptrack")
    plain = run(HEAPTRACK, 100)
    for order in (LIBRARY, theirs), (theirs, LIBRARY):
        environment = {**ENVIRONMENT, "LD_PRELOAD": ":".join(order), "DUMP_HEAPTRACK_OUTPUT": os.path.abspath("theirs"),
                       "MEMTRACE": os.path.abspath("t.ctf"), "MEMTRACE_RATE": "1"}
        done = subprocess.run([HEAPTRACK, "100"], capture_output=True, text=True, env=environment, timeout=100)
        same((done.returncode, done.stdout), (0, plain), done.stderr)
        told = sum(line.startswith("+") for line in pathlib.Path("theirs").read_text().splitlines())
        assert told > 200, (order, told)
        assert "heaptrack" not in sums(), "blocks that another recorder was told of"


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[6:]))
