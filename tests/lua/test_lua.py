#!/usr/bin/python3
"""Records Lua programs as they are, and judges what they did and what the traces say. Prints TAP.

    test_lua.py LIBRARY ALLOTRACE [TEST...]

Each test runs with each of Lua 5.1 to 5.4 that is found, and with LuaJIT.
"""
import collections
import concurrent.futures
import contextlib
import functools
import getpass
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import decode  # noqa: E402
import tap  # noqa: E402
from recording import ENVIRONMENT, Recorder, births, patiently, run  # noqa: E402
from tap import Skip, same, test  # noqa: E402

LIBRARY, ALLOTRACE = map(os.path.abspath, sys.argv[1:3])
RECORDER = Recorder(LIBRARY)


def luas():
    """Those that are recorded with their frames, by their versions."""
    found = {f"5.{minor}": shutil.which(f"lua5.{minor}") for minor in range(1, 5)}
    found["jit"] = shutil.which("luajit")
    return {version: path for version, path in found.items() if path}


# ---- traces


Block = collections.namedtuple("Block", "bytes type frames is_freed")


def place(frame):
    """`function@file:line` of a frame, with the last part of the file's path."""
    found = re.fullmatch(r"(.*)@(.*?):(\d+):[\d-]+", frame)
    if not found:
        return frame
    function, file, line = found.groups()
    file = file.rpartition("/")[2]
    return f"{function}@{file}" if file == "[C]" else f"{function}@{file}:{line}"


class Trace:
    """Its blocks; frames outermost first."""

    def __init__(self, path="t.ctf"):
        self.blocks = []
        for event, texts, is_freed, _ in births(path):
            frames = self.words(texts)
            kind = next((f.split("@")[0] for f in frames if "@<type>" in f), "")
            if not any("@<gauge>" in f or "@<mark>" in f for f in frames):
                frames = [f for f in frames if "@<type>" not in f]
                self.blocks.append(Block(event[3] * 8, kind, frames, is_freed))

    @staticmethod
    def words(texts):
        """Functions may have spaces in their names."""
        frames = []
        for text in texts:
            if frames and not re.search(r":[\d-]+$", frames[-1]):
                frames[-1] += " " + text
            else:
                frames.append(text)
        return frames

    def of(self, *parts):
        """Blocks in whose stacks frames have these parts, in this order."""
        def has(block):
            rest = map(place, block.frames)
            return all(any(part in frame for frame in rest) for part in parts)
        return [b for b in self.blocks if has(b)]


def lua_frames(block):
    return [place(f) for f in block.frames if re.search(r"\.lua:\d|@made:\d|@\[C\]", f)]


def record(command, **options):
    """Records a run that must look like a plain one; gives its trace."""
    RECORDER.compare(command, **options)
    return Trace()


def interpreted(lua):
    """The command, for LuaJIT without what it compiles."""
    return [lua, "-joff"] if "jit" in lua else [lua]


# ---- tests


def is_same(want, got):
    """Whether a frame is the witness's, which may not know its name."""
    if want.startswith("?@"):
        return got.endswith(want[1:])
    return got == want


def agree(want, got):
    return len(want) == len(got) and all(map(is_same, want, got))


