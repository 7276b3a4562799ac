#!/usr/bin/python3
"""Records Python programs as they are, and judges what they did and what the traces say. Prints TAP.

    test_python.py LIBRARY ALLOTRACE [TEST...]

Each test runs with a Python of each version from 3.11 on that is found: this one, those that the
variable PYTHONS names, separated by colons, and those on the PATH.
"""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from recording import Recorder, births, run  # noqa: E402
from tap import Skip, same, test  # noqa: E402

LIBRARY, ALLOTRACE = map(os.path.abspath, sys.argv[1:3])
RECORDER = Recorder(LIBRARY)


# ---- interpreters


@functools.lru_cache(None)
def about(python):
    """Version, whether it is a debug or a free-threaded build; None if it does not run."""
    code = ("import sys, sysconfig; print(*sys.version_info[:3], hasattr(sys, 'gettotalrefcount'),"
            "bool(sysconfig.get_config_var('Py_GIL_DISABLED')), sys.executable)")
    done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    words = done.stdout.decode().split()
    return (tuple(map(int, words[:3])), "True" in words[3:5], words[5]) if len(words) == 6 else None


def pythons():
    """Those that are recorded with their frames, by their versions."""
    names = [sys.executable, "/usr/bin/python3", *os.environ.get("PYTHONS", "").split(":")]
    names += [shutil.which(f"python3.{minor}") for minor in range(11, 15)]
    found = {}
    for name in filter(None, names):
        known = about(name) if os.path.exists(name) else None
        if known and (3, 11) <= known[0] < (3, 15) and not known[1]:
            found.setdefault(known[0][:2], (os.path.realpath(known[2]), known[0]))
    return dict(found.values())


# ---- traces


Block = collections.namedtuple("Block", "bytes samples frames is_freed")


class Trace:
    """Its blocks; a frame is `function@file:line`, outermost first."""

    def __init__(self, path="t.ctf"):
        self.blocks, self.by_function = [], collections.defaultdict(list)
        for event, frames, is_freed, _ in births(path):
            self.blocks.append(Block(event[3] * 8, event[4], frames, is_freed))
            self.by_function[innermost(frames).split(".")[0]].append(self.blocks[-1])

    def of(self, function):
        """The blocks whose innermost frame of Python is in that function, or in one within it."""
        return self.by_function[function]


def type_of(block):
    """What the innermost frame says of the block: a type, or the function that allocated it."""
    return next((f.split("@")[0] for f in reversed(block.frames) if "@<type>" in f), "")


def innermost(frames):
    """The name of the innermost function of Python."""
    inner = [f for f in frames if ".py:" in f]
    return inner[-1].split("@")[0] if inner else ""


def record(command, **options):
    """Records a run that must look like a plain one, but for `err`; gives its trace."""
    RECORDER.compare(command, **options)
    return Trace()


# ---- tests


