#!/usr/bin/python3
"""Tests the OCaml library: builds programs that use it, runs them, and judges what they did and what
the traces say. Prints TAP.

    test_library.py LIBRARY ALLOTRACE FINDLIB-FOLDER [TEST...]

LIBRARY is the recorder that is preloaded; below the folder, findlib finds memtrace. The functions of
the library are tested by library/api.ml, whose tests are counted here.
"""
import errno
import collections
import fcntl
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import test_ocaml as base  # which knows where what follows is
import tap
from recording import Run
from tap import Skip, same, test
from test_ocaml import Trace, run

LIBRARY, ALLOTRACE, FINDLIB = map(os.path.abspath, sys.argv[1:4])
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DECODER = ROOT / "tests/decode.py"
# OCaml 5 has stacks of a gigabyte, which collecting walks again and again before they overflow.
ENV = {"OCAMLPATH": FINDLIB, "CAML_LD_LIBRARY_PATH": f"{FINDLIB}/stublibs", "DUNE_CACHE": "disabled",
       "OCAMLRUNPARAM": "l=1M"}

tap.TESTS.clear()  # those of test_ocaml


def call(command, **options):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | ENV, **options)
    assert done.returncode == 0, f"{command[0]}: {done.stdout.decode()[-1500:]}"
    return done.stdout.decode()


def compile_program(name, *sources, compiler="ocamlopt", packages=("memtrace",)):
    """Compiles sources of tests/ocaml, the last of which is the main one; once."""
    program = os.path.join(base.BIN, name)
    if os.path.exists(program):
        return program
    folder = pathlib.Path(base.BIN, name + ".sources")
    folder.mkdir(exist_ok=True)
    for source in sources:
        shutil.copy(HERE / source, folder)
    call(["ocamlfind", compiler, "-g", "-thread", "-package", ",".join(packages), "-linkpkg",
          *[pathlib.Path(s).name for s in sources], "-o", program], cwd=folder)
    return program


def traced(name, *sources, **options):
    """The program with the library, and without."""
    libraries = ("unix", "threads.posix")
    with_it = compile_program(name + "_traced", "library/first.ml", *sources,
                              packages=("memtrace",) + libraries, **options)
    return with_it, compile_program(name, *sources, packages=libraries, **options)


def unusual():
    return traced("unusual", "unusual.ml")


def trace_run(command, file="t.ctf", rate="1", **settings):
    env = {"MEMTRACE": file, "MEMTRACE_RATE": rate} | ENV
    return run(command, env | {f"MEMTRACE_{k.upper()}": v for k, v in settings.items()})


def trace(programs, *arguments, **options):
    """Runs a program with the library, which must look like a run without; gives its trace."""
    with_it, without = programs
    same(trace_run([with_it, *arguments], **options), run([without, *arguments], ENV), "the run")
    return Trace("t.ctf")


# ---- the interface


def api_tests(compiler):
    """library/api.ml as tests of this one."""
    os.mkdir("api")
    program = compile_program(f"api_{compiler}", "library/in_or_out.ml", "library/api.ml",
                              compiler=compiler)
    done = subprocess.run([program], cwd="api", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=200, env=os.environ | ENV)
    output = done.stdout.decode()
    results = re.findall(r"^(ok|not ok) \d+ - (.*)\n((?:#.*\n)*)", output, re.M)
    assert done.returncode == 0 and f"1..{len(results)}\n" in output, output[-1500:]
    failed = [name + "\n" + why for verdict, name, why in results if verdict != "ok"]
    assert not failed, "\n".join(failed)
    assert len(results) > 20, output


@test
def every_function_does_what_it_says():
    api_tests("ocamlopt")


@test
def every_function_does_so_in_bytecode():
    api_tests("ocamlc")


# ---- what the tracer records


def compare_with_witness(programs):
    witness = compile_program("witness", "work.ml", "witness.ml")
    want = collections.Counter(w for w in base.witnessed([witness]) if w[3])
    got = collections.Counter((a.kind, a.length, a.samples, base.below_work(a.frames))
                              for a in trace(programs).allocations.values())
    got = collections.Counter({k: n for k, n in got.items() if k[3]})
    assert sum(want.values()) > 900, "the witness has seen little"
    same(got - want, collections.Counter(), "seen by the library alone")
    same(want - got, collections.Counter(), "seen by the witness alone")


