#!/usr/bin/python3
"""Records programs that are linked statically, or with musl. Prints TAP.

    test_static.py ALLOTRACE LIBRARY SOURCE [TEST...]
"""
import collections
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, SOURCE = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE", "LD_PRELOAD"))}
ENVIRONMENT |= {"ALLOTRACE_PRELOAD": LIBRARY, "TARGET_VARIABLE": "some value"}
FLAGS = ["-O1", "-g", "-fno-inline", "-fno-builtin", "-w", "-pthread"]
MUSL = "/usr/lib/x86_64-linux-musl"
KINDS = {  # compiler, what stands before the source, what stands behind it
    "static": ("cc", ["-static", "-no-pie", "-fno-pie"], []),
    "static-pie": ("cc", ["-static-pie", "-fPIE"], []),
    "musl static": ("musl-gcc", ["-static"], []),
    "musl static-pie": ("cc", ["-static-pie", "-fPIE", "-nostdlib", "-nostdinc", "-isystem", "/usr/include/x86_64-linux-musl",
                               f"{MUSL}/rcrt1.o", f"{MUSL}/crti.o"], [f"{MUSL}/libc.a", "-lgcc", f"{MUSL}/crtn.o"]),
    "musl": ("musl-gcc", [], [])}

CXX = r"""
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>
extern "C" __attribute__((noinline)) void *site_new(size_t n) { return new char[n]; }
struct alignas(128) wide { char bytes[384]; };
extern "C" __attribute__((noinline)) wide *site_wide() { return new wide; }
int main() {
    for (int i = 0; i < 100; i++) {
        delete[] (char *)site_new(40101);
        ::operator delete(::operator new(40201));
        delete site_wide();
    }
    try {
        printf("%p\n", site_new((size_t)1 << 62));
    } catch (std::bad_alloc &) {
        puts("bad_alloc");
    }
    try {
        throw std::runtime_error("thrown");
    } catch (std::exception &e) {
        puts(e.what());
    }
    std::thread([] { free(site_new(40301)); }).join();
}
"""


def run(*command, **how):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, **how)
    return done.returncode, done.stdout, done.stderr


def compiled(kind, source=SOURCE, out="./program", *more):
    """A program of that kind; skips the test where there is no compiler for it."""
    compiler, before, behind = KINDS[kind]
    if not shutil.which("musl-gcc" if "musl" in kind else compiler):
        raise Skip(f"needs {compiler}")
    subprocess.run([compiler, *FLAGS, *more, *before, source, *behind, "-o", out], check=True, capture_output=True)
    return out


def in_each_kind(function):
    """Makes a test of each kind of it."""
    for kind in KINDS:
        def one(kind=kind):
            return function(kind)
        one.__name__ = f"{kind.replace('-', '_').replace(' ', '_')}: {function.__name__}"
        test(one)


def recorded(program, *words, rate="1", trace="t.ctf", options=()):
    """Runs it plain and recorded, which must look the same; gives what was said."""
    for _ in range(3):
        plain = run(program, *words)
        status, out, err = run(ALLOTRACE, "run", "--rate", rate, *options, "-o", trace, "--", program, *words)
        # With threads, musl 1.2.3's malloc sometimes crashes, also unrecorded: in one of some thousand runs.
        if "threads" not in words or -signal.SIGSEGV not in (status, plain[0]):
            break
    same((status, out), plain[:2], err)
    return err


def blocks_of(trace="t.ctf"):
    """Each block: (bytes, functions from the outermost, died)."""
    status, text, err = run(ALLOTRACE, "dump", trace)
    same(status, 0, err)
    blocks, dead = {}, set()
    for line in text.splitlines():
        fields = line.split()
        if fields[2] == "collect":  # in another thread, an end may stand before its beginning
            dead.add(fields[1])
        elif fields[2].startswith("alloc"):
            frames = re.findall(r"(\S+?)@(\S*):\d+:\d+-\d+", line)
            if frames[-1][1] not in ("<gauge>", "<mark>", "<thread>"):
                names = [name for name, file in frames if file != "<type>"]
                blocks[fields[1]] = (int(fields[4].partition("=")[2]), names)
    info = run(ALLOTRACE, "info", trace)[1]
    assert "dropped" not in info, info
    return [(size, names, block in dead) for block, (size, names) in blocks.items()]