def counted(sizes):
    """In the trace sizes are rounded up to words."""
    return collections.Counter((size + 7) // 8 * 8 for size in sizes)


def compare_with_truth(python, env=None, most=40):
    command = [python, HERE / "life.py"]
    truth = json.loads(run(command, env).out)
    trace = record(command, env=env)
    for function, (kept, freed) in truth.items():
        blocks = trace.of(function)
        for is_freed, sizes in (False, kept), (True, freed):
            got = counted(b.bytes for b in blocks if b.is_freed == is_freed)
            same(counted(sizes) - got, collections.Counter(), f"{function}, freed: {is_freed}")
        # What else these make are a list, its array as it grows, and integers.
        other = counted(b.bytes for b in blocks) - counted(kept + freed)
        other -= counted([sys.getsizeof(1)] * other[32])
        assert sum(other.values()) <= most, f"{function}: too many blocks: {other}"


@test
def every_block_is_counted_once(python):
    compare_with_truth(python)


def python_frames(frames, program):
    """Those of Python, without columns; the innermost is the function that allocates."""
    return [f.rpartition(":")[0] for f in frames if ".py:" in f]


@test
def stacks_are_those_that_python_has(python):
    command = [python, HERE / "stacks.py"]
    done = RECORDER.run(command, depth="1000")
    same((done.status, done.err), (0, ""), "the run")
    blocks = collections.defaultdict(list)
    for b in Trace().blocks:
        assert not any(f.startswith("__init__@__init__") for f in b.frames), b.frames
        blocks[b.bytes].append(python_frames(b.frames, command[1]))
    witnessed = {int(size): names for size, names in json.loads(done.out).items()}
    assert len(witnessed) > 150, "the witness has seen little"
    for size, names in witnessed.items():
        names = [n for n in names if ".py:" in n]
        assert names in blocks[size], f"{size}: {names} is not among {blocks[size]}"


@test
def stacks_are_cut_at_the_depth(python):
    code = "def f(n):\n    return f(n - 1) if n else bytes(9999)\nx = f(200)\nimport os\nos._exit(0)"
    pathlib.Path("deep.py").write_text(code)
    for depth in 1, 5, 150:
        trace = record([python, "deep.py"], depth=str(depth))
        same({len([f for f in b.frames if "deep.py" in f]) for b in trace.of("f") if b.bytes > 9999},
             {depth}, "frames of Python's")
        same({b.frames[0].split("@")[0] for b in trace.of("f") if b.bytes > 9999}, {"[deeper"},
             "in front of them")


@test
def any_allocator_of_pythons_is_recorded(python):
    for name in "malloc", "malloc_debug", "pymalloc", "pymalloc_debug", "debug", "default":
        compare_with_truth(python, {"PYTHONMALLOC": name})


@test
def tracemalloc_and_dev_mode_stay_what_they_are(python):
    compare_with_truth(python, {"PYTHONTRACEMALLOC": "5"}, most=1000)  # with its own tables
    compare_with_truth(python, {"PYTHONDEVMODE": "1"})
    code = ("import tracemalloc\ntracemalloc.start()\nx = [bytes(7000) for i in range(10)]\n"
            "print(tracemalloc.get_traced_memory()[0] // 10000)\ntracemalloc.stop()\n")
    same(len([b for b in record([python, "-c", code]).blocks if b.bytes == 7040]), 10, "blocks")


@test
def objects_have_types(python):
    command = [python, HERE / "objects.py"]
    done = RECORDER.run(command)
    same((done.status, done.err), (0, ""), "the run")
    trace, some = Trace(), 81  # free lists give objects without allocation; counters are integers
    for function, types in json.loads(done.out).items():
        got = collections.Counter(map(type_of, trace.of(function)))
        for name, n in types.items():
            assert abs(got[name] - n) < some, f"{function}: {n} {name}, not {got}"
        strange = [t for t in got if t.startswith("Class") and t not in types]
        assert not strange, f"{function}: {strange}"


@test
def samples_have_types(python):
    code = ("import os\nclass Point: pass\nx = [(float(i), {i}, Point()) for i in range(50000)]\n"
            "os._exit(0)")
    pathlib.Path("many.py").write_text(code)
    for rate, least in (0.05, 1000), (0.005, 100):
        trace = record([python, "many.py"], rate=str(rate), seed="7")
        got = collections.Counter()
        for b in trace.blocks:
            if any("many.py" in f for f in b.frames):
                got[type_of(b)] += 1
        few = [t for t in ("tuple", "set", "Point", "float") if got[t] < least]
        assert not few and got["PyObject_Malloc"] <= 20, f"{rate}: {got}"


@test
def a_running_program_is_recorded_and_left(python):
    done = subprocess.Popen([python, HERE / "serves.py"], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def steps(*names):
        for name in names:
            same(done.stdout.readline(), name + "\n", "the step")
            done.stdin.write("\n")
            done.stdin.flush()

    def attached(name, n_freed):
        got = run([ALLOTRACE, "attach", "--rate", "1", "-o", name, done.pid])
        same(got.status, 0, got.err)
        done.stdin.write("\n")
        done.stdin.flush()
        same(done.stdout.readline(), "after\n", "the step")
        got = run([ALLOTRACE, "detach", done.pid])
        same(got.status, 0, got.err)
        trace = Trace(name)
        blocks = [b for b in trace.of("make") if any("during@" in f for f in b.frames)]
        large = [b for b in blocks if b.bytes >= 3000 and type_of(b) == "bytes"]
        same((len(large), sum(b.is_freed for b in large)), (100, n_freed), "blocks")
        same(sum(type_of(b) == "Item" for b in blocks), 100, "objects")
        same(read_of_arenas(name), ([], []), "there may be older arenas, that are not known")
        assert len(trace.of("busy")) > 100, "threads are not recorded"
        done.stdin.write("\n")
        done.stdin.flush()

    steps("before")
    same(done.stdout.readline(), "during\n", "the step")
    attached("a.ctf", 50)
    same(done.stdout.readline(), "during\n", "the step")
    attached("b.ctf", 50)
    same((done.communicate(timeout=100), done.returncode), (("done 3\n", ""), 0), "the run")


def gauge(name, path="t.ctf"):
    """What was read of it, in the order in which it was."""
    blocks = Trace(path).blocks
    return [b.bytes for b in blocks if " ".join(b.frames).startswith(f"{name}@<gauge>")]


def read_of_arenas(path="t.ctf"):
    return gauge("python arenas", path), gauge("python arenas in use", path)


@test
def arenas_are_gauges(python):
    command = [python, HERE / "arenas.py"]
    truth = run(command + ["stats"]).err
    n_arenas = int(re.search(r"(\d+) arenas \* 1048576", truth)[1])
    n_used = int(re.search(r"bytes in allocated blocks += +([\d,]+)", truth)[1].replace(",", ""))
    record(command, rate="0.001")
    mapped, used = read_of_arenas()
    same(mapped[-1] % (1 << 20), 0, "whole arenas")
    assert abs(mapped[-1] / (1 << 20) - n_arenas) <= 1, f"{mapped[-1]} in {n_arenas} arenas"
    assert abs(used[-1] / n_used - 1) < 0.1, f"{used[-1]} of {n_used} bytes in use"
    assert max(used) > 4 * used[-1] and max(used) <= max(mapped), f"{used} of {mapped}"


@test
def arenas_of_the_parent_are_the_childs(python):
    command = [python, HERE / "arenas.py"]
    done = RECORDER.run(command, rate="0.001", file="t.%p.ctf", env={"FORKS": "1"})
    same((done.status, done.err), (0, ""), "the run")
    last = sorted((read_of_arenas(path) for path in pathlib.Path().glob("t.*.ctf")),
                  key=lambda read: read[1][-1])
    same(len(last), 2, "traces")
    (mapped, used), (_, before) = last
    assert mapped[-1] > 20 << 20 and 4 * used[-1] < before[-1], f"{used} of {mapped}, {before}"


@test
def without_arenas_there_are_no_gauges_of_them(python):
    record([python, HERE / "arenas.py"], rate="0.001", env={"PYTHONMALLOC": "malloc"})
    same(read_of_arenas(), ([], []), "readings")
    assert gauge("rss"), "the system's are there"


@test
def what_is_not_wanted_is_not_recorded(python):
    trace = record([python, HERE / "life.py"], python="malloc")
    assert not any(".py:" in f for b in trace.blocks for f in b.frames), "frames of Python's"
    done = RECORDER.run([python, "-c", "0"], python="heap")
    assert "MEMTRACE_PYTHON: `heap` is not one of malloc, both" in done.err, done.err


@test
def samples_estimate_what_there_is(python):
    code = "import os\nx = [bytes(i % 400) for i in range(50000)]\nos._exit(0)"
    pathlib.Path("many.py").write_text(code)
    words = {}
    for rate in 1, 1e-2, 1e-3:
        trace = record([python, "many.py"], rate=str(rate), seed="7")
        samples = sum(b.samples for b in trace.blocks if "many.py" in " ".join(b.frames))
        words[rate] = samples / rate
    assert words[1] > 50000 * 30, f"{words} are too few"
    for rate in 1e-2, 1e-3:
        assert abs(words[rate] / words[1] - 1) < 0.15, f"{words}"


@test
def processes_have_traces_of_their_own(python):
    command = [python, HERE / "processes.py"]
    wanted = run(command)
    same(RECORDER.run(command, rate="1", file="t.%p.ctf"), wanted, "the run itself")
    found = collections.Counter()
    for path in pathlib.Path().glob("t.*.ctf"):
        for block in Trace(path).of("keep"):
            found[block.bytes] += 1
    same({size: found[size] for size in range(5000, 5040, 8)},
         {5000: 500, 5008: 500, 5016: 2000, 5024: 2000, 5032: 2000}, "blocks")


@test
def workers_have_what_they_kept_and_dropped(python):
    done = RECORDER.run([python, "-W", "ignore", HERE / "workers.py"], file="t.%p.ctf")
    same((done.status, done.err), (0, ""), "the run")
    truth = json.loads(done.out)
    assert len(truth) >= 10, f"{len(truth)} processes"
    for pid, sizes in truth.items():
        trace = Trace(f"t.{pid}.ctf")
        for function, more, n in ("keep", 0, 200), ("drop", 8, 100):
            want = collections.Counter(size + more for size in sizes for _ in range(n))
            blocks = [b for b in trace.of(function) if b.bytes >= 4000]
            same(collections.Counter(b.bytes for b in blocks), want, f"{function} in {pid}")
            assert function == "keep" or all(b.is_freed for b in blocks), "all is dropped"


@test
def threads_may_outlive_the_interpreter(python):
    for _ in range(4):
        record([python, HERE / "daemons.py"])


@test
def interpreters_are_told_apart(python):
    trace = record([python, HERE / "interpreters.py"])
    blocks = [b for b in trace.blocks if b.bytes == 30000]
    same(len(blocks), 30, "blocks")
    for b in blocks:
        names = [f.split("@")[0] for f in b.frames]
        same(names[-1], "made_in_there", "the innermost frame")
        assert "<module>" in names, names


def config(python, *flags):
    name = f"python{'.'.join(map(str, about(python)[0][:2]))}-config"
    path = pathlib.Path(os.path.realpath(python)).with_name(name)
    if not path.exists():
        raise Skip(f"{name} is not installed")
    return subprocess.run([path, *flags], check=True, stdout=subprocess.PIPE).stdout.decode().split()


def scoped(path="t.ctf"):
    """How many blocks of each size `grab` has got in each scope; in none: ""."""
    found, now = collections.Counter(), {}
    for event, frames, _, domain in births(path):
        text = " ".join(frames)
        if "@<scope>" in text:
            now[domain] = text.split("@<scope>")[0].replace("<none>", "")
        elif any(f.startswith("grab") for f in frames) and re.search("(bytes|[mMC]alloc)@<type>", text):
            found[now.get(domain, ""), event[3] * 8] += 1
    return found


def in_scopes(truth):
    """The same from what a program says, and the sizes."""
    wanted = collections.Counter()
    for scope, sizes in truth.items():
        for size, n in sizes.items():
            wanted[scope, (int(size) + 7) // 8 * 8] += n
    return wanted, {size for _, size in wanted}


@test
def tasks_are_scopes(python):
    command = [python, HERE / "tasks.py"]
    wanted, sizes = in_scopes(json.loads(run(command).out))
    record(command)
    found = scoped()
    found = collections.Counter({k: n for k, n in found.items() if k[1] in sizes})
    same((wanted - found, found - wanted), (collections.Counter(), collections.Counter()), "blocks of scopes")


def marks(path="t.ctf"):
    """The texts of those in a trace."""
    texts = (" ".join(b.texts) for b in births(path))
    return [text.split("@<mark>")[0] for text in texts if "@<mark>" in text]


@test
def tasks_of_an_unknown_layout_are_not_told_apart(python):
    code = ("import _asyncio, asyncio, ctypes\n"
            "ctypes.c_ssize_t.from_address(id(_asyncio.Task) + 32).value += 8\n"
            "async def main(): return len(bytes(5000))\n"
            "print(asyncio.run(main()))\n")
    record([python, "-c", code])
    assert not any("@<scope>" in " ".join(b.texts) for b in births()), "there are scopes"
    same([m for m in marks() if "asyncio" in m], ["asyncio's tasks have an unknown layout: they are not told apart"], "marks")


@test
def tasks_in_python_are_of_no_scope(python):
    for lacks in "_asyncio.Task", "_asyncio":
        code = (f"import asyncio, sys\nif '.' in '{lacks}': asyncio.Task = asyncio.tasks.Task = asyncio.tasks._PyTask\n"
                "async def work():\n    await asyncio.sleep(0)\n    return len(bytes(5000))\n"
                "async def main(): return await asyncio.create_task(work(), name='named')\n"
                "print(type(asyncio.tasks.Task) is type, asyncio.run(main()))\n")
        if "." not in lacks:
            code = "import sys\nsys.modules['_asyncio'] = None\n" + code
        record([python, "-c", code])
        assert not any("@<scope>" in " ".join(b.texts) for b in births()), "there are scopes"
        same(marks(), [], "marks")


@test
def names_of_tasks_leave_room_for_scopes(python):
    pathlib.Path("many.py").write_text("""
import asyncio, ctypes
kept = []

def grab(size):
    kept.append(bytes(size))

async def work(name):
    grab(5000)

async def main():
    for i in range(1100):
        await asyncio.create_task(work(i), name=f"request {i}")
    ctypes.PyDLL(None).allotrace_scope(b"the program's own", 0)
    grab(6000)

asyncio.run(main())
""")
    done = RECORDER.run([python, "many.py"])
    same((done.status, done.out, done.err), (0, "", ""), "the run")
    found = scoped()
    named = [k for k, n in found.items() if k[0].startswith("request") and k[1] == 5040]
    same((len(named), found["work", 5040], found["the program's own", 6040]), (511, 1100 - 511, 1), "scopes, with that of main")


@test
def tasks_are_found_where_a_thread_before_ran_none(python):
    """Both have as much in a dict of the thread, which has one address, and nearly nothing else is sampled."""
    pathlib.Path("turns.py").write_text("""
import asyncio, ctypes, threading
mine = [threading.local() for _ in range(3)]
dict_of_thread = ctypes.pythonapi.PyThreadState_GetDict
dict_of_thread.restype = ctypes.c_void_p
keys, kept = {}, []

def grab(size):
    kept.append(bytes(size))

def note(who):
    at = ctypes.c_size_t.from_address(dict_of_thread() + 32).value
    keys[who] = at, ctypes.c_size_t.from_address(at + 24).value

def no_tasks():
    for m in mine:
        m.x = 1
    grab(800000)
    note("first")

async def work():
    note("second")
    grab(400000)

def tasks():
    mine[0].x = 1
    asyncio.run(work())

n = 0
for _ in range(20):
    for target in no_tasks, tasks:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    n += keys["first"] == keys["second"]
print(n)
""")
    done = RECORDER.run([python, "turns.py"], rate="1e-4")
    same((done.status, done.err), (0, ""), "the run")
    if about(python)[0] < (3, 13):
        assert int(done.out) > 0, "no address is used again"
    found = {scope for scope, size in scoped() if size == 400040}
    same(found, {"work"}, "scopes")


@test
def tasks_of_interpreters_are_scopes(python):
    pathlib.Path("inner.py").write_text("""
import threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = '''
import asyncio
kept = []

def grab(size):
    kept.append(bytes(size))

async def work():
    for _ in range(3):
        grab(5000)
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(asyncio.create_task(work(), name="inner"), work())

asyncio.run(main())
'''

def run():
    i = interpreters.create()
    interpreters.run_string(i, CODE)
    interpreters.destroy(i)

run()
run()
print("done")
""")
    record([python, "inner.py"])
    found = scoped()
    same((found["inner", 5040], found["work", 5040]), (6, 6), "blocks")


SERVER = """
import asyncio, collections, sys
kept, rounds = collections.deque(maxlen=1000), [0, 0, 0]

def grab(size):
    kept.append(bytes(size))

async def serve(number):
    while not stop.is_set():
        for _ in range(20):
            grab(5000)
        rounds[number] += 1
        await asyncio.sleep(0.001)

async def all_serve(times):
    enough = [n + times for n in rounds]
    while any(n < least for n, least in zip(rounds, enough)):
        await asyncio.sleep(0.001)

async def main():
    global stop
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(serve(i), name=name) for i, name in enumerate(("one", "two", None))]
    for _ in range(3):
        await all_serve(50)
        print("ready", flush=True)
        await loop.run_in_executor(None, sys.stdin.readline)
    stop.set()
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


@test
def tasks_of_a_running_program_are_scopes(python):
    pathlib.Path("server.py").write_text(SERVER)
    program = subprocess.Popen([python, "server.py"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    same(program.stdout.readline(), "ready\n", "the step")
    for path, rate in ("everything.ctf", "1"), ("sampled.ctf", "0.01"):
        got = run([ALLOTRACE, "attach", "--rate", rate, "-o", path, program.pid])
        same(got.status, 0, got.err)
        program.stdin.write("\n")
        program.stdin.flush()
        same(program.stdout.readline(), "ready\n", "the step")
        same(run([ALLOTRACE, "detach", program.pid]).status, 0, "detaching")
        found = scoped(path)
        counts = [found[name, 5040] for name in ("one", "two", "serve")]
        same({k[0] for k in found if k[1] == 5040}, {"one", "two", "serve"}, f"scopes at rate {rate}")
        assert min(counts) > 0.7 * max(counts) > 0, f"{counts} at rate {rate}"
    program.communicate("\n", timeout=100)
    same(program.returncode, 0, "the program")


@test
def programs_that_embed_python_keep_their_frames(python):
    flags = config(python, "--includes", "--embed", "--ldflags")
    folder = str(pathlib.Path(os.path.realpath(python)).parent.parent / "lib")
    done = run(["cc", "-g", HERE / "embed.c", "-o", "embed", *flags, f"-Wl,-rpath,{folder}"])
    if done.status != 0:
        raise Skip("there is no libpython to link with")
    record(["./embed"], env={"PYTHONHOME": os.path.dirname(folder)})
    run([ALLOTRACE, "symbolize", "-o", "t2.ctf", "t.ctf"])
    blocks = [b for b in Trace("t2.ctf").blocks if b.bytes == 10000]
    same(len(blocks), 2, "blocks")
    for b in blocks:
        names = [f.split("@")[0] for f in b.frames if "embed.c" in f or "<string>" in f]
        same(names, ["main", "outer", "inner", "<module>", "around", "back", "inside"], "frames")


@test
def of_free_threaded_builds_malloc_is_recorded(python):
    run(["cc", "-rdynamic", HERE / "free_threaded.c", "-o", "free_threaded"])
    done = RECORDER.run(["./free_threaded"])
    same((done.status, done.out), (3, "done\n"), "the run")
    assert "a free-threaded build of Python: only malloc is recorded" in done.err, done.err
    same(done.err.count("\n"), 1, "lines")
    same(len([b for b in Trace().blocks if b.bytes == 12352]), 1, "blocks")


@test
def attach_says_that_of_a_free_threaded_build_malloc_is_recorded(python):
    run(["cc", "-rdynamic", HERE / "free_threaded.c", "-o", "free_threaded"])
    program = subprocess.Popen(["./free_threaded", "wait"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    same(program.stdout.readline(), "begun\n", "the step")
    got = run([ALLOTRACE, "attach", "--rate", "1", "-o", "t.ctf", program.pid])
    same(got.status, 0, got.err)
    assert re.match(r"allotrace: warning: \S+free_threaded: a free-threaded build of Python: only malloc is recorded", got.err), got.err
    program.stdin.write("\n")
    program.stdin.flush()
    same(program.stdout.readline(), "done\n", "the step")
    got = run([ALLOTRACE, "detach", program.pid])
    same(got.status, 0, got.err)
    same((program.communicate("\n", timeout=100), program.returncode), (("", None), 3), "the run")
    same(len([b for b in Trace("t.ctf").blocks if b.bytes == 12352]), 1, "blocks")


NUMPY = """
import numpy
def big():
    return numpy.zeros(100000) + numpy.ones(100000)
kept = [big() for _ in range(10)]
print(kept[3].sum())
"""


@test
def extension_modules_keep_their_frames(python):
    if run([python, "-c", "import numpy"]).status != 0:
        raise Skip("numpy is not installed")
    pathlib.Path("big.py").write_text(NUMPY)
    blocks = [b for b in record([python, "big.py"]).blocks if b.bytes == 800000]
    assert len(blocks) in (20, 30), f"{len(blocks)} arrays"  # sums may take the place of a term
    for b in blocks:
        assert any(f.startswith("big@") for f in b.frames), b.frames
        assert "numpy" in b.frames[-1], b.frames


@test
def what_python_names_is_not_taken_for_symbolized(python):
    record([python, "-c", "import json; x = [json.dumps({i: [i] * 50}) for i in range(999)]"])

    def hint():
        return subprocess.run([ALLOTRACE, "hotspots", "t.ctf"], capture_output=True, text=True).stderr
    assert "are not symbolized yet; to resolve them: allotrace symbolize t.ctf" in hint(), hint()
    subprocess.run([ALLOTRACE, "symbolize", "t.ctf"], check=True, capture_output=True)
    assert "not symbolized yet" not in hint(), hint()


def main():
    tests = [(f"{'.'.join(map(str, version))} of {os.path.dirname(python)}: {tap.plain(t.__name__)}",
              functools.partial(t, python))
             for python, version in pythons().items() for t in tap.TESTS]
    return tap.main(sys.argv[3:], tests)


if __name__ == "__main__":
    sys.exit(main())
