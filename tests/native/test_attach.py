#!/usr/bin/python3
"""Attaches to a program that runs, detaches from it, and tells its recording what to do. Prints TAP.

    test_attach.py LIBRARY ALLOTRACE ...: see resident.py
"""
import contextlib
import errno
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from resident import (ALLOTRACE, ENVIRONMENT, FIXED, LIBRARY, LOCKED, OTHER_PLUGIN, PLUGIN, RESIDENT,
                      ROUNDS, STATIC, Resident, allotrace, check_between, check_killed, good, read,
                      refused, wait_until_recorded)  # it finds the next ones
import tap
from recording import patiently
from tap import Skip, same, test


@test
def what_happens_between_attach_and_detach_is_recorded():
    for program in RESIDENT, FIXED:
        check_between(program, lambda pid: good("attach", "-r", "1", "-o", "t.ctf", pid))


@test
def a_process_can_be_recorded_again():
    with Resident() as program:
        for size in 12000, 24000, 36000:
            good("attach", "-r", "1", "-o", f"{size}.ctf", program.pid)
            program.tell(f"a 100 {size}")
            good("detach", program.pid)
            program.tell(f"a 10 {size}")
            program.tell("f")
    for size in 12000, 24000, 36000:
        same(read(f"{size}.ctf", size)[:2], (100, 0))


@test
def recording_again_takes_no_more_descriptors():
    with Resident() as program:
        counts = []
        for size in range(12000, 12500, 100):
            good("attach", "-r", "1", "-o", "t.ctf", program.pid)
            program.tell(f"a 10 {size}")
            good("detach", "--no-symbolize", program.pid)
            counts.append(len(os.listdir(f"/proc/{program.pid}/fd")))
    same(counts, counts[:1] * 5)


def resident_megabytes(program):
    pages = int(pathlib.Path(f"/proc/{program.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@test
def what_the_recorder_knew_of_blocks_is_given_back():
    with Resident() as program:
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("a 100000 3200")
        during = resident_megabytes(program)
        good("detach", "--no-symbolize", program.pid)
        after = resident_megabytes(program)
    assert after < during - 30, f"{during:.1f} MB while it was recorded, {after:.1f} MB afterwards"


@test
def a_trace_is_free_once_its_process_is_left():
    with Resident() as program:
        for size in 12000, 24000:
            good("attach", "-r", "1", "-o", "t.ctf", program.pid)
            program.tell(f"a 100 {size}")
            good("detach", "--no-symbolize", program.pid)
        good("symbolize", "t.ctf")
    same(read("t.ctf", 24000)[:2], (100, 0))
    same([read(f, 12000)[0] for f in pathlib.Path(".").glob("t*.ctf") if f.name != "t.ctf"], [100])


@test
def threads_at_work_are_not_disturbed():
    with Resident() as program:
        program.tell("b 4")
        for i, rate in enumerate(("1e-3", "0.1", "1", "0.02")):
            good("attach", "-r", rate, "-o", f"{i}.ctf", program.pid)
            good("detach", "--no-symbolize", program.pid)
        program.tell("e", "0")
    for i in range(4):
        same(allotrace("doctor", f"{i}.ctf").returncode, 0, f"doctor {i}")


@test
def whoever_attaches_may_be_killed_at_any_moment():
    check_killed([])


@test
def an_early_interrupt_ends_the_recording():
    with Resident() as program:
        program.tell("b 1")
        attach = subprocess.Popen(
            [ALLOTRACE, "attach", "--duration", "90s", "-r", "1e-2", "-o", "t.ctf", program.pid],
            env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}, stderr=subprocess.PIPE, text=True)
        if "Ctrl-C" not in (said := attach.stderr.readline()):
            attach.wait()
            raise Skip(said)
        attach.send_signal(signal.SIGINT)
        assert "recorded" in attach.communicate(timeout=60)[1]
        same(attach.returncode, 0)
        program.tell("e", "0")


@test
def a_process_that_is_killed_ends_its_trace():
    program = Resident()
    try:
        attach = subprocess.Popen(
            [ALLOTRACE, "attach", "--duration", "90s", "-r", "1", "-o", "t.ctf", program.pid],
            env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}, stderr=subprocess.PIPE, text=True)
        if "Ctrl-C" not in (said := attach.stderr.readline()):
            attach.wait()
            raise Skip(said)
        program.tell("a 10 12000")
        program.process.kill()  # and is not asked for
        said = attach.communicate(timeout=60)[1]
        same(attach.returncode, 0, said)
    finally:
        program.process.kill()
        program.process.wait()
        program.watchdog.cancel()
    assert "recorded" in said, said
    info = allotrace("info", "t.ctf").stdout
    assert "a signal ended the process" in info, info
    doctor = allotrace("doctor", "t.ctf").stdout
    assert "ends early" in doctor or "ended before" in doctor, doctor


