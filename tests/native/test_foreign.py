#!/usr/bin/python3
"""Records, as root, what another user runs, where that user can replace the trace by a link: root's files stay
as they are. Prints TAP.

    test_foreign.py LIBRARY ALLOTRACE ...: see resident.py
"""
import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from resident import ALLOTRACE, ENVIRONMENT, LIBRARY, RESIDENT, Resident, allotrace  # it finds the next ones
import tap
from tap import Skip, same, test

USER = 65534
RACES = 12  # without care, root overwrote a file in half of them



def start_race(trace, links):
    """A child that, as the user, has the name of the trace lead to root's files and back, until it is killed."""
    child = os.fork()
    if child:
        return child
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    for at in itertools.count():
        with contextlib.suppress(OSError):
            os.rename(trace, "home/kept")
            os.symlink(links[at % len(links)], trace)
            for _ in range(at % 7 * 200):
                pass
            os.unlink(trace)
        with contextlib.suppress(OSError):
            os.rename("home/kept", trace)


class Foreign(Resident):
    """The program, run by the user from a copy that the user can reach."""

    def __init__(self):
        super().__init__(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                          os.path.abspath("program")])


def stage():
    """A folder of the user's, one of root's, with a trace and another file; and the program with its library."""
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    if not shutil.which("setpriv"):
        raise Skip("there is no setpriv")
    os.chmod(".", 0o755)
    shutil.copy(RESIDENT, "program")
    shutil.copy(LIBRARY, "liballotrace-preload.so")
    os.mkdir("home")
    os.chown("home", USER, USER)
    os.mkdir("roots")
    same(subprocess.run([ALLOTRACE, "run", "-q", "--no-symbolize", "-r", "1", "-o", "roots/trace.ctf", "--", RESIDENT],
                        env=ENVIRONMENT | {"ALLOTRACE_PRELOAD": LIBRARY}, input="a 10 12000\nq\n", text=True,
                        stdout=subprocess.DEVNULL).returncode, 5)
    shutil.copy("roots/trace.ctf", "roots/secret.ctf")
    os.chmod("roots/secret.ctf", 0o600)
    pathlib.Path("roots/other").write_text("of root's\n")
    return state()


def state():
    return {str(f): (f.read_bytes(), f.stat().st_uid, f.stat().st_mode) for f in pathlib.Path("roots").iterdir()}


def unchanged(before, note=""):
    now = state()
    same([f for f in now.keys() | before.keys() if now.get(f) != before.get(f)], [], "of root's changed: " + note)


def ours(*words):
    environment = ENVIRONMENT | {"ALLOTRACE_PRELOAD": os.path.abspath("liballotrace-preload.so")}
    return subprocess.run([ALLOTRACE, *words], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=100)


def attach(program, path="home/x.ctf"):
    done = ours("attach", "-r", "1", "-o", os.path.abspath(path), program.pid)
    same(done.returncode, 0, done.stderr)


@test
def a_trace_gets_its_names_and_stays_the_users():
    stage()
    with Foreign() as program:
        attach(program)
        program.tell("a 10 12000")
        done = ours("detach", program.pid)
    same(done.returncode, 0, done.stderr)
    about = os.stat("home/x.ctf")
    same((about.st_uid, about.st_gid), (USER, USER))
    same(os.listdir("home"), ["x.ctf"])
    assert "keep" in allotrace("hotspots", "home/x.ctf").stdout


def owner(path):
    about = os.stat(path)
    return about.st_uid, about.st_gid


@test
def what_is_completed_later_stays_the_users():
    stage()
    with Foreign() as program:
        attach(program)
        program.tell("a 10 12000")
        same(ours("detach", "--no-symbolize", program.pid).returncode, 0)
    same(owner("home/x.ctf"), (USER, USER), "detached")
    assert "keep" not in allotrace("hotspots", "home/x.ctf").stdout
    for words in ["info"], ["hotspots", "--index"], ["symbolize"], ["info"]:
        done = ours(*words, "home/x.ctf")
        same((done.returncode, owner("home/x.ctf")), (0, (USER, USER)), f"{words}: {done.stderr}")
        same(os.listdir("home"), ["x.ctf"], words)
    assert "keep" in allotrace("hotspots", "home/x.ctf").stdout


