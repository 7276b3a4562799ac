"""Runs until a line comes on its input for each step, and allocates in threads and in functions of
known names: `before`, `during` and `after` a recording. Prints what it has done."""
import sys
import threading
import time

KEPT = []
THREADS = 3
STOP = threading.Event()
ROUNDS = []  # an entry for each that a thread has made


class Item:
    pass


def make(n):
    return [bytes(3000 + i) for i in range(n)] + [Item() for i in range(n)]


def before():
    KEPT.append(make(100))


def during():
    KEPT[0].clear()  # whose births nobody saw
    KEPT.append(make(100))
    KEPT[1][50:100] = []
    enough = len(ROUNDS) + 2 * THREADS  # each may have begun one before
    while len(ROUNDS) < enough:
        time.sleep(0.01)


def after():
    KEPT[1].clear()  # whose ends nobody sees
    KEPT.append(make(100))


def busy():
    done = 0
    while not STOP.is_set():
        done += len([{i: str(i)} for i in range(200)])
        ROUNDS.append(None)
        time.sleep(0.02)
    return done


def main():
    threads = [threading.Thread(target=busy) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for function in before, during, after, during, after:
        print(function.__name__, flush=True)
        sys.stdin.readline()
        if len(KEPT) == 3:
            KEPT.pop()
            KEPT.pop()
        function()
    STOP.set()
    for thread in threads:
        thread.join()
    print("done", len(KEPT), flush=True)


main()
