#!/usr/bin/python3
"""The viewer's numbers are those of the commands, and its answers are what docs/viewer-api.md says.

    test_api.py ALLOTRACE
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from viewer import ALLOTRACE, TRACES, Viewer, check, run_tests, tap

equal, test = tap.same, tap.test

TRACE = TRACES / "ocamlopt.ctf"
FIGURE = ("value", "low", "high", "samples", "blocks")
# How stacks look, too.
FOLDED = ["recursion:Misc.try_finally", "repeats:/./", "below:Asmgen.compile_unit", "above:Misc.try_finally",
          "path:/./,Main,Main.main hide-file:utils/", "below:Typemod.type_structure recursion:/./ size:>=16"]
TEXTS = ("rule", "title", "why", "do", "certainty", "filter")  # of advice


def command(*words):
    done = subprocess.run([ALLOTRACE, *map(str, words)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows(table):
    """A table of columns as a list of objects."""
    return [dict(zip(table, row)) for row in zip(*table.values())]


def names(answer, with_line=False):
    """The place of each index, as the commands write it."""
    strings = answer["strings"]
    return [(strings[p["function"]], strings[p["file"]]) + ((p["line"],) if with_line else ())
            for p in rows(answer["places"])]


def figure(of):
    return tuple(of[key] for key in FIGURE)


def below(path, name):
    """A number for a path, since paths themselves are long."""
    return hash((path, name))


def flatten(node):
    """The nodes of a command's tree: path → figure."""
    found, left = {}, [(0, node)]
    while left:
        path, node = left.pop()
        found[path] = figure(node)
        left += [(below(path, (c["function"], c["file"]) + ((c["line"],) if "line" in c else ())), c)
                 for c in node["children"]]
    return found


def paths(answer, with_line=False):
    """The nodes of an answer that are places: path → figure. Checks the shape on the way."""
    places, found, at = names(answer, with_line), {}, []
    nodes = rows(answer["nodes"])
    for i, node in enumerate(nodes):
        check(-1 <= node["parent"] < i, f"preorder: {i} below {node['parent']}")
        if node["parent"] == -1:
            at.append(0)
        elif node["place"] == -1:
            at.append(None)
            check(node["sites"] > 0 and node["more"] == 1, "other nodes count sites")
            continue
        else:
            at.append(below(at[node["parent"]], places[node["place"]]))
        equal(node["sites"], 0, "sites of a place")
        found[at[i]] = figure(node)
    return found


@test
def info_is_what_the_command_says():
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        info = v.api("info")
        equal([t["about"] for t in info["traces"]],
              command("info", "--json", TRACE, TRACES / "irmin-replay.ctf"))
        equal([t["name"] for t in info["traces"]], ["ocamlopt.ctf", "irmin-replay.ctf"])


@test
def trees_are_what_the_commands_show():
    questions = [
        ({}, []), ({"measure": "blocks"}, ["--measure", "blocks"]),
        ({"measure": "peak"}, ["--measure", "peak"]),
        ({"measure": "byteseconds"}, ["--measure", "byteseconds"]),
        ({"measure": "live", "at": "500ms"}, ["--measure", "live", "--at", "500ms"]),
        ({"measure": "live", "at": "500000"}, ["--measure", "live", "--at", "500ms"]),
        ({"filter": "size:>=64 -fn:Typecore"}, ["--filter", "size:>=64 -fn:Typecore"]),
        ({"filter": "hide:/^Stdlib/"}, ["--filter", "hide:/^Stdlib/"]),
        *(({"filter": f}, ["--filter", f]) for f in FOLDED),
        ({"by": "line", "filter": "life:<10ms"}, ["--by", "line", "--filter", "life:<10ms"]),
        ({"collapse": "1"}, ["--collapse-recursion"]),
    ]
    with Viewer(TRACE) as v:
        for parameters, options in questions:
            for mode in ("down", "inverted"):
                words = ["--json", "--min-share", "1", "--depth", "1000", *options, *["--inverted"] * (mode == "inverted")]
                wanted = command("tree", *words, TRACE)
                # A node is narrower than a pixel of 100 if its share is below 1 %.
                got = v.api("tree", mode=mode, width=100, min=1, rows=1000, **parameters)
                equal(got["total"]["value"], wanted["total"]["value"], parameters)
                equal(paths(got, parameters.get("by") == "line"), flatten(wanted["tree"]), f"{mode} {parameters}")


@test
def callers_and_callees_are_what_the_commands_show():
    with Viewer(TRACE) as v:
        for focus in ["Stdlib__set.Make.bal", "Misc.try_finally > Misc.try_finally", "/Btype/", "Typemod*"]:
            for mode in ("callers", "callees"):
                wanted = command(mode, focus, "--json", "--min-share", "0", "--depth", "200", TRACE)
                got = v.api("tree", mode=mode, focus=focus, width=16384, min=0.1, rows=201)
                equal(paths(got), flatten(wanted["tree"]), f"{mode} {focus}")


@test
def a_focus_may_be_given_by_ids():
    with Viewer(TRACE) as v:
        tree = v.api("tree")
        ids = {name[0]: number for name, number in zip(names(tree), tree["places"]["id"])}
        for focus in [["Misc.try_finally"], ["Main", "Main.main"]]:
            by_name = v.api("tree", mode="callers", focus=" > ".join(focus))
            by_id = v.api("tree", mode="callers", focus_ids=".".join(str(ids[f]) for f in focus))
            equal(by_id["nodes"], by_name["nodes"], focus)


@test
def what_is_left_out_is_summed_up():
    with Viewer(TRACE) as v:
        for mode in ("down", "inverted"):
            for parameters in [{}, {"measure": "blocks"}, {"by": "line"}]:
                tree = v.api("tree", mode=mode, width=200, rows=12, **parameters)
                nodes = rows(tree["nodes"])
                inner = {n["parent"] for n in nodes}
                for key in ("samples", "blocks"):
                    sums = [0] * len(nodes)
                    for n in nodes[1:]:
                        sums[n["parent"]] += n[key]
                    for i, n in enumerate(nodes):
                        check(sums[i] <= n[key], f"{mode}: children of {i} have more than it")
                        if i in inner and n["self"] == 0:
                            equal(sums[i], n[key], f"{mode}: children of {i}")
                check(any(n["place"] == -1 for n in nodes[1:]), "something is left out at 200 pixels")
                check(any(n["more"] and n["place"] >= 0 for n in nodes), "something is below 12 rows")


