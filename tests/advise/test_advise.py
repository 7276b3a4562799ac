#!/usr/bin/python3
"""Records programs that allocate for a known reason, and programs that do the same as one should, and
looks at the advice that they get. Prints TAP.

    test_advise.py LIBRARY ALLOTRACE LOX [TEST...]

Each rule has a trace in which it applies and one in which it must not; the script checks that, too.
"""
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import Skip  # noqa: E402

MADE = tempfile.TemporaryDirectory(prefix="advise.")  # programs and traces
LIBRARY, ALLOTRACE, LOX = map(os.path.abspath, sys.argv[1:4])

# Where a rule applies: program, function, and how sure the advice is; and where not.
RULES = {
    # OCaml
    "key-comparison": ([("ml compares", "Causes.Slow.compare", "definite"),
                        ("ml hashes", "Causes.Slow.hash", "definite"),
                        ("ml sorts", "Causes.sorts.(fun)", "likely")],
                       ["ml compares_right", "ml hashes_right", "ml sorts_right"]),
    "boxed-bytes": ([("ml reads", "Causes.read_int32", "definite")], ["ml reads_right"]),
    "boxed-integer": ([("ml counts", "Causes.counts.(fun)", "definite")], ["ml counts_right"]),
    "boxed-float": ([("ml averages", "Causes.averages.(fun)", "definite")], ["ml averages_right"]),
    "formatting": ([("ml prints", "Causes.prints.(fun)", "definite")], ["ml prints_right"]),
    "list-append": ([("ml appends", "Causes.appends.(fun)", "definite")], ["ml appends_right"]),
    "string-concat": ([("ml concats", "Causes.concats.(fun)", "definite")], ["ml concats_right"]),
    "buffer-growth": ([("ml buffers", "Causes.fill", "definite")], ["ml buffers_right"]),
    "buffer-made": ([("ml buffers_right", "Causes.buffers_right.(fun)", "definite")],
                    ["ml buffers_kept"]),
    "optional-result": ([("ml finds", "Causes.finds.(fun)", "definite")], ["ml finds_right"]),
    "hashtbl-growth": ([("ml tables", "Causes.tables.(fun)", "definite")], ["ml tables_right"]),
    "tree-update": ([("ml trees", "Causes.trees.(fun)", "definite")], ["ml trees_right"]),
    "partial-application": ([("made partial", "Program.work", "definite")], ["ml partial"]),
    "ocaml-heap": ([("made heap", "caml_alloc_for_heap", "definite")], ["made bigarray"]),
    "binding-closure": ([("ml binds", "Causes.bind_four", "likely"),
                         ("ml infix_binds", "Causes.bind_infix.(fun)", "likely")],
                        ["ml binds_right"]),
    "promise": ([("trace irmin-replay", None, "definite")], ["trace ocamlopt"]),
    "sequence": ([("ml sequences", "Causes.sequences.(fun)", "definite")], ["ml sequences_right"]),
    "list-pass": ([("ml passes", "Causes.passes.(fun)", "likely")], ["ml passes_right"]),
    "array-copy": ([("ml copies", "Causes.copies.(fun)", "likely")], ["ml copies_right"]),
    "string-copy": ([("ml cuts", "Causes.cuts.(fun)", "likely")], ["ml cuts_right"]),
    "closure": ([("ml closures", "Causes.made.(fun)", "likely")],
                ["ml closures_right", "ml triples", "ml elements", "ml callbacks"]),
    "per-element": ([("ml elements", "Causes.elements.(fun)", "guess")], ["ml elements_right"]),
    "small-result": ([("ml tuples", "Causes.divide", "guess"),
                      ("ml options", "Causes.half", "guess"),
                      ("ml triples", "Causes.three", "guess"),
                      ("ml partial", "Causes.apply", "guess")],
                     ["ml lists", "ml larges"]),
    "large-block": ([("ml larges", "Causes.larges.(fun)", "likely")], ["ml larges_right"]),
    "promoted-in-vain": ([("ml forest", "Causes.grow", "likely")], ["ml lists", "ml tuples"]),
    # native
    "vector-growth": ([("cc pushes", "push(bool)", "definite"),
                       ("rs grow", "causes::grow", "definite")],
                      ["cc pushes_right", "rs grow_right"]),
    "vector-copy": ([("cc vectors", None, "definite"), ("cc records", "pass_record(bool)", "definite")],
                    ["cc vectors_right", "cc records_right"]),
    "string-plus": ([("cc joins", "join()", "definite")], ["cc joins_right"]),
    "string-growth": ([("cc lengthens", "lengthen(bool)", "definite")], ["cc lengthens_right"]),
    "std-string-copy": ([("cc strings", None, "definite")], ["cc strings_right"]),
    "std-string-made": ([("cc literals", None, "definite")], ["cc literals_right"]),
    "node-container": ([("cc maps", "insert()", "definite")], ["cc maps_right"]),
    "rust-copy": ([("rs copies", "<causes::Item as core::clone::Clone>::clone", "definite"),
                   ("rs texts", "causes::texts", "definite")],
                  ["rs copies_right", "rs texts_right", "rs grow"]),
    "realloc-growth": ([("cc steps", "append(unsigned long, unsigned long)", "likely")],
                       ["cc steps_right", "cc fits"]),
    "string-duplicate": ([("cc duplicates", "duplicate()", "definite")], ["cc temporaries"]),
    "temporary": ([("cc temporaries", "measure(char const*)", "likely"),
                   ("cc mixed", "measured(node*, long)", "likely")],  # of one line, beside another
                  ["cc nodes"]),
    "pool": ([("cc nodes", "add(node*, long)", "guess")], ["cc nodes_right", "cc temporaries"]),
    # guests
    "bound-method": ([("lox bound", "bound", "definite")], ["lox bound_right"]),
    "guest-closure": ([("lox closures", "closures", "definite")], ["lox closures_right"]),
    "array-growth": ([("lox growth", "growth", "likely")], ["lox growth_right"]),
    "temporary-array": ([("lox pairs", "pairs", "likely")], ["lox pairs_right"]),
    "string-building": ([("lox text", "text", "likely")], ["lox text_right"]),
    "temporary-object": ([("lox objects", "objects", "likely")], ["lox objects_right"]),
}

