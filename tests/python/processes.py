"""Starts processes in each way that multiprocessing has, and forks; each keeps 500 blocks of a
size of its own."""
import multiprocessing
import os
import sys

KEPT = []


def keep(size):
    KEPT.append([bytearray(size - 1) for _ in range(500)])
    return os.getpid()


def in_pool(method, size):
    with multiprocessing.get_context(method).Pool(2) as pool:
        done = len(pool.map(keep, [size] * 4))
        pool.close()
        pool.join()
    return done


def in_fork(size):
    child = os.fork()
    if child == 0:
        keep(size)
        os._exit(0)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    keep(5000)
    print(in_fork(5008), in_pool("fork", 5016), in_pool("spawn", 5024), in_pool("forkserver", 5032))