@test
def libraries_may_go_while_it_detaches():
    with Resident(MALLOC_PERTURB_="117") as program:  # what the loader has freed is nothing to go by
        program.tell("u " + PLUGIN)
        program.tell("u " + OTHER_PLUGIN)
        for i in range(ROUNDS):
            good("attach", "-r", ("1e-3", "0.1")[i % 2], "-o", f"{i}.ctf", program.pid)
            good("detach", "--no-symbolize", program.pid)
        program.tell("e", "0")


@test
def a_library_that_is_just_being_loaded_is_left_alone():
    """The loader goes on writing to pages that it makes read-only only then; from the next flush on, it is recorded."""
    slow = str(pathlib.Path(PLUGIN).with_name("libplugin_slow.so"))
    with Resident() as program:
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("u " + slow)
        for _ in range(ROUNDS):
            good("ctl", program.pid, "flush")
        program.tell("e", "0")
        program.tell("l " + slow)
        good("ctl", program.pid, "flush")
        program.tell("l " + slow)
        good("detach", program.pid)
    same(read("t.ctf", 23201)[0] > 0, True)


@test
def what_is_loaded_later_is_recorded_from_the_next_flush_on():
    with Resident() as program:
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("l " + PLUGIN)
        same(read("t.ctf", 23001)[0], 0)
        good("ctl", program.pid, "flush")
        good("ctl", program.pid, "flush")
        program.tell("l " + PLUGIN)
        good("detach", program.pid)
        program.tell("l " + PLUGIN)
    same(read("t.ctf", 23001)[:2], (5, 5))


@test
def a_trace_that_is_gone_is_missed_once():
    with Resident() as program:
        good("attach", "-o", "t.ctf", program.pid)
        os.unlink("t.ctf")
        said = refused("detach", program.pid)
        assert "its trace cannot be found" in said, said
        good("attach", "-o", "t.ctf", program.pid)


@test
def it_detaches_by_itself_after_a_while():
    with Resident() as program:
        program.tell("b 1")
        done = good("attach", "-r", "1e-2", "--duration", "1s", "-o", "t.ctf", program.pid)
        same("not being recorded" in refused("detach", program.pid), True)
        program.tell("e")
    assert "work" in allotrace("hotspots", "t.ctf").stdout, done.stderr


@test
def a_sleep_is_slept_to_its_end():
    with Resident() as program:
        program.start("s 1500")
        good("attach", "-o", "t.ctf", program.pid)
        good("ctl", program.pid, "flush")
        good("detach", program.pid)
        same(program.process.stdout.readline(), "0\n", "what nanosleep said")


WAITS = """#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static void handle(int signal) {}
int main(int argc, char **argv) {
    struct epoll_event event = {.events = EPOLLIN};
    struct timeval limit = {.tv_sec = 90};
    sigset_t usr1;
    char byte;
    int epoll = epoll_create1(0), result;
    epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    if (strcmp(argv[1], "sigwaitinfo") == 0)
        sigprocmask(SIG_BLOCK, &usr1, NULL);
    else
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
    setsockopt(0, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(0, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (argc > 2) /* there is no room for more */
        while (send(0, &byte, 1, MSG_DONTWAIT) == 1)
            continue;
    write(1, "\\n", 1);
    result = strcmp(argv[1], "epoll_wait") == 0 ? epoll_wait(epoll, &event, 1, -1)
           : strcmp(argv[1], "recv") == 0       ? recv(0, &byte, 1, 0)
           : strcmp(argv[1], "read") == 0       ? read(0, &byte, 1)
           : strcmp(argv[1], "readv") == 0      ? readv(0, &part, 1)
           : strcmp(argv[1], "send") == 0       ? send(0, &byte, 1, 0)
           : strcmp(argv[1], "sendmsg") == 0    ? sendmsg(0, &message, 0)
           : strcmp(argv[1], "write") == 0      ? write(0, &byte, 1)
           : strcmp(argv[1], "writev") == 0     ? writev(0, &part, 1)
                                                : sigwaitinfo(&usr1, NULL);
    printf("%d\\n", result < 0 ? -errno : result);
    return 0;
}
"""