# What the advice says to do, and so what to compare with.
RIGHT = {right for _, silent in RULES.values() for right in silent if right.endswith("_right")}


def run(command, **settings):
    """What the command prints; it must succeed."""
    env = dict(ENVIRONMENT)
    done = subprocess.run([str(c) for c in command], env=env | settings, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, f"{command}: status {done.returncode}: {done.stderr.decode()}"
    return done.stdout.decode()


# ---- traces, each made once


def once(name, make):
    path = os.path.join(MADE.name, name)
    if not os.path.exists(path):
        make(path)
        assert os.path.exists(path), f"there is no {path}"
    return path


def compiler(name):
    if not shutil.which(name):
        raise Skip(f"{name} is missing")
    return name


def compile_ml(path):
    version = run([compiler("ocamlopt"), "-version"]).split(".")[:2]
    if ["5", "0"] <= version <= ["5", "2"]:
        raise Skip("this version of OCaml cannot be recorded")
    shutil.copy(HERE / "causes.ml", "causes.ml")
    run(["ocamlopt", "-g", "causes.ml", "-o", path])


def compile_cc(path):
    run([compiler("g++"), "-std=c++17", "-O1", "-g", HERE / "causes.cc", "-o", path])


def compile_rs(path):
    run([compiler("rustc"), "-g", "-O", "-o", path, HERE / "causes.rs"])


def record(trace, program, name):
    run([program, name], LD_PRELOAD=LIBRARY, MEMTRACE=trace, MEMTRACE_RATE="1e-3", MEMTRACE_SEED="1")


def record_native(trace, program, name):
    record(trace, program, name)
    run([ALLOTRACE, "symbolize", trace])


# Events of traces that are made.
MADE_OF = {
    # A function that is applied partially, where the runtime shows the compiler's own for that.
    "partial": "alloc minor 4 5 Program@program.ml:9 Program.work@program.ml:4 caml_curry3@program:0\n",
    # What `attach` sees of an OCaml program.
    "heap": "alloc external 60000 60001 Program.work@program.ml:4 Stdlib.string_of_int@stdlib.ml:268 "
            "caml_alloc_string@program:0 expand_heap@program:0 caml_alloc_for_heap@program:0\n",
    "bigarray": "alloc external 60000 60001 Program.work@program.ml:4 caml_ba_alloc@program:0\n",
}


def make_trace(name, path):
    with open(path, "wb") as out:
        subprocess.run([HERE.parent / "cli" / "make-trace"], input=20 * MADE_OF[name].encode(),
                       stdout=out, check=True)


def trace_of(test):
    """The trace of `KIND NAME`."""
    kind, name = test.split()
    file = f"{kind}-{name}.ctf"
    if kind == "trace":
        return str(HERE.parent / "traces" / f"{name}.ctf")
    if kind == "made":
        return once(file, lambda p: make_trace(name, p))
    if kind == "lox":
        return once(file, lambda p: run([LOX, HERE / "causes.lox", name], MEMTRACE=p,
                                        MEMTRACE_RATE="1e-3", MEMTRACE_SEED="1"))
    if kind == "ml":
        program = once("causes-ml", compile_ml)
        return once(file, lambda p: record(p, program, name))
    compiles = {"cc": compile_cc, "rs": compile_rs}
    program = once(f"causes-{kind}", compiles[kind])
    return once(file, lambda p: record_native(p, program, name))


def advice_on(trace, share):
    return json.loads(run([ALLOTRACE, "advise", "--json", "--min-share", str(share), trace]))["advice"]


# ---- judging


def in_shell(command):
    words = shlex.split(command)
    assert words[0] == "allotrace", command
    return [ALLOTRACE, *words[1:]]


def check_commands(test, item):
    """The commands that the advice names work; the filter keeps at least the blocks in question, but
    for the few that lived longer because the machine was busy."""
    hotspots, diff = item["check"]
    kept = json.loads(run(in_shell(hotspots) + ["--json"]))["total"]
    measure = "promoted" in hotspots
    least = item["samples"] * (0.95 if "life:" in hotspots else 1)
    assert measure or kept["samples"] >= least > 0, \
        f"{hotspots} keeps {kept['samples']} of {item['samples']} samples"
    after = trace_of(test + "_right") if test + "_right" in RIGHT else trace_of(test)
    run(in_shell(diff.replace("AFTER.ctf", after)))


def fires(rule, test, function, certainty):
    items = [i for i in advice_on(trace_of(test), 10) if i["rule"] == rule and (
        function is None or i["places"][0]["function"] == function)]
    assert items, f"no {rule} in {function}"
    item = items[0]
    assert item["certainty"] == certainty, f"it is {item['certainty']}"
    gain = item["gain"]
    assert 0 <= gain["low"] <= gain["value"] <= gain["high"] <= item["high"] * 1.0001, gain
    assert item["title"] and item["why"] and item["do"] and item["evidence"]
    check_commands(test, item)


def silent(rule, test):
    for item in advice_on(trace_of(test), 1):
        assert item["rule"] != rule, f"{rule} in {item['places'][0]['function']}"


def rules_everywhere():
    """The table, the documentation, and this script know the same rules."""
    table = set(re.findall(r'\.name = "([a-z-]+)"',
                           (ROOT / "src/advice/advise_rules.c").read_text()))
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/advise.md").read_text(), re.M))
    assert table == set(RULES), f"the table and this script differ: {table ^ set(RULES)}"
    assert table == documented, f"the table and docs/advise.md differ: {table ^ documented}"
    for rule, (applies, not_applies) in RULES.items():
        assert applies and not_applies, rule


def tests():
    yield "rules everywhere", rules_everywhere
    for rule, (applies, not_applies) in RULES.items():
        for test, function, certainty in applies:
            yield f"{rule}: {test}", functools.partial(fires, rule, test, function, certainty)
        for test in not_applies:
            yield f"{rule}: not {test}", functools.partial(silent, rule, test)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:], list(tests())))
