#!/usr/bin/python3
"""Compiles OCaml programs, records them as they are, and judges what they did and what the traces
say. Prints TAP.

    test_ocaml.py LIBRARY ALLOTRACE [TEST...]

Traces are read by tests/decode.py, the decoder that knows nothing of the code that wrote them.
"""
import collections
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import decode  # noqa: E402
import tap  # noqa: E402
from recording import Recorder, run  # noqa: E402
from tap import Skip, same, test  # noqa: E402

LIBRARY, ALLOTRACE = map(os.path.abspath, sys.argv[1:3])
RECORDER = Recorder(LIBRARY)
BIN = tempfile.mkdtemp(prefix="ocaml.")  # what is compiled


# ---- traces


class Allocation:
    """`frames` are looked up when they are asked for: of a deep recursion they are many."""

    def __init__(self, kind, length, samples, domain, decoder, stack):
        self.kind, self.length, self.samples, self.domain = kind, length, samples, domain
        self.decoder, self.stack = decoder, stack

    @functools.cached_property
    def frames(self):
        return " ".join(map(self.decoder.frame_text, self.stack)).split()

    def __eq__(self, other):
        return ((self.kind, self.length, self.samples, self.domain, self.frames) ==
                (other.kind, other.length, other.samples, other.domain, other.frames))


class Trace:
    """`allocations` by id; `promoted` and `collected` are lists of ids."""

    def __init__(self, path):
        decoder = decode.Decoder(pathlib.Path(path).read_bytes())
        decoder.read_info()
        self.allocations, self.promoted, self.collected = {}, [], []
        for domain, stack, event in decoder.events():
            if event[0] == "alloc":
                self.allocations[event[2]] = Allocation(decode.SOURCES[event[5]], event[3],
                                                        event[4], domain, decoder, tuple(stack))
            else:
                (self.promoted if event[0] == "promote" else self.collected).append(event[2])
        for changed in self.promoted, self.collected:
            same(len(set(changed)), len(changed), "blocks that changed twice")
            assert set(changed) <= set(self.allocations), "a change of no block"

    def of_file(self, name, length=None):
        """Ids of the blocks that were allocated under a frame in that source file."""
        return {i for i, a in self.allocations.items() if length in (None, a.length)
                and any(f"@{name}:" in f for f in a.frames)}

    def life(self, name, length):
        """How many blocks there are of that kind, were promoted, and were collected."""
        ids = self.of_file(name, length)
        return len(ids), len(ids & set(self.promoted)), len(ids & set(self.collected))

    def has_malloc(self):
        return any("@<type>:" in f for a in self.allocations.values() for f in a.frames)


# ---- programs