@test
def a_wait_does_not_end_but_by_what_it_waits_for_or_a_handler():
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "gcc", source=WAITS)
        for call, by_signal in [(call, False) for call in ("epoll_wait", "recv", "read", "readv", "send", "sendmsg", "write", "writev")] + [
                ("sigwaitinfo", True), ("epoll_wait", True), ("recv", True), ("send", True)]:
            ours, its = socket.socketpair()
            sends = call.startswith(("send", "write"))
            process = subprocess.Popen([program, call, *["full"] * sends], stdin=its, stdout=subprocess.PIPE, text=True)
            process.stdout.readline()
            while "S (sleeping)" not in pathlib.Path(f"/proc/{process.pid}/status").read_text():
                time.sleep(0.01)
            good("attach", "-o", "t.ctf", str(process.pid))
            good("detach", "--no-symbolize", str(process.pid))
            if by_signal:
                process.send_signal(signal.SIGUSR1)
            elif sends:
                while select.select([ours], [], [], 0.1)[0]:
                    ours.recv(1 << 16)
            else:
                ours.send(b"x")
            ends = {"sigwaitinfo": signal.SIGUSR1}.get(call, -errno.EINTR) if by_signal else 1
            same(process.communicate(timeout=60)[0], f"{int(ends)}\n", call)
            ours.close()
            its.close()


@test
def a_process_that_ends_completes_its_trace():
    with Resident() as program:
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("a 77 12000")
    same(read("t.ctf", 12000)[:2], (77, 0))


@test
def python_is_attached_to():
    code = "import sys\nfor line in sys.stdin:\n  x = [bytearray(100000) for i in range(50)]\n  print(len(x), flush=True)"
    # Debian's is linked to fixed addresses.
    python = subprocess.Popen(["/usr/bin/python3", "-c", code], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE, env=ENVIRONMENT)
    for i in range(3):
        if i == 1:
            good("attach", "-r", "1", "-o", "t.ctf", str(python.pid))
        if i == 2:
            good("detach", str(python.pid))
        python.stdin.write("x\n")
        python.stdin.flush()
        same(python.stdout.readline(), "50\n")
    python.communicate("")
    same(python.returncode, 0)
    same(read("t.ctf", 100001)[0], 50)


@test
def what_cannot_be_done_is_refused_with_the_reason():
    assert "there is no process" in refused("attach", "4194304")
    with Resident(STATIC) as program:
        assert "statically" in refused("attach", program.pid)
    with Resident() as program:
        assert "not being recorded" in refused("detach", program.pid)
        assert "not being recorded" in refused("ctl", program.pid, "flush")
        os.kill(int(program.pid), signal.SIGSTOP)
        os.waitid(os.P_PID, int(program.pid), os.WSTOPPED | os.WNOWAIT)
        assert "is stopped" in refused("attach", program.pid)
        os.kill(int(program.pid), signal.SIGCONT)
        said = refused("attach", "-o", "/nowhere/t.ctf", program.pid)
        assert "cannot be written to /nowhere/t.ctf" in said and "No such file" in said, said
        good("attach", "-o", "t.ctf", program.pid)
        assert "already" in refused("attach", "-o", "u.ctf", program.pid)
    assert not os.path.exists("u.ctf")
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    for words in ("attach", "-o", "u.ctf"), ("detach",), ("ctl", ):
        assert "zombie" in refused(words[0], *words[1:], str(ended.pid), *(
            ["flush"] if words[0] == "ctl" else [])), words
    ended.wait()
    for words in ("attach", "x"), ("ctl", "1"), ("ctl", "1", "dance"), ("ctl", "1", "mark"):
        same(allotrace(*words).returncode, 2, " ".join(words))


