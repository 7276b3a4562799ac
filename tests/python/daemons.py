"""Ends while threads of its own are at work: each ends, and allocates for that, when it next asks for
the lock of an interpreter that has freed what it knew of the thread."""
import sys
import threading
import time

RAN = set()


def nap(depth):
    if depth:
        return nap(depth - 1)
    while True:
        with open(__file__, "rb") as source:
            source.read(200)
        time.sleep(0.0003)
        RAN.add(threading.current_thread())


for _ in range(40):
    threading.Thread(target=nap, args=(100,), daemon=True).start()
while len(RAN) < 40:
    time.sleep(0.001)
print("done")
sys.exit(3)
