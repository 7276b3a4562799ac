#!/usr/bin/python3
"""Records programs that call the allocator of a shared library by names of its own, from the start and attached.
Prints TAP.

    test_imports.py ALLOTRACE LIBRARY [TEST...]
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT, children, executable_of  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY = map(os.path.abspath, sys.argv[1:3])
FOLDERS = "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"
ROUNDS = 20
FIRST = 40000  # bytes that the first call asks for; each next one asks for STEP more
STEP = 16

MIMALLOC = "libmimalloc.so"
TCMALLOC = "libtcmalloc_minimal.so.4"
JEMALLOC = "libjemalloc.so.2"
TBB = "libtbbmalloc.so.2"
OLD = "(size_t)64"

# What is called, with what arguments for n bytes, and what ends the block's life.
CALLS = {
    MIMALLOC: [
        ("malloc", "n", "mi_free(p)"),
        ("mi_malloc", "n", "free(p)"),
        ("mi_zalloc", "n", "mi_free(p)"),
        ("mi_calloc", "n / 8, (size_t)8", "mi_free_size(p, n)"),
        ("mi_mallocn", "n / 8, (size_t)8", "mi_cfree(p)"),
        ("mi_realloc", f"mi_malloc({OLD}), n", "mi_free(p)"),
        ("mi_reallocn", f"malloc({OLD}), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_reallocf", f"mi_malloc({OLD}), n", "mi_free(p)"),
        ("mi_rezalloc", f"mi_zalloc({OLD}), n", "mi_free(p)"),
        ("mi_recalloc", f"mi_zalloc({OLD}), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_reallocarray", f"mi_malloc({OLD}), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_new_realloc", f"mi_malloc({OLD}), n", "mi_free(p)"),
        ("mi_malloc_aligned", "n, (size_t)256", "mi_free_aligned(p, (size_t)256)"),
        ("mi_zalloc_aligned", "n, (size_t)256", "mi_free_size_aligned(p, n, (size_t)256)"),
        ("mi_calloc_aligned", "n / 8, (size_t)8, (size_t)256", "mi_free(p)"),
        ("mi_realloc_aligned", f"mi_malloc({OLD}), n, (size_t)256", "mi_free(p)"),
        ("mi_malloc_aligned_at", "n, (size_t)256, (size_t)8", "mi_free(p)"),
        ("mi_memalign", "(size_t)256, n", "mi_free(p)"),
        ("mi_aligned_alloc", "(size_t)16, n", "mi_free(p)"),
        ("mi_posix_memalign", "&q, (size_t)256, n", "mi_free(p)"),
        ("mi_valloc", "n", "mi_free(p)"),
        ("mi_heap_malloc", "mi_heap_get_default(), n", "mi_free(p)"),
        ("mi_heap_zalloc", "mi_heap_get_default(), n", "mi_free(p)"),
        ("mi_heap_calloc", "mi_heap_get_default(), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_heap_mallocn", "mi_heap_get_default(), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_heap_realloc", f"mi_heap_get_default(), mi_malloc({OLD}), n", "mi_free(p)"),
        ("mi_heap_recalloc", f"mi_heap_get_default(), mi_zalloc({OLD}), n / 8, (size_t)8", "mi_free(p)"),
        ("mi_heap_malloc_aligned", "mi_heap_get_default(), n, (size_t)256", "mi_free(p)"),
        ("mi_new", "n", "mi_free(p)"),
        ("mi_new_n", "n / 8, (size_t)8", "mi_free(p)"),
        ("mi_new_nothrow", "n", "mi_free(p)"),
        ("mi_new_aligned", "n, (size_t)256", "mi_free(p)"),
        ("mi_strdup", "text(n)", "mi_free(p)"),
        ("mi_strndup", "text(n), n", "mi_free(p)"),
        ("mi_heap_strdup", "mi_heap_get_default(), text(n)", "mi_free(p)"),
    ],
    TCMALLOC: [
        ("malloc", "n", "tc_free(p)"),
        ("tc_malloc", "n", "free(p)"),
        ("tc_malloc_skip_new_handler", "n", "tc_free(p)"),
        ("tc_calloc", "n / 8, (size_t)8", "tc_cfree(p)"),
        ("tc_realloc", f"tc_malloc({OLD}), n", "tc_free_sized(p, n)"),
        ("tc_memalign", "(size_t)256, n", "tc_free(p)"),
        ("tc_posix_memalign", "&q, (size_t)256, n", "tc_free(p)"),
        ("tc_valloc", "n", "tc_free(p)"),
        ("tc_new", "n", "tc_delete(p)"),
        ("tc_newarray", "n", "tc_deletearray(p)"),
        ("tc_new_nothrow", "n, &std::nothrow", "tc_delete_sized(p, n)"),
        ("tc_new_aligned", "n, (size_t)256", "tc_delete_aligned(p, (size_t)256)"),
        ("operator new", "n", "tc_delete(p)"),
    ],
    JEMALLOC: [
        ("malloc", "n", "dallocx(p, 0)"),
        ("mallocx", "n, 0", "dallocx(p, 0)"),
        ("rallocx", f"mallocx({OLD}, 0), n, 0", "sdallocx(p, n, 0)"),
        ("operator new", "n", "operator delete(p)"),
    ],
    TBB: [
        ("malloc", "n", "free(p)"),
        ("scalable_malloc", "n", "scalable_free(p)"),
        ("scalable_calloc", "n / 8, (size_t)8", "scalable_free(p)"),
        ("scalable_realloc", f"scalable_malloc({OLD}), n", "scalable_free(p)"),
        ("scalable_posix_memalign", "&q, (size_t)256, n", "scalable_free(p)"),
        ("scalable_aligned_malloc", "n, (size_t)256", "scalable_aligned_free(p)"),
        ("scalable_aligned_realloc", f"scalable_aligned_malloc({OLD}, (size_t)256), n, (size_t)256",
         "scalable_aligned_free(p)"),
    ],
}

HEAD = r"""
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#define SITE extern "C" __attribute__((noinline)) void *
static char *text(size_t n) {
    static char t[100000];
    memset(t, 'x', n - 1);
    t[n - 1] = 0;
    return t;
}
"""

# Whoever attaches comes while it waits.
MAIN = r"""
int main() {
    puts("ready");
    fflush(stdout);
    getchar();
    work();
    puts("good");
    fflush(stdout);
    getchar();
}
"""


def library(name):
    for folder in FOLDERS:
        if os.path.exists(path := f"{folder}/{name}"):
            return path
    raise Skip(f"needs {name}")


def site(name):
    return "site_" + name.replace(" ", "_")


def declared(calls):
    """The functions that are called, with any arguments."""
    said = " ".join(f"{name}() {arguments} {free}" for name, arguments, free in calls)
    names = set(re.findall(r"\b([a-z]\w+)\(", said)) - {"text", "new", "delete"}
    return "".join(f'extern "C" void *{name}(...);\n' for name in sorted(names))


def source_of(calls):
    """A program that makes ROUNDS blocks by each call, in a function of its own, and ends them."""
    sites = work = ends = ""
    for i, (name, arguments, free) in enumerate(calls):
        result = f"{name}({arguments}) ? 0 : q" if "&q" in arguments else f"{name}({arguments})"
        sites += f'SITE {site(name)}(size_t n) {{ void *q = 0; q = {result}; asm volatile(""); return q; }}\n'
        work += f"blocks[{i}][i] = {site(name)}({FIRST + STEP * i});\n"
        ends += f"{{ void *p = blocks[{i}][i]; const size_t n = {FIRST + STEP * i}; (void)n; {free}; }}\n"
    return (HEAD + declared(calls) + sites + f"static void *blocks[{len(calls)}][{ROUNDS}];\n"
            f"void work() {{ for (int i = 0; i < {ROUNDS}; i++) {{\n{work}}}\n"
            f"for (int i = 0; i < {ROUNDS}; i++) {{\n{ends}}}\n}}\n")


def build(name, source, *words):
    pathlib.Path(f"{name}.cc").write_text(source, encoding="utf-8")
    done = subprocess.run(["g++", "-O1", "-g", "-fno-builtin", "-w", f"{name}.cc", "-o", name, *words],
                          capture_output=True, text=True)
    same((done.returncode, done.stderr), (0, ""))
    return os.path.abspath(name)


def allotrace(*words, **settings):
    return subprocess.run([ALLOTRACE, *words], env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY} | settings,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def good(*words, **settings):
    done = allotrace(*words, **settings)
    if "may not be traced" in done.stderr and os.getuid() != 0:
        raise Skip("this user may not trace processes")
    same(done.returncode, 0, f"{words}: {done.stderr}")
    return done


def run(program, rate="1", *options, **settings):
    done = good("run", "--rate", rate, "-o", "t.ctf", *options, "--", program, **settings)
    same(done.stdout, "ready\ngood\n")
    assert "of its own" not in done.stderr, done.stderr
    return read("t.ctf")


def attach(program, rate="1", rounds=1):
    """The last of so many recordings of one process, each of which is to hold the same."""
    process = subprocess.Popen([program], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        same(process.stdout.readline(), "ready\n")
        for i in range(rounds):
            good("attach", "-r", rate, "-o", f"{i}.ctf", str(process.pid))
            if i + 1 < rounds:
                good("detach", str(process.pid))
        process.stdin.write("\n")
        process.stdin.flush()
        same(process.stdout.readline(), "good\n")
        good("detach", str(process.pid))
        process.communicate("\n", timeout=60)
        same(process.returncode, 0)
    finally:
        process.kill()
        process.wait()
    return read(f"{rounds - 1}.ctf")


def read(trace):
    """How many of each size, in words, were made, and how many died; by the innermost function."""
    blocks = {}
    for line in good("dump", trace).stdout.splitlines():
        fields = line.split()
        if fields[2].startswith("alloc"):
            frames = [f for f in re.findall(r"(\S+?)@(\S*):\d+:\d+-\d+", line) if f[1] != "<type>"]
            if frames and frames[-1][1] not in ("<gauge>", "<mark>", "<thread>"):
                blocks[fields[1]] = [int(fields[4].partition("=")[2]), frames[-1][0], 0]
        elif fields[1] in blocks:
            blocks[fields[1]][2] += 1
    found = {}
    for size, name, died in blocks.values():
        made, ended = found.get((size, name), (0, 0))
        found[size, name] = made + 1, ended + died
    return found


def words(size):
    return (size + 7) // 8


def check(found, calls):
    """Each block was seen once, and its end, and its stack begins at the program's own call."""
    got = {key: value for key, value in found.items() if words(FIRST) <= key[0] < words(FIRST + STEP * len(calls))}
    same(got, {(words(FIRST + STEP * i), site(name)): (ROUNDS, ROUNDS) for i, (name, *_) in enumerate(calls)})


