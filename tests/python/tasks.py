"""Runs tasks of asyncio in each way in which they come to be, and prints how many bytes objects of which size each scope
ought to have. Scopes are entered as by allotrace/mark.h, where there is a recorder."""
import asyncio
import collections
import ctypes
import json
import sys
import threading
import time

KEPT = []
TRUTH = collections.defaultdict(collections.Counter)
C = ctypes.CDLL(None)  # gives up the interpreter's lock for a call
C.malloc.restype = ctypes.c_void_p
C.malloc.argtypes = [ctypes.c_size_t]
LOCKED = ctypes.PyDLL(None)


def grab(size, scope):
    KEPT.append(bytes(size))
    TRUTH[scope][sys.getsizeof(KEPT[-1])] += 1


def grab_unlocked(size, scope):
    KEPT.append(C.malloc(size))
    TRUTH[scope][size] += 1


def enter(name, scope=0):
    try:
        function = LOCKED.allotrace_scope
    except AttributeError:
        return 0
    return function(None if name is None else name.encode(), scope)


async def serve(n, scope):
    for i in range(n):
        grab(5000 + i, scope)
        await asyncio.sleep(0)


async def names():
    """Named ones, some with one name, in letters of any size, and too long; and ones without a name."""
    long = "a name that is longer than sixty-three bytes, of which some are left out"
    calls = [("one", "one", 3), ("two", "two", 5), ("one", "one", 2), ("größer", "größer", 2), ("名前", "名前", 2),
             (long, long[:63], 2), ("Task-x", "Task-x", 1), ("Task-12", "serve", 1), (None, "serve", 4), ("", "serve", 1)]
    await asyncio.gather(*(asyncio.create_task(serve(n, scope), name=name) for name, scope, n in calls))
    await asyncio.gather(serve(2, "serve"), serve(3, "serve"))


async def renamed():
    grab(6000, "renamed")
    asyncio.current_task().set_name("has a name")
    grab(6001, "has a name")


async def groups():
    async with asyncio.TaskGroup() as group:
        group.create_task(serve(2, "in a group"), name="in a group")
        group.create_task(serve(2, "serve"))
    grab(6100, "groups")


async def one_after_the_other():
    """Tasks that end, and leave their address to the next one."""
    async def ends(scope):
        grab(6200, scope)
    for i in range(20):
        await asyncio.create_task(ends(f"short {i}"), name=f"short {i}")


async def names_at_one_address():
    """Tasks that run right after each other, with names of one length, each where the last one was."""
    loop = asyncio.get_running_loop()
    wanted = [f"again {i:03d}" for i in range(30)]
    ended, addresses = loop.create_future(), []

    async def ends(scope):
        grab(6250, scope)
        addresses.append(id(asyncio.current_task().get_name()))

    def make(i):
        if i == len(wanted):
            ended.set_result(None)
            return
        task = loop.create_task(ends(wanted[i]), name="".join(wanted[i]))
        task.add_done_callback(lambda _: loop.call_soon(make, i + 1))

    make(0)
    await ended
    assert any(a == b for a, b in zip(addresses, addresses[1:])), "no address is used again"


class Special(asyncio.Task):
    pass


class MoreSpecial(Special):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.more = 1


async def classes():
    loop = asyncio.get_running_loop()
    for kind in Special, MoreSpecial:
        await kind(serve(2, kind.__name__), loop=loop, name=kind.__name__)


async def waits(name, n):
    """Enters a scope, and waits in it, while others do so, too."""
    grab(6300, "waits")
    outer = enter(name)
    for i in range(n):
        await asyncio.sleep(0)
        grab(6310 + i, name)
    inner = enter(name + " inner")
    await asyncio.sleep(0)
    grab(6320, name + " inner")
    enter(None, inner)
    await asyncio.sleep(0)
    grab(6330, name)
    enter(None, outer)
    await asyncio.sleep(0)
    grab(6340, "waits")


async def scopes():
    await asyncio.gather(waits("A", 3), waits("B", 1), waits("C", 7), serve(8, "serve"))


async def outside():
    """What no task runs: callbacks, which are in the scope around the loop, and other threads."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_soon(lambda: (grab(6400, "program"), done.set_result(None)))
    await done
    await loop.run_in_executor(None, grab, 6410, "")
    await asyncio.to_thread(grab, 6411, "")


async def unlocked():
    async def calls(name):
        for i in range(3):
            grab(6500, name)
            grab_unlocked(50000 + i, name)
            await asyncio.sleep(0)
    await asyncio.gather(*(asyncio.create_task(calls(name), name=name) for name in ("first", "second")))
    await asyncio.to_thread(grab_unlocked, 50010, "")


async def eager():
    if hasattr(asyncio, "eager_task_factory"):
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await asyncio.gather(serve(1, "serve"), serve(3, "serve"))
        asyncio.get_running_loop().set_task_factory(None)
        grab(6600, "eager")


async def all_of_them():
    for function in (names, renamed, groups, one_after_the_other, names_at_one_address, classes, scopes, outside, unlocked,
                     eager):
        await asyncio.create_task(function())
    grab(6700, "all_of_them")


async def in_a_thread(i, barrier):
    async def works(scope):
        for _ in range(20):
            time.sleep(0.001)  # other threads begin steps of tasks meanwhile
            grab(7000 + i, scope)
            await asyncio.sleep(0)
    barrier.wait()
    await asyncio.gather(*(asyncio.create_task(works(f"thread {i} {j}"), name=f"thread {i} {j}") for j in range(2)))


def main():
    grab(4900, "")
    outer = enter("program")
    grab(4901, "program")
    asyncio.run(all_of_them())
    grab(4902, "program")
    enter(None, outer)
    barrier = threading.Barrier(3)
    threads = [threading.Thread(target=asyncio.run, args=[in_a_thread(i, barrier)]) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    grab(4903, "")
    print(json.dumps(TRUTH, sort_keys=True))


main()
