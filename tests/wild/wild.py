#!/usr/bin/python3
"""wild.py: records real programs, and hostile ones, and compares them with themselves unrecorded.

    wild.py [--build BUILD] [--rates 1e-5,0.1,1] [--keep DIR] [--jobs N] [--budget SECONDS] [--tap]
            [NAME...]

Each program runs twice plainly and once at each rate. Its standard output, its messages and its
exit status must be the same (where the two plain runs agree), it must not hang, and `doctor` and
`hotspots` must take every trace. What is not installed is skipped, and said. Prints a line for each
program: how it ended, what was recorded, the share of samples whose innermost function has a name;
with --tap, a test for each. After --budget seconds no program is begun any more: those that are left
are skipped. They stand in the order of what they prove, the most important ones first.
"""
import argparse
import concurrent.futures
import contextlib
import fcntl
import json
import os
import pathlib
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT = 120  # seconds
SUMMARY = re.compile(r"allotrace: (recorded|top sites|peak|growing|advice|look closer|peak, growth|no allocated word|hint)")
OURS = re.compile(rb"^allotrace: .*\n?", re.M)


LUA_MODULES = "/usr/lib/x86_64-linux-gnu/lua"
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
ENDED_EARLY = re.compile(r"the recording ended before the program; .*"
                         r"(malloc is that of|cannot be written: File too large)")


class Case:
    """One program. `command` is for the shell (`exec` makes the trace the program's, not the
    shell's); it runs in a folder of its own; $D holds inputs and what was compiled."""

    def __init__(self, name, command, needs="", children=False, trace=True, stderr=True,
                 direct=False, says=None, output=None):
        self.name, self.command, self.needs = name, command, needs.split()
        self.children = children  # the trace's name has %p
        self.trace = trace  # something must have been recorded; None: nothing may have been
        self.stderr = stderr  # messages are compared
        self.direct = direct  # `command` is recorded as it stands, without a shell
        self.says = says  # what the recorder must say
        self.output = output  # where the trace goes, if not into a file of its own


def hostile_cases(program):
    # They may lose all there is: killed at once, without a file, without room in it.
    untraced = {"kill", "kill-any-time", "fault", "fault-any-time", "chroot", "file-size"}
    names = subprocess.run([program], capture_output=True, text=True).stdout.split()
    for name in names:
        for children in (False, True):
            if children and name not in ("exit", "fork", "fork-in-threads", "vfork", "spawn",
                                         "system", "clone", "daemon", "clear-environment",
                                         "vfork-malloc", "exec-itself", "umask", "other-user"):
                continue
            yield Case(name + (" %p" if children else ""), f"exec $D/hostile {name}",
                       children=children, trace=name not in untraced)


# What people run, and what a recorder has to leave alone.
COMMON = [
    Case("jq", "exec jq -S 'map(.id)|add' big.json", "jq"),
    Case("python", "exec /usr/bin/python3 $D/work.py", "/usr/bin/python3"),
    Case("python malloc", "PYTHONMALLOC=malloc exec /usr/bin/python3 $D/work.py",
         "/usr/bin/python3"),
    Case("perl", "exec perl -e 'my %h; $h{$_}=[1..10] for 1..3000; print scalar(keys %h)'", "perl"),
    Case("node", "exec node $D/work.js", "node"),
    Case("sqlite3", "exec sqlite3 x.db < $D/work.sql", "sqlite3"),
    Case("redis under redis-benchmark", "exec sh $D/redis.sh",
         "redis-check-rdb redis-cli redis-benchmark", children=True, stderr=False),
    Case("git clone", "exec git -c gc.auto=0 clone -q --no-local $D/repository copy", "git",
         children=True),
    Case("gcc", "gcc -O2 -w -c $D/hostile.c -o h.o; cksum h.o", "gcc", children=True),
    Case("clang", "clang -O2 -w -c $D/hostile.c -o h.o; cksum h.o", "clang", children=True),
    Case("xmllint", "exec xmllint --format big.xml", "xmllint"),
    Case("bash", "exec bash $D/work.sh", "bash", children=True),
    Case("C++", "exec $D/cxx", "$D/cxx"),
    Case("its own malloc", "exec $D/own-malloc", "$D/own-malloc",
         says="has an allocator of its own, which is recorded: malloc"),
    Case("C++ with jemalloc", "exec $D/cxx-jemalloc", "$D/cxx-jemalloc"),
    Case("C++ with tcmalloc", "exec $D/cxx-tcmalloc", "$D/cxx-tcmalloc"),
    Case("static", "$D/cxx-static", "$D/cxx-static", direct=True,
         says="is statically linked; recorded are malloc"),
    Case("set-uid", "$D/set-uid exit", "$D/set-uid", trace=None, direct=True,
         says="it is set-user-id"),
    Case("no room on the disk", "exec $D/cxx", "$D/cxx", trace=False, output="/dev/full",
         says="recording has ended|No space left"),
]

