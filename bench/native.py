#!/usr/bin/python3
"""native: what recording costs native programs, by allotrace and by others.

    bench/native.py [--anew] MALLOC_PAIRS [RUNS [PROGRAM...]]

Each program runs as it is and under each recorder in turn; the table says how often (n) and what
that costs in CPU time (all processes together, the median; then the median of the ratios to the
plain run in the same turn, and their quartiles), the memory of all processes together (at least
that of the largest, or of this script, if that is more), and the size of what was written. What
takes long runs in fewer of the turns, evenly spread, so that it takes about half a minute in all.
`recorder` is the preloaded library alone, at the sampling rate given, `run` the whole of `allotrace
run`, names and summary included, as heaptrack's figure is the whole of `heaptrack`. What recorders
know of blocks stands in the program with some and in another process with others, so memory is that
of all at once (shared pages once), looked at every few milliseconds in the run that is thrown away.
What is not installed is left out. Takes the allotrace that is first in PATH, and makes its inputs
under out/bench/ once.

What was measured of a program is kept there after each turn: if this is interrupted, the table shows
what there is, and the next time it goes on from there, unless allotrace is another one since, or
--anew says so. 0 RUNS show what there is.
"""
import hashlib
import json
import math
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

import pair

SIZE = 40_000_000  # bytes of input, about


def library():
    command = shutil.which("allotrace")
    if not command:
        sys.exit("native: no allotrace in PATH")
    prefix = pathlib.Path(command).resolve().parent.parent
    found = sorted(prefix.glob("lib*/**/liballotrace-preload.so"))
    if not found:
        sys.exit(f"native: no recorder under {prefix}")
    return found[0]