def program_of(name, *options):
    return build("t", source_of(CALLS[name]) + MAIN, *options, library(name))


LINKED = {"lazily": ["-Wl,-z,lazy"], "at once": ["-Wl,-z,now", "-Wl,-z,relro"],
          "to a fixed place": ["-no-pie", "-fno-pie", "-Wl,-z,lazy"],
          "without a table of calls": ["-fno-plt"]}


def each_way(name):
    for said, options in LINKED.items():
        program = program_of(name, *options)
        for found in run(program), attach(program):
            try:
                check(found, CALLS[name])
            except AssertionError as error:
                raise AssertionError(f"linked {said}: {error}") from error


@test
def mimalloc():
    each_way(MIMALLOC)


@test
def tcmalloc():
    each_way(TCMALLOC)


@test
def jemalloc():
    each_way(JEMALLOC)


@test
def tbbmalloc():
    each_way(TBB)


@test
def sampled():
    for name, calls in CALLS.items():
        try:
            program = program_of(name)
        except Skip:
            continue
        sites = {site(call[0]) for call in calls} | {site("mi_malloc")}
        for rate in "0.1", "1e-3":
            for found in run(program, rate), attach(program, rate):
                got = {site: made for (size, site), (made, _) in found.items() if words(FIRST) <= size < words(FIRST + STEP * len(calls))}
                assert got and set(got) <= sites, f"{name} at {rate}: {found}"