WAIT = """#include <unistd.h>
int main(void) { write(1, "\\n", 1); return pause(); }
"""
ALLOCATE = """#include <stdlib.h>
#include <unistd.h>
int main(void) { write(1, "\\n", 1); for (;;) { free(malloc(12345)); usleep(100); } }
"""
SPIN = """#include <unistd.h>
int main(void) { write(1, "\\n", 1); for (volatile unsigned i = 0;; i++) { } }
"""
MARK = """#include <allotrace/mark.h>
#include <unistd.h>
int main(void) { write(1, "\\n", 1); for (;;) { allotrace_mark_here("tick"); usleep(1000); } }
"""


def compiled(folder, *compiler, source=WAIT):
    """A program that waits, or another, made by that compiler."""
    if not shutil.which(compiler[0]):
        raise Skip(f"no {compiler[0]}")
    file, program = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a")
    file.write_text(source)
    subprocess.run([*compiler, "-w", "-o", program, file], check=True)
    return program


def why_refused(*command):
    """What is said of a process that runs this; it must still be there then."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        why = refused("attach", "-o", "t.ctf", str(process.pid))
        same(process.poll(), None, "the process has ended")
        return why
    finally:
        process.kill()
        process.communicate()


@test
def another_c_library_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        assert "musl" in why_refused(compiled(folder, "musl-gcc"))
        assert "statically" in why_refused(compiled(folder, "musl-gcc", "-static"))


@test
def a_sanitizer_is_refused_where_it_is_in_the_program_itself():
    names = {"address": "AddressSanitizer", "thread": "ThreadSanitizer"}
    with tempfile.TemporaryDirectory() as folder:
        for sanitizer, name in names.items():
            said = why_refused(compiled(folder, "clang", f"-fsanitize={sanitizer}"))
            assert name + "'s malloc linked into the program itself" in said, said
        program = compiled(folder, "gcc", "-fsanitize=address", source=ALLOCATE)
        process = subprocess.Popen([program], stdout=subprocess.PIPE)
        process.stdout.readline()
        try:
            done = good("attach", "-r", "1", "--duration", "0.1s", "-o", "t.ctf", str(process.pid))
        finally:
            process.kill()
            process.communicate()
    assert "warning" not in done.stderr, done.stderr
    assert read("t.ctf", 12345)[0] > 0


@test
def a_program_is_not_stopped_inside_an_allocator_of_its_own():
    program = shutil.copy(LOCKED, "./server")  # its name does not say that there is a malloc
    assert "always inside its allocator" in why_refused(program)
    process = subprocess.Popen([program, "rest"], stdout=subprocess.PIPE)
    process.stdout.readline()
    for i in range(3):
        done = good("attach", "-r", "1", "-o", f"{i}.ctf", str(process.pid))
        assert re.search("warning: .*/server: has an allocator of its own, which is not recorded: free is too short for a jump; "
                         "calls from libraries are\n", done.stderr), done.stderr
        wait_until_recorded(process.pid, f"{i}.ctf", lambda path: read(path, 43)[0] > 0)
        good("detach", "--no-symbolize", str(process.pid))
    process.kill()
    process.communicate()


@test
def a_program_may_be_named_as_an_allocator_or_as_the_recorder():
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "gcc", "-O0", source=SPIN)
        for name in "malloc-bench", "allotrace-test":
            process = subprocess.Popen([shutil.copy(program, os.path.join(folder, name))], stdout=subprocess.PIPE)
            process.stdout.readline()
            try:
                good("attach", "-r", "1", "--duration", "0.1s", "-o", "t.ctf", str(process.pid))
            finally:
                process.kill()
                process.communicate()


@test
def a_program_that_still_loads_its_libraries_is_waited_for():
    os.mkfifo("late.so")  # the loader opens it before the C library, and waits for its writer
    settings = ENVIRONMENT | {"LD_PRELOAD": os.path.abspath("late.so")}
    process = subprocess.Popen([RESIDENT], env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    attaching = subprocess.Popen([ALLOTRACE, "attach", "-q", "-r", "1", "-o", "t.ctf", str(process.pid)],
                                 env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)  # it looks for the C library and does not find it
    pathlib.Path("late.so").write_text("")
    same((attaching.communicate()[1], attaching.returncode), ("", 0))
    process.communicate("a 100 12000\n")
    same(read("t.ctf", 12000)[0], 100)


@contextlib.contextmanager
def holding_a_lock():
    process = subprocess.Popen([RESIDENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdin.write("h\n")
        process.stdin.flush()
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def await_call(process):
    """Until somebody who attaches waits for what the process calls in vain: it is traced, and goes on."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    patiently(lambda: any("TracerPid:\t0" not in (task / "status").read_text() for task in tasks.iterdir()), "it is traced")
    time.sleep(0.5)


