#!/usr/bin/python3
"""Records the target programs and judges what they did and what the traces say. Prints TAP.

    test_native.py LIBRARY TARGET OWN_MALLOC FIXED CXX CXX_OWN BUMP PLUGIN_ONE PLUGIN_TWO [TEST...]

A trace is read by tests/decode.py, the decoder that knows nothing of the code that wrote it. Each
test works in a folder of its own.
"""
import bisect
import collections
import ctypes.util
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode  # noqa: E402
import tap  # noqa: E402
from recording import ENVIRONMENT, Run  # noqa: E402
from tap import Skip, same, test  # noqa: E402

LIBRARY, TARGET, OWN_MALLOC, FIXED, CXX, CXX_OWN, MAPS, BUMP, PLUGIN_ONE, PLUGIN_TWO = \
    map(os.path.abspath, sys.argv[1:11])
EMULATOR = os.environ.get("ALLOTRACE_EMULATOR", "").split()  # what runs the programs; see tests/run


def words(size):
    return (size + 7) // 8


# ---- traces


Allocation = collections.namedtuple("Allocation", "ident domain length samples type frames died")
Frame = collections.namedtuple("Frame", "function file")


class Trace:
    """What a file says: `allocations` by id, `marks`, `gauges` (lists of bytes, by name), `pid`,
    `rate`, `domains`."""

    def __init__(self, path):
        decoder = decode.Decoder(pathlib.Path(path).read_bytes())
        decoder.read_info()
        self.head, self.pid, self.rate = decoder, decoder.pid, decoder.rate
        made, died, self.marks, self.n_packets = {}, [], [], 0
        self.born_at, self.died_at = {}, {}
        for domain, stack, event in decoder.events():
            if event[0] == "alloc":
                frames, kind = self.frames_of(decoder, stack)
                self.born_at[event[2]] = event[1]
                made[event[2]] = (event[2], domain, event[3], event[4], kind, frames)
            else:
                same(event[0], "collect")
                died.append(event[2])
                self.died_at[event[2]] = event[1]
        same(len(set(died)), len(died), "blocks that died twice")
        assert set(died) <= set(made), "a death without a birth"
        dead = set(died)
        self.allocations, self.gauges = [], {}
        for ident, *rest in made.values():
            allocation = Allocation(ident, *rest, ident in dead)
            if allocation.frames[-1].file == "<mark>":
                same((allocation.length, allocation.samples, allocation.died), (0, 0, True), "mark")
                self.marks.append(allocation.frames[-1].function)
            elif allocation.frames[-1].file in ("<thread>", "<scope>"):
                same((allocation.samples, allocation.died), (0, True), "name of a thread or scope")
            elif allocation.frames[-1].file == "<gauge>":
                same((allocation.samples, allocation.died), (0, True), "gauge")
                values = self.gauges.setdefault(allocation.frames[-1].function, [])
                values.append(allocation.length * 8)
            else:
                self.allocations.append(allocation)

    @staticmethod
    def frames_of(decoder, stack):
        frames, kind = [], None
        for code in stack:
            for text in decoder.frame_text(code).split(":0:0-0"):
                if text.strip():
                    function, _, file = text.strip().partition("@")
                    frames.append(Frame(function, file))
        if len(frames) > 1 and frames[-2].file == "<type>":
            kind = frames.pop(-2).function
        return frames, kind

    def count(self, size, kind=None):
        """How many blocks of that many bytes were made and how many died."""
        found = [a for a in self.allocations
                 if a.length == words(size) and kind in (None, a.type)]
        return len(found), sum(a.died for a in found)

    def domains(self):
        return {a.domain for a in self.allocations}


# ---- running


def run(command, settings=None, preload=(LIBRARY,), **options):
    env = dict(ENVIRONMENT)
    if preload:
        env["LD_PRELOAD"] = " ".join(preload)
    env |= settings or {}
    done = subprocess.run(EMULATOR + [str(c) for c in command], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=1200 if EMULATOR else 120, **options)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def plain(command):
    return run(command, preload=())


def record(command, rate="1", file="t.ctf", err="", preload=(LIBRARY,), **settings):
    """Records a run that must look like a plain one, but for `err`; gives its trace."""
    wanted = plain(command)
    got = run(command, {"MEMTRACE": str(file), "MEMTRACE_RATE": rate} |
              {f"MEMTRACE_{k.upper()}": v for k, v in settings.items()}, preload)
    same(got, wanted._replace(err=wanted.err + err), "the run itself")
    return Trace(file)