@test
def zooming_shows_the_same_numbers():
    with Viewer(TRACE) as v:
        whole = v.api("tree", width=16384, min=0.1, rows=1000)
        at, nodes = [[]], rows(whole["nodes"])
        for n in nodes[1:]:
            at.append(None if n["place"] == -1 else at[n["parent"]] + [whole["places"]["id"][n["place"]]])
        deepest = max((path for path in at if path), key=len)
        for path in (deepest[:4], deepest):
            zoomed = v.api("tree", root=".".join(map(str, path)), width=16384, min=0.1, rows=1000)
            equal(zoomed["root"]["found"], path, "the path")
            equal(figure(zoomed["root"]), figure(nodes[at.index(path)]), "the root")
            equal(figure(rows(zoomed["nodes"])[0]), figure(zoomed["root"]), "the first node")
        lost = v.api("tree", root=".".join(map(str, deepest[:2] + [4294967])))
        equal(lost["root"]["found"], deepest[:2], "as far as it exists")


@test
def zooming_outward_shows_the_same_numbers():
    with Viewer(TRACE) as v:
        whole = v.api("tree", mode="inverted", rows=1000, width=16384, min=0.1)
        nodes, places = rows(whole["nodes"]), rows(whole["places"])
        path, at = [], 0
        for _ in range(6):  # along the largest child
            at = next(i for i, n in enumerate(nodes) if n["parent"] == at and n["place"] >= 0)
            path.append(places[nodes[at]["place"]]["id"])
            part = v.api("tree", mode="inverted", rows=1000, width=16384, min=0.1, root=".".join(map(str, path)))
            equal(part["root"]["found"], path)
            equal(figure(part["root"]), figure(nodes[at]), "the node")
            inner = [figure(n) for n in nodes if n["parent"] == at and n["place"] >= 0]
            shown = [figure(n) for n in rows(part["nodes"]) if n["parent"] == 0 and n["place"] >= 0]
            equal(shown[:len(inner)], inner, "its callers")


@test
def searching_marks_and_sums_up():
    with Viewer(TRACE) as v:
        for pattern, term in [("Typecore", "fn:Typecore"), ("/^Stdlib/", "fn:/^Stdlib/"), ("*.find", "fn:*.find"),
                              ("nowhere", "fn:nowhere")]:
            for mode in ("down", "inverted"):
                tree = v.api("tree", mode=mode, search=pattern)
                if "/" not in tree["strings"][0]:
                    wanted = v.api("tree", filter=term)["total"]
                    check(tree["matched"]["samples"] >= wanted["samples"], f"{pattern}: at least the functions")
                marks = [tree["places"]["match"][n["place"]] if n["place"] >= 0 else 0 for n in rows(tree["nodes"])]
                for n, mark in zip(rows(tree["nodes"]), marks):
                    check((n["match"] == 1) == bool(mark), f"{pattern}: marks of nodes and places")
                    if n["match"] and n["parent"] >= 0:
                        check(tree["nodes"]["match"][n["parent"]], f"{pattern}: a match is seen from above")
        # No file is called like this, so that the filter says the same.
        equal(figure(v.api("tree", search="Misc.try_finally")["matched"]),
              figure(v.api("tree", filter="fn:Misc.try_finally")["total"]))


def table(v, **parameters):
    """The rows of a table, with the names of their places; and the answer."""
    answer = v.api("table", **parameters)
    found, places = rows(answer["rows"]), names(answer, with_line=True)
    for row in found:
        if "place" in row:
            row["name"] = places[row["place"]] if row["place"] >= 0 else None
        if "type" in row:
            row["name"] = answer["strings"][row["type"]]
    return found, answer


@test
def hotspots_and_types_are_what_the_commands_show():
    with Viewer(TRACE) as v:
        for parameters, options in [({}, []), ({"by": "function"}, ["--by", "function"]),
                                    ({"measure": "peak"}, ["--measure", "peak"]),
                                    *(({"filter": f}, ["--filter", f]) for f in ["fn:Typecore", *FOLDED])]:
            wanted = command("hotspots", "--json", "--min-share", "0", *options, TRACE)["hotspots"]
            got, answer = table(v, kind="hotspots", limit=1000, **parameters)
            equal(answer["count"], len(wanted), parameters)
            equal([(r["name"][0], r["name"][1], *figure(r)) for r in got],
                  [(s["function"], s["file"], *figure(s)) for s in wanted], parameters)
            if "by" not in parameters:
                equal([r["name"][2] for r in got], [s["line"] for s in wanted], parameters)
        wanted = command("types", "--json", "--min-share", "0", TRACE)["hotspots"]
        equal([figure(r) for r in table(v, kind="types")[0]], [figure(s) for s in wanted])


@test
def hotspots_of_threads_and_scopes_are_what_the_command_shows():
    with Viewer(TRACE) as v:
        for by in ["thread", "scope"]:
            for parameters, options in [({}, []), ({"measure": "live"}, ["--measure", "live"]), ({"measure": "blocks"}, ["--measure", "blocks"]),
                                        ({"filter": "fn:Typecore size:<=3w"}, ["--filter", "fn:Typecore size:<=3w"])]:
                wanted = command("hotspots", "--json", "--by", by, "--callers", "3", "--min-share", "0", *options, TRACE)["hotspots"]
                answer = v.api("table", kind="hotspots", by=by, **parameters)
                got, places = rows(answer["rows"]), names(answer, with_line=True)
                equal([(answer["strings"][r[by]], *figure(r)) for r in got], [(s[by], *figure(s)) for s in wanted], parameters)
                equal([places[c["place"]][0] for c in got[0]["callers"]], [c["function"] for c in wanted[0]["callers"]], parameters)
            equal(v.api("table", kind="hotspots", by=by, search="/nothing/")["count"], 0)
            equal(v.api("table", kind="hotspots", by=by, search="/thread|scope/", sort="function", order="asc")["count"], 1)
            v.api("table", 400, kind="types", by=by)


@test
def functions_are_what_filters_say():
    with Viewer(TRACE) as v:
        got, answer = table(v, kind="functions", limit=1000)
        by_name = {}
        for r in got:
            by_name.setdefault(r["name"][0], []).append(r)
        for name in ["Misc.try_finally", "Stdlib__set.Make.bal", "Main"]:
            equal(len(by_name[name]), 1, name)
            wanted = v.api("tree", filter=f"fn:/^{name}$/")["total"]
            equal(figure(by_name[name][0]), figure(wanted), name)
        equal(sum(r["self_samples"] for r in got), answer["total"]["samples"], "each sample is somewhere's own")