MORE = [
    Case("python threads", "exec /usr/bin/python3 $D/work.py threads", "/usr/bin/python3"),
    Case("python fork", "exec /usr/bin/python3 $D/work.py fork", "/usr/bin/python3",
         children=True),
    Case("python spawn", "exec /usr/bin/python3 $D/work.py spawn", "/usr/bin/python3",
         children=True),
    Case("python subprocess", "exec /usr/bin/python3 $D/work.py subprocess", "/usr/bin/python3",
         children=True),
    Case("perl fork", "exec perl -e 'for (1..5) { my $p = fork; exit $_ unless $p; "
         "waitpid $p, 0; print $? >> 8, qq(\\n) }'", "perl", children=True),
    Case("perl threads", "exec perl -Mthreads -e 'print $_->join, qq(\\n) for "
         "map { my $n = $_; async { my @a = (1..1000 * $n); scalar @a } } 1..8'", "perl"),
    Case("git gc", "cp -r $D/repository r; exec git -C r gc -q", "git", children=True),
    Case("git log", "exec git -C $D/repository log --stat", "git"),
    Case("make -j2", "exec make -s -j2 -f $D/work.mk", "make gcc", children=True),
    Case("C++ under asan", "ASAN_OPTIONS=allocator_may_return_null=1:$ASAN_OPTIONS exec "
         "$D/hostile-asan fork", "$D/hostile-asan"),
    Case("jemalloc behind", "LD_PRELOAD=$LD_PRELOAD:libjemalloc.so.2 exec $D/cxx",
         "$D/cxx-jemalloc"),
    Case("jemalloc in front", "LD_PRELOAD=libjemalloc.so.2:$LD_PRELOAD exec $D/cxx",
         "$D/cxx-jemalloc", says="has an allocator of its own, which is recorded: malloc"),
    Case("tcmalloc behind", "LD_PRELOAD=$LD_PRELOAD:libtcmalloc_minimal.so.4 exec $D/cxx",
         "$D/cxx-tcmalloc"),
    Case("tcmalloc in front", "LD_PRELOAD=libtcmalloc_minimal.so.4:$LD_PRELOAD exec $D/cxx",
         "$D/cxx-tcmalloc", says="has an allocator of its own, which is recorded: malloc"),
    Case("rustc", "rustc --edition 2021 -O -o shapes $D/shapes.rs; ./shapes", "rustc",
         children=True),
    Case("java", "exec java -version", "java"),
    Case("ocaml", "exec ocaml $D/work.ml", "ocaml"),
    Case("ruby", "exec ruby -e 'puts (1..50000).map { |i| i.to_s }.join.size; "
         "p Process.wait2(fork { exit 3 })[1].exitstatus'", "ruby", children=True),
    Case("php", "exec php -r '$a=[]; for ($i=0; $i<50000; $i++) $a[]=\"x$i\"; echo count($a);'",
         "php"),
    Case("lua", "exec lua5.4 -e 'local t={} for i=1,100000 do t[i]=tostring(i) end print(#t)'",
         "lua5.4"),
    Case("tclsh", "echo 'for {set i 0} {$i < 20000} {incr i} {lappend l x$i}; puts [llength $l]' "
         "> l.tcl; exec tclsh l.tcl", "tclsh"),
    Case("vim", "exec vim -u NONE -es -c 'normal ofoo' -c '%s/o/a/g' -c '%p' -c q!", "vim"),
    Case("curl", "exec curl -s file://$D/work.sql", "curl"),
    Case("tar and zstd", "tar -C $D -cf - repository | zstd -q -T2 | zstd -dq | tar -tf -",
         "tar zstd git", children=True),
    Case("gdb", "exec gdb -nx --batch -ex 'info functions do_' $D/hostile", "gdb"),
    Case("sort", "exec sort --parallel=2 -S 1M big.json", "sort"),
    Case("xz", "exec xz -T2 -kc $D/big.json", "xz"),
    Case("find", "exec find /etc -xdev -maxdepth 3 -name '*.conf'", "find"),
    Case("its own pools", "exec $D/pools 200 taken threads", "$D/pools"),
    Case("its own pools, forked", "exec $D/pools 50 silent fork", "$D/pools", children=True),
    Case("heaptrack's names", "exec $D/heaptrack 5000", "$D/heaptrack"),
    Case("heaptrack beside", f"LD_PRELOAD=$LD_PRELOAD:{HEAPTRACK} DUMP_HEAPTRACK_OUTPUT=theirs "
         "exec $D/heaptrack 5000", f"$D/heaptrack {HEAPTRACK}"),
    Case("mimalloc behind", "LD_PRELOAD=$LD_PRELOAD:libmimalloc.so.2.0 exec $D/cxx", "$D/cxx-mimalloc"),
    Case("mimalloc in front", "LD_PRELOAD=libmimalloc.so.2.0:$LD_PRELOAD exec $D/cxx",
         "$D/cxx-mimalloc", says="has an allocator of its own, which is recorded: malloc"),
    Case("jemalloc and python", "LD_PRELOAD=$LD_PRELOAD:libjemalloc.so.2 exec /usr/bin/python3 $D/work.py",
         "/usr/bin/python3 $D/cxx-jemalloc"),
    Case("python asyncio", "exec /usr/bin/python3 $D/asyncs.py", "/usr/bin/python3"),
    Case("python sqlite3", "exec /usr/bin/python3 $D/asyncs.py sqlite", "/usr/bin/python3"),
    Case("ocamlfind ocamlopt", "cp $D/work.ml . && ocamlfind ocamlopt -package unix -linkpkg work.ml -o w; ./w",
         "ocamlfind ocamlopt gcc", children=True),
    Case("ocamlc", "cp $D/work.ml . && ocamlc -o w work.ml && exec ./w", "ocamlc", children=True),
    Case("fd", "exec fdfind --threads 1 . $D/repository", "fdfind"),
    Case("ripgrep", "exec rg -j 2 --sort path -c item big.json $D/work.sql", "rg"),
    Case("luajit", "exec luajit -e 'local t={} for i=1,100000 do t[i]=tostring(i) end print(#t)'", "luajit"),
    Case("neovim", "HOME=. exec nvim --headless -u NONE -i NONE -n -S $D/work.lua", "nvim"),
    Case("luacheck", "exec luacheck --no-color --no-cache $D/work.lua $D/grammar.lua", "luacheck", children=True),
    *(Case(f"lpeg in {lua}", f"exec {lua} $D/grammar.lua", f"{lua} {folder}/lpeg.so")
      for lua, folder in (("lua5.4", f"{LUA_MODULES}/5.4"), ("luajit", f"{LUA_MODULES}/5.1"))),
    Case("node workers", "exec node $D/workers.js", "node", stderr=False),
    Case("psql", "psql --help | head -3; psql -h /nowhere -c 'select 1'; echo $?", "psql", children=True),
    Case("ffmpeg", "ffmpeg -version | head -1; exec ffmpeg -v error -f lavfi -i testsrc=d=1:s=160x120 "
         "-f rawvideo -pix_fmt gray - </dev/null", "ffmpeg", children=True),
    Case("cmake", "mkdir p && echo 'project(x NONE)\nmessage(STATUS done)' > p/CMakeLists.txt && "
         "exec cmake -S p -B b", "cmake", children=True),
    Case("clang++", "clang++ -O1 -w -c $D/work.cc -o w.o && cksum w.o", "clang++", children=True),
    Case("javac and java", "cp $D/Work.java . && javac Work.java && exec java -Xint Work", "javac java",
         children=True, stderr=False),
    Case("java, compiled just in time", "exec java -Xmx64m $D/Work.java", "java", children=True, stderr=False),
    Case("go", "$D/go-work", "$D/go-work", direct=True, says="is a Go program .*recording Go's heap profile"),
    Case("gpg", "exec gpg --homedir . --no-permission-warning --print-md sha256 big.json", "gpg"),
    Case("openssl", "exec openssl dgst -sha256 big.json", "openssl"),
    Case("ninja", "echo 'rule r\n command = cp $in $out\nbuild b: r big.json' > build.ninja && exec ninja", "ninja",
         children=True),
    Case("objdump", "exec objdump -d $D/hostile", "objdump"),
    Case("zsh", "exec zsh -f $D/work.sh", "zsh", children=True, stderr=False),
    Case("fish", "exec fish --no-config -c 'for i in (seq 200); echo $i | string replace 1 x; end; math 2^10'", "fish",
         children=True),
    Case("tmux", "exec tmux -V", "tmux"),
    Case("memcached", "exec memcached -V", "memcached"),
    Case("gawk", "exec gawk 'BEGIN { for (i = 0; i < 50000; i++) a[i] = i \"x\"; print length(a) }'", "gawk"),
    Case("guile", "exec guile --no-auto-compile -c '(display (length (iota 100000)))'", "guile"),
    Case("busybox", "exec busybox sort big.json", "busybox"),
    Case("cargo", "exec cargo --version --verbose", "cargo", children=True),
    Case("strace", "exec strace -c -o /dev/null true", "strace", children=True),
    Case("valgrind", "exec valgrind -q --error-exitcode=9 /bin/true", "valgrind", children=True),
]