def counts(blocks):
    """How many there were of each size, in words, and how many died, by the innermost function."""
    found = collections.defaultdict(lambda: [0, 0])
    for size, names, died in blocks:
        found[size, names[-1]][0] += 1
        found[size, names[-1]][1] += died
    return {key: tuple(value) for key, value in found.items()}


def words(size):
    return (size + 7) // 8


def is_static(kind):
    return "static" in kind


def expect_counts(found, expected):
    """`expected`: bytes, function, how many, how many of them died."""
    for size, function, born, died in expected:
        same(found.get((words(size), function)), (born, died), f"{size} bytes in {function}")


@in_each_kind
def each_block_is_counted_once(kind):
    err = recorded(compiled(kind), "counts")
    same("is statically linked; recorded are malloc and" in err, is_static(kind), err)
    blocks = blocks_of()
    expect_counts(counts(blocks), [(40001, "site_a", 100, 100), (40100, "site_b", 100, 50), (40201, "site_a", 100, 100),
                                   (40301, "do_counts", 100, 50), (40401, "do_counts", 100, 100),
                                   (40512, "do_counts", 100, 100)])
    same(sum(1 for size, _, _ in blocks if size == words(17)), 100, "blocks of strdup")
    same(sum(1 for size, _, _ in blocks if size > 4000), 600, "large blocks")
    for size, names, _ in blocks:
        if names[-1].startswith("site"):
            same(names[-3:-1], ["main", "do_counts"], names)
    assert not any("linked" in n or "hook" in n for _, names, _ in blocks for n in names), "frames of ours"


@in_each_kind
def stacks_are_whole(kind):
    recorded(compiled(kind), "counts")
    for size, names, _ in blocks_of():
        if names[-1].startswith("site"):
            assert "unknown]" not in " ".join(names), names


@in_each_kind
def threads_are_recorded_and_have_their_variables(kind):
    recorded(compiled(kind), "threads")
    blocks = blocks_of()
    expect_counts(counts(blocks), [(30001, "site_a", 2000, 2000), (30100, "site_b", 40, 40)])
    assert all(names[-2:] == ["thread", "site_a"] for size, names, _ in blocks if size == words(30001))
    info = run(ALLOTRACE, "info", "t.ctf")[1]
    threads = int(re.search(r"threads +(\d+)", info)[1])
    assert 2 <= threads <= 9, info


@in_each_kind
def each_child_has_a_trace(kind):
    recorded(compiled(kind), "forks", trace="t.%p.ctf")
    found = []
    for trace in pathlib.Path().glob("t.*.ctf"):
        mine = [died for size, names, died in blocks_of(str(trace)) if size == words(20001)]
        found.append((len(mine), sum(mine)))
    same(sorted(found), [(0, 0), (20, 20), (21, 21), (22, 22)])


@in_each_kind
def however_it_ends_nothing_is_lost(kind):
    program = compiled(kind)
    recorded(program, "counts", "exec")  # the other program's trace takes the place of this one's
    expect_counts(counts(blocks_of("t.1.ctf")), [(40001, "site_a", 100, 100), (40100, "site_b", 100, 50)])
    for end in "quick", "abort", "kill", "system":
        recorded(program, "counts", end)
        expect_counts(counts(blocks_of()), [(40001, "site_a", 100, 100), (40100, "site_b", 100, 50)])


@in_each_kind
def signals_are_as_they_were(kind):
    def odd_signals():
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP, signal.SIGWINCH])
    program = compiled(kind)
    plain = run(program, "signals", "environment", preexec_fn=odd_signals)
    status, out, err = run(ALLOTRACE, "run", "-q", "--rate", "1", "-o", "t.ctf", "--", program, "signals", "environment",
                           preexec_fn=odd_signals)
    same((status, out), plain[:2], err)
    assert "100 signals" in out and "variables of the thread: good" in out and "TARGET_VARIABLE=some value" in out, out
    expect_counts(counts(blocks_of()), [(10001, "site_a", 100, 100)])