@test
def a_graph_has_the_functions_and_what_they_call():
    with Viewer(TRACE) as v:
        for parameters in ({}, {"measure": "live"}, {"filter": "fn:Misc.try_finally", "nodes": 20, "share": 2}):
            g = v.api("graph", **parameters)
            nodes, edges = rows(g["nodes"]), rows(g["edges"])
            wanted, _ = table(v, kind="functions", limit=1000, **{k: x for k, x in parameters.items() if k not in ("nodes", "share")})
            known = {r["name"][:2]: (figure(r), r["self"]) for r in wanted}
            here = names(g)
            check(0 < len(nodes) <= parameters.get("nodes", 80), len(nodes))
            equal(g["omitted"], len(known) - len(nodes))
            for n in nodes:
                equal((figure(n), n["self"]), known[here[n["place"]]], here[n["place"]])
            check({e["to"] for e in edges} | {0} == set(range(len(nodes))), "each has an arrow to it")
            # What Main calls directly, in a graph that has both, is what its callees say.
            at = next(i for i, n in enumerate(nodes) if here[n["place"]][0] == "Main.main")
            beyond, _ = table(v, kind="callees", focus="Main.main", limit=1000, **{k: x for k, x in parameters.items() if k not in ("nodes", "share")})
            direct = {r["name"][:2]: figure(r) for r in beyond}
            for e in edges:
                if e["from"] == at and e["direct"] and here[nodes[e["to"]]["place"]] in direct:
                    equal(figure(e), direct[here[nodes[e["to"]]["place"]]])
        v.api("graph", 400, nodes=0)
        v.api("graph", 400, share=101)


