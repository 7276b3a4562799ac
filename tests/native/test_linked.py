#!/usr/bin/python3
"""Records programs that have an allocator of their own linked in. Prints TAP.

    test_linked.py ALLOTRACE LIBRARY OWN_MALLOC LINKED UNMOVABLE [TEST...]
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, OWN_MALLOC, LINKED, UNMOVABLE = map(os.path.abspath, sys.argv[1:6])
ARCHIVES = "/usr/lib/x86_64-linux-gnu"

SOURCE = r"""
#include <new>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" __attribute__((noinline)) void *site_malloc(size_t n) { return malloc(n); }
extern "C" __attribute__((noinline)) void *site_new(size_t n) { return new char[n]; }
int main() {
    for (int i = 0; i < 100; i++) {
        void *a = site_malloc(40001), *b = site_new(40101), *c, *text = strdup("of the C library");
        a = realloc(a, 40201);
        if (posix_memalign(&c, 256, 40301) == 0 && i % 2)
            free(c);
        delete[] (char *)b;
        free(a);
        free(text);
        ::operator delete(::operator new(4));
    }
    try {
        printf("%p\n", site_new((size_t)1 << 62));
    } catch (std::bad_alloc &) {
        free(site_malloc(40401)); /* recording goes on */
        puts("bad_alloc");
    }
}
"""


def run(*command, **settings):
    env = dict(ENVIRONMENT)
    done = subprocess.run(command, env=env | settings, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def record(program, rate="1", *options):
    """What it printed, what was said, and each block: (bytes, function that allocated, died)."""
    trace = "t.ctf"
    status, out, err = run(ALLOTRACE, "run", "--rate", rate, *options, "-o", trace, "--", program)
    same(status, 0, err)
    status, text, _ = run(ALLOTRACE, "dump", trace)
    same(status, 0)
    blocks = {}
    for line in text.splitlines():
        fields = line.split()
        if fields[2].startswith("alloc"):
            frames = re.findall(r"(\S+?)@(\S*):\d+:\d+-\d+", line)
            if frames[-1][1] not in ("<gauge>", "<mark>", "<thread>"):
                names = [f[0] for f in frames if f[1] != "<type>"]
                blocks[fields[1]] = [int(fields[4].partition("=")[2]), names, False]
        elif fields[1] in blocks:
            blocks[fields[1]][2] = True
    _, info, _ = run(ALLOTRACE, "info", trace)
    assert "dropped" not in info, info
    return out, err, list(blocks.values())


def counts(blocks):
    """How many of each size, in words, were made, and how many died; by the innermost function."""
    found = collections.defaultdict(lambda: [0, 0])
    for size, names, died in blocks:
        found[size, names[-1]][0] += 1
        found[size, names[-1]][1] += died
    return {key: tuple(value) for key, value in found.items()}


def words(size):
    return (size + 7) // 8


@test
def a_program_with_its_own_malloc_is_recorded():
    out, err, blocks = record(OWN_MALLOC)
    same(out, run(OWN_MALLOC)[1])
    path = re.escape(os.path.realpath(OWN_MALLOC))
    assert re.search(rf"allotrace: {path}: has an allocator of its own, which is recorded: malloc "
                     r"and \d more functions?\n", err), err
    same(counts(blocks)[words(1000), "main"], (1, 0))


@test
def allocators_with_names_of_their_own_are_recorded_and_no_block_twice():
    out, err, blocks = record(LINKED)
    same(out, "good\n")
    assert "which is recorded: _rjem_malloc and" in err, err
    found = counts(blocks)
    same({key: found[key] for key in found if key[0] in map(words, (8, 31001, 31101, 31201, 31301, 31401, 31501))},
         {(words(8), "site_a"): (80, 80), (words(31001), "site_a"): (10, 10), (words(31101), "site_b"): (10, 5),
          (words(31201), "main"): (10, 10), (words(31301), "mi_zalloc_aligned"): (10, 10),
          (words(31401), "site_c"): (10, 10), (words(31501), "main"): (10, 10)})
    assert not any("linked" in name or "hook" in name for _, names, _ in blocks for name in names), "frames of ours"


@test
def what_such_an_allocator_maps_is_its_own():
    _, _, blocks = record(LINKED, "1", "--mmap")
    same([size for size, _, _ in blocks if size >= 1 << 20], [])


@test
def samples_estimate_what_is_allocated():
    _, _, blocks = record(LINKED, "0.01")
    assert 0 < len(blocks) < 150, len(blocks)
    assert any(names[-1] == "site_c" for _, names, _ in blocks)


@test
def a_stripped_program_says_nothing_of_its_allocator_and_runs():
    shutil.copy(LINKED, "stripped")
    subprocess.run(["strip", "stripped"], check=True)
    out, err, _ = record("./stripped")
    same(out, "good\n")
    assert "of its own" not in err, err


@test
def an_allocator_that_cannot_be_turned_aside_is_left_alone():
    out, err, blocks = record(UNMOVABLE)
    same(out, run(UNMOVABLE)[1])
    assert (f"allotrace: {os.path.realpath(UNMOVABLE)}: has an allocator of its own, which is not recorded: "
            "_rjem_malloc begins with an instruction that cannot be moved\n") in err, err


def archive(name, *libraries):
    path = f"{ARCHIVES}/{name}"
    if not os.path.exists(path):
        raise Skip(f"needs {path}")
    pathlib.Path("t.cc").write_text(SOURCE)
    subprocess.run(["g++", "-O1", "-g", "-fno-builtin", "-w", "t.cc", "-o", "t", path, *libraries], check=True)
    out, err, blocks = record("./t")
    same(out, "bad_alloc\n")
    assert "which is recorded: malloc and" in err, err
    found = counts(blocks)
    for size, site, died in ((40001, "site_malloc", 100), (40101, "site_new", 100), (40201, "main", 100),
                             (40301, "main", 50), (4, "main", 100)):
        same(found[words(size), site], (100, died), f"{size} bytes")
    same(found[words(40401), "site_malloc"], (1, 1))
    same([value for key, value in found.items() if key[0] == words(17) and "strdup" in key[1]], [(100, 100)])
    _, _, sampled = record("./t", "0.01")
    same({names[-1] for _, names, _ in sampled} - {n[-1] for _, n, _ in blocks}, set())


@test
def jemalloc_in_an_archive():
    archive("libjemalloc.a", "-lm", "-lpthread", "-ldl")


@test
def tcmalloc_in_an_archive():
    archive("libtcmalloc_minimal.a", "-lm", "-lpthread")


@test
def jemalloc_in_front_of_the_recorder():
    library = f"{ARCHIVES}/libjemalloc.so.2"
    if not os.path.exists(library):
        raise Skip(f"needs {library}")
    status, out, err = run(LINKED, LD_PRELOAD=f"{library} {LIBRARY}", MEMTRACE="t.ctf", MEMTRACE_RATE="1")
    same((status, out), (0, "good\n"), err)
    assert "which is recorded: malloc and" in err, err
    same(run(ALLOTRACE, "dump", "t.ctf")[1].count("len=3938"), 10)  # words of 31501 bytes


WITH_FLAGS = r"""
#include <stdio.h>
#include <stdlib.h>
void *mallocx(size_t, int), *rallocx(void *, size_t, int);
void dallocx(void *, int), sdallocx(void *, size_t, int);
__attribute__((noinline)) void *site_malloc(size_t n) { return malloc(n); }
__attribute__((noinline)) void *site_mallocx(size_t n) { return mallocx(n, 0); }
__attribute__((noinline)) void *site_rallocx(void *p, size_t n) { return rallocx(p, n, 0); }
int main(void) {
    for (int i = 0; i < 100; i++) {
        void *a = site_mallocx(40001), *b = site_malloc(40101), *c = site_mallocx(40201), *d = site_malloc(40301);
        b = site_rallocx(b, 40401);
        dallocx(a, 0);
        sdallocx(b, 40401, 0);
        dallocx(d, 0);
        if (i % 2)
            free(c);
    }
    puts("good");
}
"""


@test
def functions_with_flags_of_a_library_behind_the_recorder():
    library = f"{ARCHIVES}/libjemalloc.so.2"
    if not os.path.exists(library):
        raise Skip(f"needs {library}")
    pathlib.Path("flags.c").write_text(WITH_FLAGS, encoding="utf-8")
    same(run("cc", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "flags.c", "-o", "flags", library), (0, "", ""))
    out, err, blocks = record("./flags")
    same(out, "good\n")
    assert "allocator of its own" not in err, err
    found = counts(blocks)
    for size, site, died in ((40001, "site_mallocx", 100), (40101, "site_malloc", 100), (40201, "site_mallocx", 50),
                             (40301, "site_malloc", 100), (40401, "site_rallocx", 100)):
        same(found[words(size), site], (100, died), f"{size} bytes")
    _, _, sampled = record("./flags", "0.01")
    same({names[-1] for _, names, _ in sampled} - {n[-1] for _, n, _ in blocks}, set())


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[6:]))