@test
def stacks_are_those_that_lua_has(version, lua):
    done = RECORDER.run([*interpreted(lua), HERE / "stacks.lua"], depth="1000")
    same((done.status, done.err), (0, ""), "the run")
    blocks = collections.defaultdict(list)
    for b in Trace().of("rep@[C]"):
        blocks[b.bytes].append(lua_frames(b))
    lines = done.out.splitlines()
    assert len(lines) >= 40, "the witness has seen little"
    for line in lines:
        size, *want = line.split("|")
        found = blocks[(int(size) + 25 + 7) // 8 * 8]
        if version in ("5.1", "jit"):  # it does not say who waits for a coroutine
            found = [got[-len(want):] for got in found]
        assert any(agree(want, got) for got in found), f"{size}: {want} is not among {found}"


@test
def functions_called_by_a_key_do_not_have_the_name_of_the_table(version, lua):
    names = set()
    for b in record([*interpreted(lua), HERE / "keys.lua"]).blocks:
        if b.bytes > 30000 and any("keys.lua" in f for f in b.frames):
            names.add(next(f.split("@")[0] for f in reversed(b.frames) if "keys.lua" in f))
    same(names, {f"function <keys.lua:{line}>" for line in (3, 7, 11)}, "their names")


@test
def lines_of_constructors_are_right(version, lua):
    trace = record([*interpreted(lua), HERE / "tables.lua"])
    lines = collections.Counter()
    for b in trace.of("main chunk@", "make@"):
        if b.type == "table" or version == "5.1":
            lines[int(place(b.frames[-1]).rpartition(":")[2])] += 1
    if version == "5.1":  # there, types are not known
        assert {5, 7, 8, 11, 13} <= set(lines) <= {3, 5, 7, 8, 11, 13, 14}, lines
        same(lines[11], 300, "empty tables")
        return
    same(dict(lines), {5: 100, 7: 100, 8: 100, 11: 300}, "tables by lines")
    closures = trace.of("make@")
    same({place(b.frames[-1]).rpartition(":")[2] for b in closures if b.type == "function"},
         {"13"}, "closures")


@test
def objects_have_types(version, lua):
    if version == "5.1":
        raise Skip("Lua 5.1 does not tell its allocator")
    code = ("local kept = {}\nfor i = 1, 50 do\n  kept[#kept + 1] = {}\n  kept[#kept + 1] = function() return i end\n"
            "  kept[#kept + 1] = coroutine.create(print)\n  kept[#kept + 1] = 'text ' .. i\nend\n")
    pathlib.Path("types.lua").write_text(code)
    got = collections.Counter((place(b.frames[-1]).rpartition("@")[2], b.type) for b in record([*interpreted(lua), "types.lua"]).of("main chunk"))
    for where in ("types.lua:3", "table"), ("types.lua:4", "function"), ("[C]", "thread"):
        same(got[where], 50, where)
    assert got["types.lua:6", "string"] >= 50, got


@test
def what_lua_counts_is_what_is_live(version, lua):
    done = RECORDER.run([lua, HERE / "count.lua"], measure="requested")
    same((done.status, done.err), (0, ""), "the run")
    live = sum(b.bytes for b in Trace().blocks if not b.is_freed)
    counted = int(done.out)
    # Sizes are rounded up to words; buffers of files are the C library's.
    assert counted <= live <= counted * 1.08 + 12000, f"{live} bytes, Lua has counted {counted}"


@test
def runs_are_what_they_were(version, lua):
    for rate, depth in ("1", 6000), ("0.01", 10 ** 7), ("1e-5", 10 ** 7):
        RECORDER.compare([lua, HERE / "life.lua", depth], rate=rate)
    for code in ("error('wanted', 0)", "local function f() return f() + 1 end f()", "os.exit(3)",
                 "setmetatable({}, {__gc = function() print(#('x'):rep(1000)) end}) print(1)"):
        if version != "jit" or "error" not in code and "local" not in code:  # it prints addresses
            RECORDER.compare([lua, "-e", code])


@test
def stacks_are_cut_at_the_depth(version, lua):
    lua, *options = interpreted(lua)
    code = "local function f(n)\n  if n == 0 then local s = ('x'):rep(9000) return s end\n  local s = f(n - 1)\n  return s\nend\nf(300)\n"
    pathlib.Path("deep.lua").write_text(code)
    for depth in 1, 5, 150:
        blocks = [b for b in record([lua, *options, "deep.lua"], depth=str(depth)).of("rep@[C]") if b.bytes > 9000]
        assert blocks, "no blocks"
        same({len(lua_frames(b)) for b in blocks}, {depth}, "frames of Lua's")
        same({b.frames[0].split("@")[0] for b in blocks}, {"[deeper than the recorder looks]"},
             "in front of them")


@test
def samples_estimate_what_there_is(version, lua):
    code = "local kept = {}\nfor i = 1, 50000 do kept[i] = {i, ('x'):rep(i % 400)} end\n"
    pathlib.Path("many.lua").write_text(code)
    words = {}
    for rate in 1, 1e-2:
        record([lua, "many.lua"], rate=str(rate), seed="7")
        decoder = decode.Decoder(pathlib.Path("t.ctf").read_bytes())
        decoder.read_info()
        words[rate] = sum(event[4] for _, stack, event in decoder.events() if event[0] == "alloc" and any(
            "many.lua" in decoder.frame_text(code) for code in stack)) / rate
    assert words[1] > 50000 * (20 if version != "jit" else 10) and abs(words[1e-2] / words[1] - 1) < 0.15, f"{words}"


@test
def what_is_not_wanted_is_not_recorded(version, lua):
    trace = record([lua, HERE / "tables.lua"], lua="malloc")
    assert not trace.of(".lua:") and trace.blocks, "frames of Lua's"


# ---- of programs that run already


def started(*command):
    return subprocess.Popen([*map(str, command)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def does_more(program):
    """Has host.c or gone.c do more of the same, and waits for it."""
    program.stdin.write("\n")
    program.stdin.flush()
    same(program.stdout.readline(), "more\n", "what it says")


def allotrace(*arguments):
    got = run([ALLOTRACE, *arguments])
    same(got.status, 0, got.err)


def code_of(pid, library):
    """What is executed of the files whose names begin so, as a number."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        code = []
        for line in maps:
            if "r-xp" in line and f"/{library}" in line[line.rfind("/"):]:
                low, high = (int(address, 16) for address in line.split()[0].split("-"))
                memory.seek(low)
                code.append(memory.read(high - low))
    assert code, f"no code of {library}"
    return hash(tuple(code))


@test
def a_running_program_is_recorded_and_left(version, lua):
    program = started(*interpreted(lua), HERE / "attached.lua")

    def step(name):
        same(program.stdout.readline(), name + "\n", "the step")

    def goes_on():
        program.stdin.write("\n")
        program.stdin.flush()

    step("before")
    code = code_of(program.pid, "lua")
    goes_on()
    for round in 1, 2:
        step("during")
        allotrace("attach", "--rate", "1", "-o", "t.ctf", program.pid)
        assert code_of(program.pid, "lua") != code, "nothing was turned aside"
        goes_on()
        step("after")
        allotrace("detach", program.pid)
        same(code_of(program.pid, "lua"), code, "the code")
        goes_on()
        step("before")
        goes_on()
        outer = ["main chunk@attached.lua:61", "runs@[C]", "function <attached.lua:51>@attached.lua:54", "pcall@[C]",
                 "function <attached.lua:54>@attached.lua:56"] + 10 * ["deep@attached.lua:48"] + ["deep@attached.lua:45"]
        inner = {(16, 50): ["resumed@attached.lua:39", "pcall@[C]", "function <attached.lua:14>@attached.lua:16"],
                 (19, 50): ["resumed@attached.lua:39", "pcall@[C]", "function <attached.lua:14>@attached.lua:19"],
                 (29, 20): ["resumed@attached.lua:37", "waits@[C]", "function <attached.lua:26>@attached.lua:29"],
                 (40, 1): ["resumed@attached.lua:41", "later@[C]", "function <attached.lua:40>@attached.lua:40"]}
        blocks = Trace().blocks
        for (line, n), stack in inner.items():
            stack = outer + stack + ["allocate@attached.lua:10", "rep@[C]"]
            got = [b for b in blocks if lua_frames(b) == stack and b.bytes >= 3000]
            least = n if version != "5.1" or line == 40 else 1  # strings are buffers there, and shared
            assert len(got) >= least, f"round {round}, line {line}: {len(got)} blocks"
            if version != "5.1":
                assert n - 1 <= sum(b.type == "string" for b in got) <= n, f"strings of line {line}: {len(got)}"
            assert sum(b.is_freed for b in got) >= least - 3, "frees are not recorded"
        lost = [b for b in blocks if b.bytes >= 3000 and b.bytes < 30000 and not lua_frames(b)]
        same(lost, [], "blocks without frames of Lua's")
    step("during")
    goes_on()
    step("after")
    same((program.communicate(timeout=100), program.returncode), (("done\n", ""), 0), "the run")


@test
def traces_of_busy_programs_are_whole_when_they_are_left(version, lua):
    pathlib.Path("busy.lua").write_text("local kept = {}\nwhile true do for i = 1, 1000 do kept[i] = {i, 's' .. i} end end\n")
    program = started(lua, "busy.lua")
    for _ in range(6):
        allotrace("attach", "--rate", "0.05", "-o", "t.ctf", program.pid)
        allotrace("detach", program.pid)
        done = run([ALLOTRACE, "doctor", "t.ctf"])
        same(done.status, 0, done.out)
    program.kill()
    same(program.communicate(timeout=100), ("", ""), "what it says")


@test
def running_threads_are_recorded_and_left(version, lua):
    embedded(version)
    program = started("./host", HERE / "host.lua", "forever")
    does_more(program)
    code = code_of(program.pid, "liblua")
    for _ in range(2):
        allotrace("attach", "--rate", "0.0005", "-o", "t.ctf", program.pid)
        does_more(program)
        allotrace("detach", program.pid)
        same(code_of(program.pid, "liblua"), code, "the code")
        blocks = Trace().blocks
        deep = [b for b in blocks if b.bytes > 60000 and any("deep" in f for f in b.frames)]
        good = [b for b in deep if len(lua_frames(b)) > 250 or b.frames[0].startswith("[")]
        assert len(deep) > 10 and len(good) >= 0.95 * len(deep), f"{len(good)} of {len(deep)} stacks are whole"
        nested = [b for b in blocks if [place(f).split("@")[0] for f in b.frames][-4:] == ["host_nests", "main chunk", "nested", "rep"]]
        assert len(nested) > 10, f"states inside of others: {len(nested)}"
    same((program.communicate(timeout=100), program.returncode), (("done\n", ""), 0), "the run")


@test
def states_that_are_gone_are_not_looked_at(version, lua):
    linked(version, "gone")
    for _ in range(5):
        program = started("./gone")
        does_more(program)
        for rate in "1", "0.01":
            allotrace("attach", "--rate", rate, "-o", "t.ctf", program.pid)
            does_more(program)
            allotrace("detach", program.pid)
        same((program.communicate(timeout=100), program.returncode), (("done\n", ""), 0), "the run")
    assert Trace().of("main chunk@code.lua:2", "works@code.lua:1", "work"), "the frames of Lua's"


def linked(version, name):
    """The program of that name, with the library of Lua."""
    flags = run(["pkg-config", "--cflags", "--libs", f"lua{version}"])
    done = run(["cc", "-g", "-pthread", HERE / f"{name}.c", "-o", name, *flags.out.split()])
    if flags.status != 0 or done.status != 0:
        raise Skip(f"there is no library of Lua {version} to link with: {done.err[:200]}")


def embedded(version):
    linked(version, "host")
    return record(["./host", HERE / "host.lua"])


@test
def programs_that_embed_lua_keep_their_frames(version, lua):
    trace = embedded(version)
    run([ALLOTRACE, "symbolize", "-o", "t2.ctf", "t.ctf"])
    trace = Trace("t2.ctf")
    names = lambda b: [f.split("@")[0] for f in b.frames if re.search(r"host\.(c|lua):|nested\.lua:|\[C\]", f)]
    top = collections.Counter()
    for b in trace.blocks:
        # Of LuaJIT's, no type is known where another thread has written what this one has left for a while.
        if b.bytes >= 30000 and b.type in ("string", "realloc", "malloc", "LuaJIT"):
            top[b.bytes // 10000, tuple(n for n in names(b) if n not in ("host_allocator", "start_thread"))] += 1
    outer = ("main", "run"), ("thread", "run")
    for start, times in zip(outer, (1, 3)):
        start += "main chunk", "co", "function <host.lua:11>"
        for size, rest in ((5, ("around", "host_calls", "function <host.lua:2>", "rep")), (3, ("around", "host_allocates")),
                           (4, ("host_nests", "main chunk", "nested", "rep"))):
            assert top[size, start + rest] >= times, f"{start + rest}: {top}"


@test
def coroutines_and_threads_have_their_own(version, lua):
    trace = embedded(version)
    deep = [b for b in trace.of("deep@", "rep@[C]") if b.bytes > 60000 and b.type in ("string", "realloc")]
    assert len(deep) >= 4, "threads are not recorded"
    assert all(len(lua_frames(b)) > 250 or b.frames[0].startswith("[") for b in deep), "frames are lost"


SCRIPT = """local t = {}
local function fill(n)
  for i = 1, n do t[i] = { i } end
end
fill(tonumber(ARGV[1]))
return #t"""


def redis_that_has_lua(version):
    """How it is started, and how it is asked."""
    server, client = shutil.which("redis-check-rdb"), shutil.which("redis-cli")
    if version != "5.1" or not server or not client:
        raise Skip("redis is not installed" if version == "5.1" else "redis has Lua 5.1")
    os.symlink(server, "redis-server") # one program, by either name
    return ["./redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", ""], [client, "-s", "redis.sock"]


@contextlib.contextmanager
def serving(command, ask):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            patiently(lambda: run([*ask, "ping"]).out == "PONG\n", "redis answers")
            yield process
        finally:
            if run([*ask, "shutdown", "nosave"]).status != 0:
                process.terminate()
            status = process.wait()
        same(status, 0)


@test
def scripts_of_redis_have_their_stacks(version, lua):
    server, ask = redis_that_has_lua(version)
    with serving([ALLOTRACE, "run", "-q", "-r", "1", "-o", "t.ctf", "--", *server], ask):
        same(run([*ask, "eval", SCRIPT, "0", "1000"]).out, "1000\n")
    has_stacks_of_script()


@test
def scripts_of_a_running_redis_have_their_stacks(version, lua):
    server, ask = redis_that_has_lua(version)
    with serving(server, ask) as process:
        assert len(os.listdir(f"/proc/{process.pid}/task")) > 1, "it has one thread"
        for _ in range(2):
            same(run([*ask, "eval", SCRIPT, "0", "1000"]).out, "1000\n")
            allotrace("attach", "--rate", "1", "-o", "t.ctf", process.pid)
            same(run([*ask, "eval", SCRIPT, "0", "1000"]).out, "1000\n")
            allotrace("detach", process.pid)
            has_stacks_of_script()


def has_stacks_of_script():
    """Behind Lua's allocator, redis 8 has a function of its own on the stack."""
    made = [b for b in Trace().of("main chunk@user_script:5", "fill@user_script:3")
            if "fill@user_script:3" in (place(b.frames[-1]), place(b.frames[-2]))]
    assert 2000 <= len(made) <= 2020, len(made) # each table and its array, and the array of all as it grows


@test
def static_programs_are_told_apart_from_lua(version, lua):
    library = f"/usr/lib/x86_64-linux-gnu/liblua{version}.a"
    flags = run(["pkg-config", "--cflags", f"lua{version}"]).out.split()
    done = run(["cc", "-g", "-pthread", "-rdynamic", *flags, HERE / "host.c", "-o", "host", library, "-lm", "-ldl"])
    if done.status != 0:
        raise Skip("there is no static liblua")
    trace = record(["./host", HERE / "host.lua"])
    run([ALLOTRACE, "symbolize", "-o", "t2.ctf", "t.ctf"])
    found = [b for b in Trace("t2.ctf").of("main@host.c", "run@host.c", "around@", "host_calls@host.c", "<host.lua:2>@", "rep@[C]")]
    assert found, "the program's own frames are lost"
    assert trace.of("deep@"), "frames of Lua's"


def only_jit(version):
    if version != "jit":
        raise Skip("is about LuaJIT")


@test
def compiled_code_says_that_it_is(version, lua):
    only_jit(version)
    outer = [["main chunk@compiled.lua:20", "co@[C]", "function <compiled.lua:15>@compiled.lua:16"],
             ["main chunk@compiled.lua:21"],
             ["main chunk@compiled.lua:22", "co@[C]", "function <compiled.lua:15>@compiled.lua:18"]]
    trace = record([lua, HERE / "compiled.lua"])
    stacks = collections.Counter(tuple(lua_frames(b)) for b in trace.of("main chunk"))
    for start in outer:
        assert stacks[*start, "outer (compiled)@compiled.lua:10"] > 500, f"{start}: {stacks}"
    strange = [s for s in stacks if not any(list(s[:len(o)]) == o for o in outer) and len(s) > 1]
    assert sum(stacks[s] for s in strange) < 20, strange
    same([b.frames for b in trace.blocks if b.frames and b.frames[0].startswith("[")], [], "stacks that are lost")
    assert "hint: much of it is in code that LuaJIT compiled" in run([ALLOTRACE, "hotspots", "t.ctf"]).err


@test
def objects_of_compiled_code_have_types(version, lua):
    only_jit(version)
    got = collections.Counter(b.type for b in record([lua, HERE / "compiled.lua"]).of("(compiled)"))
    assert got["table"] > 5000 and got["string"] > 2500 and got["LuaJIT"] < 100, got


@test
def tables_that_compiled_code_makes_where_it_is_left_have_its_function(version, lua):
    only_jit(version)
    trace = record([lua, HERE / "exits.lua"])
    outer = ["main chunk@exits.lua:24", "co@[C]", "function <exits.lua:20>@exits.lua:21"]
    made = [b for b in trace.of("sum (compiled)@exits.lua") if b.type == "table" and lua_frames(b)[:3] == outer]
    assert 38 <= len(made) <= 42, f"{len(made)} tables"


# ---- Lua that is loaded later


@test
def children_of_a_program_that_has_loaded_lua_are_recorded_with_it(version, lua):
    done = run(["cc", "-g", HERE / "forks.c", "-o", "forks", "-ldl"])
    same(done.status, 0, done.err)
    library = "libluajit-5.1.so.2" if version == "jit" else f"liblua{version}.so.0"
    pathlib.Path("child.lua").write_text("if jit then jit.off() end local kept = {}\nlocal function fill()\n  for i = 1, 300 do kept[i] = {i} end\nend\n"
                                         "local co = coroutine.wrap(function() fill() end)\nco()\n")
    command = ["./forks", library, "child.lua"]
    if run(command).status == 2:
        raise Skip(f"there is no {library}")
    for rate in "1", "0.01":
        for file in pathlib.Path(".").glob("t*.ctf"):
            file.unlink()
        RECORDER.compare(command, file="t.%p.ctf", rate=rate)
        traces = list(pathlib.Path(".").glob("t.*.ctf"))
        made = [Trace(path).of("main chunk@child.lua:6", "co@[C]", "@child.lua:5", "fill@child.lua:3") for path in traces]
        same(sorted(bool(some) for some in made), [False, True, True], "with stacks of Lua's")
        for path, some in zip(traces, made):
            same(run([ALLOTRACE, "doctor", path]).status, 0, f"the doctor of {path}")
            if some and rate == "1" and version != "5.1":
                tables = sum(b.type == "table" for b in some)
                same(tables, 300, "tables")


# ---- nginx, whose Lua is a plugin


NGINX = """load_module {modules}/ndk_http_module.so;
load_module {modules}/ngx_http_lua_module.so;
user {user};
daemon off;
worker_processes 2;
pid {here}/nginx.pid;
error_log {here}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  lua_package_path "{lua}/?.lua;;";
  client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
  server {{
    listen unix:{here}/nginx.sock;
    location / {{ content_by_lua_file {tests}/handler.lua; }}
  }}
}}
"""


def nginx_that_has_lua(version):
    """How it is started, and with which libraries."""
    only_jit(version)
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    top = pathlib.Path(os.environ.get("NGINX_LUA", "/"))
    modules, libraries = top / "usr/lib/nginx/modules", top / "usr/lib/x86_64-linux-gnu"
    if not nginx or not (modules / "ngx_http_lua_module.so").exists():
        raise Skip("there is no nginx with Lua: libnginx-mod-http-lua, which Debian does not install beside luajit, "
                   "unpacked with its libraries into a folder that NGINX_LUA names")
    here = os.getcwd()
    pathlib.Path("nginx.conf").write_text(NGINX.format(modules=modules, user=getpass.getuser(), here=here,
                                                       lua=top / "usr/share/lua/5.1", tests=HERE))
    environment = {"LD_LIBRARY_PATH": f"{libraries}:{top / 'lib/x86_64-linux-gnu'}"} if "NGINX_LUA" in os.environ else {}
    return [nginx, "-p", here, "-c", f"{here}/nginx.conf", "-e", f"{here}/error.log"], environment


def page(path="/"):
    """What nginx answers."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect("nginx.sock")
        asked.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        answer = b""
        while part := asked.recv(1 << 16):
            answer += part
    return answer.partition(b"\r\n\r\n")[2].decode()


def pages(n, path):
    """So many at once that both workers have some."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        same(set(pool.map(page, [path] * n)), {"1691\n"}, "the pages")


def workers(master):
    return [int(pid) for pid in pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def wait_until(condition, what):
    for _ in range(6000):
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise AssertionError(f"{what}: {pathlib.Path('error.log').read_text()[-1000:]}")


@contextlib.contextmanager
def nginx_at_work(command, environment):
    process = subprocess.Popen([*map(str, command)], env=ENVIRONMENT | environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: socket.socket(socket.AF_UNIX).connect("nginx.sock") is None, "nginx does not listen")
        wait_until(lambda: len(workers(int(pathlib.Path("nginx.pid").read_text()))) == 2, "there are no workers")
        yield int(pathlib.Path("nginx.pid").read_text())
    finally:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(pathlib.Path("nginx.pid").read_text()), signal.SIGTERM)
        err = process.communicate(timeout=100)[1]
    same((process.returncode, [line for line in err.splitlines() if not line.startswith("allotrace: ")]), (0, []), "the run")
    told = pathlib.Path("error.log").read_text()
    assert not re.search(r"emerg|alert|crit|signal 11", told), told


def pages_have_their_stacks(path):
    """How many pages those are that were asked for exactly, each of 200 rows, which are a table each."""
    same(run([ALLOTRACE, "doctor", path]).status, 0, f"the doctor of {path}")
    trace = Trace(path)
    inner = ["function <handler.lua:18>@handler.lua:19", "page@handler.lua:13", "row@handler.lua:7"]
    tables = [b for b in trace.blocks if lua_frames(b)[-3:] == inner and b.type == "table"]
    outer = [b for b in tables if any("ngx_http_lua_run_thread" in f for f in b.frames)]
    same(len(tables), len(outer), "stacks that have nginx's frames, too")
    return len(tables) / 200


@test
def pages_of_nginx_have_their_stacks(version, lua):
    command, environment = nginx_that_has_lua(version)
    recorder = [ALLOTRACE, "run", "-r", "1", "-o", "t.%p.ctf", "--"]
    with nginx_at_work([*recorder, *command], environment) as master:
        first = workers(master)
        pages(40, "/?exact=1")
        os.kill(master, signal.SIGHUP)
        wait_until(lambda: len(workers(master)) == 2 and not set(workers(master)) & set(first), "nginx does not reload")
        second = workers(master)
        pages(40, "/?exact=1")
    for some in first, second:
        got = [pages_have_their_stacks(f"t.{pid}.ctf") for pid in some]
        same(sum(got), 40, "pages")
    same(run([ALLOTRACE, "doctor", f"t.{master}.ctf"]).status, 0, "the doctor of the master")


@test
def sampled_pages_of_nginx_make_whole_traces(version, lua):
    command, environment = nginx_that_has_lua(version)
    for round in range(3):
        with nginx_at_work([ALLOTRACE, "run", "-r", "0.01", "-o", f"t{round}.%p.ctf", "--", *command], environment) as master:
            some = workers(master)
            pages(60, "/")
        for pid in some:
            same(run([ALLOTRACE, "doctor", f"t{round}.{pid}.ctf"]).status, 0, "the doctor")
        assert any(Trace(f"t{round}.{pid}.ctf").of("handler.lua") for pid in some), "no stacks of Lua's"


@test
def pages_of_a_running_nginx_have_their_stacks(version, lua):
    command, environment = nginx_that_has_lua(version)
    with nginx_at_work(command, environment) as master:
        pages(20, "/?exact=1")
        code = {pid: code_of(pid, "libluajit") for pid in workers(master)}
        for _ in range(2):
            for pid in code:
                allotrace("attach", "--rate", "1", "-o", f"t.{pid}.ctf", pid)
            pages(40, "/?exact=1")
            for pid in code:
                allotrace("detach", pid)
                same(code_of(pid, "libluajit"), code[pid], "the code")
            same(sum(pages_have_their_stacks(f"t.{pid}.ctf") for pid in code), 40, "pages")
            pages(20, "/")


def marks(path):
    decoder = decode.Decoder(pathlib.Path(path).read_bytes())
    decoder.read_info()
    texts = (" ".join(decoder.frame_text(code) for code in stack) for _, stack, event in decoder.events() if event[0] == "alloc")
    return [text.partition("@")[0] for text in texts if "@<mark>" in text]


COLLECTS = "local t = {}\nfor i = 1, 1e5 do t[i % 1000] = {i, tostring(i)} end\ncollectgarbage()\n"


def are_collections(got):
    """Each begins, by a phase that allocates or frees, and ends, in this order."""
    text = "".join({"GC marks": "m", "GC sweeps": "s", "GC finalizes": "f", "GC ends": "e"}[mark] for mark in got)
    assert re.fullmatch("(m?s?f?e)+(m|m?s|m?s?f)?", text) and "s" in text and len(text) < 1000, text


@test
def collections_are_marks(version, lua):
    pathlib.Path("collects.lua").write_text(COLLECTS)
    for rate in "1e-5", "1":
        record([lua, "collects.lua"], rate=rate)
        are_collections(marks("t.ctf"))


@test
def collections_of_the_young_are_marks(version, lua):
    if version not in ("5.2", "5.4"):
        raise Skip("has no such mode")
    pathlib.Path("young.lua").write_text("collectgarbage('generational')\n" + COLLECTS)
    record([lua, "young.lua"], rate="1e-5")
    got = marks("t.ctf")
    are_collections(got)
    same(got[-1], "GC ends", "the last mark")


@test
def collections_in_programs_that_embed_lua_are_marks(version, lua):
    if version == "jit":
        raise Skip("has no marks for states with an allocator of the program's")
    embedded(version)
    assert "GC sweeps" in marks("t.ctf"), "no marks"


@test
def states_that_come_and_go_are_recorded(version, lua):
    only_jit(version)
    linked(version, "states")
    trace = record(["./states"])
    tables = [b for b in trace.of("main chunk") if b.type == "table"]
    assert len(tables) >= 60 * 1000, f"{len(tables)} tables"
    same([b for b in trace.of("main chunk") if not b.is_freed], [], "blocks that live")


if __name__ == "__main__":
    every = [(f"{tap.plain(t.__name__)} ({version})", functools.partial(t, version, path))
             for version, path in luas().items() for t in tap.TESTS]
    sys.exit(tap.main(sys.argv[3:], every) if every else print("1..0 # SKIP there is no Lua"))
