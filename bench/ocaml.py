#!/usr/bin/python3
"""ocaml: what recording an OCaml program costs it, by sampling rate.

    bench/ocaml.py [RUNS]

Two programs do little but allocate: `trees` drops its blocks at once, `ring` has them promoted. Each
is compared with itself when the runtime samples it and

    counted     callbacks in OCaml count the samples, and do no more: what no recorder can save
    in OCaml    callbacks in OCaml write a trace as a library written in OCaml does
                (ocaml/tracer.ml, a stand-in of ours and not memtrace)
    recorded    the preloaded library writes the trace
    library     our OCaml library does, with which the program is linked
    memtrace    Jane Street's library does, likewise, if it is there: where findlib looks, or in the
                folder that MEMTRACE_FINDLIB names, with memtrace/META in it

`ring` is the program on which memtrace 0.2.3 was measured, elsewhere, as that one's trace of it shows:
64 million words in half a second, 1.9 million events at 1e-2. There it cost +30 % at 1e-2, where
callbacks that count cost +18 %. What compares with that is by how much a recorder exceeds the
counting, and 17.7 MB of trace. Ratios below 1 are not noise: callbacks move the collector's work, and
above all whether it compacts, which it does dozens of times in `ring` as it is, and not once where
callbacks in OCaml allocate. OCAMLRUNPARAM=O=1000000 leaves that out.
Takes the allotrace that is first in PATH.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import native
import pair

HERE = pathlib.Path(__file__).resolve().parent
RATES = "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"
TRACED = "let () = Memtrace.trace_if_requested ()\n"


def compiled(folder, name, *sources, packages=(), path=None):
    """The program made of these sources; None if a package is missing."""
    for source in sources:
        if (HERE / "ocaml" / source).exists():
            shutil.copy(HERE / "ocaml" / source, folder)
    command = ["ocamlfind", "ocamlopt", "-g", "-w", "-a", "-inline", "200", "-o", name]
    if packages:
        command += ["-thread", "-package", ",".join(packages), "-linkpkg"]
    done = subprocess.run(command + list(sources), cwd=folder, stderr=subprocess.PIPE,
                          env=os.environ | ({"OCAMLPATH": str(path)} if path else {}))
    if done.returncode and not packages:
        sys.exit(done.stderr.decode())
    return None if done.returncode else folder / name


def jane_streets():
    """The findlib folder with Jane Street's memtrace; None: there is none, or it is ours."""
    folder = os.environ.get("MEMTRACE_FINDLIB")
    if not folder:
        found = subprocess.run(["ocamlfind", "query", "memtrace"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout.strip()
        folder = found and pathlib.Path(found).parent
    has_theirs = folder and (pathlib.Path(folder) / "memtrace/memprof_tracer.mli").exists()
    return pathlib.Path(folder).resolve() if has_theirs else None


def contestants_of(program, folder, preload, traces):
    """A function from a rate to those who are compared."""
    source = program + ".ml"
    (folder / "traced.ml").write_text(TRACED)
    plain = compiled(folder, program, source)
    counting = compiled(folder, program + "-count", "count.ml", source)
    tracing = compiled(folder, program + "-tracer", "tracer.ml", source, packages=["unix"])
    linked = compiled(folder, program + "-traced", "traced.ml", source, packages=["memtrace"],
                      path=preload.parent.parent / "ocaml")
    other = jane_streets()
    theirs = other and compiled(folder, program + "-memtrace", "traced.ml", source,
                                packages=["threads.posix", "memtrace"], path=other)

    def at(rate):
        yield pair.Contestant("  plain", [plain])
        yield pair.Contestant("  counted", [counting], {"COUNT_RATE": rate})
        yield pair.Contestant("  in OCaml", [tracing], {
            "TRACER_FILE": str(traces["in OCaml"]), "TRACER_RATE": rate})
        ours = {"MEMTRACE": str(traces["recorded"]), "MEMTRACE_RATE": rate}
        yield pair.Contestant("  recorded", [plain], ours | {"LD_PRELOAD": str(preload)})
        if linked:
            yield pair.Contestant("  library", [linked], ours | {
                "MEMTRACE": str(traces["library"])})
        if theirs:
            yield pair.Contestant("  memtrace", [theirs], ours | {
                "MEMTRACE": str(traces["memtrace"])})
    return at


def main(runs="7"):
    if not shutil.which("ocamlfind"):
        print("  left out, there is no ocamlfind")
        return
    folder = HERE.parent / "out" / "bench" / "ocaml"
    folder.mkdir(parents=True, exist_ok=True)
    traces = {name: folder / f"{name.replace(' ', '-')}.ctf"
              for name in ("in OCaml", "recorded", "library", "memtrace")}
    for trace in traces.values():
        trace.unlink(missing_ok=True)
    if not jane_streets():
        print("  without Jane Street's memtrace, which is not there")
    for program in "trees", "ring":
        at = contestants_of(program, folder, pathlib.Path(native.library()), traces)
        for rate in RATES:
            contestants = list(at(rate))
            pair.compare(contestants, int(runs))
            sizes = ", ".join(f"{name} {trace.stat().st_size / 1e6:.1f} MB"
                              for name, trace in traces.items() if trace.exists())
            print(f"  {program} at {rate}; traces: {sizes}")
            pair.report(contestants)


if __name__ == "__main__":
    main(*sys.argv[1:])
