"""Runs code in interpreters of their own, one within the other and in threads."""
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
def made_in_there():
    return bytearray(29999)

kept = [made_in_there() for _ in range(10)]
"""


def run():
    i = interpreters.create()
    interpreters.run_string(i, CODE)
    interpreters.destroy(i)


run()
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
