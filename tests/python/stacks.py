"""Allocates blocks of sizes of their own in many ways, and prints the stack that Python has for
each: size -> frames, outermost first, as `function@file:line`. Ends without the interpreter's end."""
import asyncio
import functools
import json
import os
import sys
import threading

WITNESSED = {}
KEPT = []
LOCK = threading.Lock()


def name_of(frame):
    return f"{frame.f_code.co_qualname}@{frame.f_code.co_filename}:{frame.f_lineno}"


def witness(size, frame):
    """What the stack was at a block of that size, which `frame` has made in this very line."""
    names = []
    while frame:
        names.append(name_of(frame))
        frame = frame.f_back
    with LOCK:
        WITNESSED[size] = names[::-1]


def make(size):
    KEPT.append(bytearray(size - 1)); witness(size, sys._getframe())


def recurse(depth, size):
    if depth:
        return recurse(depth - 1, size)
    make(size)


def through_c(size):
    list(map(make, [size]))
    sorted([size + 8], key=lambda s: make(s) or 0)
    functools.reduce(lambda _, s: make(s), [size + 16, size + 24])


def generator(size):
    for i in range(3):
        make(size + 8 * i)
        yield i


def nested(size):
    yield from generator(size)


class Thing:
    def __init__(self, size):
        make(size)

    def __getattr__(self, name):
        make(int(name[1:]))

    def __lt__(self, other):
        make(19008)
        return True


def in_exec(size, number):
    code = "\n" * number + f"def made():\n\n    make({size})\nmade()"
    exec(compile(code, f"made-{number:03}.py", "exec"), {"make": make})


def constructed(size):
    """The interpreter adapts the call to its class, once it is warm."""
    for i in range(60):
        Thing(size + 8 * i)


def new_code(size):
    """Code objects that take each other's places."""
    for i in range(50):
        in_exec(size + 8 * i, i)


def long_lines(size):
    code = "\n" * 300 + "x = [\n" + "1,\n" * 3000 + f"make({size})]\n" + "\n" * 70000 + f"make({size + 8})"
    exec(compile(code, "long.py", "exec"), {"make": make})


def überall(size):
    make(size)


async def task(size):
    make(size)
    await asyncio.sleep(0)
    make(size + 8)


async def tasks(size):
    await asyncio.gather(task(size), task(size + 16))


def threads(size):
    all_of_them = [threading.Thread(target=recurse, args=(i, size + 8 * i)) for i in range(20)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()


def raise_and_catch(size):
    try:
        recurse(3, size)
        raise KeyError(size)
    except KeyError:
        make(size + 8)
    finally:
        make(size + 16)


def main():
    make(10000)
    recurse(30, 10008)
    through_c(11000)
    list(generator(12000))
    sum(nested(13000))
    Thing(14000)
    Thing(15000).x16000
    Thing(17000) < Thing(18000)
    constructed(20000)
    new_code(30000)
    long_lines(40000)
    überall(41000)
    asyncio.run(tasks(50000))
    threads(60000)
    raise_and_catch(70000)
    print(json.dumps(WITNESSED))
    sys.stdout.flush()
    os._exit(0)


main()
