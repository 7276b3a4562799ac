#!/usr/bin/python3
"""The viewer's numbers are those of the commands, and its answers are what docs/viewer-api.md says.

    test_api.py ALLOTRACE
"""
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from viewer import TRACES, Viewer, check, equal, run_tests, test

TRACE = TRACES / "ocamlopt.ctf"
FIGURE = ("value", "low", "high", "samples", "blocks")


def command(allotrace, *words):
    done = subprocess.run([allotrace, *map(str, words)], capture_output=True, text=True, check=True)
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


def flatten(node, path=()):
    """The nodes of a command's tree: path → figure."""
    found = {path: figure(node)}
    for child in node["children"]:
        found |= flatten(child, path + ((child["function"], child["file"]) +
                                        ((child["line"],) if "line" in child else ()),))
    return found


def paths(answer, with_line=False):
    """The nodes of an answer that are places: path → figure. Checks the shape on the way."""
    places, found, at = names(answer, with_line), {}, []
    nodes = rows(answer["nodes"])
    for i, node in enumerate(nodes):
        check(-1 <= node["parent"] < i, f"preorder: {i} below {node['parent']}")
        if node["parent"] == -1:
            at.append(())
        elif node["place"] == -1:
            at.append(None)
            check(node["sites"] > 0 and node["more"] == 1, "other nodes count sites")
            continue
        else:
            at.append(at[node["parent"]] + (places[node["place"]],))
        equal(node["sites"], 0, "sites of a place")
        found[at[i]] = figure(node)
    return found


@test
def info_is_what_the_command_says(allotrace):
    with Viewer(allotrace, TRACE, TRACES / "irmin-replay.ctf") as v:
        info = v.api("info")
        equal([t["about"] for t in info["traces"]],
              command(allotrace, "info", "--json", TRACE, TRACES / "irmin-replay.ctf"))
        equal([t["name"] for t in info["traces"]], ["ocamlopt.ctf", "irmin-replay.ctf"])


@test
def trees_are_what_the_commands_show(allotrace):
    questions = [
        ({}, []), ({"measure": "blocks"}, ["--measure", "blocks"]),
        ({"measure": "peak"}, ["--measure", "peak"]),
        ({"measure": "byteseconds"}, ["--measure", "byteseconds"]),
        ({"measure": "live", "at": "500ms"}, ["--measure", "live", "--at", "500ms"]),
        ({"measure": "live", "at": "500000"}, ["--measure", "live", "--at", "500ms"]),
        ({"filter": "size:>=64 -fn:Typecore"}, ["--filter", "size:>=64 -fn:Typecore"]),
        ({"filter": "hide:/^Stdlib/"}, ["--filter", "hide:/^Stdlib/"]),
        ({"by": "line", "filter": "life:<10ms"}, ["--by", "line", "--filter", "life:<10ms"]),
        ({"collapse": "1"}, ["--collapse-recursion"]),
    ]
    with Viewer(allotrace, TRACE) as v:
        for parameters, options in questions:
            for mode in ("down", "inverted"):
                words = ["--json", "--min-share", "1", "--depth", "1000", *options, *["--inverted"] * (mode == "inverted")]
                wanted = command(allotrace, "tree", *words, TRACE)
                # A node is narrower than a pixel of 100 if its share is below 1 %.
                got = v.api("tree", mode=mode, width=100, min=1, rows=1000, **parameters)
                equal(got["total"]["value"], wanted["total"]["value"], parameters)
                equal(paths(got, parameters.get("by") == "line"), flatten(wanted["tree"]), f"{mode} {parameters}")


@test
def callers_and_callees_are_what_the_commands_show(allotrace):
    with Viewer(allotrace, TRACE) as v:
        for focus in ["Stdlib__set.Make.bal", "Misc.try_finally > Misc.try_finally", "/Btype/", "Typemod*"]:
            for mode in ("callers", "callees"):
                wanted = command(allotrace, mode, focus, "--json", "--min-share", "0", "--depth", "200", TRACE)
                got = v.api("tree", mode=mode, focus=focus, width=16384, min=0.1, rows=201)
                equal(paths(got), flatten(wanted["tree"]), f"{mode} {focus}")