def library(name):
    """The path of a library that need not be there."""
    found = ctypes.util.find_library(name)
    if not found:
        raise Skip(f"there is no lib{name}")
    return found


def not_emulated(why):
    """To be called by tests that ask for what the emulator does not do."""
    if EMULATOR:
        raise Skip(f"the emulator {why}")


# ---- functions of the target, by address


def symbols(program):
    listed = subprocess.run(["nm", "-n", "--defined-only", program], stdout=subprocess.PIPE,
                            check=True).stdout.decode()
    table = [(int(a, 16), name) for a, kind, name in (l.split() for l in listed.splitlines())
             if kind in "tTwW"]
    addresses = [a for a, _ in table]
    return lambda address: table[bisect.bisect_right(addresses, address) - 1][1]


def named(frames, program):
    """Names of the frames; those in other modules are left as they are."""
    name_of, base = symbols(program), os.path.basename(program)
    names = []
    for frame in frames:
        module, _, offset = frame.function.rpartition("+0x")
        names.append(name_of(int(offset, 16) - 1) if module == base else frame.function)
    return names


# ---- tests


FAMILY = [  # type, bytes, blocks made, blocks freed
    ("malloc", 10001, 1000, 990),
    ("calloc", 7 * 1501, 100, 100),
    ("malloc", 20001, 50, 50),
    ("realloc", 30001, 50, 50),
    ("reallocarray", 40010, 50, 50),
    ("realloc", 20101, 1, 1),
    ("malloc", 20201, 1, 1),
    ("posix_memalign", 5001, 20, 20),
    ("memalign", 5101, 20, 20),
    ("aligned_alloc", 5248, 20, 20),
    ("valloc", 5301, 20, 20),
    ("pvalloc", 5401, 20, 20),
    ("malloc", 6001, 30, 30),
    ("malloc", 10501, 10, 10),
]


def check_family(trace, least=0):
    for kind, size, made, died in FAMILY:
        if size >= least:
            same(trace.count(size, kind), (made, died), f"{kind} of {size} bytes")


@test
def counts_every_function_of_the_malloc_family():
    trace = record([TARGET, "family"])
    check_family(trace)
    same(trace.marks, [], "marks")
    for a in trace.allocations:
        same(a.samples, a.length + 1, "samples of a block at rate 1")


@test
def blocks_of_many_words_are_all_sampled():
    """At rates from 0.01 on, samples are kept in another way than below."""
    for rate, least in ("0.05", 0), ("0.5", 0), ("0.0099", 20000):
        trace = record([TARGET, "family"], rate=rate)
        check_family(trace, least)
        same(trace.marks, [], rate)
        some = [a for a in trace.allocations if a.length == words(10001)]
        expected = float(rate) * sum(a.length + 1 for a in some)
        samples = sum(a.samples for a in some)
        assert abs(samples - expected) < 5 * math.sqrt(expected), (rate, samples, expected)


@test
def room_for_names_is_left_where_it_is_asked_for():
    def sizes(**settings):
        check_family(record([TARGET, "family"], **settings))
        about = os.stat("t.ctf")
        return about.st_size, about.st_blocks * 512
    size, _ = sizes()
    roomy, stored = sizes(room="1")
    assert roomy > size + 500_000, (size, roomy)
    assert stored < size + 300_000, (size, stored)
    record([TARGET, "family"], rate="0.9", room="1")
    assert os.path.getsize("t.ctf") < size + 10_000, "a sampled trace has room"


@test
def the_head_says_what_was_recorded():
    trace = record([TARGET, "family"], rate="0.25", context="a remark")
    same(trace.rate, 0.25)
    same(trace.head.executable, os.path.realpath(TARGET))
    same(trace.head.host, os.uname().nodename)
    same(trace.head.context, "a remark")
    same((trace.head.word_size, trace.head.head.version), (64, 3))


@test
def sampled_totals_are_near_the_truth_and_repeatable():
    for rate, seeds, n in ("1e-4", range(1, 6), 400000), ("0.01", range(4, 6), 20000):
        truth = sum(words(8 + i * 37 % 2000) + 1 for i in range(n))
        seen = set()
        for seed in seeds:
            trace = record([TARGET, "much", str(n)], rate=rate, seed=str(seed))
            samples = sum(a.samples for a in trace.allocations)
            expected = truth * float(rate)
            assert abs(samples - expected) < 5 * math.sqrt(expected), (rate, samples, expected)
            seen.add(samples)
        assert len(seen) > 1, "seeds make no difference"
        again = record([TARGET, "much", str(n)], rate=rate, seed="5")
        same([(a.length, a.samples) for a in again.allocations],
             [(a.length, a.samples) for a in trace.allocations], "the same seed")


