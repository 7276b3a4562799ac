# Tasks of an event loop, processes that they wait for, and a library that calls back.
import asyncio
import sqlite3
import sys


async def task(i):
    await asyncio.sleep(0)
    return [str(k) for k in range(i)]


async def main():
    found = await asyncio.gather(*(task(i) for i in range(200)))
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    said, _ = await child.communicate()
    loop = asyncio.get_running_loop()
    slow = await loop.run_in_executor(None, lambda: sum(range(100000)))
    print(sum(map(len, found)), said, slow)


def query():
    database = sqlite3.connect(":memory:")
    database.create_function("twice", 1, lambda x: x * 2)
    database.execute("create table t (x)")
    database.executemany("insert into t values (?)", ((i,) for i in range(20000)))
    print(database.execute("select sum(twice(x)) from t").fetchone())


query() if sys.argv[1:] == ["sqlite"] else asyncio.run(main())
