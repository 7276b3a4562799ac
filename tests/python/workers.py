"""Works in processes that multiprocessing and concurrent.futures start in each way, and prints by
process the sizes of what it kept; of each it kept N blocks, and dropped others."""
import collections
import concurrent.futures
import json
import multiprocessing
import os

N = 200
KEPT, TRUTH = [], collections.defaultdict(list)
INHERITED = []


def keep(size, n):
    KEPT.append([bytearray(size - 1) for _ in range(n)])


def drop(size, n):
    for _ in range(n):
        bytearray(size - 1)


def work(size):
    """The blocks of the parent that end in a child are not the child's."""
    INHERITED.clear()
    keep(size, N)
    drop(size + 8, N // 2)
    return os.getpid(), size


def into(queue, size):
    queue.put(work(size))


def note(done):
    for pid, size in done:
        TRUTH[pid].append(size)


def by_process(method, size):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=into, args=(queue, size)) for _ in range(2)]
    for child in children:
        child.start()
    note(queue.get() for _ in children)
    for child in children:
        child.join()


def by_executor(method, size):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        note(pool.map(work, [size] * 4))


if __name__ == "__main__":
    INHERITED.extend(bytearray(3000) for _ in range(N))
    note([work(4000)])
    INHERITED.extend(bytearray(3000) for _ in range(N))
    for i, method in enumerate(["fork", "spawn", "forkserver"]):
        by_process(method, 5000 + 80 * i)
        by_executor(method, 7000 + 80 * i)
    print(json.dumps(TRUTH))
