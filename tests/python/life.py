"""Allocates what is known to the byte, each kind in a function of its own, and prints the truth as
JSON: function -> [bytes of each block that lives, bytes of each that is freed]. Ends without the
interpreter's end, which would free all."""
import json
import os
import sys

KEPT = []


def keep_bytes(n):
    return [bytes(600 + i) for i in range(n)]


def keep_small(n):
    return [bytes(i) for i in range(2, n)]


def keep_tuples(n):
    return [(None,) * (30 + i) for i in range(n)]


def keep_arrays(n):
    return [bytearray(1000 + i) for i in range(n)]


def drop_bytes(n):
    for i in range(n):
        bytes(5000 + i)


def grow_array():
    array = bytearray(1000)
    array += bytes(9000)
    return [array]


def keep(function, *arguments):
    kept = function(*arguments)
    KEPT.append(kept)
    return kept


def sizes(objects):
    return [sys.getsizeof(o) for o in objects]


EMPTY = sys.getsizeof(b"")
HEAD = sys.getsizeof(bytearray())


def main():
    truth = {}
    for function, n in (keep_bytes, 100), (keep_small, 200), (keep_tuples, 50):
        truth[function.__name__] = sizes(keep(function, n)), []
    arrays = sizes(keep(keep_arrays, 50))
    truth["keep_arrays"] = [HEAD] * 50 + [size - HEAD for size in arrays], []
    drop_bytes(100)
    truth["drop_bytes"] = [], [EMPTY + 5000 + i for i in range(100)]
    grown = sizes(keep(grow_array))[0]
    truth["grow_array"] = [HEAD, grown - HEAD], [1001, EMPTY + 9000]
    print(json.dumps(truth))
    sys.stdout.flush()
    os._exit(0)


main()