@test
def samples_are_those_of_memprof():
    compare_with_witness(traced("work", "work.ml", "alone.ml"))


@test
def samples_are_those_of_the_recorder():
    programs = traced("work", "work.ml", "alone.ml")
    ours = trace(programs)
    base.record([programs[1]])
    theirs = Trace("t.ctf")
    blocks = [collections.Counter((a.kind, a.length, a.samples, tuple(a.frames))
                                  for i, a in t.allocations.items() if i in t.of_file("work.ml"))
              for t in (ours, theirs)]
    assert sum(blocks[0].values()) > 1000, "there is little"
    same(blocks[0] - blocks[1], collections.Counter(), "seen by the library alone")
    same(blocks[1] - blocks[0], collections.Counter(), "seen by the recorder alone")


@test
def promotions_and_collections_are_exact():
    life = trace(traced("life", "life.ml"))
    same(life.life("life.ml", 71), (100, 0, 100), "die young")
    same(life.life("life.ml", 81), (50, 50, 50), "promoted, collected")
    same(life.life("life.ml", 1001), (30, 0, 30), "major, collected")
    same(life.life("life.ml", 1101), (20, 0, 0), "major, alive")
    same(life.life("life.ml", 91), (10, 10, 0), "promoted, alive")


@test
def stacks_are_cut_at_the_depth():
    for depth in None, 1, 5:
        found = trace(traced("work", "work.ml", "alone.ml"), **({"depth": str(depth)} if depth else {}))
        deepest = [a.frames for a in found.allocations.values()
                   if "Work.too_deep.(fun)@" in " ".join(a.frames)]
        remark = "[deeper than the recorder looks]@:0:0-0".split()
        same(len(deepest), 1, "stacks")
        same(deepest[0][:len(remark)], remark, "the outermost frame")
        same(deepest[0].count("Work.deep@work.ml:44:47-61"), (depth or 128) - 1, "frames of deep")


@test
def equal_runs_have_samples_of_their_own():
    base.judge_equal_runs(lambda **options: trace(traced("work", "work.ml", "alone.ml"), **options))


@test
def without_debug_information_frames_are_addresses():
    folder = pathlib.Path("bare")
    folder.mkdir()
    for source in "library/first.ml", "work.ml", "alone.ml":
        shutil.copy(HERE / source, folder)
    call(["ocamlfind", "ocamlopt", "-package", "memtrace", "-linkpkg", "first.ml", "work.ml",
          "alone.ml", "-o", "bare"], cwd=folder)
    same(trace_run(["bare/bare"]).status, 0)
    assert any(f.startswith("bare+0x") for a in Trace("t.ctf").allocations.values() for f in a.frames)
    same(run([ALLOTRACE, "symbolize", "t.ctf"]).status, 0)
    frames = {f for a in Trace("t.ctf").allocations.values() for f in a.frames}
    assert any(f.startswith("Work.build@") for f in frames), sorted(frames)[:20]


@test
def bytecode_is_traced():
    programs = traced("byte", "work.ml", "alone.ml", compiler="ocamlc")
    found = trace(programs)
    assert len(found.of_file("work.ml")) > 500, "few blocks"
    assert any("Work.major@work.ml:22" in " ".join(a.frames) or "@work.ml:22:" in " ".join(a.frames)
               for a in found.allocations.values()), "no lines"


@test
def threads_are_recorded():
    found = trace(unusual(), "threads")
    same(len(found.of_file("unusual.ml", 13)), 15030)


@test
def domains_are_recorded():
    if base.version() < (5,):
        raise Skip("OCaml before 5 has no domains")
    found = trace(traced("domains", "domains.ml"))
    ids = found.of_file("domains.ml", 13)
    same(len(ids), 6000 + 3 * 3000 + 500)
    assert len({found.allocations[i].domain for i in ids}) > 2, "few domains"


@test
def any_domain_can_start_and_stop_tracing():
    if base.version() < (5,):
        raise Skip("OCaml before 5 has no domains")
    program = compile_program("anywhere", "library/anywhere.ml")
    same(run([program], ENV), Run(0, "done\n", ""))
    same(len(Trace("a.ctf").of_file("anywhere.ml", 13)), 1000, "started in a domain")
    same(len(Trace("b.ctf").of_file("anywhere.ml", 13)), 3000, "stopped in a domain")


