#!/usr/bin/python3
"""ocaml: what recording an OCaml program costs it, by sampling rate.

    bench/ocaml.py [RUNS]

The program does little but allocate. It is compared with itself when the runtime samples it and
the samples are only counted, by callbacks in OCaml, which is what no recorder can save, and
when the preloaded library records it. Takes the allotrace that is first in PATH.
"""
import pathlib
import shutil
import subprocess
import sys

import native
import pair

HERE = pathlib.Path(__file__).resolve().parent
RATES = "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"


def compiled(folder, name, *sources):
    for source in sources:
        shutil.copy(HERE / "ocaml" / source, folder)
    subprocess.run(["ocamlopt", "-g", "-w", "-a", *sources, "-o", name],
                   cwd=folder, check=True)
    return folder / name


def main(runs="7"):
    if not shutil.which("ocamlopt"):
        print("  left out, there is no ocamlopt")
        return
    folder = HERE.parent / "out" / "bench" / "ocaml"
    folder.mkdir(parents=True, exist_ok=True)
    plain = compiled(folder, "trees", "trees.ml")
    counting = compiled(folder, "trees-count", "count.ml", "trees.ml")
    trace, preload = folder / "trees.ctf", str(native.library())
    for rate in RATES:
        contestants = [
            pair.Contestant("  plain", [plain]),
            pair.Contestant("  samples counted", [counting], {"COUNT_RATE": rate}),
            pair.Contestant("  recording", [plain], {"LD_PRELOAD": preload, "MEMTRACE": str(trace),
                                                     "MEMTRACE_RATE": rate}),
        ]
        pair.compare(contestants, int(runs))
        print(f"  rate {rate}, trace of {trace.stat().st_size / 1e6:.1f} MB")
        pair.report(contestants)


if __name__ == "__main__":
    main(*sys.argv[1:])