@test
def large_blocks_are_live_however_briefly():
    trace = record([TARGET, "large"])
    lives = [trace.died_at[a.ident] - trace.born_at[a.ident]
             for a in trace.allocations if a.length == words(40001)]
    same(len(lives), 2000)
    assert min(lives) > 0, f"{lives.count(0)} were born and died at the same time"


@test
def call_stacks_name_the_callers_in_order():
    trace = record([TARGET, "stack"])
    (block,) = [a for a in trace.allocations if a.length == words(11001)]
    same(named(block.frames, TARGET)[-6:],
         ["main", "scene_stack", "stack_outer", "stack_middle", "stack_inner", "churn"])
    same(block.frames[-1].file.partition("[")[0], os.path.realpath(TARGET))
    notes = subprocess.run(["readelf", "-n", TARGET], stdout=subprocess.PIPE).stdout.decode()
    if "Build ID: " in notes:
        wanted = notes.partition("Build ID: ")[2].split()[0]
        same(block.frames[-1].file.partition("[")[2], wanted + "]", "build id")


@test
def deep_stacks_are_cut_at_the_outer_end():
    for depth in 1, 10, 256:
        trace = record([TARGET, "deep"], depth=str(depth))
        (block,) = [a for a in trace.allocations if a.length == words(11101)]
        same(len(block.frames), depth + 1)
        same(block.frames[0].function, "[deeper than the recorder looks]")
        names = named(block.frames, TARGET)
        same(names[-1:], ["churn"])
        same(set(names[1:-1]) - {"stack_deep"}, set())


@test
def cut_stacks_are_the_inner_ends_of_whole_ones():
    whole, cut = (record([TARGET, "family"], depth=depth) for depth in ("256", "3"))
    same(len(whole.allocations), len(cut.allocations))
    for a, b in zip(whole.allocations, cut.allocations):
        most = [f.function for f in a.frames]
        if len(most) > 3:
            most = ["[deeper than the recorder looks]"] + most[-3:]
        same([f.function for f in b.frames], most)


@test
def threads_are_domains_and_may_free_for_each_other():
    for rate in "1", "0.03":
        trace = record([TARGET, "threads"], rate=rate)
        same(trace.count(12001, "malloc"), (8 * 5000, 8 * 5000))
        same(len({a.domain for a in trace.allocations if a.length == words(12001)}), 8)
        assert 0 in trace.domains() or rate != "1", "the main thread is not domain 0"


@test
def ten_thousand_threads_share_a_few_domains():
    trace = record([TARGET, "brief_threads"])
    same(trace.count(12101), (10000, 10000))
    assert len(trace.domains()) < 10, trace.domains()


@test
def frees_while_a_thread_ends_are_recorded():
    trace = record([TARGET, "late_frees"])
    same(trace.count(12201), (100, 100))
    same(trace.count(12301), (100, 100))


@test
def a_forked_child_has_a_file_of_its_own_if_the_name_says_so():
    not_emulated("does not wipe pages at a fork")
    command = [TARGET, "fork"]
    same(run(command, {"MEMTRACE": "%p.ctf", "MEMTRACE_RATE": "1"}), plain(command))
    traces = [Trace(f) for f in pathlib.Path().glob("*.ctf")]
    same(len(traces), 4, "the parent, two forks and a clone")
    for trace in traces:
        assert pathlib.Path(f"{trace.pid}.ctf").exists()
    by_blocks = sorted((t.count(13001), t.count(13101), t.count(13201)) for t in traces)
    child = ((0, 0), (20, 20), (0, 0))
    same(by_blocks, [((0, 0), (0, 0), (0, 0)), child, child, ((1, 1), (0, 0), (20, 20))])


@test
def a_forked_child_is_left_alone_otherwise():
    not_emulated("does not wipe pages at a fork")
    trace = record([TARGET, "fork"])
    same((trace.count(13001), trace.count(13101), trace.count(13201)), ((1, 1), (0, 0), (20, 20)))
    same(sorted(os.listdir()), ["t.ctf"])


