#!/usr/bin/python3
"""Captures of memray become traces that say what memray says of them. Prints TAP.

    test_memray.py ALLOTRACE FOLDER [TEST...]

Makes an environment in FOLDER for each of some versions of memray, and installs that from PyPI there by pip; skips where it
cannot be had. What is compared is what memray's own reader gives, with sizes rounded up to words, as
traces have these. Sums by stack are made here: where memray merges the threads of an aggregated capture, it counts
all blocks of each further thread as one.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from tap import Skip, same  # noqa: E402

ALLOTRACE, FOLDER = map(os.path.abspath, sys.argv[1:3])
VERSIONS = {"1.18.0": 11, "1.19.3": 12, "1.20.0": 13}  # and of their formats

PROGRAM = """
import json, mmap, threading

def keep(n):
    return [bytearray(4096) for _ in range(n)]

def churn(n):
    for _ in range(n):
        bytearray(100_000)

def work(k):
    kept.append(keep(30))
    churn(5)

kept = [keep(100)]
threads = [threading.Thread(target=work, args=(k,), name=f"worker-{k}") for k in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
peak = [sorted([bytearray(300_000) for _ in range(10)]) for _ in range(2)]
del peak
mapped = mmap.mmap(-1, 1 << 20)
mmap.mmap(-1, 1 << 18).close()
json.loads('{"a": [1, 2, 3]}')
"""

# What memray says of a capture: [blocks, bytes] in all, at the peak and at the end, by stack.
WITNESS = """
import collections, json, sys
from memray import FileReader, AllocatorType

path, aggregated = sys.argv[1], sys.argv[2] == "aggregated"
frees = (AllocatorType.FREE, AllocatorType.PYMALLOC_FREE, AllocatorType.MUNMAP)

def words(size):
    return max(1, (size + 7) // 8) * 8

def stack(a):
    return ";".join(f"{f[0]}:{f[2]}" for f in reversed(a.stack_trace()))

def fold(records):
    by = collections.defaultdict(lambda: [0, 0])
    for a in records:
        by[stack(a)][0] += a.n_allocations
        by[stack(a)][1] += a.size
    return by

said = {}
with FileReader(path) as reader:
    said["peak"] = fold(reader.get_high_watermark_allocation_records(merge_threads=False))
    said["end"] = fold(reader.get_leaked_allocation_records(merge_threads=False))
    said["snapshots"] = [[s.time, s.rss] for s in reader.get_memory_snapshots()]
    if not aggregated:
        said["all"] = collections.defaultdict(lambda: [0, 0])
        for a in reader.get_allocation_records():
            if a.allocator not in frees:
                said["all"][stack(a)][0] += 1
                said["all"][stack(a)][1] += words(a.size)
print(json.dumps(said))
"""


def run(*command, **options):
    environment = {k: v for k, v in os.environ.items()
                   if k != "LD_PRELOAD" and not k.startswith("MEMTRACE")}
    done = subprocess.run([str(c) for c in command], text=True, timeout=300, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[:4]}: {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def install(version):
    """Once; gives Python, or says why there is none."""
    folder = f"{FOLDER}/{version}"
    python = f"{folder}/bin/python"
    if not os.path.exists(f"{folder}/bin/memray"):
        try:
            run(sys.executable, "-m", "venv", folder)
            run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", f"memray=={version}")
        except AssertionError as e:
            raise Skip(f"memray {version} cannot be installed: {str(e).splitlines()[-1][:150]}") from None
    return python


def capture(version, *options):
    """A capture, what memray says of it, and the trace."""
    python = install(version)
    program, file = f"{FOLDER}/program.py", f"{FOLDER}/{version}{''.join(options)}.bin"
    pathlib.Path(program).write_text(PROGRAM)
    run(python, "-m", "memray", "run", "-q", "-f", *options, "-o", file, program)
    said = json.loads(run(python, "-c", WITNESS, file,
                          "aggregated" if "--aggregate" in options else "-"))
    run(ALLOTRACE, "import", "-o", file + ".ctf", file)
    return said, file + ".ctf"


def blocks(trace):
    return [json.loads(line) for line in run(ALLOTRACE, "export", "--to", "json", trace).splitlines()]


def frames_of(block):
    frames = []
    for frame in block["stack"]:
        function, _, place = frame.rpartition("@")
        file, _, line = place.rpartition(":")
        frames.append((function, file, line))
    return frames


def fold(rows):
    by = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        stack = ";".join(f"{f}:{line}" for f, file, line in frames_of(row)
                         if file.endswith(".py") or file.startswith("<"))
        by[stack][0] += 1
        by[stack][1] += row["bytes"]
    return dict(by)


def near(got, expected, what, aggregated):
    """Counts are the same, or, of sums by stack, memray's are too small, as it may count what it adds to another sum as
    one block; bytes are more, by less than a word a block."""
    got, expected = dict(got), dict(expected)
    same(sorted(got), sorted(expected))
    for stack, (n, size) in expected.items():
        if not (got[stack][0] == n or (aggregated and got[stack][0] > n)) or \
                not size <= got[stack][1] <= size + 8 * got[stack][0]:
            raise AssertionError(f"{what}: {stack}: {got[stack]} for {[n, size]}")


def compare(version, *options):
    said, trace = capture(version, *options)
    rows = blocks(trace)
    if "all" in said:
        same(fold(rows), said["all"])
    near(fold(r for r in rows if r["lifetime"] is None), said["end"], "at the end",
         "--aggregate" in options)
    peak = json.loads(run(ALLOTRACE, "peak", "--json", trace))
    total = sum(size for _, size in said["peak"].values())
    n = max(sum(n for n, _ in said["peak"].values()), len(rows))
    if not total <= peak["total"]["value"] <= total + 8 * n or peak["total"]["low"] != peak["total"]["high"]:
        raise AssertionError(f"peak: {peak['total']} for {total} in {n} blocks")
    same("no defects" in run(ALLOTRACE, "doctor", trace), True, "no defects")
    return said, trace, rows


def kinds():
    """Of captures, by each memray."""
    for version, form in VERSIONS.items():
        for options in ([], ["--no-compress"], ["--trace-python-allocators"], ["--native"], ["--aggregate"],
                        ["--native", "--aggregate"]):
            yield (f"version {form} of the format, of memray {version}: {' '.join(options) or 'as it comes'}",
                   lambda version=version, options=options: compare(version, *options) and None)


def threads_are_named():
    _, _, rows = compare("1.20.0", "--no-compress")
    names = collections.Counter(r["thread"] for r in rows)
    for k in range(3):
        same(names[f"worker-{k}"] > 30, True, f"blocks of worker-{k}")


def rss_is_memrays():
    said, trace, _ = compare("1.20.0", "--no-compress")
    rows = json.loads(run(ALLOTRACE, "timeline", "--json", trace))
    most = max(rss for _, rss in said["snapshots"])
    same(max(g["most"] for g in rows["gauges"] if g["name"] == "rss") // 4096, most // 4096)


def native_frames_are_between_pythons():
    line = next(f"program.py:{n}" for n, text in enumerate(PROGRAM.splitlines(), 1) if text.startswith("peak ="))
    _, _, rows = compare("1.20.0", "--native")
    deep = [r["stack"] for r in rows if r["size"] > 290_000 and any(f.endswith(line) for f in r["stack"])]
    same(len(deep), 20, "blocks of a line")
    for stack in deep:
        names = [f.partition("@")[0] for f in stack]
        same(names.index("<module>") - names.index("_run_code") > 1, True, "what calls the module")
        same(stack[-1].count(".py:"), 0, "what allocates")


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    sys.exit(tap.main(sys.argv[3:], [*kinds(), ("threads are named", threads_are_named),
                                     ("RSS is memray's", rss_is_memrays),
                                     ("native frames are between Python's", native_frames_are_between_pythons)]))