def compile_program(name, *sources, flags=("-g",), compiler="ocamlopt", libraries=()):
    """Compiles sources, the last of which is the main one; once."""
    program = os.path.join(BIN, name)
    if os.path.exists(program):
        return program
    folder = tempfile.mkdtemp(dir=BIN)
    for source in sources:
        pathlib.Path(folder, source).write_text(adapted((HERE / source).read_text()))
    suffix = ".cmxa" if compiler == "ocamlopt" else ".cma"
    where = ["-I", "+threads"] if "threads" in libraries else []
    for library in {"unix", "dynlink"} & set(libraries) if version() >= (5,) else ():
        where += ["-I", "+" + library]
    done = subprocess.run([compiler, *flags, *where, *[l + suffix for l in libraries], *sources,
                           "-o", program], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{compiler}: {done.stdout.decode()}"
    return program


def adapted(text):
    """The source for this OCaml: 4.11 has no word yet for some things."""
    if version() < (4, 12):
        for new, old in (("info.source = Gc.Memprof.Custom", "false"), ("Unix._exit", "exit")):
            text = text.replace(new, old)
    return text


def version():
    text = subprocess.run(["ocamlopt", "-version"], check=True, stdout=subprocess.PIPE).stdout
    return tuple(int(part) for part in text.decode().strip().split("+")[0].split(".")[:2])


def has_memprof():
    return (4, 11) <= version() < (5, 0) or version() >= (5, 3)


def unusual():
    return compile_program("unusual", "unusual.ml", libraries=("unix", "threads"))


def record(command, **options):
    """Records a run that must look like a plain one, but for `err`; gives its trace."""
    RECORDER.compare(command, **options)
    return Trace("t.ctf")


# ---- tests

def clamped(place):
    """A place with its columns as the format can hold them."""
    rest, _, columns = place.rpartition(":")
    start, end = map(int, columns.split("-"))
    return f"{rest}:{min(start, 255)}-{min(end, 1023)}"


def below_work(frames):
    """The part of a stack that both programs have: from Work.run on, or all of a stack that was
    cut; without frames that have no place in a source, which Printexc leaves out."""
    frames = tuple(f for f in frames if "@" in f and not f.endswith(":0:0-0"))
    inside = [i for i, f in enumerate(frames) if f.startswith("Work.run@")]
    if inside:
        return frames[inside[0]:]
    return frames if any(f.startswith("Work.deep@") for f in frames) else None


def witnessed(command):
    lines = run(command).out.splitlines()
    for line in lines:
        kind, length, samples, *frames = line.split()
        yield kind, int(length), int(samples), below_work([clamped(f) for f in frames])


def compare_with_witness(*flags):
    name = "-".join(("p", *flags)).replace("-", "_")
    alone = compile_program(name + "_alone", "work.ml", "alone.ml", flags=("-g", *flags))
    witness = compile_program(name + "_witness", "work.ml", "witness.ml", flags=("-g", *flags))
    want = collections.Counter(w for w in witnessed([witness]) if w[3])
    got = collections.Counter((a.kind, a.length, a.samples, below_work(a.frames))
                              for a in record([alone]).allocations.values())
    got = collections.Counter({k: n for k, n in got.items() if k[3]})
    assert sum(want.values()) > 900, "the witness has seen little"
    for kind in ("alloc", "alloc_major", "alloc_ext")[:2 if version() < (4, 12) else 3]:
        assert any(w[0] == kind for w in want), f"the witness has seen no {kind}"
    same(got - want, collections.Counter(), "seen by the recorder alone")
    same(want - got, collections.Counter(), "seen by the witness alone")


@test
def samples_are_those_of_memprof():
    compare_with_witness()


@test
def samples_are_those_of_memprof_where_functions_are_inlined():
    compare_with_witness("-inline", "200")


@test
def promotions_and_collections_are_exact():
    trace = record([compile_program("life", "life.ml")])
    same(trace.life("life.ml", 71), (100, 0, 100), "die young")
    same(trace.life("life.ml", 81), (50, 50, 50), "promoted, collected")
    same(trace.life("life.ml", 1001), (30, 0, 30), "major, collected")
    same(trace.life("life.ml", 1101), (20, 0, 0), "major, alive")
    same(trace.life("life.ml", 91), (10, 10, 0), "promoted, alive")


@test
def stacks_are_cut_at_the_depth():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    for depth in 1, 5, 128:
        trace = record([program], depth=str(depth))
        deepest = [a.frames for a in trace.allocations.values()
                   if "Work.too_deep.(fun)@" in " ".join(a.frames)]
        remark, place = "[deeper than the recorder looks]@:0:0-0".split(), "Work.deep@work.ml:44:47-61"
        same(len(deepest), 1, "stacks")
        same(deepest[0][:len(remark)], remark, "the outermost frame")
        same(deepest[0].count(place), depth - 1, f"frames of deep in {depth}")


@test
def a_sampled_program_gives_the_right_total():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    every = sum(a.samples for a in record([program]).allocations.values())
    some = sum(a.samples for a in record([program], rate="0.1").allocations.values())
    deviation = (every * 0.1 * 0.9) ** 0.5
    assert abs(some - every / 10) < 6 * deviation, f"{some} of {every} words sampled at 0.1"


def judge_equal_runs(record_one):
    """Equal runs have samples of their own each, unless a seed is given."""
    def samples(**settings):
        trace = record_one(rate="0.01", **settings)
        return tuple((i, a.kind, a.length, a.samples) for i, a in trace.allocations.items()
                     if any("@work.ml:" in f for f in a.frames))
    runs = [samples() for _ in range(6)]
    assert all(len(run) > 30 for run in runs), "there is little"  # 66 on average
    assert len(set(runs)) >= 5, "samples of equal runs are the same"
    assert len({run[:10] for run in runs}) > 1, "the first samples of equal runs are the same"
    # In OCaml 5, what else the runtime draws numbers for makes runs part in the end.
    same(samples(seed="7")[:20], samples(seed="7")[:20], "samples with a seed")
    assert samples(seed="7")[:20] != samples(seed="8")[:20], "samples with another seed are the same"


@test
def equal_runs_have_samples_of_their_own():
    judge_equal_runs(lambda **options: record([compile_program("p_alone", "work.ml", "alone.ml")],
                                              **options))


@test
def without_debug_information_frames_are_addresses():
    program = compile_program("bare", "work.ml", "alone.ml", flags=())
    trace = record([program])
    frames = {f for a in trace.allocations.values() for f in a.frames}
    assert any(f.startswith("bare+0x") for f in frames), f"{sorted(frames)[:5]}"
    same(run([ALLOTRACE, "symbolize", "t.ctf"]).status, 0)
    frames = {f for a in Trace("t.ctf").allocations.values() for f in a.frames}
    assert any(f.startswith("Work.build@") for f in frames), f"{sorted(frames)[:20]}"
    assert not any(f.startswith("camlW") for f in frames), f"{sorted(frames)[:20]}"
    found = run([ALLOTRACE, "hotspots", "--filter", "fn:/^Work\\.build$/", "t.ctf"])
    assert "total allocations" in found.out, found.out + found.err


@test
def a_stripped_program_is_recorded():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    shutil.copy(program, "stripped")
    subprocess.run(["strip", "stripped"], check=True)
    whole, stripped = record([program]), record(["./stripped"])
    same(len(stripped.of_file("work.ml")), len(whole.of_file("work.ml")))


@test
def bytecode_runs_unharmed():
    program = compile_program("byte", "work.ml", "alone.ml", compiler="ocamlc")
    got = RECORDER.run([program])
    same((got.status, got.out), (0, ""))
    assert "OCaml bytecode: only malloc is recorded" in got.err, got.err
    same(got.err.count("\n"), 1, "lines")
    assert Trace("t.ctf").has_malloc()


def judge_unfit(command):
    """A run without Memprof: as a plain one but for a line, and its malloc is recorded."""
    wanted, got = run(command), RECORDER.run(command, rate="1e-3")
    reason = "before 4.11" if version() < (4, 11) else "5.0 to 5.2"
    same((got.status, got.out), (wanted.status, wanted.out), command)
    line = f"allotrace: {command[0]}: OCaml {reason} cannot sample its heap"
    assert got.err.startswith(line) and got.err.endswith(wanted.err), got.err
    same(got.err.count("\n"), 1 + wanted.err.count("\n"), "lines")
    assert Trace("t.ctf").has_malloc()


@test
def programs_without_memprof_run_unharmed():
    if has_memprof():
        raise Skip("this OCaml has Memprof")
    os.environ["OCAMLRUNPARAM"] = "l=1M"
    for how in ("overflow", "threads", "fork", "exec", "_exit", "uncaught", "kill", "signals",
                "raise", "finalisers"):
        judge_unfit([unusual(), how])
    del os.environ["OCAMLRUNPARAM"]
    for name in ("domains", "effects") if version() >= (5,) else ():
        judge_unfit([compile_program(name, name + ".ml")])


@test
def the_parameters_of_the_runtime_are_in_the_trace():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    for settings, wanted in (({"OCAMLRUNPARAM": "s=64k,v=0", "CAMLRUNPARAM": "s=32k"}, "s=64k,v=0"),
                             ({"CAMLRUNPARAM": "s=32k"}, "s=32k"), ({}, "")):
        run([ALLOTRACE, "run", "-r", "0.1", "-o", "t.ctf", "--", program],
            {"ALLOTRACE_PRELOAD": LIBRARY} | settings)
        words = ["runtime", "OCaml," if wanted else "OCaml", *wanted.split()]
        assert words in [line.split() for line in run([ALLOTRACE, "info", "t.ctf"]).out.splitlines()], wanted
        assert json.loads(run([ALLOTRACE, "info", "--json", "t.ctf"]).out)[0]["runtime"] == wanted


@test
def malloc_is_recorded_as_well_or_alone():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    heap, both, alone = (record([program], ocaml=o) for o in ("heap", "both", "malloc"))
    same([t.has_malloc() for t in (heap, both, alone)], [False, True, True], "malloc")
    same(len(both.of_file("work.ml")), len(heap.of_file("work.ml")), "blocks of the OCaml heap")
    same(len(alone.of_file("work.ml")), 0, "blocks of the OCaml heap")


@test
def cut_stacks_of_both_heaps_do_not_mix():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    for rate in "1", "0.5", "0.009":
        trace = record([program], ocaml="both", rate=rate, depth="2")
        stacks = [" ".join(a.frames) for a in trace.allocations.values()
                  if any("@<type>:" in f for f in a.frames)]
        assert len(stacks) > 10, (rate, len(stacks))
        for text in stacks:
            assert text.startswith("[deeper than the recorder looks]@:0:0-0 "), (rate, text)
            same(text.count("+0x"), 2, text)


@test
def the_command_has_options_for_that():
    program = compile_program("p_alone", "work.ml", "alone.ml")
    for options, malloc, heap in ((), 0, 1), (("--native",), 1, 1), (("--no-ocaml",), 1, 0):
        got = run([ALLOTRACE, "run", "--no-symbolize", "-o", "t.ctf", "-r", "1", *options, "--",
                   program], {"ALLOTRACE_PRELOAD": LIBRARY})
        same(got.status, 0)
        trace = Trace("t.ctf")
        same((trace.has_malloc(), bool(trace.of_file("work.ml"))), (bool(malloc), bool(heap)),
             " ".join(options))
        same("counts twice" in got.err, bool(malloc and heap), got.err)


def working(trace):
    return len(trace.of_file("unusual.ml", 13))


@test
def attach_says_that_the_heap_is_not_recorded():
    program = subprocess.Popen([compile_program("resident", "resident.ml", libraries=("unix",))],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with program:
        program.stdout.readline()
        got = run([ALLOTRACE, "attach", "--duration", "0.2s", "-o", "t.ctf", program.pid],
                  {"ALLOTRACE_PRELOAD": LIBRARY})
        program.stdin.close()
    if got.status != 0:
        raise Skip(got.err)
    assert (f"warning: process {program.pid} is an OCaml program: only malloc is recorded; to "
            "record its own heap, start the program with `allotrace run`\n") in got.err, got.err
    assert "of recorded memory while attached" in got.err, got.err


@test
def a_stack_overflow_is_an_exception():
    os.environ["OCAMLRUNPARAM"] = "l=1M"  # OCaml 5 would use up to 1 GB of stack
    for rate in "1e-3", "1e-1":
        record([unusual(), "overflow"], rate=rate)
    del os.environ["OCAMLRUNPARAM"]


@test
def threads_are_recorded():
    trace = record([unusual(), "threads"])
    same(working(trace), 15030)
    ids = trace.of_file("unusual.ml", 13)
    assert len({trace.allocations[i].domain for i in ids}) > 1, "one domain"


@test
def domains_are_recorded():
    if version() < (5,):
        raise Skip("OCaml before 5 has no domains")
    trace = record([compile_program("domains", "domains.ml")])
    ids = trace.of_file("domains.ml", 13)
    same(len(ids), 6000 + 3 * 3000 + 500)
    assert len({trace.allocations[i].domain for i in ids}) > 2, "few domains"


@test
def fibers_are_recorded():
    if version() < (5,):
        raise Skip("OCaml before 5 has no effects")
    program = compile_program("effects", "effects.ml")
    made = run([program]).out.split()[0]
    same(len(record([program]).of_file("effects.ml", 13)), int(made))


@test
def a_forked_child_is_left_alone_or_has_its_own_trace():
    for how in "fork", "fork-_exit":
        same(working(record([unusual(), how])), 1010, how)
        wanted = run([unusual(), how])
        same(RECORDER.run([unusual(), how], file="%p.ctf"), wanted)
        same(sorted(working(Trace(p)) for p in pathlib.Path().glob("[0-9]*.ctf")), [500, 1010], how)
        for path in pathlib.Path().glob("[0-9]*.ctf"):
            path.unlink()


@test
def nothing_is_lost_however_a_program_ends():
    for how, status in ("exec", 0), ("_exit", 3), ("exit", 3), ("uncaught", 2):
        trace = record([unusual(), how])
        same(run([unusual(), how]).status, status, how)
        same(working(trace), 1000, how)


@test
def a_killed_program_loses_its_last_second():
    assert working(record([unusual(), "kill"])) >= 100_000


@test
def signals_and_finalisers_run():
    for how in "signals", "raise", "finalisers":
        for ocaml in "heap", "both":
            record([unusual(), how], ocaml=ocaml, rate="0.3")


YIELDS = "it uses Gc.Memprof itself, so its OCaml heap is recorded only up to here"


def record_yielding(command):
    """Records a program that starts Memprof, which has to work as without us."""
    wanted, got = run(command), RECORDER.run(command)
    same(got, wanted._replace(err=f"allotrace: {os.path.realpath(command[0])}: {YIELDS}\n"))
    same(wanted.status, 0)
    trace = Trace("t.ctf")
    assert not trace.has_malloc()
    marks = [a for a in trace.allocations.values() if "@<mark>:" in " ".join(a.frames)]
    same(len(marks), 1, "marks")
    return trace


@test
def a_program_with_memprof_gets_it():
    record_yielding([compile_program("p_witness", "work.ml", "witness.ml")])


@test
def a_program_that_may_use_memprof_is_recorded_until_it_does():
    for name in "part", "alias", "whole", "started":
        program = compile_program("gc_" + name, "gc_values.ml", f"gc_{name}.ml")
        same(len(record([program]).of_file("gc_values.ml", 13)), 100, name)
    for name, how in (("gc_whole", "start"), ("gc_started", "start"), ("gc_started", "stop"),
                      ("gc_started", "twice")):
        trace = record_yielding([compile_program(name, "gc_values.ml", name + ".ml"), how])
        same(len(trace.of_file("gc_values.ml", 13)), 100, f"{name} {how}")


@test
def a_plugin_gets_memprof():
    program = compile_program("gc_loads", "gc_values.ml", "gc_loads.ml", libraries=("dynlink",),
                              flags=("-g", "-linkall"))
    for source in "gc_values.ml", "gc_plugin.ml":
        shutil.copy(HERE / source, ".")
    for arguments in ["-c", "gc_values.ml"], ["-opaque", "-w", "-58", "-shared", "-o", "plugin",
                                                         "gc_plugin.ml"]:
        subprocess.run(["ocamlopt", "-g", *arguments], check=True)
        pathlib.Path("gc_values.cmx").unlink(missing_ok=True)
    same(len(record_yielding([program, "./plugin"]).of_file("gc_values.ml", 13)), 100)


@test
def a_domain_gets_memprof_for_all():
    if version() < (5,):
        raise Skip("OCaml before 5 has no domains")
    program = compile_program("gc_domain", "gc_values.ml", "gc_domain.ml")
    same(len(record_yielding([program]).of_file("gc_values.ml", 13)), 200)


@test
def memprof_of_older_standard_libraries_is_found():
    record_yielding([compile_program("gc_small", "stdlib__gc.ml", "gc_small.ml")])


@test
def a_program_with_memtrace_writes_the_trace_itself():
    program = compile_program("traced", "memtrace.ml", "traced.ml")
    wanted, got = run([program]), RECORDER.run([program])
    same((got.status, got.out), (0, wanted.out))
    assert "linked with Memtrace" in got.err, got.err
    same(pathlib.Path("t.ctf").read_text(), "its own")


@test
def a_trace_that_such_a_program_does_not_write_is_missed():
    program = compile_program("left", "memtrace.ml", "resident.ml", libraries=("unix",))
    got = run([ALLOTRACE, "run", "-o", "t.ctf", "--", program], {"ALLOTRACE_PRELOAD": LIBRARY})
    same((got.status, got.out), (0, "ready\n"))
    assert got.err.endswith("t.ctf was not written: the program records itself, but did not do so this "
                            "time; a program linked with Memtrace does so when it calls "
                            "Memtrace.trace_if_requested\n"), got.err


@test
def the_compiler_compiles():
    compiler = shutil.which("ocamlopt.opt")
    shutil.copy(HERE / "work.ml", ".")
    command = [compiler, "-g", "-c", "work.ml"]
    run(command)
    plain = pathlib.Path("work.o").read_bytes()
    trace = record(command, rate="1e-3")
    same(pathlib.Path("work.o").read_bytes(), plain, "the object file")
    assert any("@typing/typecore.ml:" in f for a in trace.allocations.values() for f in a.frames)


def main():
    if not shutil.which("ocamlopt"):
        print("1..0 # SKIP ocamlopt is missing")
        return 0
    if not has_memprof():
        tap.TESTS[:] = [bytecode_runs_unharmed, programs_without_memprof_run_unharmed]
    return tap.main(sys.argv[3:])


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(BIN)
