#!/usr/bin/python3
"""Attaches to programs that have an allocator of their own linked in, and detaches. Prints TAP.

    test_linked_attach.py LIBRARY ALLOTRACE ... RESIDENT_LINKED RESIDENT_OWN [TEST...]: see resident.py

RESIDENT_LINKED calls an allocator by names of its own, RESIDENT_OWN one that has the names of malloc and the others.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from resident import ROUNDS, PLUGIN, Resident, allotrace, check_between, check_killed, good, read  # it finds the next ones
import tap
from recording import patiently
from tap import Skip, same, test

LINKED, OWN = map(os.path.abspath, sys.argv[10:12])
ARCHIVES = "/usr/lib/x86_64-linux-gnu"
HEAP = str(pathlib.Path(__file__).resolve().parent / "linked_heap.c")
BOTH = ((LINKED, "_rjem_malloc"), (OWN, "malloc"))


def code(pid):
    """What a process has as code of its program."""
    path = os.readlink(f"/proc/{pid}/exe")
    found = []
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            fields = line.split()
            if " ".join(fields[5:]) == path and "x" in fields[1]:
                low, high = (int(n, 16) for n in fields[0].split("-"))
                memory.seek(low)
                found.append(memory.read(high - low))
    assert found, path
    return found


def attach(pid, *options, path="t.ctf"):
    """What is said of the program's allocator."""
    said = good("attach", *options, "-o", path, str(pid)).stderr.splitlines()
    found = [line for line in said if "allocator of its own" in line]
    if any("which is recorded" in line for line in found):  # the agent takes what is in front of that for a problem
        assert said[0].startswith("allotrace: recording process"), said
    return found[0] if len(found) == 1 else "; ".join(said)


@test
def what_happens_between_attach_and_detach_is_recorded():
    for resident, first in BOTH:
        said = []
        check_between(resident, lambda pid: said.append(attach(pid, "-r", "1")))
        assert re.fullmatch(rf"allotrace: {re.escape(os.path.realpath(resident))}: has an allocator of its own, which is "
                            rf"recorded: {first} and \d more functions?", said[0]), said
        os.unlink("t.ctf")


@test
def its_code_is_other_while_it_is_recorded_and_as_before_afterwards():
    for resident, _ in BOTH:
        with Resident(resident) as program:
            before, during = code(program.pid), []
            for size in 12000, 24000, 36000:
                attach(program.pid, "-r", "1", path=f"{size}.ctf")
                during.append(code(program.pid))
                program.tell(f"a 100 {size}")
                good("detach", "--no-symbolize", program.pid)
                same(code(program.pid) == before, True, "its code after detach")
                program.tell(f"a 10 {size}")
                program.tell("f")
            same([during[0] == before, during[1] == during[0], during[2] == during[0]], [False, True, True])
            changed = sum(a != b for a, b in zip(b"".join(before), b"".join(during[0])))
            assert 0 < changed <= 5 * 4, f"{changed} bytes"
        for size in 12000, 24000, 36000:
            same(read(f"{size}.ctf", size)[:2], (100, 0))
            os.unlink(f"{size}.ctf")


@test
def threads_at_work_are_not_disturbed():
    for resident, _ in BOTH:
        with Resident(resident) as program:
            before, last = code(program.pid), ""
            program.tell("b 4")
            for i in range(ROUNDS):
                last = attach(program.pid, "-r", ("1e-3", "0.1", "1", "0.02")[i % 4], path=f"{i % 4}.ctf")
                good("detach", "--no-symbolize", program.pid)
                assert "which is recorded" in last, last
                same(code(program.pid) == before, True, "its code after detach")
            program.tell("e", "0")
        for trace in pathlib.Path(".").glob("*.ctf"):
            same(allotrace("doctor", str(trace)).returncode, 0, f"doctor {trace}")
            trace.unlink()


@test
def whoever_attaches_may_be_killed_at_any_moment():
    check_killed([], LINKED)


