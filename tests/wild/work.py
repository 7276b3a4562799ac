"""Work for python: `work.py [threads|fork|spawn|subprocess]`."""
import multiprocessing
import subprocess
import sys
import threading


def work(n):
    table = {str(i): [i] * 10 for i in range(n)}
    return sum(len(v) for v in table.values())


def parallel(method):
    with multiprocessing.get_context(method).Pool(3) as pool:
        print(pool.map(work, [1000, 2000, 3000, 4000]))


def main():
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    if how == "threads":
        threads = [threading.Thread(target=work, args=(3000,)) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    elif how in ("fork", "spawn"):
        parallel(how)
    elif how == "subprocess":
        for i in range(5):
            print(subprocess.run(["sh", "-c", f"echo {i}; exit {i}"], capture_output=True))
    print(work(20000))


if __name__ == "__main__":
    main()