@in_each_kind
def samples_estimate_what_is_allocated(kind):
    recorded(compiled(kind), "much", rate="1e-3")
    blocks = [size for size, names, _ in blocks_of() if names[-1] == "site_a"]
    expected = 200000 * 126 * 1e-3  # words, with the allocator's own
    assert 0.9 * expected < len(blocks) < 1.1 * expected, (len(blocks), expected)


def static_kinds():
    return [kind for kind in KINDS if is_static(kind)]


@test
def a_stripped_one_runs_unrecorded_and_one_line_says_why():
    for kind in static_kinds():
        program = compiled(kind)
        subprocess.run(["strip", program], check=True)
        err = recorded(program, "counts")
        same(err, f"allotrace: warning: {program}: it is statically linked and stripped: no symbol names its malloc, so it runs "
                  "without being recorded; leave its symbols in it (no strip, no -s), or link it dynamically\n")
        assert not os.path.exists("t.ctf")


@test
def one_without_malloc_says_so():
    pathlib.Path("t.c").write_text("int main(void) { return 7; }")
    program = compiled("musl static", "t.c")
    err = recorded(program)
    same(err, f"allotrace: warning: {program}: it is statically linked, and no symbol names malloc and free, so it runs without "
              "being recorded; link it dynamically, or have its allocator write a heap profile for `allotrace import`\n")


@in_each_kind
def one_without_variables_of_threads_is_recorded(kind):
    recorded(compiled(kind, SOURCE, "./program", "-DNO_VARIABLES", "-O2"), "counts", "signals")
    expect_counts(counts(blocks_of()), [(40001, "site_a", 100, 100), (40100, "site_b", 100, 50), (10001, "site_a", 100, 100)])


@test
def one_that_allocates_nothing_has_a_trace():
    program = compiled("static")
    err = recorded(program, "nothing")
    assert "recorded" in err and os.path.exists("t.ctf"), err


def forbid_ptrace():
    """It gives EPERM."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 101), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, head) == 0


@test
def where_ptrace_is_forbidden_one_line_says_so():
    program = compiled("static")
    status, out, err = run(ALLOTRACE, "run", "-o", "t.ctf", "--", program, "counts", preexec_fn=forbid_ptrace)
    same((status, out), run(program, "counts")[:2], err)
    same(err, f"allotrace: warning: {program}: it is statically linked, and runs without being recorded: it cannot be traced "
              "(ptrace: Operation not permitted); link it dynamically to record it\n")


@test
def what_it_maps_is_not_recorded_and_one_line_says_so():
    program = compiled("static")
    err = recorded(program, "counts", options=["--mmap"])
    assert (f"allotrace: warning: {program}: it is statically linked, so what it maps is not recorded: --mmap has no effect on it\n"
            in err), err


CANCELS = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static jmp_buf back;
static void on_fault(int sig) { longjmp(back, 1); }
static void *spins(void *none) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) *(volatile int *)&(int){0} = 1;
}
static void *waits(void *none) {
    pthread_cleanup_push(free, malloc(12345));
    pause();
    pthread_cleanup_pop(1);
    return NULL;
}
static void *leaves(void *none) { free(malloc(23456)); pthread_exit(malloc(34567)); }
int main(void) {
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER | SA_ONSTACK};
    stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
    void *(*const threads[])(void *) = {spins, waits, leaves};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 20; i++) {
        if (!setjmp(back)) *(volatile int *)0 = 1;
        free(malloc(45678));
    }
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, threads[i], NULL);
        usleep(50000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        printf("%d\n", result == PTHREAD_CANCELED);
        if (result != PTHREAD_CANCELED) free(result);
    }
    pthread_exit(NULL);
}
"""


@in_each_kind
def threads_are_cancelled_and_handlers_jump_away(kind):
    pathlib.Path("t.c").write_text(CANCELS)
    recorded(compiled(kind, "t.c"))
    born, died = collections.Counter(), collections.Counter()
    for size, _, dead in blocks_of():
        born[size] += 1
        died[size] += dead
    for size, n in (12345, 1), (23456, 1), (34567, 1), (45678, 20):
        same((born[words(size)], died[words(size)]), (n, n), size)