@test
def paths_over_time_are_what_filters_say():
    with Viewer(TRACE) as v:
        for parameters in ({}, {"from": "0.2s", "to": "0.4s", "width": 200}, {"measure": "promoted", "filter": "size:>=3"}):
            others = {k: x for k, x in parameters.items() if k not in ("from", "to", "width")}
            a = v.api("timepaths", **parameters)
            nodes, here = rows(a["nodes"]), names(a)
            check(len(nodes) > 20 and a["columns"] > 2, len(nodes))
            equal([nodes[0]["parent"], nodes[0]["place"]], [-1, -1])
            paths_of = [[]]
            for i, n in enumerate(nodes[1:], 1):
                parent = nodes[n["parent"]]
                check(n["parent"] < i and parent["begin"] <= n["begin"] < n["end"] <= parent["end"], f"{n} in {parent}")
                check(n["value"] <= parent["value"], "no more than what calls it")
                paths_of.append(paths_of[n["parent"]] + [here[n["place"]][0]])
            for i in [0, 1, len(nodes) // 3, len(nodes) // 2, len(nodes) - 1]:
                n = nodes[i]
                path = ",".join("/^" + re.sub(r"([.$+*()|^\\\[\]])", r"\\\1", f) + "$/" for f in paths_of[i])
                terms = [others.get("filter", ""), f"alloc:{n['begin']}us..{n['end'] - 1}us", f'"path:{path}"' if " " in path else f"path:{path}" if path else ""]
                wanted = v.api("tree", **{**others, "filter": " ".join(t for t in terms if t)})["total"]
                equal(figure(n), figure(wanted), f"{parameters} {terms}")
        v.api("timepaths", 400, **{"from": "2s", "to": "1s"})
        v.api("timepaths", 400, width=0)


def pulses(path):
    """Ten blocks at 1 ms, 2 ms and so on up to 11 ms, each time of another function."""
    lines = [f"{'same ' if k else ''}alloc external {ms + 1} {ms + 2} main@main.c:1 f{ms}@a.c:1" for ms in range(11) for k in range(10)]
    make = pathlib.Path(__file__).resolve().parent.parent / "cli/make-trace"
    path.write_bytes(subprocess.run([make], input=("\n".join(lines) + "\n").encode(), capture_output=True, check=True).stdout)


@test
def columns_begin_at_whole_microseconds():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pulses.ctf")
        pulses(path)
        with Viewer(path) as v:
            for begin, end, width in (0, 10001, 20), (0, 10000, 20), (1000, 1000, 100), (1000, 1001, 100):
                a = v.api("timepaths", width=width, **{"from": begin, "to": end})
                for n in rows(a["nodes"]):
                    check(n["begin"] < n["end"], n)
                    function = names(a)[n["place"]][0] if n["place"] >= 0 else "main"
                    wanted = v.api("tree", filter=f"alloc:{n['begin']}us..{n['end'] - 1}us fn:/^{function}$/")["total"]
                    equal(figure(n), figure(wanted), f"{begin} {end} {width} {n}")


@test
def callers_and_callees_unroll():
    with Viewer(TRACE) as v:
        for kind in ("callers", "callees"):
            focus = "Typecore.type_let"
            tree = v.api("tree", mode=kind, focus=focus, width=16384, min=0.1, rows=4)
            wanted = {}  # path of ids → figures of the children
            at = []
            for n in rows(tree["nodes"]):
                at.append([] if n["parent"] < 0 else at[n["parent"]] + [tree["places"]["id"][n["place"]]] if n["place"] >= 0 else None)
                if n["parent"] >= 0 and at[-1]:
                    wanted.setdefault(tuple(at[-1][:-1]), []).append(figure(n))
            for path in [p for p in wanted if len(p) < 3]:
                got, _ = table(v, kind=kind, focus=focus, root=".".join(map(str, path)), limit=1000)
                equal([figure(r) for r in got], wanted[path], f"{kind} below {path}")


@test
def hot_paths_add_up():
    with Viewer(TRACE) as v:
        got, answer = table(v, kind="paths", limit=1000)
        check(len(got) > 5, "there are some")
        total = 0
        for r in got:
            total += r["samples"]
            check(r["share"] >= 0.01, "each has its share")
            equal(round(r["explained"], 4), round(total / answer["total"]["samples"], 4), "explained")
            check(r["frames"] and r["frames"][-1] == r["place"], "the last frame is the place")
        check(total <= answer["total"]["samples"], "no stack counts twice")


@test
def leaks_are_what_the_command_shows():
    with Viewer(TRACE) as v:
        for by in ("line", "function"):
            wanted = command("leaks", "--json", "--by", by, "--top", "0", TRACE)
            got, answer = table(v, kind="leaks", by=by, limit=1000)
            equal(answer["count"], len(wanted["sites"]), by)
            for r, s in zip(got, wanted["sites"]):
                equal((r["name"][0], answer["strings"][r["class"]], r["samples"]),
                      (s["function"], s["class"], s["samples"]), by)
        for measure, unit in (("allocated", "B"), ("blocks", "blocks"), ("byteseconds", "B·s"), ("peak", "B")):
            shown = measure if measure != "peak" else "allocated"
            wanted = command("leaks", "--json", "--measure", shown, "--top", "0", TRACE)
            got, answer = table(v, kind="leaks", measure=measure, limit=1000)
            equal((answer["unit"], answer["count"]), (unit, len(wanted["sites"])), measure)
            equal([answer["leaks"][k] for k in ("value", "low", "high", "samples")],
                  [wanted["all_sites"][k] for k in ("value", "low", "high", "samples")], measure)
            equal("blocks" in got[0], unit != "B", measure)
            for r, s in zip(got, wanted["sites"]):
                equal([r[k] for k in ("value", "low", "high", "samples")],
                      [s[k] for k in ("value", "low", "high", "samples")], measure)
                equal(round(r["slope"], 3), round(s["slope"]["value"], 3), measure)
                equal((r["name"][0], answer["strings"][r["class"]]), (s["function"], s["class"]), measure)
                if measure == "blocks":
                    equal(r["history"], s["history"], measure)


@test
def lifetimes_and_sizes_add_up():
    with Viewer(TRACE) as v:
        for measure in ("allocated", "blocks"):
            answer = v.api("lifetimes", measure=measure)
            histogram, cells, lives = rows(answer["histogram"]), rows(answer["map"]), rows(answer["lifetime"])
            equal(len(histogram), len(lives))
            for key in ("samples", "blocks"):
                equal(sum(h[key] for h in histogram) + answer["survivors"][key], answer["total"][key], key)
                for i, h in enumerate(histogram):
                    equal(sum(c[key] for c in cells if c["lifetime"] == i), h[key], f"{key} of lifetime {i}")
        for i, c in enumerate(cells):
            low, high = (answer["size"][k][c["size"]] for k in ("low", "high"))
            term = f"size:>={low} size:<{high} " + (
                "survived" if c["lifetime"] < 0 else
                f"-survived life:>={lives[c['lifetime']]['low']}us life:<{lives[c['lifetime']]['high']}us")
            if i % 5 == 0:
                equal(v.api("tree", measure="blocks", filter=term)["total"],
                      {k: c[k] for k in FIGURE}, term)
        v.api("lifetimes", 400, measure="peak")


@test
def tables_are_sorted_cut_and_searched():
    with Viewer(TRACE) as v:
        everything, answer = table(v, kind="functions", limit=1000)
        for sort in ("value", "low", "samples", "blocks", "self"):
            for order in ("desc", "asc"):
                keys = [r[sort] for r in table(v, kind="functions", limit=1000, sort=sort, order=order)[0]]
                equal(keys, sorted(keys, reverse=order == "desc"), f"{sort} {order}")
        for index, sort in enumerate(("function", "file")):
            keys = [r["name"][index].encode() for r in table(v, kind="functions", limit=1000, sort=sort, order="asc")[0]]
            equal(keys, sorted(keys), sort)
        pages = [r["name"] for offset in range(0, answer["count"], 100)
                 for r in table(v, kind="functions", offset=offset, limit=100)[0]]
        equal(pages, [r["name"] for r in everything], "pages")
        equal(table(v, kind="functions", offset=100000)[0], [])
        for pattern in ("set.ml", "/^Type/", "*iter*"):
            found, cut = table(v, kind="functions", search=pattern, limit=1000)
            check(0 < cut["count"] < answer["count"], pattern)
            if pattern == "set.ml":
                equal([r["name"] for r in found],
                      [r["name"] for r in everything if pattern in r["name"][0] + "\n" + r["name"][1]], pattern)
        v.api("table", 400, kind="functions", focus="main")
        v.api("table", 400, kind="callers")
        v.api("table", 400, kind="nonsense")
        v.api("table", 400, limit=0)


@test
def timelines_are_what_the_command_shows():
    with Viewer(TRACE) as v:
        for parameters, options in [({}, []), ({"filter": "fn:Typecore"}, ["--filter", "fn:Typecore"]),
                                    ({"from": "100ms", "to": "300ms"}, ["--from", "100ms", "--to", "300ms"])]:
            wanted = command("timeline", "--json", "--points", "77", *options, TRACE)["points"]
            answer = v.api("timeline", buckets=77, **parameters)
            equal(answer["buckets"], len(wanted), parameters)
            line = answer["filtered" if "filter" in parameters else "all"]
            equal("filtered" in answer, "filter" in parameters)
            equal(line["live_samples"], [w["live"]["samples"] for w in wanted], parameters)
            equal(line["live"], [w["live"]["value"] for w in wanted], parameters)
            equal(line["live_low"], [w["live"]["low"] for w in wanted], parameters)
            equal([sum(parts) for parts in zip(line["live_minor"], line["live_major"], line["live_external"])],
                  line["live"], "heaps add up")
            equal(answer["gauges"], [], "nobody read any")
        whole = v.api("timeline", buckets=1)["all"]
        equal(whole["allocated"][0], v.api("tree")["total"]["value"])
        (about,) = v.api("info")["traces"]
        peak, end = about["peak"]["time"], about["about"]["duration"]
        for ends in [("@start", "@peak"), ("@peak", "@end"), ("@start", "@end")]:
            named = v.api("timeline", buckets=3, **dict(zip(("from", "to"), ends)))
            equal((named["from"], named["to"]), tuple({"@start": 0, "@peak": peak, "@end": end}[e] for e in ends))
        v.api("timeline", 400, to="@dawn")
        v.api("timeline", 400, **{"from": "2s", "to": "1s"})
        v.api("timeline", 400, buckets=5000)


@test
def places_have_modules_by_which_filters_choose_who_allocates():
    with Viewer(TRACES / "irmin-replay.ctf") as v:
        table = v.api("table", kind="hotspots", limit=1000)
        places, by_module = rows(table["places"]), {}
        for place, value in zip(table["rows"]["place"], table["rows"]["value"]):
            module = table["strings"][places[place]["module"]] if place >= 0 else ""
            by_module[module] = by_module.get(module, 0) + value
        equal(sum(by_module.values()), table["total"]["value"], "all rows are there")
        check({"Stdlib", "irmin", "irmin-pack"} <= set(by_module), by_module)
        for module in sorted(by_module, key=by_module.get)[-5:]:
            equal(v.api("tree", filter=f"module:/^{module}$/")["total"]["value"], by_module[module], module)
            equal(v.api("tree", filter=f"-module:/^{module}$/")["total"]["value"],
                  table["total"]["value"] - by_module[module], module)
        hidden = v.api("table", kind="functions", limit=1000, filter="hide-module:/^Stdlib$/")
        equal(hidden["total"]["value"], table["total"]["value"], "costs are kept")
        check("Stdlib" not in {hidden["strings"][p["module"]] for p in rows(hidden["places"])}, "no function of it is left")
        texts = [i["text"] for i in v.api("filter", text="module:ir")["completion"]["items"]]
        equal(sorted(texts)[:2], ["irmin", "irmin-pack"])


@test
def layers_of_a_timeline_are_those_of_the_command():
    with Viewer(TRACE) as v:
        for by, rows_of in [("line", "sites"), ("function", "sites"), ("thread", "threads"), ("life", "lives")]:
            for parameters, options in [({}, []), ({"filter": "fn:Typecore"}, ["--filter", "fn:Typecore"]),
                                        ({"from": "100ms", "to": "300ms", "top": 3}, ["--from", "100ms", "--to", "300ms", "--top", 3])]:
                wanted = command("timeline", "--json", "--points", "77", "--by", by, *options, TRACE)[rows_of]
                answer = v.api("timeline", buckets=77, by=by, **parameters)
                equal(answer["layers"]["live"], [[p["value"] for p in w["live"]] for w in wanted], (by, parameters))
                if rows_of == "sites":
                    places = names(answer, by == "line")
                    equal([places[p] for p in answer["layers"]["place"]],
                          [(w["function"], w["file"]) + ((w["line"],) if by == "line" else ()) for w in wanted])
                else:
                    equal([[answer["strings"][n] for n in answer["layers"][key]] for key in ("name", "filter")],
                          [[w[key] for w in wanted] for key in ("name", "filter")])
        # The filters of layers keep their blocks: what they keep adds up to all, and is what the layer shows.
        whole = v.api("timeline", buckets=77, by="life")
        equal([sum(at) for at in zip(*whole["layers"]["live"])], whole["all"]["live"], "lifetimes add up")
        for name, live in zip(whole["layers"]["filter"], whole["layers"]["live"]):
            equal(v.api("timeline", buckets=77, filter=whole["strings"][name])["filtered"]["live"], live, name)
        check("layers" not in v.api("timeline", buckets=3), "only where they are asked for")
        v.api("timeline", 400, by="colour")
        v.api("timeline", 400, by="life", top=0)


@test
def the_largest_peak_is_that_of_the_filters():
    with Viewer(TRACE) as v:
        peaks = v.api("peaks")["peaks"]
        peak = v.api("tree", measure="peak")
        equal((peaks["time"][0], peaks["samples"][0]), (peak["time"], peak["total"]["samples"]))
        equal(peaks["samples"], sorted(peaks["samples"], reverse=True))
        for time, samples in zip(peaks["time"], peaks["samples"]):
            equal(v.api("tree", measure="live", at=time)["total"]["samples"], samples, f"live at {time}")


def process(path, name):
    """Two bursts, the second of larger blocks."""
    lines, number = [], 0
    for words in 999, 1999:
        for k in range(2):
            same = "same " if k else ""
            lines += [f"{same}alloc external {words} {words + 1} main@main.c:1 {name}@a.c:1", f"same collect {number}"]
            number += 1
    make = pathlib.Path(__file__).resolve().parent.parent / "cli/make-trace"
    made = subprocess.run([make], input=("\n".join(lines) + "\n").encode(), capture_output=True, check=True)
    path.write_bytes(made.stdout)


def first_peak(v):
    peaks = v.api("peaks")["peaks"]
    return {name: column[0] for name, column in peaks.items() if name != "count"}


@test
def peaks_are_as_sure_as_the_order_of_threads():
    with tempfile.TemporaryDirectory() as folder:
        one, two, both = (pathlib.Path(folder, name) for name in ("1.ctf", "2.ctf", "both.ctf"))
        process(one, "a")
        process(two, "b")
        subprocess.run([ALLOTRACE, "merge", "-o", both, one, two], capture_output=True, check=True)
        said = command("peak", "--json", both)["total"]
        with Viewer(both) as v:
            first = first_peak(v)
            equal({k: first[k] for k in said}, said)
            check(first["low"] < first["high"], first)
        with Viewer(one) as v:
            first = first_peak(v)
            equal(first["low"], first["high"])


@test
def filters_are_checked_while_they_are_typed():
    with Viewer(TRACE) as v:
        for text in ["", "fn:main", "fn:é -heap:minor", "alloc:10x", "fn:\"a", "é:1", "heap:minor,"]:
            answer = v.api("filter", text=text)
            status = 200 if answer["ok"] else 400
            tree = v.api("tree", status, filter=text)
            equal(answer["error"], None if answer["ok"] else
                  {k: tree["error"][k] for k in ("column", "reason")}, text)
        equal(v.api("filter", text="fn:é -heap:mi")["terms"],
              [{"start": 0, "end": 4, "kind": "fn", "negated": False},
               {"start": 5, "end": 13, "kind": "heap", "negated": True}])
        completion = v.api("filter", text="fn:é -heap:mi survived", cursor=13)["completion"]
        equal(completion, {"start": 11, "end": 13, "items": [{"text": "minor", "detail": "heap"}]})
        for item in v.api("filter", text="fn:Stdlib")["completion"]["items"]:
            check(v.api("tree", filter="fn:" + item["text"])["total"]["samples"] > 0, item)


@test
def differences_are_what_the_command_shows():
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        for by in ("line", "function"):
            wanted = command("diff", "--json", "--by", by, "--top", "0", TRACE, TRACES / "irmin-replay.ctf")
            answer = v.api("diff", by=by, limit=1000)
            equal(answer["total"]["change"], wanted["total"]["change"])
            equal(answer["n_sure"], sum(s["sure"] for s in wanted["sites"]))
            strings = answer["strings"]
            for r, s in zip(rows(answer["rows"]), wanted["sites"]):
                name = s["site_after"] or s["site_before"]
                equal((strings[r["function"]], strings[r["file"]]), (name["function"], name["file"]))
                equal((r["change"], r["q"], bool(r["sure"])), (s["change"]["value"], s["q"], s["sure"]), name)
        for parameters in ({"normalise": "time"}, {"measure": "byteseconds"}):  # one run a side knows nothing of times
            answer = v.api("diff", **parameters)
            equal((answer["decided"], answer["total"]["p"], answer["total"]["sure"]), (False, None, False), parameters)
            equal((set(answer["rows"]["q"]), set(answer["rows"]["sure"])), ({None}, {0}), parameters)
        tree = v.api("difftree", measure="byteseconds")
        equal((tree["decided"], set(tree["nodes"]["sure"])), (False, {0}))
        equal((v.api("diff")["decided"], v.api("difftree")["decided"]), (True, True))
        v.api("diff", 404, after=2)
        same = v.api("diff", before=0, after=0)
        equal((same["n_sure"], same["total"]["change"]["value"]), (0, 0))


@test
def two_moments_are_what_the_commands_show():
    a, b = "300ms", "700ms"

    def estimated(of):
        return tuple(of[key] for key in FIGURE[:4])

    with Viewer(TRACE) as v:
        d = v.api("diff", **{"from": a, "to": b}, by="function", limit=1000)
        live = [command("hotspots", "--json", "--measure", "live", "--at", t, TRACE)["total"] for t in (a, b)]
        went, came = (command("hotspots", "--json", "--filter", f"live:{x} -live:{y}", TRACE)["total"]
                      for x, y in ((a, b), (b, a)))
        equal([estimated(d[side]["total"]) for side in ("before", "after")], [estimated(t) for t in live])
        equal([estimated(d[side]) for side in ("went", "came")], [estimated(went), estimated(came)])
        check(went["samples"] > 0 and came["samples"] > 0, "something went, and something came")
        equal(d["total"]["change"]["value"], came["value"] - went["value"])
        for row in rows(d["rows"]):
            check(abs(row["change"] - (row["came"] - row["went"])) < 1e-3, "the change is what moved")
            check(abs(row["change"] - (row["after"] - row["before"])) < 1, "and what is live differs by it")
            check(row["went"] + row["came"] > 0 or not row["sure"], "what stayed did not change")
        for bad in ({"from": a}, {"from": a, "to": b, "before": 0}, {"from": a, "to": b, "normalise": "time"}, {"of": "live"},
                    {"from": a, "to": b, "of": "promoted"}):
            v.api("diff", status=400, **bad)


@test
def what_was_allocated_until_two_moments_differs_by_what_came_between():
    with Viewer(TRACE) as v:
        until = [command("hotspots", "--json", "--filter", f"size:>=16 alloc:..{t}", TRACE)["total"] for t in ("300ms", "700ms")]
        for endpoint in ("diff", "difftree"):
            d = v.api(endpoint, **{"from": "300ms", "to": "700ms"}, of="allocated", filter="size:>=16")
            if endpoint == "diff":
                equal([d[side]["total"]["value"] for side in ("before", "after")], [t["value"] for t in until])
                equal((d["went"]["value"], d["came"]["samples"]), (0, until[1]["samples"] - until[0]["samples"]))
            else:
                equal(d["root"]["samples"], until[1]["samples"] - until[0]["samples"])
        back = v.api("diff", **{"from": "700ms", "to": "10s"}, of="allocated")
        equal(back["came"]["samples"], command("hotspots", "--json", TRACE)["total"]["samples"] - back["before"]["total"]["samples"])
        equal(v.api("diff", **{"from": "700ms", "to": "@end"}, of="allocated")["came"], back["came"], "as far as it goes")
        back = v.api("diff", **{"from": "700ms", "to": "300ms"}, of="allocated")
        equal((back["came"]["value"], back["went"]["samples"] > 0), (0, True))


@test
def two_trees_are_one_with_what_each_has():
    with Viewer(TRACE, TRACES / "irmin-replay.ctf", TRACE) as v:
        for parameters in [{}, {"mode": "inverted"}, {"mode": "callers", "focus": "Stdlib__map.Make.bal"},
                           {"by": "line", "filter": "size:>=3w"}]:
            both = v.api("difftree", before=0, after=1, width=300, search="Stdlib", **parameters)
            sums, nodes = [None, None], rows(both["nodes"])
            for side, trace in enumerate((0, 1)):
                tree = v.api("tree", trace=trace, width=16384, min=0.1, rows=1000, **parameters)
                sums[side] = paths(tree, parameters.get("by") == "line")
            joint = paths(both, parameters.get("by") == "line")
            for path, node in zip(joint, [n for n in nodes if n["place"] >= 0 or n["parent"] < 0]):
                for side, key in enumerate(("before", "after")):
                    equal(node[key], sums[side].get(path, (0,))[0], f"{key} of {parameters}")
                equal(node["value"], node["before"] + node["after"])
            left = [0] * len(nodes)
            for n in nodes[1:]:
                left[n["parent"]] += n["value"]
            for n, below in zip(nodes, left):
                check(below <= n["value"] + len(nodes), "children have no more than their parent")
        same = v.api("difftree", before=0, after=2)
        equal(set(same["nodes"]["sure"] + same["nodes"]["change"]), {0}, "no change")
        root = v.api("difftree", before=0, after=1)
        first = root["places"]["id"][root["nodes"]["place"][1]]
        equal(v.api("difftree", before=0, after=1, root=first)["root"]["found"], [first])
        for measure in ("blocks", "byteseconds"):
            joined = v.api("difftree", before=0, after=1, measure=measure)
            totals = [joined[side]["total"]["value"] for side in ("before", "after")]
            equal(joined["unit"], joined["before"]["unit"])
            check(abs(joined["total"]["value"] / sum(totals) - 1) < 1e-9, "the root is both")
            check(abs(joined["nodes"]["change"][0] / (totals[1] - totals[0]) - 1) < 1e-9, "and its change")


@test
def two_trees_are_searched_below_what_is_shown():
    """What a search finds does not depend on how many rows there are."""
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        for mode in ("down", "inverted"):
            question = {"mode": mode, "search": "/a/"}
            both = v.api("difftree", before=0, after=1, rows=3, **question)
            each = [v.api("tree", trace=i, rows=3, **question)["matched"]["samples"] for i in (0, 1)]
            equal(both["matched"]["samples"], sum(each), mode)


@test
def a_focus_means_the_same_whatever_was_asked_before():
    """A name that a trace does not have is a part of names, one that it has is only that name."""
    focus = {"mode": "callees", "focus": "Switch.Make.make_key", "collapse": 1}
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        first = v.api("difftree", before=0, after=1, **focus)["nodes"]
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        v.api("difftree", before=1, after=0, **focus)
        v.api("tree", **focus)
        equal(v.api("difftree", before=0, after=1, **focus)["nodes"], first)


@test
def advice_is_that_of_the_command():
    with Viewer(TRACE) as v:
        for parameters, options in [({}, []), ({"share": 1}, ["--min-share", "1"]), ({"measure": "peak"}, [])]:
            wanted = [a for a in command("advise", "--json", *options, TRACE)["advice"] if a["rule"]]
            answer = v.api("advice", **parameters)
            strings, got = answer["strings"], rows(answer["advice"])
            equal([[strings[a[key]] for key in TEXTS] + [bool(a["worth"]), figure(a), a["gain_share"]] for a in got],
                  [[a[key] for key in TEXTS] + [a["worth"], figure(a), a["gain"]["share"]] for a in wanted], parameters)
            equal([[strings[n] for n in a["check"]] for a in got], [a["check"] for a in wanted])
            places = names(answer, with_line=True)
            equal([[places[f["place"]] for f in a["functions"]] if a["spreads"] else [places[a["place"]]] for a in got],
                  [[(p["function"], p["file"], p["line"]) for p in a["places"]][:4 if a["spreads"] else 1] for a in wanted])
            equal(answer["measure"], "allocated")


@test
def advice_has_the_words_of_the_command():
    def words(text):
        return " ".join(text.split())

    for trace in (TRACE, TRACES / "irmin-replay.ctf"):
        with Viewer(trace) as v:
            shown = words(subprocess.run([ALLOTRACE, "advise", "--min-share", "0.5", trace],
                                         capture_output=True, text=True, check=True).stdout)
            answer = v.api("advice", share=0.5)
            advice = rows(answer["advice"])
            check(advice, "there is advice")
            for a in advice:
                for key in ("what", "gain", "sure"):
                    check(f"{key} {answer['strings'][a[key]]}" in shown, f"{key} of {trace}: {answer['strings'][a[key]]}")


@test
def source_lines_come_from_files_that_the_trace_names():
    with tempfile.TemporaryDirectory() as folder:
        files = {"set.ml": "".join(f"line {n}\n" for n in range(1, 500)), "typing/btype.ml": "x" * 5000 + "\r\nend"}
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, newline="")
        with Viewer(TRACE, options=["--sources", folder]) as v:
            got, answer = table(v, kind="hotspots", limit=1000)
            ids = {r["name"]: answer["places"]["id"][r["place"]] for r in got}
            for name in [("Stdlib__set.Make.bal", "set.ml", 125)]:
                source = v.api("source", place=ids[name])
                equal((source["found"], source["file"], source["line"], source["count"]), (True, "set.ml", 125, 499))
                equal(source["lines"][125 - source["first"]], "line 125")
                cost = next(c for c in rows(source["costs"]) if c["line"] == 125)
                equal(cost["self"], next(r["value"] for r in got if r["name"] == name), "as in the table")
            first = v.api("source", place=ids[name], **{"from": 1, "to": 3})
            equal((first["first"], first["lines"]), (1, ["line 1", "line 2", "line 3"]))
            name = next(n for n in ids if n[1] == "typing/btype.ml")
            equal(v.api("source", place=ids[name], **{"from": 1, "to": 9})["lines"], ["x" * 2000, "end"])
            name = next(n for n in ids if n[1] == "map.ml")
            missing = v.api("source", place=ids[name])
            equal((missing["found"], missing["reason"]), (False, "it is not on this machine"))
            check(missing["costs"]["line"], "costs are known all the same")
            for wrong in [{}, {"place": 10**9}, {"place": "../etc/passwd"}, {"place": 0, "to": 10**6}]:
                v.api("source", 400, **wrong)


