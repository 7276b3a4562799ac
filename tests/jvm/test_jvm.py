#!/usr/bin/python3
"""Records Java programs as they are, and judges what they did and what the traces say. Prints TAP.

    test_jvm.py LIBRARY ALLOTRACE BUILT [TEST...]

Each test runs with each JDK of version 17 or later that is found: that on the PATH, those below
/usr/lib/jvm, and those that the variable JDKS names, separated by colons. BUILT is `yes` if the
recorder knows of Java.
"""
import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import decode  # noqa: E402
import tap  # noqa: E402
from recording import Recorder, births, children, executable_of, patiently, run  # noqa: E402
from tap import same, test  # noqa: E402

LIBRARY, ALLOTRACE = map(os.path.abspath, sys.argv[1:3])
RECORDER = Recorder(LIBRARY)


# ---- JDKs


@functools.lru_cache(None)
def version_of(home):
    """Of a JDK of HotSpot's; None if it is none."""
    done = subprocess.run([f"{home}/bin/java", "-version"], stderr=subprocess.PIPE)
    text = done.stderr.decode()
    found = re.search(r'version "(\d+)', text)
    return int(found.group(1)) if found and ("OpenJDK" in text or "HotSpot" in text) else None


def jdks():
    """Where they are, by their versions."""
    javac = shutil.which("javac")
    homes = os.environ.get("JDKS", "").split(":")
    homes += [os.path.dirname(os.path.dirname(os.path.realpath(javac)))] if javac else []
    homes += sorted(map(str, pathlib.Path("/usr/lib/jvm").glob("*")))
    found = {}
    for home in homes:
        if home and os.path.exists(f"{home}/bin/javac"):
            version = version_of(os.path.realpath(home))
            if version and version >= 17:
                found.setdefault(version, os.path.realpath(home))
    return found


class Jdk:
    def __init__(self, home):
        self.home, self.java = home, f"{home}/bin/java"
        self.version = version_of(home)

    def compile(self, name):
        subprocess.run([f"{self.home}/bin/javac", "-g", "-d", ".", HERE / f"{name}.java"], check=True)

    def compile_c(self, name, out, *flags):
        """With this JDK's headers."""
        include = f"{self.home}/include"
        subprocess.run(["cc", "-g", f"-I{include}", f"-I{include}/linux", HERE / name, "-o", out,
                        *flags], check=True)


# ---- traces


Block = collections.namedtuple("Block", "words samples type frames is_freed domain")


class Trace:
    """Its Java objects; a frame is `function@file:line`, outermost first."""

    def __init__(self, path="t.ctf"):
        self.blocks, self.marks, self.n_malloc = [], collections.Counter(), 0
        self.threads = collections.defaultdict(set)
        for event, names, is_freed, domain in births(path):
            length, samples, source = event[3:6]
            if samples == 0:
                self.marks[names[-1].split("@")[0]] += "@<mark>" in names[-1]
                if "@<thread>" in names[-1]:
                    self.threads[names[-1].split("@")[0]].add(domain)
            elif source != decode.SOURCES.index("alloc_major"):
                self.n_malloc += 1
            else:
                self.add(length + 1, samples, names, is_freed, domain)

    def add(self, words, samples, names, is_freed, domain):
        kind = [n.split("@")[0] for n in names if "@<type>" in n]
        same(len(kind), 1, f"types of {names}")
        frames = [re.sub(r":\d+-\d+$", "", n) for n in names if "@<type>" not in n]
        self.blocks.append(Block(words, samples, kind[0], frames, is_freed, domain))

    def of(self, name):
        return [b for b in self.blocks if b.type == name]

    def below(self, function):
        return [b for b in self.blocks if any(f.startswith(function + "@") for f in b.frames)]


def record(command, **options):
    """Records a run that must look like a plain one, but for `err`; gives its trace."""
    RECORDER.compare(command, **options)
    return Trace()


# ---- tests


COLLECTORS = "G1", "Serial", "Parallel", "Z", "Shenandoah"


def bytes_are_as_the_jvm_says(command):
    done = RECORDER.run(command, jvm="heap")
    same(done.status, 0, done.err)
    blocks = Trace().below("Counts.work")
    same(sum(b.words for b in blocks) * 8, int(done.err), "bytes of the thread")
    assert all(b.samples == b.words for b in blocks), "samples"


@test
def every_object_is_counted_once(jdk):
    jdk.compile("Counts")
    for rounds in 10, 1000, 30000:
        bytes_are_as_the_jvm_says([jdk.java, "Counts", rounds])
    for flag in "-Xint", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-XX:-UseTLAB":
        bytes_are_as_the_jvm_says([jdk.java, flag, "-XX:+UseG1GC", "Counts", 5000])


