#!/usr/bin/python3
"""Attaches to programs that are under seccomp filters or in containers. Prints TAP.

    test_attach_sandbox.py LIBRARY ALLOTRACE ...: see resident.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from resident import (ALLOTRACE, ENVIRONMENT, LIBRARY, RESIDENT, WATCHFUL, Resident, allotrace,
                      check_killed, good, read, refused)  # it finds the next ones
import tap
from tap import Skip, same, test

CAP_SYS_ADMIN = 1 << 21


def may_read_filters():
    status = dict(line.split(":\t", 1)
                  for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    if not int(status["CapEff"], 16) & CAP_SYS_ADMIN or status["Seccomp"] != "0":
        raise Skip("only root outside of containers may read seccomp filters")


# What a thread does in there, and what it does later.
LOADING = {"mmap", "mprotect", "openat", "close", "munmap", "newfstatat", "fstat", "read"}
RECORDING = {"futex", "gettid", "getpid", "madvise", "membarrier", "nanosleep", "pread64", "pwrite64", "write",
             "rt_sigpending", "rt_sigprocmask", "rt_sigtimedwait", "ftruncate", "fcntl", "mremap",
             "sched_yield", "sigaltstack"}
MUST_DO = {"futex", "rt_sigprocmask", "rt_sigtimedwait", "close", "getpid", "gettid"}


def check_sandboxed(program):
    program.tell("b 2")
    good("attach", "-r", "1", "-o", "t.ctf", program.pid)
    program.tell("a 500 12000")
    program.tell("f")
    good("ctl", program.pid, "flush")
    good("detach", "--no-symbolize", program.pid)
    good("attach", "-r", "1e-2", "-o", "u.ctf", program.pid)
    program.tell("e")
    program.tell("a 10 12000")
    good("detach", "--no-symbolize", program.pid)
    same(read("t.ctf", 12000)[:2], (500, 500))
    same(allotrace("doctor", "t.ctf").returncode, 0, "doctor")
    os.unlink("t.ctf")
    os.unlink("u.ctf")


@test
def a_seccomp_filter_that_allows_what_is_needed_is_no_obstacle():
    may_read_filters()
    for rules in "kill needed", "error needed", "trap needed", "allow ptrace=kill", \
            "kill membarrier=error madvise=error needed", "allow madvise=log":
        with Resident() as program:
            program.tell("x " + rules)
            check_sandboxed(program)


@test
def a_seccomp_filter_that_forbids_what_is_needed_is_refused():
    may_read_filters()
    for call in sorted(LOADING | RECORDING):
        with Resident() as program:
            program.tell(f"y allow {call}=kill")
            said = refused("attach", "-o", "t.ctf", program.pid)
            assert f"may end it for {call}," in said, said
            program.process.kill()
            program.process.wait()
            program.process.returncode = 5  # it could not go on with this one
    assert not os.path.exists("t.ctf")


@test
def the_answer_of_a_seccomp_filter_is_named():
    may_read_filters()
    for what, words in ("end", "may end it for"), ("trap", "may send it a signal for"), \
            ("trace", "may have another process decide on"), ("nothing", "may only pretend to do"):
        with Resident() as program:
            program.tell(f"x allow fcntl={what}")
            said = refused("attach", "-o", "t.ctf", program.pid)
            assert f"{words} fcntl," in said, said
            program.tell("a 10 12000")
            assert "not being recorded" in refused("detach", program.pid)


@test
def a_seccomp_filter_that_lets_calls_fail_does_no_harm():
    may_read_filters()
    for call in sorted((LOADING | RECORDING) - {"write", "read"}):
        with Resident() as program:
            program.tell(f"x allow {call}=error")
            done = allotrace("attach", "-r", "1", "-o", "t.ctf", program.pid)
            if call in MUST_DO:
                assert f"may refuse {call}," in done.stderr, done.stderr
            if done.returncode:
                same(done.stderr.count("\n"), 1, done.stderr)
            program.tell("a 100 1200")
            program.tell("f")
            if done.returncode == 0:
                good("detach", "--no-symbolize", program.pid)
            program.tell("a 100 1200")


@test
def each_thread_has_seccomp_filters_of_its_own():
    may_read_filters()
    with Resident() as program:
        program.tell("y kill needed")
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("a 10 12000")
        good("detach", "--no-symbolize", program.pid)
        program.tell("e")
        program.tell("y allow fcntl=trap")
        assert "signal for fcntl," in refused("attach", "-o", "u.ctf", program.pid)
        program.tell("e")
        program.tell("x error needed prctl=allow")  # the strictest filter counts
        program.tell("y allow fcntl=kill")
        assert "end it for fcntl," in refused("attach", "-o", "u.ctf", program.pid)
        program.tell("e")
    same(read("t.ctf", 12000)[0], 10)


@test
def a_seccomp_filter_that_comes_later_ends_the_recording():
    with Resident() as program:
        good("attach", "-r", "1", "-o", "t.ctf", program.pid)
        program.tell("a 10 12000")
        program.tell("x allow ptrace=kill")
        program.tell("a 10 12000")
        program.tell("y allow fcntl=kill")
        program.tell("a 10 12000")
        program.tell("e")
    made, _, marks = read("t.ctf", 12000)
    same((made, marks), (20, ["recording has ended: the program's seccomp filter forbids system calls that "
                              "recording needs"]))


@test
def a_sleep_that_may_not_be_gone_on_with_begins_anew():
    may_read_filters()
    with Resident() as program:
        program.tell("x allow restart_syscall=kill")
        program.start("s 1000")
        while not pathlib.Path(f"/proc/{program.pid}/syscall").read_text().startswith("230 "):
            time.sleep(0.01)  # it is not in clock_nanosleep yet
        good("attach", "-o", "t.ctf", program.pid)
        good("detach", "--no-symbolize", program.pid)
        same(program.process.stdout.readline(), "0\n", "what nanosleep said")


def watchful(what):
    """A program with filters, when it has begun."""
    may_read_filters()
    program = subprocess.Popen([WATCHFUL, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    program.stdout.readline()
    return program


@test
def what_a_filter_forbids_fails_where_nobody_knew_of_it():
    program = watchful("calls")
    good("attach", "-o", "t.ctf", str(program.pid))
    n_calls, n_failed = map(int, program.communicate("x", timeout=60)[0].split())
    same(program.returncode, 0)
    assert n_calls == n_failed > 0, (n_calls, n_failed)


@test
def a_seccomp_filter_that_comes_while_it_attaches_is_noticed():
    program = watchful("installs")
    said = refused("attach", "-o", "t.ctf", str(program.pid))
    assert "end it for madvise," in said, said
    program.communicate("x", timeout=60)
    same(program.returncode, 0)


@test
def seccomp_filters_take_rights_to_read():
    may_read_filters()
    with Resident() as program:
        program.tell("x kill needed")
        done = subprocess.run(["setpriv", "--bounding-set=-sys_admin", ALLOTRACE, "attach", "-o",
                               "t.ctf", program.pid], text=True, stderr=subprocess.PIPE,
                              env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY})
    same(done.returncode, 1)
    assert "only root outside all containers" in done.stderr, done.stderr


def box(program):
    """A command that runs it in a tree of files of its own, as a container does: with the same
    system, but neither this folder nor what was built."""
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("no mounts of one's own may be made here")
    os.mkdir("box")
    links = [name for name in ("lib", "lib64") if os.path.islink("/" + name)]
    script = """set -e
        mount -t tmpfs none box
        cd box
        mkdir usr proc tmp
        mount --bind /usr usr
        mount --rbind /proc proc
        for name in lib lib64; do ln -s usr/$name $name; done
        cp "$0" tmp/program
        exec chroot . /tmp/program"""
    if links != ["lib", "lib64"]:
        raise Skip("/lib is not in /usr here")
    return ["unshare", "--mount", "sh", "-c", script, program]


@test
def a_process_with_files_of_its_own_is_recorded_into_one_of_them():
    may_read_filters()
    with Resident(box(RESIDENT)) as program:
        seen = f"/proc/{program.pid}/root"
        program.tell("x error needed memfd_create=allow")
        said = refused("attach", "-r", "1", program.pid)
        assert "No such file or directory; use -o to name another file" in said, said
        for way in "detach", "duration":
            name = f"/tmp/{way}.ctf"
            if way == "detach":
                done = good("attach", "-r", "1", "-o", name, program.pid)
                assert f"{seen}{name}" in done.stderr, done.stderr
                program.tell("a 30 12000")
                done = good("detach", program.pid)
            else:
                program.tell("b 1")
                done = good("attach", "-r", "1e-2", "-o", name, "--duration", "1s", program.pid)
                program.tell("e")
            assert "recorded" in done.stderr and f"{seen}{name}" in done.stderr, done.stderr
            shutil.copy(seen + name, ".")
    same(read("detach.ctf", 12000)[0], 30)
    assert "keep" in allotrace("hotspots", "detach.ctf").stdout
    assert "work" in allotrace("hotspots", "duration.ctf").stdout


@test
def only_root_can_bring_the_recorder_to_where_its_file_is_not_seen():
    may_read_filters()
    with Resident(box(RESIDENT)) as program:
        done = subprocess.run(["setpriv", "--bounding-set=-sys_admin", ALLOTRACE, "attach", "-o",
                               "/tmp/t.ctf", program.pid], text=True, stderr=subprocess.PIPE,
                              env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY})
        program.tell("x allow memfd_create=error")
        said = refused("attach", "-o", "/tmp/t.ctf", program.pid)
    same(done.returncode, 1)
    assert "only root can bring it there" in done.stderr, done.stderr
    assert "cannot be brought there: it may not create a file" in said, said


@test
def who_has_to_be_able_to_read_the_recorder_is_named():
    may_read_filters()
    with tempfile.TemporaryDirectory() as folder:
        library, program_file = shutil.copy(LIBRARY, folder), shutil.copy(RESIDENT, folder)
        os.chmod(folder, 0o755)
        os.chmod(library, 0o600)
        with Resident(["setpriv", "--reuid=65534", "--clear-groups", program_file]) as program:
            program.tell("x allow memfd_create=error")
            said = refused("attach", "-o", "/tmp/t.ctf", program.pid, ALLOTRACE_PRELOAD=library)
    assert f"{library}: " in said and "Permission denied (user 65534," in said, said


@test
def whoever_attaches_to_a_sandbox_may_be_killed_at_any_moment():
    may_read_filters()
    check_killed(["x kill restart_syscall=kill needed"])


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[10:]))
