"""Fills Python's arenas, empties them but for a block here and there, and stays so for a while; with
an argument, says on standard error what Python itself knows of them."""
import os
import sys
import time

filled = [str(i) * 3 for i in range(400000)]
kept = filled[::500]
if os.environ.get("FORKS") and os.fork() != 0:
    os.wait()
    os._exit(0)
del filled
end = time.monotonic() + 0.6
while time.monotonic() < end:
    time.sleep(0.01)
    bytes(2000)
if len(sys.argv) > 1:
    sys._debugmallocstats()
os._exit(0)