@test
def a_loader_is_no_program_to_record():
    status, out, err = run(ALLOTRACE, "run", "--", "/lib64/ld-linux-x86-64.so.2", "/bin/echo", "text")
    same((status, out), (0, "text\n"), err)
    assert "it is a dynamic loader, so it runs without being recorded; run the program itself" in err, err


@test
def a_missing_library_is_named():
    program = compiled("static")
    os.mkdir("apart")
    shutil.copy(LIBRARY, "apart")
    status, out, err = run("env", f"ALLOTRACE_PRELOAD=apart/{os.path.basename(LIBRARY)}", ALLOTRACE, "run", "--", program, "counts")
    same((status, out), run(program, "counts")[:2], err)
    same(err, "allotrace: warning: liballotrace-static.so is missing from the folder where it was installed, so nothing is recorded\n")


@test
def what_cannot_be_executed_says_so_as_ever():
    program = compiled("static")
    pathlib.Path("script").write_text(f"#!{os.path.abspath(program)}\n")
    os.chmod("script", 0o755)
    err = recorded("./script")
    assert "script: is statically linked" in err, err
    os.chmod(program, 0o644)
    same(run(ALLOTRACE, "run", "--", program)[0], 126)


@test
def variables_of_threads_are_relocated_by_either_table():
    program = compiled("static-pie", SOURCE, "./program", "-Wl,-z,pack-relative-relocs")
    recorded(program, "environment", "threads")
    same("(RELR)" in run("readelf", "-dW", program)[1], True, "the compact table")
    assert "variables of the thread: good" in run(program, "environment")[1]


RUST = r"""
#[inline(never)]
fn site(n: usize) { std::hint::black_box(Vec::<u8>::with_capacity(n)); }
fn main() {
    for _ in 0..100 { site(40001); }
    std::thread::spawn(|| { for _ in 0..50 { site(30001); } }).join().unwrap();
    println!("{}", std::panic::catch_unwind(|| { site(20001); std::panic::resume_unwind(Box::new(1)); }).is_err());
}
"""


@test
def rust():
    if not shutil.which("rustc"):
        raise Skip("needs rustc")
    pathlib.Path("t.rs").write_text(RUST)
    for target in ["-Ctarget-feature=+crt-static"], ["--target=x86_64-unknown-linux-musl"]:
        done = subprocess.run(["rustc", "-O", "-g", *target, "t.rs", "-o", "t"], capture_output=True, text=True)
        if "may not be installed" in done.stderr:
            continue
        same(done.returncode, 0, done.stderr)
        recorded("./t")
        sizes = collections.Counter(size for size, names, _ in blocks_of() if any("site" in name for name in names))
        same((sizes[words(40001)], sizes[words(30001)], sizes[words(20001)]), (100, 50, 1))


GO = r"""
package main

/*
#include <stdlib.h>
__attribute__((noinline)) static void *c_site(size_t n) { void *volatile p = malloc(n); return p; }
static void work(int n) { for (int i = 0; i < n; i++) free(c_site(40001)); }
*/
import "C"
import (
	"fmt"
	"sync"
)

func main() {
	var wait sync.WaitGroup
	for i := 0; i < 4; i++ {
		wait.Add(1)
		go func() { defer wait.Done(); C.work(100) }()
	}
	wait.Wait()
	C.free(C.malloc(50001))
	fmt.Println("done")
}
"""


@test
def the_c_half_of_go():
    if not shutil.which("go"):
        raise Skip("needs go")
    pathlib.Path("t.go").write_text(GO)
    for flags in [], ["-ldflags", '-extldflags "-static"']:
        subprocess.run(["go", "build", *flags, "-o", "t", "t.go"], check=True, capture_output=True)
        recorded("./t")
        blocks = blocks_of()
        same([died for size, names, died in blocks if (size, names[-1]) == (words(40001), "c_site")], [True] * 400)
        same([died for size, _, died in blocks if size == words(50001)], [True])


