#!/usr/bin/python3
"""Records a program whose stack is not aligned where it calls what the recorder stands in front of. Prints
TAP.

    test_misaligned.py ALLOTRACE LIBRARY PROGRAM
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import decode  # noqa: E402
import tap  # noqa: E402
import recording  # noqa: E402
from tap import Skip, same, test  # noqa: E402

ALLOTRACE, LIBRARY, PROGRAM = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = recording.ENVIRONMENT | \
    {"ALLOTRACE_PRELOAD": LIBRARY}


def blocks_of(path, size):
    decoder = decode.Decoder(pathlib.Path(path).read_bytes())
    decoder.read_info()
    return sum(event[0] == "alloc" and event[3] == (size + 7) // 8 for _, _, event in decoder.events())


@test
def under_run():
    for rate in "1", "1e-2", "1e-5":
        for more in [], ["--mmap"]:
            done = subprocess.run([ALLOTRACE, "run", *more, "-r", rate, "-o", "%p.ctf", "--", PROGRAM], env=ENVIRONMENT,
                                  input="\n\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
            same((done.returncode, done.stdout), (0, "0\n0\ndone\n"), f"{rate} {more}: {done.stderr}")
            traces = list(pathlib.Path().glob("*.ctf"))
            if rate == "1":
                same(sum(blocks_of(t, 14000) for t in traces), 200)
                same(sum(blocks_of(t, 1 << 16) for t in traces), 200 if more else 0)
            for trace in traces:
                trace.unlink()


@test
def while_attached():
    program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def go_on():
        program.stdin.write("\n")
        program.stdin.flush()
        same(program.stdout.readline(), "0\n")

    go_on()
    for rate in "1", "1e-2":
        for words in ["attach", "--mmap", "-r", rate, "-o", "t.ctf"], ["ctl"], ["detach"]:
            done = subprocess.run([ALLOTRACE, *words, str(program.pid), *(["flush"] if words == ["ctl"] else [])],
                                  env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, timeout=100)
            if "may not be traced" in done.stderr and os.getuid() != 0:
                raise Skip("this user may not trace processes")
            same(done.returncode, 0, done.stderr)
            go_on()
        if rate == "1":
            same(blocks_of("t.ctf", 14000), 200)
    same(program.communicate(timeout=60)[0], "done\n")
    same(program.returncode, 0)


tap.main()