@test
def with_any_collector(jdk):
    jdk.compile("Counts")
    for name in COLLECTORS:
        flag = f"-XX:+Use{name}GC"
        if run([jdk.java, flag, "-version"]).status == 0:
            bytes_are_as_the_jvm_says([jdk.java, flag, "-Xmx200m", "Counts", 5000])


# Java's own stacks leave these out, as they are marked so; nothing tells an agent of that mark.
HIDDEN = "jdk.internal.reflect.DirectMethodHandleAccessor.invokeImpl@", "java.lang.Thread.runWith@"


def simple(frame):
    """As Java prints it: without the folder of the file. A file that is not known is null there."""
    function, _, place = frame.partition("@")
    file, _, line = place.rpartition(":")
    return f"{function}@{file.rpartition('/')[2] or 'null'}:{line}"


@test
def stacks_are_those_that_java_has(jdk):
    jdk.compile("Stacks")
    done = RECORDER.run([jdk.java, "Stacks"], jvm="heap", depth="1000")
    same((done.status, done.err), (0, ""), "the run")
    trace = Trace()
    got = {b.words: [simple(f) for f in reversed(b.frames) if not f.startswith(HIDDEN)]
           for b in trace.of("long[]")}
    witnessed = [line.split(" ") for line in done.out.splitlines()]
    assert len(witnessed) > 30, "the witness has seen little"
    for words, *frames in witnessed:
        same(got[int(words)], frames, f"the stack of {words} words")
    hot = trace.of("Stacks$Hot")
    same(len(hot), 30000, "objects")
    for b in hot:
        same([f.split("@")[0] for f in b.frames], ["Stacks.main"] + 6 * ["Stacks.hot"], "frames")


@test
def stacks_are_cut_at_the_depth(jdk):
    jdk.compile("Stacks")
    for depth in 1, 5, 1000:
        done = RECORDER.run([jdk.java, "Stacks"], jvm="heap", depth=str(depth))
        same((done.status, done.err), (0, ""), "the run")
        frames = [f.split("@")[0] for f in Trace().of("Stacks$Hot")[0].frames]
        whole = ["Stacks.main"] + 6 * ["Stacks.hot"]
        same(frames[-depth:], whole[-depth:], "frames")
        same(frames[0], "[deeper" if depth < len(whole) else whole[0], "the outermost")


@test
def objects_die_when_they_are_collected(jdk):
    jdk.compile("Life")
    trace = record([jdk.java, "Life"])
    dead = {name: collections.Counter(b.is_freed for b in trace.of(f"Life${name}"))
            for name in ("Kept", "Dropped", "InMap[]")}
    same(dead, {"Kept": {False: 2000}, "Dropped": {True: 1000, False: 1000},
                "InMap[]": {False: 200}}, "what is gone")
    assert trace.marks["GC"] >= 3, trace.marks


@test
def classes_that_are_unloaded_keep_their_names(jdk):
    jdk.compile("Unload")
    trace = record([jdk.java, "-Xlog:disable", "Unload"])
    for name in "A", "B":
        items = trace.of(f"Unload${name}$Item")
        same((len(items), {simple(b.frames[-1]) for b in items}),
             (500, {f"Unload${name}.run@Unload.java:{15 if name == 'A' else 28}"}), "objects")


@test
def threads_are_told_apart(jdk):
    jdk.compile("Threads")
    done = RECORDER.run([jdk.java, "Threads", 40, 500])
    same((done.status, done.err), (0, ""), "the run")
    trace = Trace()
    items = trace.of("Threads$Item")
    same(len(items), 40 * 500, "objects")
    assert len({b.domain for b in items}) >= 10, "threads"
    if "true" in done.out:
        virtual = trace.of("Threads$Virtual")
        same(len(virtual), 40 * 500, "objects of virtual threads")
        assert all("Threads.workVirtually@" in b.frames[-1] for b in virtual), virtual[0].frames


@test
def ends_are_what_they_are(jdk):
    jdk.compile("Ends")
    items = {"hook": 1100}
    for how in ("exit", "halt", "throw", "hook", "memory", "overflow", "arguments", "none"):
        trace = record([jdk.java, "-Xmx80m", "-Xss1m", "Ends", how])
        same(len(trace.of("Ends$Item")), items.get(how, 1000), f"{how}: objects")
        assert trace.n_malloc > 1000, "malloc is not recorded"
    assert len(record([jdk.java, "Ends", "daemon"]).of("Ends$Item")) >= 1000