@test
def forks_of_a_busy_process_do_not_hang():
    command = [TARGET, "fork_storm"]
    for rate in "0.5", "0.005":
        same(run(command, {"MEMTRACE": f"{rate}-%p.ctf", "MEMTRACE_RATE": rate}), plain(command))
        traces = sorted(pathlib.Path().glob(f"{rate}-*.ctf"), key=lambda f: f.stat().st_size)
        same(len(traces), 61)
        for child in traces[:-1]:
            Trace(child)
        parent = decode.Decoder(traces[-1].read_bytes())  # large: its threads did not wait
        parent.read_info()
        assert list(parent.packets()), "the parent's is empty"


@test
def exec_writes_what_there_is_and_the_next_program_starts_anew():
    not_emulated("is not there after exec")
    for pattern in "t.ctf", "t-%p.ctf":
        same(run([TARGET, "exec"], {"MEMTRACE": pattern, "MEMTRACE_RATE": "1"}),
             plain([TARGET, "exec"]))
        before, after = (Trace(name) for name in sorted(pathlib.Path().glob("t*.ctf")))
        same((before.count(13301), before.count(13501)), ((5, 5), (0, 0)))
        same((after.count(13301), after.count(13501)), ((0, 0), (5, 5)))
        for name in pathlib.Path().glob("t*.ctf"):
            name.unlink()
    same(plain([TARGET, "exec"]).out, "exec goes on\na\nb\n")