@test
def libraries_may_come_and_go_meanwhile():
    with Resident(OWN) as program:
        program.tell("u " + PLUGIN)
        program.tell("b 2")
        for i in range(ROUNDS // 4):
            attach(program.pid, "-r", ("1e-3", "0.1")[i % 2], path=f"{i}.ctf")
            good("ctl", program.pid, "flush")
            good("detach", "--no-symbolize", program.pid)
        program.tell("e", "0")


@test
def orders_reach_such_a_recording():
    with Resident(LINKED) as program:
        attach(program.pid, "-r", "1")
        program.tell("a 10 120000")
        good("ctl", program.pid, "stop")
        program.tell("a 10 240000")
        program.tell("f")
        good("ctl", program.pid, "start")
        program.tell("a 10 360000")
        good("ctl", program.pid, "flush")
        same(read("t.ctf", 360000)[0], 10, "in the file before the end")
        good("detach", "--no-symbolize", program.pid)
    marks = ["sampling stopped", "sampling started"]
    same(read("t.ctf", 120000), (10, 10, marks))
    same(read("t.ctf", 240000), (0, 0, marks))


@test
def a_file_that_has_been_replaced_is_not_taken_for_the_programs():
    shutil.copy(LINKED, "program")
    with Resident("./program") as program:
        os.rename(shutil.copy(OWN, "other"), "program")
        said = attach(program.pid, "-r", "1")
        program.tell("a 50 12000")
        good("detach", "--no-symbolize", program.pid)
    assert "which is recorded: _rjem_malloc and" in said, said
    same(read("t.ctf", 12000)[0], 50)


def address(program, pid, name):
    """Where a function of the process is."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    value = int(re.search(rf"^(\w+) [Tt] {name}$", symbols, re.M).group(1), 16)
    path = os.readlink(f"/proc/{pid}/exe")
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
        low = min(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(path))
    return low + value


@test
def what_another_tool_has_changed_is_left_to_it():
    with Resident(LINKED) as program, open(f"/proc/{program.pid}/mem", "r+b", 0) as memory:
        at = address(LINKED, program.pid, "_rjem_calloc")
        memory.seek(at)
        before = memory.read(1)
        memory.seek(at)
        memory.write(b"\xcc")  # as a breakpoint
        changed = code(program.pid)
        said = attach(program.pid, "-r", "1")
        same(code(program.pid) == changed, True, "its code")
        good("detach", "--no-symbolize", program.pid)
        memory.seek(at)
        memory.write(before)
        assert "which is not recorded: _rjem_calloc is not as in the program's file" in said, said
        again = attach(program.pid, "-r", "1")  # it is gone
        program.tell("a 50 12000")
        good("detach", "--no-symbolize", program.pid)
    assert "which is recorded:" in again, again


@test
def a_program_without_symbols():
    """The names of malloc stand where the loader looks for them; others are gone, and nothing can be said of them."""
    for resident, size in ((LINKED, 0), (OWN, 50)):
        shutil.copy(resident, "program")
        subprocess.run(["strip", "program"], check=True)
        with Resident("./program") as program:
            said = attach(program.pid, "-r", "1")
            program.tell("a 50 12000")
            good("detach", "--no-symbolize", program.pid)
        same("which is recorded: malloc and" in said, size > 0, said)
        same(read("t.ctf", 12000)[0], size)
        os.unlink("t.ctf")


def build(name, source, *options, compiler="cc"):
    path = pathlib.Path(name + (".cc" if compiler == "g++" else ".c"))
    path.write_text(source, encoding="utf-8")
    subprocess.run([compiler, "-O1", "-g", "-fno-builtin", "-w", str(path), "-o", name, *options], check=True)
    return f"./{name}"


class Waiting:
    """A program that says `ready`, and ends after a line, by saying what it has to say."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        same(self.process.stdout.readline(), "ready\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def tell(self, answer):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        same(self.process.stdout.readline(), answer)

    def end(self):
        out, _ = self.process.communicate("\n", timeout=60)
        same((self.process.returncode, out), (0, ""))


UNMOVABLE = r"""
#include <stdio.h>
char heap[1 << 16], *next = heap;
__asm__(".text\n.globl _rjem_malloc\n.type _rjem_malloc, @function\n"
        "_rjem_malloc: BEGINS\n1: leaq heap(%rip), %rax\nret\n.size _rjem_malloc, . - _rjem_malloc\n"
        ".globl _rjem_free\n.type _rjem_free, @function\n"
        "_rjem_free: movb $1, (%rdi)\nmovb $2, 1(%rdi)\nret\n.size _rjem_free, . - _rjem_free\n");
void *_rjem_malloc(size_t size);
void _rjem_free(void *block);
int main(void) {
    puts("ready");
    fflush(stdout);
    getchar();
    _rjem_free(_rjem_malloc(100));
    puts("good");
    fflush(stdout);
    getchar();
}
"""


@test
def an_allocator_that_cannot_be_turned_aside_is_left_alone():
    for begins, why in (("jrcxz 1f", "begins with an instruction that cannot be moved"),
                        ("nop; call *%rax; nop; nop", "begins with a call")):
        program = build("t", UNMOVABLE.replace("BEGINS", begins))
        with Waiting(program) as waiting:
            before = code(waiting.pid)
            said = attach(waiting.pid, "-r", "1")
            same(code(waiting.pid) == before, True, "its code")
            good("detach", "--no-symbolize", str(waiting.pid))
        assert said.endswith(f": has an allocator of its own, which is not recorded: _rjem_malloc {why}"), said


MIDDLE = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t goes_on;
static char heap[100000];
__asm__(".text\n.globl _rjem_malloc\n.type _rjem_malloc, @function\n"
        "_rjem_malloc: pushq %rbx\nint3\nmovq %rdi, %rbx\npopq %rbx\njmp give\n.size _rjem_malloc, . - _rjem_malloc\n");
void *_rjem_malloc(size_t size);
__attribute__((used)) void *give(size_t size) { return heap; }
__attribute__((noinline, used)) void _rjem_free(char *block) { block[0] = 1; block[1] = 2; block[2] = 3; }
static void stay(int sig) {
    while (!goes_on)
        pause();
}
static void go_on(int sig) { goes_on = 1; }
int main(void) {
    signal(SIGTRAP, stay);
    signal(SIGUSR1, go_on);
    puts("ready");
    fflush(stdout);
    _rjem_free(_rjem_malloc(12000));
    puts("free");
    fflush(stdout);
    getchar();
    _rjem_free(_rjem_malloc(12000));
    puts("good");
    fflush(stdout);
    getchar();
}
"""


@test
def code_in_whose_middle_a_thread_stands_is_left_alone():
    """Where a signal handler goes back to is such a place."""
    with Waiting(build("t", MIDDLE)) as program:
        patiently(lambda: pathlib.Path(f"/proc/{program.pid}/syscall").read_text().startswith("34 "), "it is in the handler, in pause")
        before = code(program.pid)
        said = attach(program.pid, "-r", "1")
        same(code(program.pid) == before, True, "its code")
        good("detach", str(program.pid))
        os.kill(program.pid, signal.SIGUSR1)
        same(program.process.stdout.readline(), "free\n")
        assert f"which is not recorded: threads of process {program.pid} were always in the code" in said, said
        assert "the program's own allocator is not recorded: threads of" in good("dump", "t.ctf").stdout
        again = attach(program.pid, "-r", "1", path="u.ctf")
        program.tell("good\n")
        good("detach", str(program.pid))
        program.end()
    assert "which is recorded:" in again, again
    same(read("u.ctf", 12000)[:2], (1, 1))


@test
def whoever_traces_a_thread_meanwhile_is_waited_for():
    """And if it stays, that is said, and the code goes back at the next try."""
    tracer = build("tracer", TRACER)
    with Waiting(build("t", IDLE, "-DHEAP(name)=_rjem_##name", HEAP)) as program:
        before = code(program.pid)
        attach(program.pid, "-r", "1")
        thread = max(os.listdir(f"/proc/{program.pid}/task"), key=int)
        with subprocess.Popen([tracer, thread], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            said = good("detach", "--no-symbolize", str(program.pid)).stderr
            assert "since its code could not be restored: process" in said, said
            same(code(program.pid) == before, False, "its code")
            other.stdin.close()
            other.wait()
        allotrace("detach", str(program.pid))
        same(code(program.pid) == before, True, "its code after detach")
        program.tell("good\n")
        program.end()


TRACER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
int main(int argc, char **argv) {
    puts(ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0) == 0 ? "ready" : "no");
    fflush(stdout);
    getchar();
}
"""

IDLE = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
void *_rjem_malloc(size_t size);
void _rjem_free(void *block);
static void *rest(void *context) {
    for (;;)
        pause();
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, rest, NULL);
    puts("ready");
    fflush(stdout);
    getchar();
    _rjem_free(_rjem_malloc(100));
    puts("good");
    fflush(stdout);
    getchar();
}
"""

SPAWNING = r"""
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void *_rjem_malloc(size_t size);
void _rjem_free(void *block);
static atomic_bool ends;
static atomic_long faults;
static void *allocate(void *context) {
    for (size_t i = 0; !ends; i++) {
        unsigned char *block = _rjem_malloc(i % 500 + 1);
        memset(block, (int)i, i % 500 + 1);
        faults += block[i % 500] != (unsigned char)i;
        _rjem_free(block);
    }
    return context;
}
static void *spawn(void *context) {
    extern char **environ;
    char *arguments[] = {"true", NULL};
    while (!ends) {
        pid_t child;
        int status = 1;
        faults += posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0;
        waitpid(child, &status, 0);
        faults += status != 0;
        if (fork() == 0) {
            for (int i = 0; i < 100; i++)
                _rjem_free(_rjem_malloc(100));
            _exit(7);
        }
        wait(&status);
        faults += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
    return context;
}
static void *start(void *context) { /* threads that live shortly */
    while (!ends) {
        pthread_t one;
        if (pthread_create(&one, NULL, (void *(*)(void *))_rjem_malloc, (void *)100) == 0) {
            void *block;
            pthread_join(one, &block);
            _rjem_free(block);
        }
    }
    return context;
}
int main(void) {
    pthread_t threads[3];
    puts("ready");
    fflush(stdout);
    pthread_create(&threads[0], NULL, allocate, NULL);
    pthread_create(&threads[1], NULL, spawn, NULL);
    pthread_create(&threads[2], NULL, start, NULL);
    getchar();
    ends = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", (long)faults);
    fflush(stdout);
    getchar();
}
"""


@test
def threads_and_children_may_start_meanwhile():
    program = build("t", SPAWNING, "-DHEAP(name)=_rjem_##name", HEAP)
    with Waiting(program) as waiting:
        before = code(waiting.pid)
        for i in range(ROUNDS // 2):
            said = attach(waiting.pid, "-r", ("1e-3", "1")[i % 2])
            assert "which is recorded" in said, said
            good("detach", "--no-symbolize", str(waiting.pid))
            same(code(waiting.pid) == before, True, "its code after detach")
        waiting.tell("0\n")
        waiting.end()


CXX = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
extern "C" __attribute__((noinline)) void *site_malloc(size_t n) { return malloc(n); }
extern "C" __attribute__((noinline)) void *site_new(size_t n) { return new char[n]; }
int main() {
    puts("ready");
    fflush(stdout);
    void *early = site_malloc(40501);
    getchar();
    for (int i = 0; i < 100; i++) {
        void *a = site_malloc(40001), *b = site_new(40101), *c, *text = strdup("of the C library");
        a = realloc(a, 40201);
        if (posix_memalign(&c, 256, 40301) == 0 && i % 2)
            free(c);
        delete[] (char *)b;
        free(a);
        free(text);
    }
    free(early);
    try {
        printf("%p\n", site_new((size_t)1 << 62));
    } catch (std::bad_alloc &) {
        puts("bad_alloc");
    }
    fflush(stdout);
    getchar();
}
"""


def check_archive(name, *libraries):
    """No block counts twice, whoever asks for it."""
    path = f"{ARCHIVES}/{name}"
    if not os.path.exists(path):
        raise Skip(f"needs {path}")
    program = build("t", CXX, path, *libraries, compiler="g++")
    with Waiting(program) as waiting:
        said = attach(waiting.pid, "-r", "1")
        waiting.tell("bad_alloc\n")
        good("detach", str(waiting.pid))
        waiting.end()
    assert "which is recorded: malloc and" in said, said
    for size, made, died in ((40001, 100, 100), (40101, 100, 100), (40201, 100, 100), (40301, 100, 50),
                             (40501, 0, 0), (17, 100, 100)):
        same(read("t.ctf", size)[:2], (made, died), f"{size} bytes")


@test
def jemalloc_in_an_archive():
    check_archive("libjemalloc.a", "-lm", "-lpthread", "-ldl")


@test
def tcmalloc_in_an_archive():
    check_archive("libtcmalloc_minimal.a", "-lm", "-lpthread")


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[12:]))