@test
def killed_programs_leave_their_objects(jdk):
    jdk.compile("Ends")
    for sig, status in (signal.SIGKILL, -9), (signal.SIGTERM, 143):
        env = os.environ | {"ALLOTRACE_PRELOAD": LIBRARY}
        command = [ALLOTRACE, "run", "-q", "-r", "1", "-o", "t.ctf", "--", jdk.java, "Ends", "wait"]
        with subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE) as program:
            same(program.stdout.readline(), "waits\n", "what it says")
            for pid in children(program.pid):
                if (executable_of(pid) or "").endswith("/java"):
                    os.kill(pid, sig)
            same(program.wait(), status, "status")
        same(len(Trace().of("Ends$Item")), 1000, "objects")


def renamed(jdk):
    """The same JVM, by the name of another one."""
    subprocess.run(["cp", "-as", jdk.home, "renamed"], check=True)
    for file in "bin/java", "lib/server/libjvm.so":
        os.unlink(f"renamed/{file}")
        shutil.copy(f"{jdk.home}/{file}", f"renamed/{file}")
    library = pathlib.Path("renamed/lib/server/libjvm.so")
    library.chmod(0o644)
    name, other = b"OpenJDK 64-Bit Server VM", b"Eclipse OpenJ9 VM"
    library.write_bytes(library.read_bytes().replace(name, other.ljust(len(name))))
    return Jdk(f"{os.getcwd()}/renamed")


@test
def of_other_jvms_malloc_is_recorded(jdk):
    jdk.compile("Ends")
    done = RECORDER.run([renamed(jdk).java, "-Xshare:off", "Ends", "exit"])
    same(done.err.count("its JVM is no HotSpot of Java 11 or later, so its objects are not recorded"), 1, done.err)
    plain = run([jdk.java, "Ends", "exit"])
    same((done.status, done.out), (plain.status, plain.out), done.err)
    trace = Trace()
    assert trace.n_malloc > 1000, trace.n_malloc
    same(trace.blocks, [], "objects")


@test
def samples_estimate_what_there_is(jdk):
    jdk.compile("Many")
    for rate in 0.1, 1e-3, 1e-4:
        done = RECORDER.run([jdk.java, "-Xmx200m", "Many"], jvm="heap", rate=str(rate))
        same((done.status, done.err), (0, ""), "the run")
        trace = Trace()
        for method, words in (line.split() for line in done.out.splitlines()):
            samples = sum(b.samples for b in trace.below(f"Many.{method}")
                          if b.type in ("int[]", "long[]", "byte[]"))
            expected = rate * int(words)
            # New threads draw the same numbers, one after the other, unless the recorder draws all.
            alike = 400 if method == "inThread" and rate < 1 / 32 else 1
            assert abs(samples - expected) < 5.5 * (alike * expected) ** 0.5, \
                f"{rate}: {method}: {samples} samples, not {expected}"


@test
def what_is_not_wanted_is_not_recorded(jdk):
    jdk.compile("Ends")
    for setting, java, malloc in ("heap", True, False), ("malloc", False, True), ("both", True, True):
        trace = record([jdk.java, "Ends", "none"], jvm=setting)
        same((len(trace.of("Ends$Item")), trace.n_malloc > 1000), (1000 * java, malloc), setting)


@test
def another_agent_keeps_its_sampler(jdk):
    jdk.compile("Ends")
    jdk.compile_c("other.c", "libother.so", "-shared", "-fPIC")
    path = os.path.realpath(jdk.java)
    said = (f"allotrace: {path}: its JVM does not let its objects be sampled, or lets another agent, "
            "so they are not recorded\n")
    trace = record([jdk.java, "-agentpath:./libother.so", "Ends", "none"], err=said)
    same((trace.blocks, trace.n_malloc > 1000), ([], True), "blocks")


@test
def programs_that_embed_java_are_recorded(jdk):
    folder = f"{jdk.home}/lib/server"
    jdk.compile("Ends")
    jdk.compile_c("embed.c", "embed", f"-L{folder}", "-ljvm", f"-Wl,-rpath,{folder}")
    trace = record(["./embed", "Ends", "none"])
    same(len(trace.of("Ends$Item")), 1000, "objects")


# ---- attached


JOINED = b"Java's objects are recorded from here on"


