#!/usr/bin/python3
"""native: what the native recorder costs the programs that it watches, at its default rate.

    bench/native.py MALLOC_PAIRS [RUNS]

Compares each program as it is with the same under the preloaded library, not recording and
recording. Resolving names is left out: it happens after the program has ended. Takes the allotrace
that is first in PATH, and makes its inputs under out/bench/ once.
"""
import json
import pathlib
import random
import shutil
import sys

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


def programs(malloc_pairs, inputs):
    """Names and command lines; programs that are not on this machine are left out."""
    sql = made(inputs / "users.sql", write_sql)
    every = [
        ("malloc and free, nothing else", [malloc_pairs, "300"]),
        ("jq, 40 MB", ["jq", "[.[].score] | add", made(inputs / "users.json", write_json)]),
        ("xmllint, 40 MB", ["xmllint", "--noout", made(inputs / "users.xml", write_xml)]),
        ("sqlite3, 150,000 rows", ["sqlite3", ":memory:", f".read {sql}"]),
    ]
    for name, command in every:
        if shutil.which(command[0]):
            yield name, command
        else:
            print(f"  {name}: left out, there is no {command[0]}")


def main(malloc_pairs, runs="11"):
    inputs = pathlib.Path(__file__).resolve().parent.parent / "out" / "bench"
    preload = str(library())
    for name, command in programs(malloc_pairs, inputs):
        print(f"  {name}")
        contestants = [
            pair.Contestant("  plain", command),
            pair.Contestant("  preloaded", command, {"LD_PRELOAD": preload, "MEMTRACE": ""}),
            pair.Contestant("  recording", command,
                            {"LD_PRELOAD": preload, "MEMTRACE": str(inputs / "native.ctf")}),
        ]
        pair.compare(contestants, int(runs))
        pair.report(contestants)


if __name__ == "__main__":
    main(*sys.argv[1:])