@test
def figures_are_explained():
    with Viewer(TRACE) as v:
        for measure in ("allocated", "blocks", "live", "peak", "promoted", "survived", "temporary", "byteseconds"):
            total = v.api("tree", measure=measure)["total"]
            answer = v.api("explain", measure=measure, **total)
            for key in ("title", "definition", "formula", "worked", "interval"):
                check(len(answer[key]) > 3, f"{measure}: {key}")
        for blocks in (1, 49, 50):  # of how few the interval reaches to small ones that may have been missed
            answer = v.api("explain", measure="blocks", value=1000, low=900, high=1100, samples=60, blocks=blocks)
            equal(any("small blocks" in c for c in answer["caveats"]), blocks < 50, blocks)
        check("1,676 samples / 2e-5 × 8 B = 639.3 MB" in v.api("explain", samples=1676)["worked"], "the formula")
        check("confidence" in v.api("explain", samples=9, value=1e6, low=5e5, high=2e6)["interval"], "an estimate")


@test
def bounds_of_an_unknown_order_are_not_estimates():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "exact.ctf")
        subprocess.run([ALLOTRACE, "import", "-o", path, TRACES.parent / "import" / "heaptrack.zst"], check=True,
                       capture_output=True)
        with Viewer(path) as v:
            answer = v.api("explain", measure="peak", value=64, low=56, high=72, samples=8)
            check("between 56 B and 72 B: the order" in answer["interval"], answer)
            equal(answer["caveats"], [], "caveats")


