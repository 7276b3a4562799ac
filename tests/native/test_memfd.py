#!/usr/bin/python3
"""Attaches, as root, to a process in a container that has another file where the recorder is to be written. Prints
TAP.

    test_memfd.py ALLOTRACE LIBRARY PROGRAM
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
import recording  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, PROGRAM = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = recording.ENVIRONMENT | \
    {"ALLOTRACE_PRELOAD": LIBRARY}
USER = 65534
NAME = "memfd:liballotrace-preload.so (deleted)"  # as a file in memory seems to be called

# Any user can do the same in namespaces of one's own.
BOX = f"""set -e
    mount -t tmpfs none box
    cd box
    mkdir usr proc old
    mount --bind /usr usr
    mount --rbind /proc proc
    for name in lib lib64; do ln -s usr/$name $name; done
    cp "$0" program
    touch "{NAME}"
    mount --bind "$1" "{NAME}"
    pivot_root . old
    exec setpriv --reuid={USER} --regid={USER} --clear-groups /program "/{NAME}" """


@test
def the_recorder_goes_into_no_file_of_ours():
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    if not shutil.which("setpriv") or not os.path.islink("/lib") or not os.path.islink("/lib64"):
        raise Skip("there is no setpriv, or /lib is not in /usr")
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("no mounts of one's own may be made here")
    os.mkdir("box")
    pathlib.Path("roots").write_text("of root's\n")
    os.chmod("roots", 0o644)
    program = subprocess.Popen(["unshare", "--mount", "sh", "-c", BOX, PROGRAM, os.path.abspath("roots")],
                               stdout=subprocess.PIPE, text=True)
    same(program.stdout.readline(), "ready\n")
    done = subprocess.run([ALLOTRACE, "attach", "-o", "/t.ctf", str(program.pid)], env=ENVIRONMENT,
                          stderr=subprocess.PIPE, text=True, timeout=90)
    program.kill()
    program.wait()
    same(pathlib.Path("roots").read_bytes()[:20], b"of root's\n")
    same(done.returncode, 1)
    assert "cannot be brought there: Bad file descriptor" in done.stderr, done.stderr


tap.main()