def made(path, write):
    """The input file, written with the same pseudo-random contents each time it is missing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path.with_suffix(".part"), "w") as out:
            write(out, random.Random(1))
        path.with_suffix(".part").rename(path)
    return path


def records(rng):
    number = 0
    while True:
        number += 1
        yield {"id": number, "name": f"user{rng.randrange(10**6)}", "score": rng.random(),
               "tags": [f"t{rng.randrange(100)}" for _ in range(rng.randrange(6))],
               "address": {"city": f"c{rng.randrange(1000)}", "zip": rng.randrange(10**5)}}


def write_json(out, rng):
    out.write("[")
    for record in records(rng):
        out.write(json.dumps(record))
        if out.tell() > SIZE:
            break
        out.write(",\n")
    out.write("]\n")


def write_xml(out, rng):
    out.write("<all>\n")
    for r in records(rng):
        tags = "".join(f"<tag>{t}</tag>" for t in r["tags"])
        out.write(f'<user id="{r["id"]}" score="{r["score"]}"><name>{r["name"]}</name>{tags}'
                  f'<city zip="{r["address"]["zip"]}">{r["address"]["city"]}</city></user>\n')
        if out.tell() > SIZE:
            break
    out.write("</all>\n")


def write_sql(out, rng):
    out.write("create table user(id integer primary key, name text, score real, city text);\nbegin;\n")
    for record in records(rng):
        out.write(f"insert into user values({record['id']},'{record['name']}',{record['score']},"
                  f"'{record['address']['city']}');\n")
        if record["id"] == 150_000:
            break
    out.write("commit;\ncreate index by_name on user(name);\n"
              "select city, count(*), avg(score) from user group by city order by 2 desc limit 5;\n"
              "select count(distinct name) from user;\n")


def write_cxx(out, _):
    for header in ("algorithm", "iostream", "map", "regex", "string", "vector"):
        out.write(f"#include <{header}>\n")
    out.write("""int main(int argc, char **argv) {
    std::map<std::string, std::vector<int>> places;
    std::regex wanted("a.*b|[0-9]+(x|y)*");
    for (int i = 0; i < argc; i++)
        if (std::regex_match(argv[i], wanted))
            places[argv[i]].push_back(i);
    for (auto &[name, at] : places) {
        std::sort(at.rbegin(), at.rend());
        std::cout << name << at.front();
    }
}
""")


def programs(malloc_pairs, inputs):
    """Names and command lines; programs that are not on this machine are left out."""
    sql = made(inputs / "users.sql", write_sql)
    every = [
        ("pairs", "malloc and free, nothing else", [malloc_pairs, "300"]),
        ("threads", "the same in four threads", [malloc_pairs, "300", "4"]),
        ("jq", "jq, 40 MB", ["jq", "[.[].score] | add", made(inputs / "users.json", write_json)]),
        ("clang", "clang++ -O2", ["clang++", "-O2", "-c", made(inputs / "standard.cc", write_cxx),
                                  "-o", "/dev/null"]),
        ("xmllint", "xmllint, 40 MB", ["xmllint", "--noout",
                                       made(inputs / "users.xml", write_xml)]),
        ("sqlite3", "sqlite3, 150,000 rows", ["sqlite3", ":memory:", f".read {sql}"]),
    ]
    for name, title, command in every:
        if shutil.which(command[0]):
            yield name, title, command
        else:
            print(f"  {title}: left out, there is no {command[0]}")


class Recorder(pair.Contestant):
    """`files` is a pattern of what it writes; `paired` are its seconds and those of the plain run in
    the same turn, `first` those of the run that is thrown away."""

    def __init__(self, name, command, env=None, files=None):
        super().__init__(name, command, env)
        self.files, self.first, self.size, self.paired = files, None, None, []

    def written(self):
        return sum(f.stat().st_size for f in self.files.parent.glob(self.files.name))

    def run(self):
        seconds = pair.run_once(self, wall=False)
        if self.files:
            self.size = self.written()
        return seconds

    KEPT = ("seconds", "peak", "first", "size", "paired")

    def state(self):
        return {key: getattr(self, key) for key in self.KEPT}


def present(name):
    """A library that the loader finds, without its path."""
    done = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
    return name in done.stdout


def recorders(command, folder):
    preload = str(library())

    def alone(rate):
        trace = folder / f"alone-{rate}.ctf"
        return ({"LD_PRELOAD": preload, "MEMTRACE": str(trace), "MEMTRACE_RATE": rate}, trace)

    yield Recorder("plain", command)
    yield Recorder("preloaded, not recording", command, {"LD_PRELOAD": preload, "MEMTRACE": ""})
    for rate in ("1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "0.1", "1"):
        yield Recorder(f"recorder, {rate}", command, *alone(rate))
    for title, rate, ending in [("run, 1e-5", "1e-5", ""), ("run, 1", "1", ""),
                                ("run, 1, compressed", "1", ".zst")]:  # as heaptrack's are
        whole = folder / f"{title.replace(', ', '-')}.ctf{ending}"
        yield Recorder(title, ["allotrace", "run", "--rate", rate, "-o", whole, "--", *command],
                       None, whole)
    if shutil.which("heaptrack"):
        yield Recorder("heaptrack", ["heaptrack", "-o", folder / "heaptrack", *command], None,
                       folder / "heaptrack*")
    for title, name, env, files in [
            ("jemalloc", "libjemalloc.so.2",
             {"MALLOC_CONF": f"prof:true,prof_final:true,prof_prefix:{folder / 'jeprof'}"},
             "jeprof*"),
            ("tcmalloc", "libtcmalloc.so.4", {"HEAPPROFILE": str(folder / "tcprof")}, "tcprof*")]:
        if present(name):
            yield Recorder(title, command, {"LD_PRELOAD": name})
            yield Recorder(f"{title}, its profiler", command, {"LD_PRELOAD": name} | env,
                           folder / files)


def size(n):
    return "" if n is None else f"{n / 1e6:.1f} MB"


def report(contestants):
    print(f"  {'':<26}{'n':>3}{'CPU':>10}   {'x plain':<24}{'memory':>10}{'written':>11}")
    for c in contestants:
        if not c.seconds:
            why = f"takes more than {LIMIT} s" if c.first == math.inf else "not yet"
            print(f"  {c.name:<26}  {why}")
            continue
        line = f"  {c.name:<26}{len(c.seconds):3}{statistics.median(c.seconds):8.3f} s"
        ratios = [own / max(plain, 1e-9) for own, plain in c.paired]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") \
            if len(ratios) > 1 else ratios * 3
        is_plain = c is contestants[0]
        line += " " * 27 if is_plain else f"   {middle:6.3f} ({low:.3f} … {high:.3f})".ljust(27)
        print(f"{line}{size(c.peak):>10}{size(c.size):>11}".rstrip(), flush=True)


# ---- memory

def below(pid):
    """A process and all that it has started and that still run."""
    yield pid
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from below(int(child))
    except OSError:  # it has ended meanwhile
        pass


def resident(pid):
    """Bytes in memory; of pages that processes share, its part."""
    try:
        rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in rollup.splitlines()
                    if line.startswith("Pss:")) * 1024
    except (OSError, StopIteration):
        return 0


class Watch(threading.Thread):
    """Looks how much memory all that this script has started takes together."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.over = 0, threading.Event()

    def run(self):
        me = os.getpid()
        while not self.over.wait(0.005):
            self.peak = max(self.peak, sum(resident(pid) for pid in below(me) if pid != me))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