@test
def a_forked_child_stops():
    for how in "fork", "fork-_exit":
        same(len(trace(unusual(), how).of_file("unusual.ml", 13)), 1010, how)
    program = compile_program("forks", "library/forks.ml")
    same(trace_run([program]), Run(0, "child: false\nchild again: true\nparent: true\n", ""))
    same(len(Trace("t.ctf").of_file("forks.ml", 13)), 30, "the parent's blocks")
    same(len(Trace("child.ctf").of_file("forks.ml", 13)), 500, "the child's own trace")


@test
def nothing_is_lost_at_an_exit():
    for how, status in ("exit", 3), ("uncaught", 2):
        with_it, without = unusual()
        wanted = run([without, how])
        got = trace_run([with_it, how])
        same((got.status, got.out, got.status), (wanted.status, wanted.out, status), how)
        same(len(Trace("t.ctf").of_file("unusual.ml", 13)), 1000, how)


@test
def a_trace_lasts_to_the_end_of_its_program():
    trace(unusual(), "idle")
    times = [int(line.split()[0]) for line in run([ALLOTRACE, "dump", "t.ctf"]).out.splitlines()]
    info, = json.loads(run([ALLOTRACE, "info", "--json", "t.ctf"]).out)
    assert info["duration"] >= max(times) + 50000, (info["duration"], max(times))


@test
def a_killed_program_loses_its_last_second():
    with_it, _ = unusual()
    same(trace_run([with_it, "kill"]).status, -9)
    assert len(Trace("t.ctf").of_file("unusual.ml", 13)) >= 100_000


@test
def signals_and_finalisers_run():
    for how in "signals", "raise", "finalisers", "overflow":
        trace(unusual(), how, rate="0.01" if how == "overflow" else "0.3")


# ---- what the environment says


def head(path="t.ctf"):
    """Rate and context that the head of a trace names."""
    done = run([ALLOTRACE, "info", "--json", path])
    same((done.status, done.err), (0, ""))
    info, = json.loads(done.out)
    return info["rate"], info["context"]


def drop_in():
    return compile_program("drop_in", "library/drop_in.ml")


def drop_in_run(*arguments, **env):
    return run([drop_in(), *arguments], ENV | env)


def untraced(got, warning="", what=""):
    """A run of drop_in without a trace: what it prints is complete."""
    same((got.status, got.out, got.err), (0, "untraced\n", warning), what)


@test
def nothing_happens_unless_asked():
    untraced(drop_in_run())
    untraced(drop_in_run(MEMTRACE="", MEMTRACE_RATE="nonsense"))
    same(os.listdir(), [], "files")


@test
def the_variables_win_over_the_arguments():
    for arguments, env, want in (
            ([], {}, (1e-6, "")),
            (["0.5"], {}, (0.5, "")),
            (["0.5", "argument"], {}, (0.5, "argument")),
            (["0.5", "argument"], {"MEMTRACE_RATE": "0.25"}, (0.25, "argument")),
            (["7", "argument"], {"MEMTRACE_RATE": "1e-3", "MEMTRACE_CONTEXT": "variable"},
             (0.001, "variable"))):
        same(drop_in_run(*arguments, MEMTRACE="t.ctf", **env), Run(0, "started\ntraced\n", ""))
        same(head(), want, f"{arguments} {env}")


def refused(got, message, what=""):
    """A run of drop_in that a bad setting has ended."""
    same((got.status, got.out), (2, ""), what)
    same(got.err, f'Fatal error: exception Invalid_argument("Memtrace: {message}")\n', what)


RATE = "a rate above 0 and at most 1, like 1e-6"


@test
def a_senseless_argument_is_an_error_only_if_it_is_used():
    untraced(drop_in_run("7"))
    refused(drop_in_run("7", MEMTRACE="t.ctf"), "the sampling rate must be above 0 and at most 1")


@test
def bad_settings_raise():
    os.mkdir("folder")
    for file, why in (("no/t.ctf", "No such file or directory"), ("folder", "Is a directory"),
                      ("/dev/full", "No space left on device")):
        refused(drop_in_run(MEMTRACE=file), f"{file}: {why}")
    for name, value, valid in (("RATE", "2", RATE), ("RATE", "fast", RATE),
                               ("DEPTH", "0", "a whole number above 0"),
                               ("SEED", "dice", "a whole number"),
                               ("PROCESS", "x", "a process id")):
        name = "MEMTRACE_" + name
        refused(drop_in_run(MEMTRACE="t.ctf", **{name: value}), f"{name}: `{value}` is not {valid}")
    same(sorted(os.listdir()), ["folder"], "files")