@test
def go_alone_has_a_heap_of_its_own():
    if not shutil.which("go"):
        raise Skip("needs go")
    pathlib.Path("t.go").write_text('package main\n\nfunc main() { println("done") }\n')
    subprocess.run(["go", "build", "-o", "t", "t.go"], check=True, capture_output=True, env=os.environ | {"CGO_ENABLED": "0"})
    status, _, err = run(ALLOTRACE, "run", "-q", "-o", "t.ctf", "--", "./t")
    same((status, err), (0, "done\n"))
    assert pathlib.Path("t.ctf").exists()


@test
def operators_of_cxx_and_exceptions():
    pathlib.Path("t.cc").write_text(CXX)
    for flags in ["-static", "-no-pie", "-fno-pie"], ["-static-pie", "-fPIE"]:
        subprocess.run(["g++", "-std=c++17", *FLAGS, *flags, "t.cc", "-o", "t"], check=True)
        recorded("./t")
        found = counts(blocks_of())
        expect_counts(found, [(40101, "site_new", 100, 100), (40201, "main", 100, 100), (40301, "site_new", 1, 1)])
        same(sum(born for (_, name), (born, _) in found.items() if name == "site_wide"), 100, "aligned ones")


@test
def an_allocator_that_is_linked_in_instead_of_the_c_librarys():
    for archive in "libjemalloc.a", "libtcmalloc_minimal.a":
        path = f"/usr/lib/x86_64-linux-gnu/{archive}"
        if not os.path.exists(path):
            raise Skip(f"needs {path}")
        pathlib.Path("t.cc").write_text(CXX)
        subprocess.run(["g++", "-std=c++17", *FLAGS, "-static", "-no-pie", "-fno-pie", "t.cc", "-o", "t", path, "-lm"], check=True)
        recorded("./t")
        expect_counts(counts(blocks_of()), [(40101, "site_new", 100, 100), (40201, "main", 100, 100)])


# ---- as children of another program

STARTS = r"""
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char *words[] = {"program", "counts", NULL}, *how;
static const char *path;
static void *becomes(void *none) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!strcmp(how, "execv")) execv(path, words);
    if (!strcmp(how, "execve") || !strcmp(how, "thread")) execve(path, words, environ);
    if (!strcmp(how, "execvp")) execvp("program", words);
    if (!strcmp(how, "execl")) execl(path, "program", "counts", NULL);
    if (!strcmp(how, "fexecve")) fexecve(fd, words, environ);
    if (!strcmp(how, "execveat")) execveat(AT_FDCWD, path, words, environ, 0);
    printf("%m\n");
    _exit(9);
}
static pid_t starts(void) {
    pthread_t thread;
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, 1, 7);
    int error = !strcmp(how, "spawn")    ? posix_spawn(&child, path, &actions, NULL, words, environ)
                : !strcmp(how, "spawnp") ? posix_spawnp(&child, "program", NULL, NULL, words, environ)
                                         : -1;
    if (error > 0) printf("%s\n", strerror(error));
    if (error >= 0) return child;
    if (!strcmp(how, "vfork")) {
        if ((child = vfork()) == 0) { execve(path, words, environ); _exit(9); }
        return child;
    }
    if ((child = fork()) == 0) {
        if (!strcmp(how, "thread")) { pthread_create(&thread, NULL, becomes, NULL); pause(); }
        becomes(NULL);
    }
    return child;
}
static void say_tracer(void) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "TracerPid", 9)) fputs(line, stdout);
    fclose(file);
}
int main(int argc, char **argv) {
    path = argv[1];
    for (int i = 2; i < argc; i++) {
        int status = -1;
        how = argv[i];
        fflush(stdout);
        pid_t child = starts();
        if (child > 0 && waitpid(child, &status, 0) == child) printf("%s: %d\n", how, status);
        say_tracer();
    }
    free(malloc(60001));
}
"""
WAYS = ["execv", "execve", "execvp", "execl", "fexecve", "execveat", "thread", "spawn", "spawnp", "vfork"]
EACH = [(40001, "site_a", 100, 100), (40100, "site_b", 100, 50)]