def stop_in_call(process):
    await_call(process)
    process.send_signal(signal.SIGSTOP)


@test
def a_lock_that_nobody_gives_back_ends_in_words():
    with holding_a_lock() as process:
        stops = threading.Thread(target=stop_in_call, args=[process])
        stops.start()
        said = refused("attach", "-o", "t.ctf", str(process.pid))
        stops.join()
        for state in "T", "R":
            for _ in range(600):  # signals take a moment
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                if f"State:\t{state}" in status:
                    break
                time.sleep(0.1)
            same((process.poll(), "TracerPid:\t0" in status, f"State:\t{state}" in status), (None, True, True), status[:200])
            process.send_signal(signal.SIGCONT)
    assert "a lock that it needs is held" in said, said


@test
def a_process_that_ends_meanwhile_is_told_from_one_that_waits():
    with holding_a_lock() as process:
        attach = subprocess.Popen([ALLOTRACE, "attach", "-o", "t.ctf", str(process.pid)], stderr=subprocess.PIPE, text=True)
        await_call(process)
    said = attach.communicate(timeout=60)[1]
    assert attach.returncode == 1 and "has ended" in said, said


@test
def a_signal_handler_that_interrupted_malloc_is_told_or_waited_for():
    with Resident() as program:
        program.start("i 500")
        same(program.process.stdout.readline(), "0\n", "in the handler")
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        same(program.process.stdout.readline(), "0\n", "after the handler")
        program.tell("a 30 12000")
        good("detach", "--no-symbolize", program.pid)
    same(read("t.ctf", 12000)[0], 30)
    process = subprocess.Popen([RESIDENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdin.write("i 0\n")
        process.stdin.flush()
        process.stdout.readline()
        assert "signal handler" in (said := refused("attach", "-o", "t.ctf", str(process.pid))), said
        same(process.poll(), None)
    finally:
        process.kill()
        process.communicate()


@test
def an_emulated_program_is_refused():
    if not shutil.which("valgrind"):
        raise Skip("no valgrind")
    with tempfile.TemporaryDirectory() as folder:
        assert "emulates" in why_refused("valgrind", "-q", compiled(folder, "gcc"))


@test
def a_program_of_a_c_library_that_was_replaced_is_attached_to():
    if os.getuid() != 0:
        raise Skip("only root can read files that are gone")
    module = next(line.split()[-1] for line in open("/proc/self/maps") if "/libc.so.6" in line)
    with tempfile.TemporaryDirectory() as folder:
        library = shutil.copy(module, folder)
        with Resident(LD_LIBRARY_PATH=folder) as program:
            os.unlink(library)
            good("attach", "-r", "1", "-o", "t.ctf", program.pid)
            program.tell("a 30 12000")
            good("detach", "--no-symbolize", program.pid)
    same(read("t.ctf", 12000)[0], 30)


@test
def a_program_is_called_by_the_link_that_started_it():
    os.symlink(RESIDENT, "by-a-link")
    link = os.path.abspath("by-a-link")
    with Resident(link) as program:
        good("attach", program.pid)
        good("detach", program.pid)
    said = good("info", f"by-a-link.{program.pid}.ctf").stdout
    assert ["program", link] in [line.split() for line in said.splitlines()], said


@test
def a_trace_may_have_the_process_in_its_name_and_percent_signs():
    os.mkdir("a%2Fb")
    os.chdir("a%2Fb")
    with Resident() as program:
        for output, path in (None, f"resident.{program.pid}.ctf"), ("%p.ctf", f"{program.pid}.ctf"), \
                ("100%%.ctf", "100%.ctf"):
            good("attach", *(["-o", output] if output else []), program.pid)
            same(good("ctl", program.pid, "status").stdout, f"{os.getcwd()}/{path}: recording\n")
            good("detach", program.pid)
            assert os.path.exists(path), path
        said = refused("attach", "-o", "/nowhere/t.%p.ctf", program.pid)
        assert f"/nowhere/t.{program.pid}.ctf" in said, said
        same(allotrace("attach", "-o", "a%b.ctf", program.pid).returncode, 2)


@test
def what_the_process_may_not_write_is_refused():
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as folder:
        sleep = subprocess.Popen(["sleep", "100"], user=65534)
        said = refused("attach", "-o", f"{folder}/t.ctf", str(sleep.pid))
        same(sleep.poll(), None)
        sleep.kill()
        sleep.wait()
    assert "with its own rights: Permission denied" in said, said


@test
def whoever_may_not_read_the_recorder_gets_a_copy():
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as closed, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        library = shutil.copy(LIBRARY, closed)
        sleep = subprocess.Popen(["sleep", "100"], user=65534)
        try:
            good("attach", "-o", f"{folder}/t.ctf", str(sleep.pid), ALLOTRACE_PRELOAD=library)
            good("detach", str(sleep.pid))
        finally:
            sleep.kill()
            sleep.wait()


@test
def what_the_loader_says_is_said():
    pathlib.Path("text.so").write_text("no library")
    with Resident() as program:
        said = refused("attach", program.pid, ALLOTRACE_PRELOAD=f"{os.getcwd()}/text.so")
    assert "text.so: file too short" in said, said


@test
def another_users_process_is_refused():
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    with Resident() as program, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the build may be where nobody else gets
        command, library = (shutil.copy(file, folder) for file in (ALLOTRACE, LIBRARY))
        for words in ("ctl", program.pid, "status"), ("attach", "-o", "/tmp/t.ctf", program.pid):
            done = subprocess.run([command, *words], user=65534, cwd="/", text=True,
                                  env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": library},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            same(done.returncode, 1)
            assert "another user" in done.stderr, done.stderr


@test
def a_recording_is_told_what_to_do():
    for rate in "1", "0.05", "0.005":  # blocks are so large that none is missed
        check_told(rate)


def check_told(rate):
    settings = {"LD_PRELOAD": LIBRARY, "MEMTRACE": "t.ctf", "MEMTRACE_RATE": rate}
    with Resident(**settings) as program:
        same(good("ctl", program.pid, "status").stdout, f"{os.getcwd()}/t.ctf: recording\n")
        program.tell("a 10 120000")
        good("ctl", program.pid, "stop")
        assert "stopped" in good("ctl", program.pid, "status").stdout
        program.tell("a 10 240000")
        program.tell("f")
        good("ctl", program.pid, "start")
        good("ctl", program.pid, "mark", "half way")
        program.tell("a 10 360000")
        good("ctl", program.pid, "flush")
        same(read("t.ctf", 360000)[0], 10, "in the file before the end")
    marks = ["sampling stopped", "sampling started", "half way"]
    same(read("t.ctf", 120000), (10, 10, marks))
    same(read("t.ctf", 240000), (0, 0, marks))
    os.unlink("t.ctf")


@test
def a_program_sets_marks():
    for program in RESIDENT, FIXED:
        with Resident(program, LD_PRELOAD=LIBRARY, MEMTRACE="t.ctf") as running:
            running.tell("m one")
            running.tell("m two words")
            running.tell("m one")
        same(read("t.ctf", 8)[2], ["one", "two words", "one"])
        with Resident(program) as running:
            running.tell("m nobody hears")


@test
def no_compiler_takes_it_for_settled_that_nobody_hears_marks():
    include = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, "gcc", "-O2", "-I", include, source=MARK)
        process = subprocess.Popen([program], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.01)  # it is in its loop
        try:
            same(good("attach", "-q", "-o", "t.ctf", str(process.pid)).stderr, "", "what is said with -q")
            wait_until_recorded(process.pid, "t.ctf", lambda path: read(path, 8)[2])
            same(good("detach", "-q", str(process.pid)).stderr, "", "what is said with -q")
        finally:
            process.kill()
            process.communicate()
    same(set(read("t.ctf", 8)[2]), {"tick"})


@test
def a_program_sets_marks_while_it_is_attached_to():
    for program in RESIDENT, FIXED:
        with Resident(program) as running:
            for name in "one", "two":
                running.tell("m nobody hears")
                good("attach", "-o", name + ".ctf", running.pid)
                running.tell("m " + name)
                good("detach", "--no-symbolize", running.pid)
            running.tell("m nobody hears")
        same([read(name, 8)[2] for name in ("one.ctf", "two.ctf")], [["one"], ["two"]])
        for name in "one.ctf", "two.ctf":
            os.unlink(name)


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[10:]))