class Served:
    """A program that runs, and does what it is told."""

    def __init__(self, jdk, *flags, command=None, first="ready"):
        jdk.compile("Served")
        self.err = open("err", "w+")
        self.program = subprocess.Popen(command or [jdk.java, *flags, "-Xmx200m", "Served"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err)
        self.pid = self.program.pid
        same(self.program.stdout.readline(), first + "\n", "what it says first")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.program.stdin.close()
        same((self.program.stdout.read(), self.program.wait()), ("", 0), "what it says last")
        self.err.seek(0)
        same(self.err.read(), "", "its standard error")

    def do(self, work, n=0, answer="done"):
        self.program.stdin.write(f"{work} {n}\n")
        self.program.stdin.flush()
        same(self.program.stdout.readline(), answer + "\n", f"what it says to {work}")

    def threads(self):
        names = []
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
                names.append(pathlib.Path(f"/proc/{self.pid}/task/{thread}/comm").read_text().strip())
        return names

    def attach(self, rate="1", joined=JOINED):
        command(ALLOTRACE, "attach", "-q", "-r", rate, "-o", "t.ctf", self.pid)

        def has_joined():
            command(ALLOTRACE, "ctl", self.pid, "flush")
            return joined in pathlib.Path("t.ctf").read_bytes()
        patiently(has_joined, "the mark", 120)

    def drop(self, n):
        """Waits until the JVM has told of all n: it does so some time after the collection."""
        self.do("drop")

        def are_gone():
            command(ALLOTRACE, "ctl", self.pid, "flush")
            with contextlib.suppress(decode.Malformed):  # while it is written
                return sum(b.is_freed for b in Trace().of("Served$Item")) >= n
        patiently(are_gone, f"the ends of {n} objects", 120)

    def detach(self):
        command(ALLOTRACE, "detach", "-q", self.pid)
        patiently(lambda: "allotrace" not in self.threads(), "the end of the recorder's thread", 120)
        return Trace()


def command(*words):
    done = run(words)
    same((done.status, done.out.count("rror"), done.err), (0, 0, ""), f"{words[1]}")


@test
def programs_that_run_are_attached_to_and_left(jdk):
    with Served(jdk) as program:
        for _ in range(3):
            program.attach()
            program.do("make", 1000)
            program.drop(1000)
            program.do("make", 500)
            trace = program.detach()
            program.do("make", 1000)
            program.do("drop")
            items = trace.of("Served$Item")
            same((len(items), collections.Counter(b.is_freed for b in items)),
                 (1500, {True: 1000, False: 500}), "objects, and which are gone")
            same({simple(b.frames[-1]) for b in items}, {"Served.make@Served.java:20"}, "where")
            same((trace.of("Served$Early"), trace.n_malloc > 100), ([], True), "other blocks")


@test
def a_recorder_that_was_there_before_the_jvm_finds_it(jdk):
    jdk.compile_c("embed.c", "embed", f'-DLIBJVM="{jdk.home}/lib/server/libjvm.so"')
    with Served(jdk, command=["./embed", "Served"], first="early") as program:
        command(ALLOTRACE, "attach", "-q", "-o", "t.ctf", program.pid)
        program.detach()
        program.do("begin", answer="ready")
        program.attach()
        program.do("make", 1000)
        same(len(program.detach().of("Served$Item")), 1000, "objects")


@test
def attached_samples_estimate_what_there_is(jdk):
    with Served(jdk) as program:
        for rate in 1e-3, 1e-4:
            program.attach(str(rate))
            program.do("fill", 20)  # until its buffer and its first gap are behind it
            program.do("fill", 200)
            trace = program.detach()
            samples, expected = sum(b.samples for b in trace.of("byte[]")), rate * 220e6 / 8
            assert abs(samples - expected) < 5.5 * expected ** 0.5 + rate * 8e6 / 8, \
                f"{rate}: {samples} samples, not {expected}"


@test
def attached_while_the_jvm_starts(jdk):
    jdk.compile("Served")
    for wait in 0.01, 0.03, 0.1:
        with subprocess.Popen([jdk.java, "Served"], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
            time.sleep(wait)
            run([ALLOTRACE, "attach", "-q", "-r", "1", "-o", "t.ctf", program.pid])
            same(program.stdout.readline(), "ready\n", "what it says")
            program.stdin.close()
            same((program.stdout.read(), program.wait()), ("", 0), "the end")


@test
def attached_another_agent_keeps_its_sampler(jdk):
    jdk.compile_c("other.c", "libother.so", "-shared", "-fPIC")
    with Served(jdk, "-agentpath:./libother.so") as program:
        program.attach(joined=b"its JVM does not let its objects be sampled, or lets another agent")
        program.do("make", 1000)
        trace = program.detach()
        same((trace.blocks, trace.n_malloc > 100), ([], True), "blocks")


def main():
    if sys.argv[3] != "yes":
        print("1..0 # SKIP the recorder was built without a JDK")
        return 0
    found = jdks()
    if not found:
        print("1..0 # SKIP there is no JDK")
        return 0
    tests = [(f"{version}: {tap.plain(t.__name__)}", functools.partial(t, Jdk(home)))
             for version, home in sorted(found.items()) for t in tap.TESTS]
    return tap.main(sys.argv[4:], tests)


if __name__ == "__main__":
    sys.exit(main())
