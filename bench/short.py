#!/usr/bin/python3
"""short: what recording costs where programs are many and short.

    bench/short.py [RUNS [WORK...]]

Each work runs as it is, under `allotrace run` as a parent whose children are not recorded, and with
a trace for each process (%p), in turn; the table says how much CPU time that takes (all processes
together, names and summary included, the median), the median of the ratios to the plain run in the
same turn with their quartiles, how many page faults there are as a ratio, which differs little from
run to run, and how many traces. Takes the allotrace that is first in PATH, and makes its inputs
under out/bench/ once. Traces go to a folder beside them.

    true       1,000 times /bin/true, by a shell
    pipeline   300 pipelines of three, by a shell
    configure  a script as autoconf writes them: small programs compiled, linked and run
    forks      2,000 subshells, by a shell
    make       make -j2 of a project in C
    FOLDER     sources: ./configure there if there is one, else make -j2, cleaned before each run
"""
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

OUT = pathlib.Path(__file__).resolve().parent.parent / "out" / "bench"

TRUE = "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done\n"
FORKS = "i=0; while [ $i -lt 2000 ]; do (:); i=$((i+1)); done\n"
PIPELINE = "i=0; while [ $i -lt 300 ]; do echo abc | sed s/b/x/ | cat >/dev/null; i=$((i+1)); done\n"

HEADERS = ("stdio.h stdlib.h string.h strings.h inttypes.h stdint.h unistd.h sys/stat.h sys/types.h "
           "locale.h wchar.h fcntl.h sys/socket.h netdb.h poll.h pwd.h termios.h no_such.h").split()
FUNCTIONS = ("memmove strdup strndup strtoll snprintf getline mmap poll select setlocale fork "
             "no_such getpagesize nanosleep").split()

CHECK = """
echo "checking {what}" >>config.log
cat >conftest.c <<END
{program}
END
if {command} >conftest.err 2>&1; then
  ac_value=yes
else
  ac_value=no; cat conftest.c conftest.err | sed 's/^/| /' >>config.log
fi
ac_name=`echo "{what}" | tr 'a-z/.' 'A-Z__'`
ac_old=`grep "$ac_name" confdefs.h 2>/dev/null | sed -n 's/.* //p'`
test "x$ac_value" = xyes && echo "#define HAVE_$ac_name 1" >>confdefs.h
rm -f conftest conftest.c conftest.err conftest.o
"""


def write_configure():
    """A configure script."""
    checks = [(h, f"#include <{h}>\nint x;", "cc -c conftest.c") for h in HEADERS]
    checks += [(f, f"char {f}(void);\nint main(void) {{ return {f}(); }}",
                "cc -fno-builtin -o conftest conftest.c") for f in FUNCTIONS]
    checks += [(f"size_{n}", f"int main(void) {{ return sizeof(long) == {n}; }}",
                "cc -o conftest conftest.c && ./conftest") for n in (1, 2, 4, 8)]
    text = "#!/bin/sh\nrm -f config.log confdefs.h\n"
    return text + "".join(CHECK.format(what=w, program=p, command=c) for w, p, c in checks)


def source(number):
    """A file of a project, as large as they mostly are."""
    text = ("#include <ctype.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
            "#include <sys/stat.h>\n#include <unistd.h>\n\nstruct item { struct item *next; "
            "char name[32]; int count; };\n")
    for f in range(60):
        text += f"""
struct item *find_{number}_{f}(struct item *list, const char *name) {{
    for (; list; list = list->next)
        if (strcmp(list->name, name) == 0 && list->count > {f})
            return list;
    struct item *new = malloc(sizeof *new);
    for (size_t i = 0; new && i < sizeof new->name; i++)
        new->name[i] = (char)toupper(name[i % (strlen(name) + 1)]);
    printf("%s {f}\\n", name);
    return new;
}}
"""
    return text


def write_project(folder):
    """A project of 24 files and a makefile."""
    folder.mkdir()
    names = [f"part{n}" for n in range(24)]
    for n, name in enumerate(names):
        (folder / f"{name}.c").write_text(source(n))
    objects = " ".join(f"{n}.o" for n in names)
    (folder / "Makefile").write_text(f"libparts.so: {objects}\n\t$(CC) -shared -o $@ {objects}\n"
                                     "%.o: %.c\n\t$(CC) -O2 -fPIC -c -o $@ $<\n"
                                     f"clean:\n\trm -f libparts.so {objects}\n")


def works():
    """Name -> (command, folder)."""
    folder = OUT / "short"
    if not (folder / "forks.sh").exists():
        shutil.rmtree(folder, ignore_errors=True)
        part = pathlib.Path(tempfile.mkdtemp(dir=OUT))
        (part / "true.sh").write_text(TRUE)
        (part / "pipeline.sh").write_text(PIPELINE)
        (part / "forks.sh").write_text(FORKS)
        (part / "configure.sh").write_text(write_configure())
        write_project(part / "project")
        part.rename(folder)
    found = {name: (["sh", f"{name}.sh"], folder) for name in ("true", "pipeline", "forks", "configure")}
    found["make"] = (["make", "-s", "-j2", "libparts.so"], folder / "project")
    return found


def of_sources(folder):
    """What is done with a folder of sources."""
    folder = pathlib.Path(folder).resolve()
    if (folder / "configure").exists():
        return ["sh", "configure"], folder
    if any((folder / name).exists() for name in ("Makefile", "makefile", "GNUmakefile")):
        return ["make", "-s", "-j2"], folder
    sys.exit(f"short: {folder}: neither configure nor Makefile is there")


def cost(command, folder):
    """Seconds of CPU time and page faults, of all processes together."""
    if "make" in command:
        subprocess.run(["make", "-s", "clean"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"short: {command}: exit status {done.returncode}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            after.ru_minflt - before.ru_minflt)


def quartiles(ratios):
    if len(ratios) < 2:
        return f"{ratios[0]:.3f}"
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} … {high:.3f})"


def measure(name, command, folder, runs, traces):
    costs = {"plain": [], "not recorded": [], "%p": []}
    n = 0
    for turn in range(runs):
        here = traces / f"{name}.{turn}"
        here.mkdir()
        run = ["allotrace", "run", "-q", "-o"]
        costs["plain"].append(cost(command, folder))
        costs["not recorded"].append(cost(run + [here / "x.ctf", "--"] + command, folder))
        costs["%p"].append(cost(run + [here / "%p.ctf", "--"] + command, folder))
        n = len(list(here.iterdir())) - 1
    plain = costs["plain"]
    for how, of_how in costs.items():
        seconds = statistics.median(s for s, _ in of_how)
        ratio = quartiles([a / b for (a, _), (b, _) in zip(of_how, plain)])
        faults = statistics.median(a / b for (_, a), (_, b) in zip(of_how, plain))
        ratios = "" if how == "plain" else f"{ratio:24} faults {faults:.3f}"
        count = f"  {n} traces" if how == "%p" else ""
        print(f"  {name:10} {how:14} {seconds:7.3f} s  {ratios}{count}".rstrip(), flush=True)


def main(runs=11, *names):
    if not shutil.which("allotrace"):
        sys.exit("short: no allotrace in PATH")
    OUT.mkdir(parents=True, exist_ok=True)
    found = works()
    traces = pathlib.Path(tempfile.mkdtemp(dir=OUT, prefix="short-traces-"))
    try:
        for name in names or found:
            work = found[name] if name in found else of_sources(name)
            measure(pathlib.Path(name).name, *work, int(runs), traces)
    finally:
        shutil.rmtree(traces)


if __name__ == "__main__":
    main(*sys.argv[1:])