@test
def attached_again_and_again():
    check(attach(program_of(TCMALLOC), rounds=3), CALLS[TCMALLOC])


@test
def after_detach_nothing_is_left():
    """What it calls leads where it did before: to the library, or to what fills in the entry."""
    program = build("t", source_of(CALLS[TBB]) + MAIN, "-Wl,-z,now", library(TBB))
    process = subprocess.Popen([program], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        same(process.stdout.readline(), "ready\n")
        before = entries(process.pid, program)
        good("attach", "-r", "1", "-o", "t.ctf", str(process.pid))
        during = entries(process.pid, program)
        good("detach", str(process.pid))
        same(entries(process.pid, program), before)
        assert during != before
    finally:
        process.kill()
        process.wait()


def entries(pid, program):
    """Of a process, what stands in the section by which the program calls others."""
    section = re.search(r" \.got +PROGBITS +(\w+) \w+ (\w+)", subprocess.run(
        ["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout)
    base = int(pathlib.Path(f"/proc/{pid}/maps").read_text().partition("-")[0], 16)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base + int(section[1], 16))
        return memory.read(int(section[2], 16))


@test
def called_by_a_library_and_by_pointers():
    """Tables of functions are filled in when the program is loaded: `run` sees them, `attach` does not."""
    calls = CALLS[TCMALLOC]
    build("libuser.so", source_of(calls), "-shared", "-fPIC", library(TCMALLOC))
    program = build("t", "#include <cstdio>\nvoid work();\n" + MAIN, "-Wl,--no-as-needed", library(TCMALLOC), "./libuser.so", "-Wl,-rpath,$ORIGIN")
    check(run(program), calls)
    check(attach(program), calls)
    pointers = HEAD + r"""
extern "C" void *tc_malloc(size_t), tc_free(void *);
struct functions { void *(*allocate)(size_t); void (*release)(void *); };
struct functions functions = {tc_malloc, tc_free};
SITE site_pointer(size_t n) { void *p = functions.allocate(n); asm volatile(""); return p; }
void work() { for (int i = 0; i < 20; i++) functions.release(site_pointer(40000)); }
"""
    for options in ["-fPIE", "-pie"], ["-no-pie", "-fno-pie"]:
        program = build("t", pointers + MAIN, *options, library(TCMALLOC))
        same(run(program).get((words(40000), "site_pointer")), (20, 20), str(options))


@test
def called_by_a_library_that_is_loaded_later():
    """From the next flush on, its calls are seen, in a program that was attached to, or that began recorded."""
    calls = CALLS[TCMALLOC]
    build("plugin.so", source_of(calls).replace("void work()", 'extern "C" void work()'), "-shared", "-fPIC", library(TCMALLOC))
    program = build("t", r"""
#include <cstdio>
#include <dlfcn.h>
int main() {
    auto work = (void (*)())dlsym(dlopen("./plugin.so", RTLD_LAZY), "work");
    for (;;) {
        puts("ready");
        fflush(stdout);
        if (getchar() == EOF)
            return 0;
        work();
    }
}
""", "-Wl,--no-as-needed", library(TCMALLOC), "-ldl")
    for command in [program], [ALLOTRACE, "run", "-q", "-r", "1", "-o", "t.ctf", "--", program]:
        process = subprocess.Popen(command, env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        try:
            same(process.stdout.readline(), "ready\n")
            if len(command) == 1:
                pid = process.pid
                good("attach", "-r", "1", "-o", "t.ctf", str(pid))
            else:
                pid = next(c for c in children(process.pid) if executable_of(c) == program)
            good("ctl", str(pid), "flush")
            process.stdin.write("\n")
            process.stdin.flush()
            same(process.stdout.readline(), "ready\n")
            if len(command) == 1:
                good("detach", str(pid))
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        check(read("t.ctf"), calls)


@test
def preloaded():
    """By LD_PRELOAD, the allocator stands in front of the recorder, or behind it."""
    for name in MIMALLOC, TCMALLOC:
        check_preloaded(name)


def check_preloaded(name):
    path = library(name)
    program = program_of(name)
    for order in f"{path} {LIBRARY}", f"{LIBRARY} {path}":
        done = subprocess.run([program], env=ENVIRONMENT | {"LD_PRELOAD": order, "MEMTRACE": "t.ctf", "MEMTRACE_RATE": "1"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        same((done.returncode, done.stdout), (0, "ready\ngood\n"), done.stderr)
        got = {size: counts for (size, _), counts in read("t.ctf").items()}
        for i, (call, *_) in enumerate(CALLS[name]):
            same(got.get(words(FIRST + STEP * i)), (ROUNDS, ROUNDS), call)


@test
def a_library_whose_malloc_is_made_of_it():
    """Its malloc was called for what it calls: no block counts twice."""
    calls = CALLS[TBB] + [("operator new", "n", "operator delete(p)")]
    program = build("t", source_of(calls) + MAIN, "-Wl,--no-as-needed", library("libtbbmalloc_proxy.so.2"), library(TBB))
    check(run(program), calls)
    check(attach(program), calls)
    shim = """
#include <cstddef>
extern "C" void *tc_malloc(size_t), *tc_calloc(size_t, size_t), *tc_realloc(void *, size_t), *tc_memalign(size_t, size_t), tc_free(void *);
extern "C" void *malloc(size_t n) { void *p = tc_malloc(n); asm volatile(""); return p; }
extern "C" void *calloc(size_t n, size_t size) { void *p = tc_calloc(n, size); asm volatile(""); return p; }
extern "C" void *realloc(void *p, size_t n) { p = tc_realloc(p, n); asm volatile(""); return p; }
extern "C" void *memalign(size_t a, size_t n) { void *p = tc_memalign(a, n); asm volatile(""); return p; }
extern "C" void *aligned_alloc(size_t a, size_t n) { void *p = tc_memalign(a, n); asm volatile(""); return p; }
extern "C" void free(void *p) { tc_free(p); asm volatile(""); }
"""
    build("libshim.so", shim, "-shared", "-fPIC", library(TCMALLOC))
    calls = CALLS[TCMALLOC][:4]
    program = build("t", source_of(calls) + MAIN, "-Wl,--no-as-needed", "./libshim.so", library(TCMALLOC), "-Wl,-rpath,$ORIGIN")
    check(run(program), calls)
    check(attach(program), calls)


@test
def operators_made_of_it():
    """A program whose operators call the library, and what throws when there is no memory."""
    source = HEAD + r"""
extern "C" void *mi_new(size_t), *tc_new(size_t);
extern "C" void mi_free(void *), tc_delete(void *);
void *operator new(size_t n) { void *p = ALLOCATE(n); asm volatile(""); return p; }
void operator delete(void *p) noexcept { RELEASE(p); }
void operator delete(void *p, size_t) noexcept { RELEASE(p); }
SITE site(size_t n) { void *p = operator new(n); asm volatile(""); return p; }
void work() {
    for (int i = 0; i < 20; i++)
        operator delete(site(40000));
    if (THROWS)
        try {
            site((size_t)1 << 62);
            puts("no memory is so large");
        } catch (std::bad_alloc &) {
            operator delete(site(40016)); /* recording goes on */
        }
}
"""
    for name, allocate, release, throws in (MIMALLOC, "mi_new", "mi_free", 0), (TCMALLOC, "tc_new", "tc_delete", 1):
        program = build("t", source + MAIN, f"-DALLOCATE={allocate}", f"-DRELEASE={release}", f"-DTHROWS={throws}", library(name))
        for found in run(program), attach(program):
            got = {key: value for key, value in found.items() if words(40000) <= key[0] <= words(40016)}
            same(got, {(words(40000), "site"): (20, 20)} | ({(words(40016), "site"): (1, 1)} if throws else {}), name)


@test
def a_heap_that_is_destroyed_ends_its_blocks():
    source = HEAD + r"""
extern "C" void *mi_heap_new(), *mi_heap_malloc(void *, size_t), mi_heap_destroy(void *);
SITE site_heap(void *heap, size_t n) { void *p = mi_heap_malloc(heap, n); asm volatile(""); return p; }
void work() {
    void *heap = mi_heap_new(), *other = mi_heap_new();
    for (int i = 0; i < 20; i++) {
        site_heap(heap, 40000);
        site_heap(heap, 48);
        site_heap(other, 40016);
    }
    mi_heap_destroy(heap);
}
"""
    program = build("t", source + MAIN, library(MIMALLOC))
    for found in run(program), attach(program):
        same([found[words(size), "site_heap"] for size in (40000, 48, 40016)], [(20, 20), (20, 20), (20, 0)])


@test
def a_block_that_grows_where_it_is():
    source = HEAD + r"""
extern "C" void *mallocx(size_t, int), dallocx(void *, int);
extern "C" size_t xallocx(void *, size_t, size_t, int);
SITE site_mallocx(size_t n) { void *p = mallocx(n, 0); asm volatile(""); return p; }
SITE site_xallocx(void *p, size_t n) { size_t got = xallocx(p, n, 0, 0); asm volatile(""); return (void *)(got >= n); }
void work() {
    for (int i = 0; i < 20; i++) {
        void *p = site_mallocx(40000);
        if (!site_xallocx(p, 40960)) puts("too large for its class");
        if (site_xallocx(p, (size_t)1 << 40)) puts("it cannot have grown so much");
        dallocx(p, 0);
    }
}
"""
    program = build("t", source + MAIN, library(JEMALLOC))
    for found in run(program), attach(program):
        same([found.get((words(size), where)) for size, where in
              ((40000, "site_mallocx"), (40960, "site_xallocx"), (1 << 40, "site_xallocx"))], [(20, 20), (20, 20), None])


@test
def a_program_that_only_asks_is_told_the_truth():
    """Functions that no library has stay nowhere."""
    source = HEAD + r"""
#define ASK(name) extern "C" __attribute__((weak)) void *name(...);
ASK(mi_malloc) ASK(tc_malloc) ASK(mallocx) ASK(je_malloc) ASK(scalable_malloc)
void work() {
    if (mi_malloc || tc_malloc || mallocx || je_malloc || scalable_malloc)
        puts("none of them is there");
}
"""
    program = build("t", source + MAIN)
    run(program)
    attach(program)


@test
def two_libraries_of_one_name_keep_their_blocks():
    """Where either could be meant, a call stays as it is."""
    maker = HEAD + r"""
#include <cstdlib>
extern "C" void *tc_malloc(size_t n) { char *p = (char *)malloc(n + 16); *p = MARK; return p + 16; }
extern "C" void tc_free(void *p) { if (((char *)p)[-16] != MARK) puts("whose is this?"); free((char *)p - 16); }
"""
    user = r"""
#include <cstddef>
extern "C" void *tc_malloc(size_t), tc_free(void *);
static void *kept;
extern "C" void take() { kept = tc_malloc(40000); }
extern "C" void give_back() { tc_free(kept); } /* not resolved until then */
"""
    for mark in "1", "2":
        build(f"libmaker{mark}.so", maker, "-shared", "-fPIC", f"-DMARK={mark}")
        build(f"libuser{mark}.so", user, "-shared", "-fPIC", "-Wl,-z,lazy", f"./libmaker{mark}.so", "-Wl,-rpath,$ORIGIN")
    program = build("t", r"""
#include <dlfcn.h>
#include <cstdio>
#include <initializer_list>
static void work() {}
static int call(const char *name) {
    for (const char *path : {"./libuser1.so", "./libuser2.so"})
        ((void (*)())dlsym(dlopen(path, RTLD_LAZY | RTLD_LOCAL), name))();
    return 1;
}
static int taken = call("take");
static void later() { call("give_back"); }
#define work later
""" + MAIN, "-ldl")
    run(program)
    attach(program)


EACH_NAME = r"""
#include <stdio.h>
#include "record/allocator.c"
__thread struct self self;
struct recorder_page *recorder_page;
memprof_filter recorder_filter;
static int seen;
static void see(unsigned prefix, unsigned name, void *wanted) { seen += ((unsigned *)wanted)[0] == prefix && ((unsigned *)wanted)[1] == name; }
int main(void) {
    int known = 0;
    for (unsigned p = 0; p < N_ALLOCATOR_PREFIXES; p++)
        for (unsigned n = 0; n < N_ALLOCATOR_NAMES; n++) {
            if (!(allocator_names[n].prefixes & allocator_prefixes[p].flag))
                continue;
            char text[64];
            snprintf(text, sizeof text, "%s%s", allocator_prefixes[p].text, allocator_names[n].text);
            seen = 0;
            allocator_each_name(text, see, (unsigned[]){p, n});
            if (seen != 1)
                puts(text);
            known++;
        }
    puts(known > 100 ? "good" : "few");
}
"""


@test
def each_name_of_the_list_is_recognized():
    root = pathlib.Path(__file__).resolve().parents[2]
    pathlib.Path("t.c").write_text(EACH_NAME, encoding="utf-8")
    done = subprocess.run(["cc", "-std=gnu17", "-O1", "-w", "-D_GNU_SOURCE", f"-I{root}/src", f"-I{root}/include", "t.c", "-o", "t",
                           "-no-pie", "-fno-pie", "-Wl,--unresolved-symbols=ignore-all"], capture_output=True, text=True)
    same((done.returncode, done.stderr), (0, ""))
    same(subprocess.run(["./t"], capture_output=True, text=True).stdout, "good\n")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[3:]))