@test
def the_stream_begins_with_what_is_known():
    with Viewer(TRACE, TRACES / "irmin-replay.ctf") as v:
        with contextlib.closing(v.connect()) as s:
            s.sendall(f"GET /api/live?token={v.token} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            got = b""
            while got.count(b"event: trace") < 2 or not got.endswith(b"\n\n"):
                got += s.recv(4096)
        news = [json.loads(line[6:]) for line in got.decode().splitlines() if line.startswith("data: ")]
        equal([(n["trace"], n["generation"], n["growing"]) for n in news], [(0, 1, False), (1, 1, False)])
        equal(news[0]["allocated"]["samples"], v.api("tree")["total"]["samples"])
        equal(news[0]["live"]["samples"], v.api("tree", measure="live")["total"]["samples"])


@test
def the_document_describes_each_endpoint_and_parameter():
    root = TRACES.parent.parent
    document = (root / "docs" / "viewer-api.md").read_text()
    source = (root / "src" / "answers" / "endpoints.h").read_text().replace("\\\n", " ")
    macros = dict(re.findall(r'define (\w+_PARAMETERS) +("[^"]*")', source))
    common = macros["ASK_PARAMETERS"].strip('"').split()
    conventions = document[document.index("## Conventions"):document.index("## `/api/")]
    for name in common:
        check(f"| `{name}` |" in conventions, name)
    endpoints = re.findall(r'X\("([\w/]+)", API_\w+, *answer_\w+,([^)]*)\)', source)
    check(len(endpoints) > 16, endpoints)
    for name, parameters in endpoints:
        check(f"`{name}`" in document, name)
        parameters = re.sub(r"\w+_PARAMETERS", lambda found: macros[found[0]], parameters.partition("{")[0])
        for parameter in set("".join(re.findall(r'"([^"]*)"', parameters)).split()) - set(common):
            check(f"`{parameter}`" in document or f"`{parameter}=" in document or f"{parameter}=" in document, f"{name}: {parameter}")


@test
def the_document_describes_each_column_of_a_table():
    document = (TRACES.parent.parent / "docs" / "viewer-api.md").read_text()
    section = document[document.index("## `/api/table`"):document.index("## `/api/graph`")]
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", section)))) | {"place", "value", "low", "high", "samples", "blocks", "share"}
    with Viewer(TRACE) as v:
        questions = [{"kind": kind} for kind in ("hotspots", "types", "functions", "paths", "leaks")]
        questions += [{"kind": kind, "focus": "Misc.Stdlib.List.map2"} for kind in ("callers", "callees")]
        questions += [{"kind": "hotspots", "by": by} for by in ("thread", "scope")]
        for question in questions:
            equal(sorted(set(v.api("table", **question)["rows"]) - named), [], question)


@test
def malformed_parameters_are_refused():
    with Viewer(TRACE) as v:
        for parameters, parameter in [
                ({"filter": "alloc:10x"}, "filter"), ({"filter": "fn:/(/"}, "filter"), ({"measure": "joy"}, "measure"),
                ({"at": "1s"}, "at"), ({"measure": "live", "at": "soon"}, "at"), ({"by": "type"}, "by"),
                ({"mode": "up"}, "mode"), ({"width": "0"}, "width"), ({"width": "nan"}, "width"), ({"width": "1e9"}, "width"),
                ({"width": "-5"}, "width"), ({"min": ""}, None), ({"min": "inf"}, "min"), ({"rows": "0"}, "rows"), ({"rows": "1.5"}, "rows"),
                ({"rows": "99999999999999999999999"}, "rows"), ({"root": "1."}, "root"), ({"root": "a"}, "root"),
                ({"root": "1..2"}, "root"), ({"collapse": "yes"}, "collapse"), ({"collapse": "2"}, "collapse"),
                ({"search": "/["}, "search"), ({"search": "/((.{1,255}){1,255}){1,255}/"}, "search"),
                ({"filter": "fn:/((.{1,255}){1,255}){1,255}/"}, "filter"),
                ({"search": "/a/b"}, "search"), ({"mode": "callers"}, "focus"), ({"mode": "callers", "focus": "a > "}, "focus"),
                ({"mode": "callees", "focus_ids": "999999999"}, "focus_ids"), ({"focus": "main"}, "focus"),
                ({"mode": "callers", "focus": "a", "focus_ids": "1"}, "focus_ids"), ({"wrappers": "maybe"}, "wrappers"),
                ({"nonsense": "1"}, "nonsense"), ({"trace": "-1"}, "trace"), ({"trace": "x"}, "trace")]:
            if parameter:
                equal(v.api("tree", 400, **parameters)["error"]["parameter"], parameter, parameters)
            else:
                v.api("tree", **parameters)
        error = v.api("tree", 400, filter="fn:main alloc:10x")["error"]
        equal((error["column"], error["reason"]), (17, "a time must end in us, ms, s, min or h"))
        v.api("tree", 404, trace=1)
        v.api("nonsense", 404)
        twice = v.get(f"/api/tree?token={v.token}&by=line&by=line")
        equal((twice.status, twice.json()["error"]["parameter"]), (400, "by"))


@test
def a_filter_that_leaves_nothing_says_which_term_did():
    with Viewer(TRACE) as v:
        tree = v.api("tree", filter="life:<1ms size:>=100M")
        equal((tree["total"]["samples"], tree["kept_blocks"], tree["removed_by"]), (0, 0, "size"))
        equal(tree["nodes"]["parent"], [-1])


def exported(to, *options, trace=TRACE):
    return subprocess.run([ALLOTRACE, "export", "--to", to, *options, trace], capture_output=True, check=True).stdout


def saved(v, to, status=200, **parameters):
    query = urllib.parse.urlencode(parameters | {"to": to, "token": v.token})
    reply = v.get(f"/api/export?{query}")
    equal(reply.status, status, reply.body[:300])
    return reply


@test
def files_are_those_that_the_command_writes():
    with Viewer(TRACE) as v:
        equal(v.api("info")["downloads"], ["html", "speedscope", "pprof", "collapsed"])
        for to in "collapsed", "speedscope", "pprof":
            equal(saved(v, to).body, exported(to), to)
            equal(saved(v, to, filter="fn:Misc").body, exported(to, "--filter", "fn:Misc"), to)
        equal(saved(v, "collapsed", measure="blocks").body, exported("collapsed", "--measure", "blocks"))
        page = saved(v, "html")
        check(page.body.startswith(b"<!doctype html>") and b'id="allotrace-data"' in page.body, "a page")
        equal((page.headers["content-type"], page.headers["content-disposition"]),
              ("text/html; charset=utf-8", 'attachment; filename="ocamlopt.html"'))
        equal(saved(v, "csv", 400).json()["error"]["parameter"], "to")
        equal(saved(v, "pprof", 400, seconds=1).json()["error"]["parameter"], "seconds")
        equal(saved(v, "pprof", 400, seconds=61).json()["error"]["parameter"], "seconds")
    shutil.copy(TRACE, 'a "b" ü.ctf')
    with Viewer('a "b" ü.ctf', TRACE) as v:
        equal(saved(v, "pprof").headers["content-disposition"], 'attachment; filename="a__b____.pb.gz"')
        check("one trace" in saved(v, "html", 400).json()["error"]["reason"], "it says why")
        equal(saved(v, "collapsed", trace=1).body, exported("collapsed"))


@test
def tools_that_know_pprof_find_a_profile():
    with Viewer(TRACE) as v:
        for name, shown in ("heap", ["--measure", "live"]), ("allocs", []):
            equal(v.get(f"/debug/pprof/{name}?debug=0&gc=1&token={v.token}").body, exported("pprof", *shown))
            equal(v.get(f"/debug/pprof/{name}?to=html&token={v.token}").json()["error"]["parameter"], "to")
        equal(v.get("/debug/pprof/heap").status, 403)
        equal(v.get(f"/debug/pprof/profile?token={v.token}").status, 404)
        if not shutil.which("go"):
            raise tap.Skip("there is no go")
        top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=alloc_space",
                              f"http://localhost:{v.port}/debug/pprof/heap?token={v.token}"], capture_output=True,
                             text=True, env=os.environ | {"PPROF_TMPDIR": os.getcwd()})
        check("639.34MB total" in top.stdout, top.stdout[:500] + top.stderr)


@test
def parallel_requests_get_their_own_answers():
    with Viewer(TRACE) as v, ThreadPoolExecutor(16) as pool:
        filters = [f"size:>={n}" for n in range(0, 400, 8)] * 3
        wanted = {f: v.api("tree", filter=f)["total"] for f in set(filters)}
        for f, got in zip(filters, pool.map(lambda f: v.api("tree", filter=f), filters)):
            equal((got["filter"], got["total"]), (f, wanted[f]))


if __name__ == "__main__":
    run_tests()