@test
def a_file_that_something_else_writes_is_left_alone():
    kept = b"another's"
    pathlib.Path("t.ctf").write_bytes(kept)
    with open("t.ctf", "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another kind of lock: no obstacle
        fcntl.lockf(file, fcntl.LOCK_EX)
        refused(drop_in_run(MEMTRACE="t.ctf"), "t.ctf: something else is writing it")
    same(pathlib.Path("t.ctf").read_bytes(), kept)


@test
def a_program_with_memprof_keeps_it():
    untraced(drop_in_run("0.5", "memprof", MEMTRACE="t.ctf"),
             "memtrace: t.ctf: this program uses Gc.Memprof itself, so nothing is traced\n")


WHOLE, ENDS_EARLY = 2, 3


def said_end(file):
    """What the trace says of its end (src/trace/FORMAT.md, section 6): how, errno, reason."""
    data = pathlib.Path(file).read_bytes()
    at = data.index(b"<end>\0")
    word = int.from_bytes(data[at - 6:at], "little")
    return word >> 20 & 0xFF, word & 0xFFFFF, data[at + 6:].split(b"\0")[0].decode()


@test
def a_full_disk_ends_the_trace_and_not_the_program():
    limit = 100_000
    with_it, without = traced("work", "work.ml", "alone.ml")
    program = compile_program("much", "library/first.ml", "library/much.ml")
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=os.environ | ENV | {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    same((done.returncode, done.stdout.decode()), (0, "false\n"))
    same(done.stderr.decode(), "memtrace: t.ctf: File too large: the trace ends here\n")
    assert 30_000 < os.stat("t.ctf").st_size <= limit
    assert len(Trace("t.ctf").of_file("much.ml", 13)) > 1000
    same(said_end("t.ctf"), (ENDS_EARLY, errno.EFBIG, "the trace cannot be written"))


@test
def a_trace_says_that_it_is_whole():
    program = compile_program("much", "library/first.ml", "library/much.ml")
    subprocess.run([program], env=os.environ | ENV | {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"},
                   stdout=subprocess.DEVNULL, check=True)
    same(said_end("t.ctf"), (WHOLE, 0, ""))


@test
def each_process_can_have_its_own_trace():
    program = compile_program("starts", "library/first.ml", "library/starts.ml")
    same(trace_run([program, "once", program]), Run(0, "", ""))
    same(len(Trace("t.ctf").of_file("starts.ml", 13)), 2, "blocks of the first process")
    os.unlink("t.ctf")
    same(trace_run([program, "once", program], file="100%-%%-%p.ctf"), Run(0, "", ""))
    files = sorted(pathlib.Path().glob("100%-%-*.ctf"))
    same(sorted(len(Trace(f).of_file("starts.ml", 13)) for f in files), [1, 2])


@test
def another_process_than_the_chosen_one_is_not_traced():
    untraced(drop_in_run(MEMTRACE="t.ctf", MEMTRACE_PROCESS="1"))
    same(os.listdir(), [], "files")


# ---- with the rest of allotrace


@test
def a_program_under_run_traces_itself():
    for options in ["-o", "t.ctf"], ["-o", "t%p.ctf"]:
        got = run([ALLOTRACE, "run", "-r", "1", *options, "--", *traced("work", "work.ml", "alone.ml")[:1]],
                  ENV | {"ALLOTRACE_PRELOAD": LIBRARY})
        same((got.status, got.out), (0, ""))
        files = list(pathlib.Path().glob("t*.ctf"))
        same(len(files), 1, got.err)
        found = Trace(files[0])
        assert not found.has_malloc(), "the recorder has written it"
        assert len(found.of_file("work.ml")) > 1000, got.err
        assert "recorded" in got.err, got.err
        files[0].unlink()


@test
def the_rate_of_run_is_that_of_the_library():
    for options, rate in ((), 1e-5), (("-r", "1e-3"), 1e-3):
        got = run([ALLOTRACE, "run", *options, "-o", "t.ctf", "--", traced("work", "work.ml", "alone.ml")[0]],
                  ENV | {"ALLOTRACE_PRELOAD": LIBRARY})
        same((got.status, head()[0]), (0, rate))


@test
def traces_are_read_as_they_are():
    dump = compile_program("dump", "library/dump.ml")
    base.record([compile_program("work", "work.ml", "alone.ml", packages=("unix", "threads.posix"))])
    os.rename("t.ctf", "recorder.ctf")
    base.record([unusual()[1], "threads"])
    os.rename("t.ctf", "threads.ctf")
    os.environ["OCAMLRUNPARAM"] = ENV["OCAMLRUNPARAM"]  # OCaml 5 would use up to 1 GB of stack
    deep = base.record([unusual()[1], "overflow"], rate="1e-3")
    del os.environ["OCAMLRUNPARAM"]
    depths = [len(a.stack) for a in deep.allocations.values()]
    assert max(depths) > 100, "no deep stacks"
    os.rename("t.ctf", "deep.ctf")
    trace(unusual(), "threads")
    for path in *ROOT.glob("tests/traces/*.ctf"), *pathlib.Path().glob("*.ctf"):
        for ours, theirs in ([], ["--in-order"]), (["--plain"], ["--plain"]):
            want = subprocess.run([sys.executable, DECODER, *theirs, path], stdout=subprocess.PIPE,
                                  check=True)
            got = subprocess.run([dump, *ours, path], stdout=subprocess.PIPE, check=True)
            same_lines(got.stdout, want.stdout, path)


def same_lines(got, want, what):
    if got != want:
        pairs = itertools.zip_longest(got.splitlines(), want.splitlines())
        raise AssertionError(f"{what}: {next(pair for pair in pairs if pair[0] != pair[1])}")


@test
def whole_stacks_are_read_as_they_are():
    dump = compile_program("dump", "library/dump.ml")
    trace(traced("work", "work.ml", "alone.ml"))
    for path in "t.ctf", ROOT / "tests/traces/ocamlopt.ctf":
        got = subprocess.run([dump, "--full", path], stdout=subprocess.PIPE, check=True).stdout
        want = subprocess.run([sys.executable, DECODER, path], stdout=subprocess.PIPE, check=True).stdout
        same_lines(got, want, path)


@test
def programs_without_domains_read_traces_that_have_some():
    written = compile_program("written", "library/written.ml")
    base.record([unusual()[1], "threads"])
    assert len({a.domain for a in Trace("t.ctf").allocations.values()}) > 1, "one domain"
    found = Trace("t.ctf")
    live = len(found.allocations) - len(found.collected)
    same(run([written, "t.ctf", "copy.ctf"], ENV),
         Run(0, f"not copied, {live} live, 0 wrong stacks\n", ""))


def version(path):
    return int.from_bytes(pathlib.Path(path).read_bytes()[28:30], "little")


@test
def copies_without_domains_are_of_version_2():
    written = compile_program("written", "library/written.ml")
    found = trace(traced("work", "work.ml", "alone.ml"))
    live = len(found.allocations) - len(found.collected)
    same(run([written, "t.ctf", "copy.ctf"], ENV),
         Run(0, f"{live} live, 0 wrong stacks\n", ""))
    same(version("copy.ctf"), 2)
    same(Trace("copy.ctf").__dict__, found.__dict__)


@test
def compressed_traces_are_read():
    dump = compile_program("dump", "library/dump.ml")
    path = ROOT / "tests/traces/ocamlopt.ctf"
    plain = call([dump, path])
    for tool in "gzip", "zstd":
        if not shutil.which(tool):
            raise Skip(f"{tool} is missing")
        with open(path, "rb") as source, open("c.ctf", "wb") as target:
            subprocess.run([tool, "-c"], stdin=source, stdout=target, check=True)
        assert call([dump, "c.ctf"]) == plain, tool


# ---- the skill of the field: the example, its tests, and what a user does with them


def example(version="before", instrumented=True):
    """A copy of the example, perhaps without the call and the library; gives its folder."""
    folder = pathlib.Path(f"binary-{version}-{instrumented}").resolve()
    shutil.copytree(ROOT / "examples/ocaml/binary" / version, folder)
    if not instrumented:
        for path in [*folder.rglob("dune"), *folder.rglob("*.ml")]:
            text = path.read_text()
            path.write_text(text.replace(" memtrace", "").replace(CALL, ""))
    return folder


CALL = "let () = Memtrace.trace_if_requested ()\n"


def dune_exec(folder, *arguments, command=(), **env):
    """Has dune build and start a program of the example; gives what it printed."""
    if subprocess.run(["ocamlfind", "query", "alcotest"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skip("alcotest is missing")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTRACE")} | ENV | env
    done = subprocess.run([*command, "dune", "exec", "--", *arguments], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()[-1500:]
    return done.stdout.decode()


TEST_68 = "test/test.exe", "test", "binary", "68"


def boxes(path):
    """How many blocks of an Int32 the parser has read."""
    return len([a for a in Trace(path).allocations.values() if a.length == 2 and
                any(f.startswith("Stdlib__Bytes.get_int32_be@") for f in a.frames)])


@test
def one_test_of_a_suite_is_traced_alone():
    folder = example()
    output = dune_exec(folder, *TEST_68, MEMTRACE="trace.ctf", MEMTRACE_RATE="1e-3")
    assert "Test Successful" in output and "1 test run" in output, output
    found = Trace(folder / "trace.ctf")
    points = [a for a in found.allocations.values() if a.frames[-1].startswith("Binary.point@")]
    # 500 000 of four words each; 35 is six standard deviations
    assert abs(sum(a.samples for a in points) - 2000) < 6 * 45, len(points)
    assert boxes(folder / "trace.ctf") > 1000


@test
def the_fix_of_the_example_is_one():
    folder = example("after")
    dune_exec(folder, *TEST_68, MEMTRACE="trace.ctf", MEMTRACE_RATE="1e-3")
    same(boxes(folder / "trace.ctf"), 0)


@test
def a_plain_executable_is_traced():
    folder = example()
    (folder / "walk").write_bytes(b"\0\0\0\4hill\0\0\0\1" + bytes(8) + b"\0\0\1\0")
    output = dune_exec(folder, "./main.exe", "walk", MEMTRACE="trace.ctf", MEMTRACE_RATE="1")
    assert output.endswith("hill: 1 points, up to 256 m\n"), output
    same(boxes(folder / "trace.ctf"), 5)


@test
def an_unmodified_program_is_recorded_under_dune():
    folder = example(instrumented=False)
    dune_exec(folder, *TEST_68)  # nothing is left to be compiled below
    output = dune_exec(folder, *TEST_68, ALLOTRACE_PRELOAD=LIBRARY, command=(
        ALLOTRACE, "run", "-o", "t.%p.ctf", "-r", "1e-3", "--"))
    assert "Test Successful" in output, output
    traces = {p: boxes(p) for p in folder.glob("t.*.ctf")}
    assert len(traces) >= 2, f"dune and its child: {traces}"
    same(len([n for n in traces.values() if n > 1000]), 1, f"{traces}")


@test
def instrument_makes_it_trace_itself():
    wanted, folder = example(), example(instrumented=False)
    for main in "main.ml", "test/test.ml":
        call([ALLOTRACE, "instrument", folder / main, "--apply"])
        assert CALL in (folder / main).read_text()
    same([(folder / d).read_text() for d in ("dune", "test/dune")],
         [(wanted / d).read_text() for d in ("dune", "test/dune")])
    dune_exec(folder, *TEST_68, MEMTRACE="trace.ctf", MEMTRACE_RATE="1e-3")
    assert boxes(folder / "trace.ctf") > 1000


# ---- building it


def copy_checkout(target):
    for part in "bindings", "include", "src", "dune", "dune-project", "memtrace.opam":
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, target / part)


@test
def dune_alone_builds_it_in_a_workspace():
    workspace = pathlib.Path("workspace").resolve()
    (workspace / "vendor").mkdir(parents=True)
    copy_checkout(workspace / "vendor")
    (workspace / "dune-project").write_text("(lang dune 2.0)\n")
    (workspace / "dune").write_text("(executable (name main) (libraries memtrace))\n")
    (workspace / "main.ml").write_text("let () = Memtrace.trace_if_requested ()\n"
                                       "let () = print_int (List.length (List.init 100 Fun.id))\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTRACE")}
    done = subprocess.run(["dune", "exec", "--root", workspace, "./main.exe"], cwd=workspace,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env | {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1", "DUNE_CACHE": "disabled"})
    same(done.stdout.decode(), "100", done.stderr.decode()[-1000:])
    assert any(a.length == 2 for a in Trace(workspace / "t.ctf").allocations.values())


def main():
    for tool in "ocamlfind", "dune":
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing")
            return 0
    return tap.main(sys.argv[4:])


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(base.BIN)