@test
def exec_of_a_program_that_is_not_recorded_keeps_what_there_is():
    not_emulated("is not there after exec")
    same(run(["sh", "-c", 'exec "$0" "$@"', TARGET, "exec"],
             {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"}), plain([TARGET, "exec"]))
    settings = {"MEMTRACE": "u.ctf", "MEMTRACE_RATE": "1"}
    command = ["sh", "-c", f"export LD_PRELOAD=; exec {TARGET} say hello"]
    same(run(command, settings), Run(0, "hello\n", ""))
    assert Trace("u.ctf").allocations, "the shell's trace is empty"


@test
def every_way_to_exec_works():
    same(record([TARGET, "exec_ways"]).marks, [])


@test
def every_regular_end_keeps_everything():
    for way, at_exit, destructor in [("exit", 1, 1), ("thread", 1, 1), ("quick_exit", 1, 0),
                                     ("_exit", 0, 0), ("_Exit", 0, 0)]:
        trace = record([TARGET, "end", way])
        same(trace.count(14001), (10, 10) if way == "thread" else (5, 5), way)
        same(trace.count(14101), (5 * at_exit,) * 2, f"exit handler, {way}")
        same(trace.count(14201), (5 * destructor,) * 2, f"destructor, {way}")


@test
def a_parent_that_leaves_a_daemon_behind_keeps_what_it_recorded():
    same(record([TARGET, "end", "daemon"]).count(14001), (5, 5))


@test
def abort_keeps_everything():
    same(record([TARGET, "end", "abort"]).count(14001), (5, 5))


@test
def a_killed_process_loses_about_a_tenth_of_a_second():
    trace = record([TARGET, "end", "kill"])
    made, died = trace.count(14301)
    assert made - died <= 1 and 1500 > made >= 1200, (made, died)


@test
def a_signal_handler_may_allocate_inside_the_recorder():
    got = run([TARGET, "signals"], {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"}, (LIBRARY, BUMP))
    same(got, Run(0, "signals done\n", ""))
    trace = Trace("t.ctf")
    made, died = trace.count(1501)
    assert made - died <= 1 + len(trace.marks) and made > 300, (made, died)
    handled, _ = trace.count(15101)
    dropped = sum(int(m.split()[1]) / (words(15101) + 1 if " words " in m else 1)
                  for m in trace.marks if "a signal handler" in m)
    assert handled + dropped >= 285, (handled, trace.marks)  # but for a few instructions


@test
def a_library_that_takes_another_ones_place_is_told_apart():
    trace = record([TARGET, "plugins", PLUGIN_ONE, PLUGIN_TWO])
    for size, path in (23001, PLUGIN_ONE), (23101, PLUGIN_TWO):
        blocks = [a for a in trace.allocations if a.length == words(size)]
        same(len(blocks), 100)
        same({b.frames[-1].file.partition("[")[0] for b in blocks}, {path})


@test
def a_frame_is_no_other_modules_however_many_were_at_its_address():
    paths = [f"{os.getcwd()}/plugin{i}.so" for i in range(530)]
    for path in paths:
        shutil.copy(PLUGIN_ONE, path)
    trace = record([TARGET, "plugins_in_turn", *paths])
    seen = collections.Counter(a.frames[-1] for a in trace.allocations if a.length == words(23001))
    known = {f.file.partition("[")[0]: n for f, n in seen.items() if f.file}
    same(set(known.values()), {5})
    assert len(known) > 500 and set(known) < set(paths), len(known)
    same({f.function for f in seen if not f.file},
         {"[too many modules were loaded at this address]"})
    same(sum(seen.values()), 5 * len(paths))


@test
def a_program_that_closes_all_files_is_recorded_and_unharmed():
    trace = record([TARGET, "closes_all", "host-file"])
    same((trace.count(16001), trace.count(16101)), ((10, 10), (20000, 20000)))
    same(os.path.getsize("host-file"), 0)


@test
def a_file_size_limit_ends_the_recording_not_the_program():
    reason = f"allotrace: {os.getcwd()}/t.ctf: recording has ended: File too large\n"
    trace = record([TARGET, "size_limit"], err=reason)
    made, _ = trace.count(17001)
    assert 0 < made < 200000, made
    assert 50000 < os.path.getsize("t.ctf") <= 100000, os.path.getsize("t.ctf")


@test
def a_sandbox_ends_the_recording_where_that_would_end_the_program():
    not_emulated("the emulator has no seccomp")
    for kind in "friendly", "errors":
        same(record([TARGET, "sandbox", kind]).count(16401), (50000, 50000), kind)
    forbids = "recording has ended: the program's seccomp filter forbids system calls that recording needs"
    few = "recording has ended: the program gives up system calls that recording needs (seccomp)"
    for kind, reason in ("prctl", forbids), ("seccomp", forbids), ("strict", few):
        trace = record([TARGET, "sandbox", kind],
                       err=f"allotrace: {os.getcwd()}/t.ctf: {reason}\n")
        same((trace.count(16301), trace.count(16401)), ((10, 10), (0, 0)), kind)
        same(trace.marks, [reason])


@test
def a_full_disk_ends_the_recording_not_the_program():
    got = run([TARGET, "family"], {"MEMTRACE": "/dev/full", "MEMTRACE_RATE": "1"})
    same(got, Run(0, "family done\n",
                  "allotrace: /dev/full: nothing is recorded: No space left on device\n"))


@test
def a_file_that_cannot_be_opened_is_no_reason_to_stop():
    got = run([TARGET, "family"], {"MEMTRACE": "no/such/folder.ctf"})
    same(got, Run(0, "family done\n", f"allotrace: {os.getcwd()}/no/such/folder.ctf: "
                  "nothing is recorded: No such file or directory\n"))


@test
def a_pipe_is_as_good_as_a_file():
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=open("t.ctf", "wb")):
        same(run([TARGET, "family"], {"MEMTRACE": "pipe", "MEMTRACE_RATE": "1",
                                      "MEMTRACE_ROOM": "1"}), plain([TARGET, "family"]))
    check_family(Trace("t.ctf"))
    assert os.path.getsize("t.ctf") < 500_000, "nobody can come back to a pipe"


@test
def a_reader_that_goes_away_does_not_kill_the_program():
    os.mkfifo("pipe")
    with subprocess.Popen(["head", "-c", "100", "pipe"], stdout=subprocess.DEVNULL):
        got = run([TARGET, "threads"], {"MEMTRACE": "pipe", "MEMTRACE_RATE": "1"})
    same(got, Run(0, "threads done\n",
                  f"allotrace: {os.getcwd()}/pipe: recording has ended: Broken pipe\n"))


@test
def standard_error_is_left_alone_once_it_is_another_file():
    same(run([TARGET, "silent"], {"MEMTRACE": "t.ctf"}), plain([TARGET, "silent"]))


@test
def a_relative_name_stays_where_it_was():
    same(record([TARGET, "chdir"]).count(18001), (10, 10))
    same(os.listdir(), ["t.ctf"])
    os.mkdir("50%p")
    os.chdir("50%p")
    same(record([TARGET, "chdir"]).count(18001), (10, 10))


@test
def nothing_happens_unless_it_is_asked_for():
    for settings in {}, {"MEMTRACE": ""}, {"MEMTRACE_RATE": "rubbish"}:
        for scene in "family", "threads", "fork":
            same(run([TARGET, scene], settings), plain([TARGET, scene]))
    same(os.listdir(), [])


def traits(run_):
    """Of what `look` prints: threads, signals, and memory that belongs to no file."""
    wanted = ("Threads:", "SigBlk:", "SigIgn:", "SigCgt:", "Seccomp:")
    seen = [line for line in run_.out.splitlines() if line.startswith(wanted)]
    memory, end, file = 0, 0, ""
    for bounds, rest in re.findall(r"^([0-9a-f]+-[0-9a-f]+) [-rwxsp]{4} \S+ \S+ \d+ *(.*)$", run_.out,
                                   re.M):
        low, high = (int(n, 16) for n in bounds.split("-"))
        if not rest and not (low == end and file.startswith("/")):  # not the zeroes of a library
            memory += high - low
        end, file = high, rest
    return seen, memory


@test
def there_is_no_thread_file_handler_or_memory_unless_asked_for():
    not_emulated("has memory of its own")
    wanted, room = traits(plain([TARGET, "look"]))
    same(len(wanted), 5)
    for settings in {}, {"MEMTRACE": ""}:
        seen, memory = traits(run([TARGET, "look"], settings))
        same(seen, wanted)
        assert memory <= room, (memory, room)
    _, memory = traits(run([TARGET, "look"], {"MEMTRACE": "t.ctf"}))
    assert memory > room, "a recording has memory"


@test
def settings_that_make_no_sense_are_refused():
    rate, depth = "a rate above 0 and at most 1, like 1e-5", "a whole number from 1 to 4096"
    for name, value, valid in [("RATE", "0", rate), ("RATE", "2", rate), ("RATE", "-1e-5", rate),
                               ("RATE", "1e-5x", rate), ("RATE", "nan", rate), ("DEPTH", "0", depth),
                               ("DEPTH", "x", depth), ("SEED", "1.5", "a whole number"),
                               ("OCAML", "no", "one of heap, malloc, both")]:
        got = run([TARGET, "family"], {"MEMTRACE": "t.ctf", f"MEMTRACE_{name}": value})
        same(got, Run(0, "family done\n",
                      f"allotrace: MEMTRACE_{name}: `{value}` is not {valid}, so nothing is "
                      "recorded\n"))
    same(os.listdir(), [])


@test
def a_second_process_leaves_the_file_to_the_first():
    not_emulated("is not there after exec")
    script = f'{TARGET} family; {TARGET} say two & wait; malloc=1; :'
    command = ["bash", "-c", script]
    same(run(command, {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"}), plain(command))
    trace = Trace("t.ctf")
    same(os.path.basename(trace.head.executable), "bash")
    same(trace.count(10001), (0, 0))


@test
def operators_of_cxx_are_counted_once_and_are_no_site():
    check_cxx_forms(record([CXX, "forms"]), os.path.basename(CXX))


@test
def what_constructors_allocate_has_its_whole_stack():
    """It ends where the kernel starts the process: in code of the loader without tables."""
    stacks = [a.frames for a in record([CXX, "forms"]).allocations]
    outer = {os.path.basename(frames[0].file.partition("[")[0]) for frames in stacks}
    assert any(name.startswith("ld-") for name in outer), outer
    same([f for frames in stacks for f in frames if "unknown" in f.function], [])


def check_cxx_forms(trace, module):
    for i in range(12):
        kind = "operator new" + ("[]" if i % 2 else "")
        size = 20001 + 100 * i
        same(trace.count(size, kind), (10, 10), f"{kind} of {size} bytes")
        same(trace.count(size)[0], 10, f"all blocks of {size} bytes")
        for a in trace.allocations:
            if a.length == words(size):
                same(a.frames[-1].function.partition("+")[0], module)
    same(trace.count(21201), (1, 0))


@test
def operators_of_cxx_fail_as_they_always_do():
    same(record([CXX, "failures"]).marks, [])


@test
def replaced_operators_of_cxx_are_respected():
    trace = record([CXX_OWN])
    same(plain([CXX_OWN]).out, "40 calls\n")
    same((trace.count(22001, "malloc"), trace.count(22101, "malloc")), ((10, 10), (10, 10)))
    same((trace.count(22001)[0], trace.count(22101)[0]), (10, 10), "counted twice")


@test
def a_program_with_its_own_malloc_is_recorded_or_left_alone_and_says_so():
    path = os.path.realpath(OWN_MALLOC)
    if platform.machine() == "x86_64":
        trace = record([OWN_MALLOC], err=f"allotrace: {path}: has an allocator of its own, which is "
                       "recorded: malloc and 2 more functions\n")
        same(trace.count(1000, "malloc"), (1, 0))
    else:
        trace = record([OWN_MALLOC], err=f"allotrace: {path}: has an allocator of its own, which is not "
                       "recorded: its code is for a processor on which allotrace cannot change functions\n")
        same(trace.allocations, [])
        same(trace.marks, ["nothing is recorded, as malloc is that of " + path])


@test
def a_pause_is_seen_at_the_first_event_behind_it():
    trace = record([TARGET, "pause"])
    for size, count, least in ((14401, 2, 2800), (14501, 100, 25)):  # µs, of 3,000 and 30
        lives = [trace.died_at[a.ident] - trace.born_at[a.ident] for a in trace.allocations
                 if a.length == words(size)]
        same(len(lives), count)
        assert min(lives) >= least, lives


@test
def what_the_system_sees_stands_beside_what_is_live():
    not_emulated("is itself what the system sees")
    for rate in ("1", "1e-2"):
        gauges = record([TARGET, "growth"], rate=rate).gauges
        same(set(gauges), {"rss", "anonymous", "heap"})
        same(len({len(values) for values in gauges.values()}), 1, "readings")
        for values in gauges.values():
            assert values[0] < 32 << 20, values  # before it grows
            assert max(values) >= 64 << 20, values
        assert gauges["rss"][-1] < 32 << 20, gauges  # what it had is gone
        assert all(r >= a for r, a in zip(gauges["rss"], gauges["anonymous"])), gauges


@test
def what_a_program_maps_is_recorded_if_it_is_asked_for():
    page = os.sysconf("SC_PAGESIZE")
    trace = record([MAPS, "all"], mmap="1")
    # By pages: how many there were, and how many of them were unmapped again.
    wanted = {101: (11, 11), 103: (1, 0), 211: (1, 1), 100: (2, 1), 301: (1, 1), 99: (1, 1),
              201: (1, 1), 5: (100, 100), 1000: (0, 0), 100003: (0, 0), 401: (1, 1), 501: (1, 1),
              503: (1, 1), 499: (1, 1), 509: (1, 1), 505: (1, 1), 4: (1, 1), 701: (1, 1),
              8192: (0, 0)}
    same({n: trace.count(n * page, "mmap") for n in wanted}, wanted)
    same(trace.count(page, "mmap (file)"), (1, 1))
    same({n: trace.count(n * page, "sbrk") for n in (601, 600)}, {601: (1, 1), 600: (1, 1)})
    same(trace.count(32 << 20, "malloc"), (1, 1))
    same(trace.marks, [])
    same({a.type for a in record([MAPS, "all"]).allocations} - {"malloc", "calloc"}, set())


@test
def what_is_mapped_before_any_malloc_is_recorded_at_every_rate():
    for rate in ("1", "0.01", "1e-3", "1e-4"):
        same(record([MAPS, "first"], rate, mmap="1").count(64 << 20, "mmap"), (2, 1), rate)


@test
def threads_handlers_and_children_may_map():
    for rate in ("1", "1e-3"):
        command = [MAPS, "threads"]
        settings = {"MEMTRACE": "%p.ctf", "MEMTRACE_RATE": rate, "MEMTRACE_MMAP": "1"}
        same(run(command, settings), plain(command))
        traces = list(pathlib.Path().glob("*.ctf"))
        same(len(traces), 21)
        for path in traces:
            trace = Trace(path)
            alive = [a for a in trace.allocations if a.type == "mmap" and not a.died]
            if not any(mark.startswith("dropped") for mark in trace.marks):
                same(alive, [], "what was mapped was unmapped")
            path.unlink()


@test
def a_program_for_fixed_addresses_has_no_malloc_of_its_own():
    same(record([FIXED]).count(5701), (10, 10))


def check_allocator(path):
    trace = record([TARGET, "threads"], preload=(LIBRARY, path))
    same(trace.count(12001, "malloc"), (8 * 5000, 8 * 5000))
    check_cxx_forms(record([CXX, "forms"], preload=(LIBRARY, path)), os.path.basename(CXX))
    trace = record([CXX, "failures"], preload=(LIBRARY, path))
    got = run([TARGET, "threads"], {"MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"}, preload=(path, LIBRARY))
    if platform.machine() == "x86_64":  # in front of ours, it is turned aside
        assert "has an allocator of its own, which is recorded: malloc" in got.err, got
        same(Trace("t.ctf").count(12001, "malloc"), (8 * 5000, 8 * 5000))
    else:
        assert "which is not recorded" in got.err, got


@test
def jemalloc_stays_the_allocator():
    not_emulated("finds this machine's libraries")
    check_allocator(library("jemalloc"))


@test
def tcmalloc_stays_the_allocator():
    not_emulated("finds this machine's libraries")
    check_allocator(library("tcmalloc_minimal"))


# What the library takes from the C library: nothing that allocates, formats or knows a locale.
ALLOWED = set("""__getauxval __cxa_at_quick_exit __cxa_atexit __cxa_finalize __environ environ
    __errno_location __register_atfork __sbrk _dl_find_object dl_iterate_phdr dladdr1 dlopen dlsym
    bcmp dladdr dlerror getauxval memcmp memcpy memmove memset pthread_key_create pthread_setspecific sched_yield
    secure_getenv strchr strcmp strcspn strerrordesc_np strlen strncmp strnlen strrchr strstr
    __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable caml_executable_name
    PyMem_SetAllocator lua_newstate JLI_Launch JNI_CreateJavaVM JNI_GetCreatedJavaVMs __libc_dlopen_mode __libc_dlsym allotrace_own_trace heaptrack_init
    at_quick_exit gnu_get_libc_version pthread_atfork _r_debug _thread_db_dtv_dtv _thread_db_dtv_t_pointer_val
    _thread_db_link_map_l_tls_modid _thread_db_link_map_l_tls_offset _thread_db_pthread_dtvp""".split())  # weak


@test
def the_library_needs_little():
    listed = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], check=True,
                            stdout=subprocess.PIPE).stdout.decode()
    needed = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    same(needed - ALLOWED, set(), "undefined symbols")


@test
def the_library_is_two_mappings_of_its_file():
    listed = subprocess.run(["readelf", "-lW", LIBRARY], check=True, stdout=subprocess.PIPE).stdout.decode()
    parts = [line.split() for line in listed.splitlines() if line.split()[:1] == ["LOAD"]]
    same(len(parts), 2, "code and data, which each program of a run maps, and each fork copies")
    assert "GNU_RELRO" not in listed, "a part of the data that is mapped apart"
    dynamic = subprocess.run(["readelf", "-dW", LIBRARY], check=True,
                             stdout=subprocess.PIPE).stdout.decode()
    same([l.split()[-1] for l in dynamic.splitlines() if "(NEEDED)" in l], ["[libc.so.6]"])
    # Thread-local storage is initial-exec alone. (Not all linkers set the flag STATIC_TLS.)
    relocated = subprocess.run(["readelf", "-rW", LIBRARY], check=True,
                               stdout=subprocess.PIPE).stdout.decode()
    kinds = set(re.findall(r"R_\w*(?:TLS|DTP|TPOFF|TPREL)\w*", relocated))
    assert kinds and kinds <= {"R_X86_64_TPOFF64", "R_AARCH64_TLS_TPREL64"}, kinds


@test
def the_library_exports_only_what_it_interposes():
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True,
                            stdout=subprocess.PIPE).stdout.decode()
    exported = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    wanted = """malloc calloc realloc reallocarray free free_sized free_aligned_sized memalign
        posix_memalign aligned_alloc valloc pvalloc malloc_usable_size _exit _Exit abort execve execv
        execvp execvpe fexecve execveat posix_spawn posix_spawnp execl execlp execle dlclose
        mmap mmap64 munmap mprotect mremap sbrk brk
        readlink __readlink_chk syscall prctl allotrace_control allotrace_flush allotrace_finds_tasks
        allotrace_mark allotrace_scope
        allotrace_pool_create allotrace_pool_alloc allotrace_pool_free allotrace_pool_reset
        allotrace_pool_destroy allotrace_pool_chunk allotrace_pool_take
        heaptrack_malloc heaptrack_free heaptrack_realloc""".split()
    same({e for e in exported if not e.startswith(("_Zn", "_Zd"))}, set(wanted))
    same(len([e for e in exported if e.startswith(("_Zn", "_Zd"))]), 20)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[11:]))
