#!/usr/bin/python3
"""native: what recording costs native programs, by allotrace and by others.

    bench/native.py MALLOC_PAIRS [RUNS [PROGRAM...]]

Each program runs as it is and under each recorder in turn; the table says what that costs in CPU
time (all processes together, the median; then the median of the ratios to the plain run next to it,
and their quartiles), the memory of the largest process (this script's own, if that is more), and the
size of what was written. `recorder`
is the preloaded library alone, at the sampling rate given, `run` the whole of `allotrace run`, names
and summary included, as heaptrack's figure is the whole of `heaptrack`. What is not installed is left
out. Takes the allotrace that is first in PATH, and makes its inputs under out/bench/ once.
"""
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

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
    """`files` is a pattern of what it writes."""

    def __init__(self, name, command, env=None, files=None):
        super().__init__(name, command, env)
        self.files = files

    def written(self):
        if not self.files:
            return None
        return sum(f.stat().st_size for f in self.files.parent.glob(self.files.name))


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
    for rate in ("1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1"):
        yield Recorder(f"recorder, {rate}", command, *alone(rate))
    for rate in ("1e-5", "1"):
        whole = folder / f"run-{rate}.ctf{'.zst' if rate == '1' else ''}" # as heaptrack's are
        yield Recorder(f"run, {rate}", ["allotrace", "run", "--rate", rate, "-o", whole, "--",
                                        *command], None, whole)
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
    plain = contestants[0]
    print(f"  {'':<26}{'CPU':>9}   {'x plain':<24}{'memory':>10}{'written':>11}")
    for c in contestants:
        line = f"  {c.name:<26}{statistics.median(c.seconds):7.3f} s"
        low, middle, high = pair.ratios(c, plain)
        line += f"   {middle:6.3f} ({low:.3f} … {high:.3f})".ljust(27) if c is not plain else " " * 27
        print(f"{line}{size(c.peak):>10}{size(c.written()):>11}".rstrip(), flush=True)


def fast_enough(contestants):
    """Those that take less than a minute; says of the others what they take."""
    for c in contestants:
        seconds = pair.run_once(c, wall=False)
        if seconds < 60:
            yield c
        else:
            print(f"  {c.name}: {seconds:.0f} s in a single run, left out")


def main(malloc_pairs, runs="5", *names):
    inputs = pathlib.Path(__file__).resolve().parent.parent / "out" / "bench"
    library()
    for name, title, command in programs(malloc_pairs, inputs):
        if names and name not in names:
            continue
        print(f"\n  {title}")
        with tempfile.TemporaryDirectory(prefix="native.", dir=inputs) as folder:
            contestants = list(fast_enough(recorders(command, pathlib.Path(folder))))
            pair.compare(contestants, int(runs))
            report(contestants)


if __name__ == "__main__":
    main(*sys.argv[1:])