def starter():
    pathlib.Path("starts.c").write_text(STARTS)
    subprocess.run(["cc", *FLAGS, "starts.c", "-o", "starts"], check=True, capture_output=True)
    return "./starts"


def traces_of(program):
    """Of the traces here, those of a program."""
    return [str(p) for p in sorted(pathlib.Path().glob("*.ctf")) if f"/{program}\n" in run(ALLOTRACE, "info", str(p))[1]]


def like_plain(*command, options=("-o", "t.%p.ctf"), rate="1", env=None, **how):
    """Runs a command plain and recorded, which must look the same; gives what was said."""
    env = ENVIRONMENT | (env or {})
    plain, done = (subprocess.run([*before, *command], env=env, capture_output=True, text=True, timeout=120, **how)
                   for before in ([], [ALLOTRACE, "run", "--rate", rate, *options, "--"]))
    same((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
    return done.stderr


@test
def children_are_recorded_however_they_start():
    for kind in static_kinds():
        compiled(kind)
        for trace in pathlib.Path().glob("*.ctf"):
            trace.unlink()
        err = like_plain(starter(), "./program", *WAYS, env={"PATH": f".:{os.environ['PATH']}"})
        assert "warning" not in err, err
        found = traces_of("program")
        same(len(found), len(WAYS), f"{kind}: {err}")
        for trace in found:
            expect_counts(counts(blocks_of(trace)), EACH)


@test
def a_process_that_becomes_one_has_the_trace():
    compiled("static")
    err = like_plain("sh", "-c", "exec ./program counts", options=["-o", "t.ctf"])
    assert re.search(r"/program: is statically linked; recorded are malloc and \d+ more functions\n", err), err
    assert "t.1.ctf is the first, t.ctf the last" in err, err
    expect_counts(counts(blocks_of("t.ctf")), EACH)
    err = like_plain("sh", "-c", "./program counts; exit 3", options=["-o", "u.ctf"])
    assert "child processes were not recorded; to record each, use -o u.%p.ctf" in err, err
    err = like_plain("sh", "-c", "exec ./program counts", options=["-q", "-o", "v.ctf"])
    same(err, "")


@test
def many_at_once():
    compiled("static")
    err = like_plain("sh", "-c", "seq 100 | xargs -P8 -I% ./program nothing; ./program counts")
    assert "warning" not in err, err
    same(len(traces_of("program")), 101)


@test
def one_that_nobody_has_followed_in_time_is_told_of():
    """It has ended by the time its follower comes."""
    compiled("static")
    os.mkfifo("pipe")
    run = subprocess.Popen([ALLOTRACE, "run", "-o", "t.%p.ctf", "--", "sh", "-c", "read x <pipe; ./program nothing; echo over"],
                           env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pipe = os.open("pipe", os.O_WRONLY)  # the shell has begun
    follows = []
    while not follows:  # it takes its name when it comes to run
        members = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        with contextlib.suppress(OSError):  # one that has ended
            follows = [int(p) for p in members if pathlib.Path(f"/proc/{p}/comm").read_text() == "run-follows\n"]
    os.kill(follows[0], signal.SIGSTOP)
    os.write(pipe, b"x\n")
    os.close(pipe)
    same(run.stdout.readline(), "over\n")
    os.kill(follows[0], signal.SIGCONT)
    said = run.communicate(timeout=60)[1]
    assert "1 static or Go program ran without being recorded, because it was not followed within 1 s" in said, said


@test
def an_exec_that_fails_is_as_it_was():
    program = pathlib.Path(compiled("static"))
    bytes_ = bytearray(program.read_bytes())
    bytes_[18:20] = b"\xb7\x00"  # of another processor
    for name, content, mode in ("foreign", bytes_, 0o755), ("forbidden", program.read_bytes(), 0o644):
        pathlib.Path(name).write_bytes(content)
        os.chmod(name, mode)
        err = like_plain(starter(), f"./{name}", "execve", "spawn", "vfork", "thread")
        assert "warning" not in err, err
        expect_counts(counts(blocks_of(traces_of("starts")[0])), [(60001, "main", 1, 1)])
        for trace in pathlib.Path().glob("*.ctf"):
            trace.unlink()


@test
def signals_of_children_are_as_they_were():
    def odd_signals():
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP, signal.SIGWINCH])
    compiled("static")
    like_plain("sh", "-c", "./program signals environment; exit 3", preexec_fn=odd_signals)
    expect_counts(counts(blocks_of(traces_of("program")[0])), [(10001, "site_a", 100, 100)])


@test
def a_static_program_starts_static_ones():
    pathlib.Path("parent.c").write_text(r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    int status;
    free(malloc(50001));
    if (fork() == 0) { execl("./program", "program", "counts", NULL); _exit(9); }
    wait(&status);
    printf("%d %d\n", status, execl("./nothing", "nothing", NULL));
    fflush(stdout);
    execl("./program", "program", "counts", NULL);
}""")
    for kind in static_kinds():
        compiled(kind)
        compiled(kind, "parent.c", "parent")
        like_plain("./parent")
        found = traces_of("program")
        same(len(found), 2, kind)
        for trace in found:
            expect_counts(counts(blocks_of(trace)), EACH)
        for trace in pathlib.Path().glob("*.ctf"):
            trace.unlink()


@test
def what_cannot_be_recorded_is_told_of_once():
    program = compiled("static")
    subprocess.run(["strip", program], check=True)
    err = like_plain("sh", "-c", "for i in 1 2 3; do ./program counts; done")
    assert re.fullmatch(r"allotrace: warning: \S+/program: it is statically linked and stripped: .*\n", err.split("allotrace: rec")[0]), err


@test
def set_user_id_programs_are_left_alone():
    if os.geteuid() != 0:
        raise Skip("needs root")
    pathlib.Path("who.c").write_text('int main(void) { printf("%d %d\\n", getuid(), geteuid()); free(malloc(10)); }')
    program = compiled("static", "who.c")
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    err = like_plain("sh", "-c", "./program; ./program")
    assert "warning" not in err, err
    same(traces_of("program"), [])


@test
def a_killed_run_leaves_them_whole():
    pathlib.Path("t.sh").write_text("echo ready; read word; ./program counts; echo $?; ./program signals; echo done\n")
    program = compiled("static")
    del program
    process = subprocess.Popen([ALLOTRACE, "run", "-q", "--rate", "1", "-o", "t.%p.ctf", "--", "sh", "t.sh"], env=ENVIRONMENT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    same(process.stdout.readline(), "ready\n")
    process.kill()
    process.wait()
    plain = subprocess.run(["sh", "t.sh"], input="\n", capture_output=True, text=True).stdout
    process.stdin.write("\n")
    process.stdin.close()
    same("ready\n" + process.stdout.read(), plain)


@test
def who_outlives_run_starts_them_unrecorded():
    compiled("static")
    said = []
    for before in [], [ALLOTRACE, "run", "--rate", "1", "-o", "t.%p.ctf", "--"]:
        os.mkfifo("pipe")
        writer = os.open("pipe", os.O_RDWR)
        process = subprocess.Popen([*before, "sh", "-c", "(read line; ./program counts; echo $?) <pipe &"], env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        same(process.wait(timeout=60), 0)
        os.write(writer, b"go on\n")
        said.append(process.communicate(timeout=60)[0])
        os.close(writer)
        os.unlink("pipe")
    same(said[1], said[0])
    same(traces_of("program"), [])


@test
def where_ptrace_is_forbidden_to_children_one_line_says_so():
    compiled("static")
    err = like_plain("sh", "-c", "./program counts; ./program counts; exit 3", preexec_fn=forbid_ptrace)
    same(err.count("warning: a static or Go program runs without being recorded: it cannot be traced (ptrace: Operation not "
                   "permitted)\n"), 1, err)


@test
def which_are_kept_in_segments():
    compiled("static")
    err = like_plain("sh", "-c", "./program counts; ./program counts; exit 3", options=["-q", "-o", "kept/%p", "--keep", "10min"])
    same(err, "")
    found = 0
    for trace in pathlib.Path("kept").rglob("*.ctf*"):
        found += counts(blocks_of(str(trace))).get((words(40001), "site_a")) == (100, 100)
    same(found, 2)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[4:]))