@test
def a_focus_may_be_given_by_ids(allotrace):
    with Viewer(allotrace, TRACE) as v:
        tree = v.api("tree")
        ids = {name[0]: number for name, number in zip(names(tree), tree["places"]["id"])}
        for focus in [["Misc.try_finally"], ["Main", "Main.main"]]:
            by_name = v.api("tree", mode="callers", focus=" > ".join(focus))
            by_id = v.api("tree", mode="callers", focus_ids=".".join(str(ids[f]) for f in focus))
            equal(by_id["nodes"], by_name["nodes"], focus)


@test
def what_is_left_out_is_summed_up(allotrace):
    with Viewer(allotrace, TRACE) as v:
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
def zooming_shows_the_same_numbers(allotrace):
    with Viewer(allotrace, TRACE) as v:
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
def searching_marks_and_sums_up(allotrace):
    with Viewer(allotrace, TRACE) as v:
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


@test
def malformed_parameters_are_refused(allotrace):
    with Viewer(allotrace, TRACE) as v:
        for parameters, parameter in [
                ({"filter": "alloc:10x"}, "filter"), ({"filter": "fn:/(/"}, "filter"), ({"measure": "joy"}, "measure"),
                ({"at": "1s"}, "at"), ({"measure": "live", "at": "soon"}, "at"), ({"by": "type"}, "by"),
                ({"mode": "up"}, "mode"), ({"width": "0"}, "width"), ({"width": "nan"}, "width"), ({"width": "1e9"}, "width"),
                ({"width": "-5"}, "width"), ({"min": ""}, None), ({"min": "inf"}, "min"), ({"rows": "0"}, "rows"), ({"rows": "1.5"}, "rows"),
                ({"rows": "99999999999999999999999"}, "rows"), ({"root": "1."}, "root"), ({"root": "a"}, "root"),
                ({"root": "1..2"}, "root"), ({"collapse": "yes"}, "collapse"), ({"search": "/["}, "search"),
                ({"search": "/a/b"}, "search"), ({"mode": "callers"}, "focus"), ({"mode": "callers", "focus": "a > "}, "focus"),
                ({"mode": "callees", "focus_ids": "999999999"}, "focus_ids"), ({"focus": "main"}, "focus"),
                ({"mode": "callers", "focus": "a", "focus_ids": "1"}, "focus_ids"), ({"wrappers": "maybe"}, "wrappers"),
                ({"nonsense": "1"}, "nonsense"), ({"trace": "-1"}, "trace"), ({"trace": "x"}, "trace")]:
            if parameter:
                equal(v.api("tree", 400, **parameters)["error"]["parameter"], parameter, parameters)
            else:
                v.api("tree", **parameters)
        error = v.api("tree", 400, filter="fn:main alloc:10x")["error"]
        equal((error["column"], error["reason"]), (17, "a time ends in us, ms, s, min or h"))
        v.api("tree", 404, trace=1)
        v.api("nonsense", 404)
        twice = v.get(f"/api/tree?token={v.token}&by=line&by=line")
        equal((twice.status, twice.json()["error"]["parameter"]), (400, "by"))


@test
def a_filter_that_leaves_nothing_says_which_term_did(allotrace):
    with Viewer(allotrace, TRACE) as v:
        tree = v.api("tree", filter="life:<1ms size:>=100M")
        equal((tree["total"]["samples"], tree["kept_blocks"], tree["removed_by"]), (0, 0, "size"))
        equal(tree["nodes"]["parent"], [-1])


@test
def parallel_requests_get_their_own_answers(allotrace):
    with Viewer(allotrace, TRACE) as v, ThreadPoolExecutor(16) as pool:
        filters = [f"size:>={n}" for n in range(0, 400, 8)] * 3
        wanted = {f: v.api("tree", filter=f)["total"] for f in set(filters)}
        for f, got in zip(filters, pool.map(lambda f: v.api("tree", filter=f), filters)):
            equal((got["filter"], got["total"]), (f, wanted[f]))


if __name__ == "__main__":
    run_tests(sys.argv[1])
