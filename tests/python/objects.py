"""Makes objects of known types, those of a type in a function of its own, and prints the truth as
JSON: function -> [name of the type, how many]. Free lists may give a few of them without an
allocation. Ends without the interpreter's end, which would free all."""
import collections
import gc
import json
import os
import sys
import threading

N = 300


class Point:
    def __init__(self):
        self.x = 1


class Slotted:
    __slots__ = "a", "b"


class Text(str):
    pass


def points():
    return [Point() for i in range(N)]


def slotted():
    return [Slotted() for i in range(N)]


def texts():
    return [Text("abc") for i in range(N)]


def dicts():
    return [{} for i in range(N)]


def lists():
    return [[i] for i in range(N)]


def strings():
    return ["x" * (40 + i) for i in range(N)]


def integers():
    return [i << 70 for i in range(1, N)]


def floats():
    return [i * 1.5 for i in range(N)]


def tuples():
    return [(i,) * 30 for i in range(N)]


def contents():
    return [bytes(i) for i in range(2, N)]


def sets():
    return [{i} for i in range(N)]


def deques():
    return [collections.deque() for i in range(N)]


def functions():
    return [lambda: i for i in range(N)]


def dropped():
    for i in range(N):
        bytearray(i)
    return [None] * N


def threads():
    mine = []

    def work():
        mine.extend([frozenset([i]) for i in range(N)])
    all_of_them = [threading.Thread(target=work) for _ in range(4)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    return mine


NAMES = {points: "Point", slotted: "Slotted", texts: "Text", dicts: "dict", lists: "list",
         strings: "str", integers: "int", floats: "float", tuples: "tuple", contents: "bytes",
         sets: "set", deques: "collections.deque", functions: "function", dropped: "bytearray",
         threads: "frozenset"}
KEPT = []


def classes_that_die():
    """Each class may have the address of the one before."""
    made = collections.Counter()

    def make(name):
        mine = type(name, (), {})
        KEPT.append([mine() for _ in range(20)])
        KEPT.pop()
        del mine
        gc.collect()
        made[name] += 20
    for i in range(30):
        make(f"Class{i}")
    return made


def main():
    truth = {}
    for function, name in NAMES.items():
        made = function()
        KEPT.append(made)
        truth[function.__name__] = {name: len(made)}
    truth["classes_that_die"] = classes_that_die()
    print(json.dumps(truth))
    sys.stdout.flush()
    os._exit(0)


main()
