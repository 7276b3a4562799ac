#!/usr/bin/python3
"""Prints what recording a Python program costs beside memray, which must be installed for PYTHON, or a
Java program beside Java's own recorder (JFR) and, if its library is named, async-profiler.

    bench/runtimes.py [-n RUNS] PYTHON SCRIPT [ARGUMENT...]
    bench/runtimes.py [-n RUNS] [--async-profiler LIBRARY] JAVA [OPTION...] CLASS [ARGUMENT...]
    bench/runtimes.py [-n RUNS] [--rate RATE] PYTHON FOLDER [PATTERN...]

The program is Java's if it is called java. The ways take turns. Printed is the median CPU time of each, of all processes that it takes, and the
median ratio to plain. `allotrace` is that of the PATH.

Of a folder of benchmarks of pyperf, such as pyperformance/data-files/benchmarks, each is run plain
and recorded, some seconds in all. Printed for each are two median ratios of CPU time: of what it
measures, which is the program when it is warm, and of all processes, with their start and with what
`allotrace run` does after the program's end; then the geometric means, and the five worst.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import tomllib

SECONDS = 1  # that a benchmark should take at least


def cpu_time(command, **options):
    def used():
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        return u.ru_utime + u.ru_stime
    before = used()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **options)
    return used() - before


# That of its events alone, as often as JFR's profile has it.
JFR = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0"><event name="jdk.ObjectAllocationSample"><setting name="enabled">true</setting>
<setting name="throttle">300/s</setting><setting name="stackTrace">true</setting></event></configuration>
"""


def ways_of_java(java, arguments, folder, profiler):
    settings = f"{folder}/objects.jfc"
    with open(settings, "w") as file:
        file.write(JFR)

    def allotrace(*options):
        return ["allotrace", "run", *options, "-o", f"{folder}/a", "--", java, *arguments]
    ways = {"plain": [java, *arguments],
            "allotrace": allotrace(),
            "allotrace --rate 1e-4": allotrace("--rate", "1e-4"),
            "JFR ObjectAllocationSample":
                [java, f"-XX:StartFlightRecording=filename={folder}/j.jfr,settings={settings}", *arguments]}
    if profiler:
        ways["async-profiler alloc"] = [
            java, f"-agentpath:{profiler}=start,event=alloc,collapsed,file={folder}/p", *arguments]
    return ways


def ways(python, script, folder):
    def memray(*options):
        return [python, "-m", "memray", "run", "-f", "-q", *options, "-o", f"{folder}/m", *script]

    def allotrace(*options):
        return ["allotrace", "run", *options, "-o", f"{folder}/a", "--", python, *script]
    return {"plain": [python, *script],
            "allotrace": allotrace(),
            "allotrace --rate 1": allotrace("--rate", "1"),
            "memray": memray(),
            "memray --trace-python-allocators": memray("--trace-python-allocators"),
            "memray --trace-python-allocators --native": memray("--trace-python-allocators", "--native")}


def print_ways(options, folder):
    program = os.path.abspath(options.python)
    commands = (ways_of_java(program, options.arguments, folder, options.async_profiler)
                if os.path.basename(program) == "java" else ways(program, options.arguments, folder))
    times = {name: [] for name in commands}
    for _ in range(options.n):
        for name, command in commands.items():
            times[name].append(cpu_time(command))
    for name, measured in times.items():
        ratio = statistics.median(a / b for a, b in zip(measured, times["plain"]))
        print(f"{name:42} {statistics.median(measured):8.3f} s  {ratio:6.2f}")


# ---- benchmarks of pyperf

# Others use the machine: so a benchmark measures its CPU time.
BY_CPU_TIME = """
import os, runpy, sys, time
time.perf_counter = time.process_time
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def extra_arguments(folder):
    """Of the first variant, where a benchmark has some."""
    for path in sorted(folder.glob("*.toml")):
        settings = tomllib.loads(path.read_text()).get("tool", {}).get("pyperformance", {})
        if settings.get("extra_opts"):
            return settings["extra_opts"]
    return []


class Benchmark:
    def __init__(self, options, script, folder):
        self.script, self.result = script, pathlib.Path(folder, "result.json")
        self.plain = [os.path.abspath(options.python), "-c", BY_CPU_TIME, str(script), "--worker",
                      *extra_arguments(script.parent)]
        self.recorded = ["allotrace", "run", *options.rate, "-o", f"{folder}/t.ctf", "--", *self.plain]
        loops = 1
        for _ in range(2):  # the first one may be cold
            self.often = [f"-l{loops}", "-w1", "-n1"]
            value, _ = self.measure(self.plain)
            loops = max(1, round(SECONDS / 4 / value)) if value else 1
        self.often = [f"-l{loops}", "-w1", f"-n{max(1, round(SECONDS / (value * loops or SECONDS)))}"]

    def measure(self, command):
        """What it measures, and what all takes."""
        self.result.unlink(missing_ok=True)
        whole = cpu_time([*command, *self.often, "-o", self.result], timeout=100,
                         cwd=self.script.parent)
        result = json.loads(self.result.read_text())
        inner = result.get("metadata", {}).get("inner_loops", 1)  # values are of one
        runs = [run for b in result["benchmarks"] for run in b["runs"]]
        return sum(sum(run["values"]) for run in runs) * inner, whole

    def ratios(self, n):
        pairs = [(self.measure(self.plain), self.measure(self.recorded)) for _ in range(n)]
        return [statistics.median(recorded[i] / plain[i] if plain[i] else 1 for plain, recorded in pairs)
                for i in (0, 1)]


def scripts_in(folder, patterns):
    found = sorted(path.resolve() for path in pathlib.Path(folder).glob("*/run_benchmark.py"))
    return [path for path in found if not patterns or any(p in path.parent.name for p in patterns)]


def print_benchmarks(options, folder):
    measured = {}
    for script in scripts_in(options.arguments[0], options.arguments[1:]):
        name = script.parent.name
        try:
            measured[name] = Benchmark(options, script, folder).ratios(options.n)
            print(f"{name:34} {measured[name][0]:6.3f} {measured[name][1]:6.3f}", flush=True)
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            print(f"{name:34} left out: {type(error).__name__}", flush=True)
    for i, what in enumerate(("measured by them", "all processes")):
        if measured:
            mean = statistics.geometric_mean(ratios[i] for ratios in measured.values())
            worst = sorted(measured, key=lambda name: -measured[name][i])[:5]
            print(f"{what}: {mean:.3f} of {len(measured)}; worst:",
                  ", ".join(f"{name} {measured[name][i]:.3f}" for name in worst))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("python")
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("--rate", type=lambda rate: ["--rate", rate], default=[])
    parser.add_argument("--async-profiler")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (print_benchmarks if os.path.isdir(options.arguments[0]) else print_ways)(options, folder)


if __name__ == "__main__":
    sys.exit(main())