GO = """package main
import "fmt"
func main() { s := []string{}; for i := 0; i < 10000; i++ { s = append(s, fmt.Sprint(i)) }; fmt.Println(len(s)) }
"""


@dataclass
class Verdict:
    """What became of a program."""
    name: str
    summary: str = ""
    notes: list = field(default_factory=list)
    bad: list = field(default_factory=list)  # what is wrong
    skipped: str = ""  # why


class Wild:
    def __init__(self, build, rates, keep, budget):
        self.allotrace = build / "src/cli/allotrace"
        self.rates, self.top = rates, keep
        self.data = keep / "data"
        self.deadline = time.monotonic() + budget if budget else None

    # ---- inputs

    def compile(self, output, *command):
        done = subprocess.run([*command, "-o", str(self.data / output)], capture_output=True,
                              text=True)
        if done.returncode:
            print(f"# {output} was not built: {done.stderr.strip().splitlines()[-1:]}")

    def prepare(self):
        self.data.mkdir(parents=True, exist_ok=True)
        for name in ("work.py", "work.sql", "work.sh", "work.mk", "work.ml",
                     "work.js", "work.lua", "grammar.lua", "workers.js", "asyncs.py", "Work.java", "work.cc", "redis.sh", "hostile.c"):
            shutil.copy(HERE / name, self.data)
        shutil.copy(ROOT / "tests/programs/shapes.rs", self.data)
        hostile = ["gcc", "-O1", "-g", "-w", "-fno-builtin", str(HERE / "hostile.c"), "-pthread",
                   "-ldl"]
        self.compile("hostile", *hostile)
        self.compile("hostile-asan", *hostile, "-fsanitize=address")
        self.compile("own-malloc", "gcc", "-O1", "-w", "-fno-builtin", "-falign-functions=16", "-rdynamic",
                     str(ROOT / "tests/native/target_own_malloc.c"))
        pools = ["gcc", "-O1", "-g", "-w", f"-I{ROOT / 'include'}", "-pthread", "-ldl"]
        self.compile("pools", *pools, str(ROOT / "tests/native/target_pools.c"))
        self.compile("heaptrack", *pools, str(ROOT / "tests/native/target_heaptrack.c"))
        self.make_set_uid()
        if shutil.which("g++"):
            cxx = ["g++", "-O1", "-g", str(HERE / "work.cc"), "-pthread", "-ldl"]
            self.compile("cxx", *cxx)
            self.compile("cxx-jemalloc", *cxx, "-Wl,--no-as-needed", "-l:libjemalloc.so.2")
            self.compile("cxx-tcmalloc", *cxx, "-Wl,--no-as-needed", "-l:libtcmalloc_minimal.so.4")
            self.compile("cxx-mimalloc", *cxx, "-Wl,--no-as-needed", "-l:libmimalloc.so.2.0")
            self.compile("cxx-static", *cxx, "-static", "-DSTATIC")
        if shutil.which("go"):
            (self.data / "work.go").write_text(GO)
            self.compile_go()
        items = [{"id": i, "name": f"item {i}", "tags": ["a", "b", str(i)]} for i in range(8000)]
        (self.data / "big.json").write_text(json.dumps(items, indent=1))
        (self.data / "big.xml").write_text("<r>" + "".join(
            f'<e i="{i}"><n>x{i}</n></e>' for i in range(8000)) + "</r>")
        if shutil.which("git"):
            self.make_repository()

    def compile_go(self):
        env = dict(os.environ, CGO_ENABLED="0", GOCACHE=str(self.data / "go"), GO111MODULE="off")
        subprocess.run(["go", "build", "-o", "go-work", "work.go"], cwd=self.data, env=env, capture_output=True)

    def make_set_uid(self):
        """A program that runs with the rights of another user."""
        program = self.data / "set-uid"
        if os.geteuid() == 0:
            shutil.copy(self.data / "hostile", program)
            os.chown(program, pwd.getpwnam("nobody").pw_uid, -1)
            os.chmod(program, 0o4755)

    def make_repository(self):
        r = self.data / "repository"
        if r.exists():
            return
        env = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
                   GIT_COMMITTER_EMAIL="a@b")

        def git(*words):
            subprocess.run(["git", "-C", str(r), *words], env=env, check=True, capture_output=True)

        r.mkdir()
        git("init", "-q")
        for i in range(20):
            for j in range(10):
                (r / f"file{j}").write_text("\n".join(f"line {k} {i * j}" for k in range(200)))
            git("add", ".")
            git("commit", "-qm", f"commit {i}")

    def present(self, what):
        what = what.replace("$D", str(self.data))
        if what.startswith("/"):
            return os.path.exists(what)
        return shutil.which(what) is not None

    # ---- one run

    def folder(self, case, label):
        folder = self.top / re.sub(r"\W+", "-", case.name) / label
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("big.json", "big.xml"):
            os.symlink(self.data / name, folder / name)
        return folder

    def execute(self, case, label, rate=None):
        folder = self.folder(case, label)
        env = dict(os.environ, D=str(self.data), LC_ALL="C.UTF-8", HOME=str(folder),
                   RUSTUP_HOME=os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")))
        for name in ("MEMTRACE", "MEMTRACE_RATE", "LD_PRELOAD"):
            env.pop(name, None)
        env["LD_PRELOAD"] = ""
        command = ["/bin/sh", "-c", case.command]
        if case.direct:
            command = shlex.split(case.command.replace("$D", str(self.data)))
        if rate:
            (folder / "traces").mkdir()
            pattern = case.output or folder / "traces" / ("t.%p.ctf" if case.children else "t.ctf")
            options = ["--mmap"] if rate.endswith("+mmap") else []
            command = [str(self.allotrace), "run", "-r", rate.removesuffix("+mmap"), *options, "-o",
                       str(pattern), "--", *command]
        started = time.monotonic()
        p = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = p.communicate(timeout=TIMEOUT * (3 if rate and rate[0] == "1" else 1))
            status = p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
            status = "hang"
        said = [line.decode(errors="replace").strip() for line in OURS.findall(err)]
        place = str(folder).encode()
        return dict(status=status, out=out.replace(place, b"@"),
                    err=OURS.sub(b"", err).replace(place, b"@"), said=said,
                    seconds=time.monotonic() - started, folder=folder)

    @staticmethod
    def is_left(trace):
        """Whether nothing writes it any more; waits for what a program has left behind."""
        end = time.monotonic() + TIMEOUT
        with open(trace, "r+b") as file:
            while time.monotonic() < end:
                with contextlib.suppress(BlockingIOError, PermissionError):
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                time.sleep(0.01)
        return False

    def ask(self, command, trace, *options):
        """What a command says of a trace, and what is wrong with that."""
        done = subprocess.run([self.allotrace, command, *options, trace], capture_output=True,
                              text=True)
        trouble = f"{command} {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
        return done.stdout, [trouble] if done.returncode else []

    def ask_doctor(self, trace):
        """What is wrong with a trace, if not that it had to end before its program and says so."""
        text, trouble = self.ask("doctor", trace)
        return [] if ENDED_EARLY.search(text) and ": 1 defect\n" in text else trouble

    def judge_traces(self, folder):
        """Problems, the number of traces, their samples, and how many of these have a name."""
        problems, samples, named = [], 0, 0
        traces = sorted((folder / "traces").glob("*"))
        for trace in traces:
            if not self.is_left(trace):
                problems.append(f"{trace.name}: something writes it still")
            problems += self.ask_doctor(trace)
            text, trouble = self.ask("hotspots", trace, "--json", "--top", "100000",
                                     "--min-share", "0")
            problems += trouble
            for site in [] if trouble else json.loads(text)["hotspots"]:
                samples += site["samples"]
                if not re.search(r"^0x|^\[|\+0x|^$", site.get("function") or ""):
                    named += site["samples"]
        return problems, len(traces), samples, named

    # ---- one program

    def compare(self, case, rate, plain, stable):
        """What the recording says of itself, and what is wrong with it."""
        got = self.execute(case, "rate-" + rate, rate)
        bad = []
        if got["status"] != plain["status"]:
            bad.append(f"status {got['status']} instead of {plain['status']}: "
                       f"{got['err'][-300:]!r}")
        for key in ("out", "err"):
            if stable[key] and got[key] != plain[key] and (key == "out" or case.stderr):
                bad.append(f"{key}: {self.difference(plain[key], got[key])}")
        problems, n, samples, named = self.judge_traces(got["folder"])
        bad += problems
        if case.trace and rate[0:2] in ("1", "1+") and not samples:
            bad.append(f"nothing was recorded; it said {got['said']}")
        if case.trace is None and n:
            bad.append("something was recorded")
        if case.says and not any(re.search(case.says, line) for line in got["said"]):
            bad.append(f"it did not say why: {got['said']}")
        notes = [f"{rate}: {got['seconds']:.1f} s, {n} files, {samples} samples"
                 + (f", {100 * named / samples:.0f}% named" if samples else "")]
        notes += ["said: " + line for line in got["said"] if not SUMMARY.match(line)]
        return notes, [f"rate {rate}: {b}" for b in bad]

    def case(self, case):
        """A Verdict on one program."""
        missing = [n for n in case.needs if not self.present(n)]
        if missing:
            return Verdict(case.name, skipped=f"no {', '.join(missing)}")
        if self.deadline and time.monotonic() > self.deadline:
            return Verdict(case.name, skipped="the time budget was used up")
        plain, again = self.execute(case, "plain"), self.execute(case, "again")
        stable = {k: plain[k] == again[k] for k in ("status", "out", "err")}
        verdict = Verdict(case.name, summary=f"{plain['seconds']:.1f} s plain, "
                          f"status {plain['status']}")
        unstable = [k for k, same in stable.items() if not same]
        if unstable:
            verdict.summary += f"; varies by itself: {' '.join(unstable)}"
        if not stable["status"]:
            verdict.bad.append(f"plain runs differ in status: {plain['status']} {again['status']}")
        for rate in self.rates:
            notes, bad = self.compare(case, rate, plain, stable)
            verdict.notes += notes
            verdict.bad += bad
        return verdict

    @staticmethod
    def difference(a, b):
        la, lb = a.splitlines(), b.splitlines()
        for i in range(max(len(la), len(lb))):
            x, y = la[i] if i < len(la) else None, lb[i] if i < len(lb) else None
            if x != y:
                return f"line {i + 1}: {x!r:.200} became {y!r:.200}"
        return "ends of lines"


def show(verdict):
    if verdict.skipped:
        print(f"skip  {verdict.name:<28} {verdict.skipped}", flush=True)
        return
    lines = [f"{'BAD ' if verdict.bad else 'ok  '}  {verdict.name:<28} {verdict.summary}"]
    lines += ["        " + note for note in verdict.notes]
    lines += ["    !!! " + bad for bad in verdict.bad]
    print("\n".join(lines), flush=True)


def show_tap(number, verdict):
    said = "# SKIP " + verdict.skipped if verdict.skipped else ""
    print(f"{'not ' if verdict.bad else ''}ok {number} - {verdict.name} {said}".rstrip(), flush=True)
    for line in [*verdict.notes, *verdict.bad] if verdict.bad else []:
        print("# " + line.replace("\n", "\n# "), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rates", default="1e-5,0.1,1", help="1+mmap: with what programs map, too")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, help="seconds")
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wild.") as folder:
        wild = Wild(args.build.resolve(), args.rates.split(","), args.keep or pathlib.Path(folder),
                    args.budget)
        wild.prepare()
        cases = [c for c in [*COMMON, *hostile_cases(wild.data / "hostile"), *MORE]
                 if not args.names or any(re.search(n, c.name) for n in args.names)]
        if args.tap:
            print(f"1..{len(cases)}")
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            verdicts = []
            for verdict in pool.map(wild.case, cases):
                verdicts.append(verdict)
                show_tap(len(verdicts), verdict) if args.tap else show(verdict)
    n_bad = sum(bool(v.bad) for v in verdicts)
    if not args.tap:
        n_skipped = sum(bool(v.skipped) for v in verdicts)
        print(f"{n_bad} programs were disturbed, or their traces are damaged; "
              f"{len(verdicts) - n_bad - n_skipped} were not; {n_skipped} were skipped")
    return n_bad > 0


if __name__ == "__main__":
    sys.exit(main())