# ---- measuring

SPENT = 30  # seconds of CPU time for what takes long, about
LIMIT = 120  # seconds on the clock: what takes longer is left out


def too_long(*_):
    raise TimeoutError


def first_run(contestant):
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    try:
        with Watch() as watch:
            return contestant.run()
    except TimeoutError:
        return math.inf
    finally:
        signal.alarm(0)
        contestant.peak = max(contestant.peak, watch.peak)


def is_due(contestant, turn):
    """In every turn, or in each k-th if that many take SPENT seconds already."""
    if contestant.first == math.inf:
        return False
    return contestant.first < SPENT / 5 or turn % max(1, round(contestant.first / 3)) == 0


def take_turn(contestants, turn):
    plain = contestants[0].run()
    got = [(contestants[0], plain)]
    for c in contestants[1:] if turn % 2 == 0 else contestants[:0:-1]:
        if is_due(c, turn):
            got.append((c, c.run()))
    for c, seconds in got:  # all of a turn, or nothing
        c.seconds.append(seconds)
        c.paired.append((seconds, plain))


class Kept:
    """What was measured of one program, in a file; of no use once what is measured is another."""

    def __init__(self, path, contestants, anew):
        self.path, self.contestants, self.turn = path, contestants, 0
        programs = [shutil.which("allotrace"), library()]
        self.key = [hashlib.sha256(pathlib.Path(p).read_bytes()).hexdigest() for p in programs]
        if not anew and path.exists():
            self.load(json.loads(path.read_text()))

    def load(self, kept):
        if kept["key"] != self.key or set(kept["of"]) != {c.name for c in self.contestants}:
            return
        self.turn = kept["turn"]
        for c in self.contestants:
            for key, value in kept["of"][c.name].items():
                setattr(c, key, value)

    def save(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"key": self.key, "turn": self.turn,
                                    "of": {c.name: c.state() for c in self.contestants}}))
        part.rename(self.path)


def measure(contestants, kept, runs):
    """Takes turns until there were `runs`. A first run of each, which is thrown away, says how long
    it takes."""
    with pair.pinned():
        for c in contestants if kept.turn < runs else []:
            c.first = c.first or first_run(c)
            kept.save()
        while kept.turn < runs:
            take_turn(contestants, kept.turn)
            kept.turn += 1
            kept.save()


def interrupted(*_):
    raise KeyboardInterrupt


def main(*words):
    anew = "--anew" in words
    malloc_pairs, runs, *names = [w for w in words if w != "--anew"] + ["5"] * (len(words) - anew < 2)
    inputs = pathlib.Path(__file__).resolve().parent.parent / "out" / "bench"
    signal.signal(signal.SIGTERM, interrupted)
    for name, title, command in programs(malloc_pairs, inputs):
        if names and name not in names:
            continue
        print(f"\n  {title}")
        with tempfile.TemporaryDirectory(prefix="native.", dir=inputs) as folder:
            contestants = list(recorders(command, pathlib.Path(folder)))
            kept = Kept(inputs / f"native-{name}.json", contestants, anew)
            try:
                measure(contestants, kept, int(runs))
            except KeyboardInterrupt:
                print(f"  interrupted after {kept.turn} turns")
                report(contestants)
                return 1
            report(contestants)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