@test
def what_run_rescues_is_of_whose_folder_it_is():
    stage()
    for signal_ in "KILL", "TERM":
        done = ours("run", "-r", "1", "-o", "home/x.ctf", "--", sys.executable, "-c",
                    f"import os, signal; os.kill(os.getpid(), signal.SIG{signal_})")
        same(done.returncode, -getattr(signal, "SIG" + signal_), done.stderr)
        same(owner("home/x.ctf"), (USER, USER), done.stderr)
        same(os.listdir("home"), ["x.ctf"])
        same(ours("doctor", "home/x.ctf").returncode, 0)
        assert "recorded every allocation" in done.stderr, done.stderr
        os.unlink("home/x.ctf")


@test
def a_link_leads_nowhere():
    before = stage()
    for make in os.symlink, os.link:
        for name in "trace.ctf", "secret.ctf", "other":
            with Foreign() as program:
                attach(program)
                os.unlink("home/x.ctf")
                make(os.path.abspath("roots/" + name), "home/x.ctf")
                ours("detach", program.pid)
            unchanged(before, f"{make.__name__} {name}")
            if make is os.link and os.stat("home/x.ctf").st_uid == USER:
                assert name != "secret.ctf", "what only root may read went into a file of the user's"
            for file in pathlib.Path("home").iterdir():
                file.unlink()


@test
def a_link_that_comes_and_goes_leads_nowhere():
    before = stage()
    for _ in range(RACES):
        with Foreign() as program:
            attach(program)
            program.tell("a 10 12000")
            race = start_race("home/x.ctf", [os.path.abspath(f) for f in before])
            ours("detach", program.pid)
            os.kill(race, signal.SIGKILL)
            os.waitpid(race, 0)
        unchanged(before)
        for file in pathlib.Path("home").iterdir():
            file.unlink()


@test
def a_run_by_root_is_completed_by_whose_folder_it_is():
    before = stage()
    os.utime("roots/trace.ctf", (2**31, 2**31))  # as one that was written just now
    user = f"setpriv --reuid={USER} --regid={USER} --clear-groups"
    for last, status in ("", 0), (f"{user} ln -sf $PWD/roots/trace.ctf home/x.ctf", 0):
        done = ours("run", "-r", "1", "-o", "home/x.ctf", "--", "/bin/sh", "-c", f"{user} true; {last}")
        same(done.returncode, status, done.stderr)
        unchanged(before, last)
        if not last:
            same(os.stat("home/x.ctf").st_uid, USER)
            assert "recorded every allocation" in done.stderr, done.stderr
            same(ours("doctor", "home/x.ctf").returncode, 0)
        for file in pathlib.Path("home").iterdir():
            file.unlink()


@test
def a_process_of_roots_that_writes_into_a_folder_of_the_users_opens_nothing_to_them():
    before = stage()
    with Resident(os.path.abspath("program")) as program:
        attach(program)
        program.tell("a 10 12000")
        os.unlink("home/x.ctf")
        os.symlink(os.path.abspath("roots/trace.ctf"), "home/x.ctf")
        ours("detach", program.pid)
    unchanged(before)


@test
def what_root_symbolizes_or_indexes_belongs_to_whose_folder_it_is():
    before = stage()
    shutil.copy("roots/trace.ctf", "home/x.ctf")
    os.chown("home/x.ctf", USER, USER)
    done = ours("symbolize", "home/x.ctf")
    same(done.returncode, 0, done.stderr)
    same((os.stat("home/x.ctf").st_uid, os.stat("home/x.ctf").st_gid), (USER, USER))
    same(os.listdir("home"), ["x.ctf"])
    for folder in "home", ".":  # by a link to the file, or to its folder
        os.rename(folder + "/x.ctf", "kept") if folder == "home" else os.rename("home", "kept.home")
        if folder == "home":
            os.symlink(os.path.abspath("roots/trace.ctf"), "home/x.ctf")
        else:
            os.mkdir("home")
            os.symlink(os.path.abspath("roots"), "home/in")
            os.lchown("home/in", USER, USER)
            os.chown("home", USER, USER)
        path = "home/x.ctf" if folder == "home" else "home/in/trace.ctf"
        same(ours("symbolize", path).returncode, 1, path)
        done = ours("hotspots", "--index", path)
        same(done.returncode, 0, done.stderr)
        assert "another user controls" in done.stderr, done.stderr
        unchanged(before, path)
        same([f for f in os.listdir("home") if f.endswith(".idx")], [])


tap.main()
