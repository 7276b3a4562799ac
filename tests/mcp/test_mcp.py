#!/usr/bin/python3
"""Talks to `allotrace mcp` as a client does, and as a broken one does. Prints TAP.

    test_mcp.py ALLOTRACE [TEST...]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402
from recording import ENVIRONMENT  # noqa: E402

ALLOTRACE = os.path.abspath(sys.argv[1])
TRACES = HERE.parent / "traces"
MADE = tempfile.TemporaryDirectory(prefix="mcp.")
FOLDER = pathlib.Path(MADE.name, "work")
FOLDER.mkdir()
shutil.copy(TRACES / "ocamlopt.ctf", FOLDER)
shutil.copy(TRACES / "irmin-replay.ctf", FOLDER)
shutil.copy(TRACES / "ocamlopt.ctf", pathlib.Path(MADE.name, "secret.ctf"))
(FOLDER / "link.ctf").symlink_to("../secret.ctf")


class Server:
    def __init__(self, *options, preload=None):
        env = dict(ENVIRONMENT)
        if preload:
            env["ALLOTRACE_PRELOAD"] = preload
        self.process = subprocess.Popen([ALLOTRACE, "mcp", *options], cwd=FOLDER, env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def send(self, method, **params):
        self.n += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}) + "\n")
        return self.n

    def ask(self, method, **params):
        n = self.send(method, **params)
        answer = self.read()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == n, answer
        return answer["result"] if "result" in answer else answer["error"]

    def call(self, name, **arguments):
        """The text, and whether the tool failed."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert "content" in result, result
        [content] = result["content"]
        assert content["type"] == "text"
        return content["text"], result["isError"]

    def end(self):
        out, _ = self.process.communicate(timeout=300)
        return out


def command(*words):
    return subprocess.run([ALLOTRACE, *words], cwd=FOLDER, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def introduces_itself():
    with Server() as s:
        for asked, said in ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25"):
            result = s.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "t", "version": "1"})
            assert result["protocolVersion"] == said, result
        assert result["serverInfo"]["name"] == "allotrace" and "tools" in result["capabilities"]
        s.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert s.ask("ping") == {}


def lists_tools():
    with Server() as s, Server("--allow-run") as runs:
        tools = {t["name"]: t for t in s.ask("tools/list")["tools"]}
        assert set(tools) == {"summary", "hotspots", "callers", "peak", "leaks", "lifetimes", "advise", "diff",
                              "source", "explain", "more"}, set(tools)
        for t in tools.values():
            assert t["description"] and t["inputSchema"]["type"] == "object", t
            assert set(t["inputSchema"]["required"]) <= set(t["inputSchema"]["properties"])
        more = {t["name"] for t in runs.ask("tools/list")["tools"]}
        assert more - set(tools) == {"record"}, more


def answers_as_commands_do():
    with Server("--bytes", "1000000") as s:
        for name, words, arguments in (
                ("summary", [], {}),
                ("hotspots", ["--top=3", "--filter=heap:major"], {"top": 3, "filter": "heap:major"}),
                ("peak", ["--top=10"], {}),
                ("leaks", ["--top=10"], {}),
                ("lifetimes", ["--top=10"], {}),
                ("advise", ["--measure=blocks", "--top=5"], {"measure": "blocks"})):
            text, failed = s.call(name, trace="ocamlopt.ctf", **arguments)
            expected = command(name, *words, str(FOLDER / "ocamlopt.ctf"))
            assert not failed and text == expected, f"{name}: {text}"
        text, failed = s.call("callers", trace="ocamlopt.ctf", function="Interf.build_graph.add_interf")
        assert not failed and "Interf.build_graph.add_interf" in text
        text, failed = s.call("diff", before="ocamlopt.ctf", after="irmin-replay.ctf", top=3)
        assert not failed and "  before " in text, text


def answers_in_pages():
    with Server("--bytes", "1000") as s:
        text, failed = s.call("peak", trace="ocamlopt.ctf", top=30)
        whole = ""
        while "[" in text.splitlines()[-1] and "call `more`" in text.splitlines()[-1]:
            page, last = text.rsplit("\n", 1)
            assert len(page.encode()) <= 1000
            whole += page
            text, failed = s.call("more", cursor=last.split('"')[1])
            assert not failed, text
        assert whole + text == command("peak", "--top=30", str(FOLDER / "ocamlopt.ctf")), whole
        for cursor in "0:99999999", "7:0", "x", "-1:0", "0:-1", "0:1x":
            text, failed = s.call("more", cursor=cursor)
            assert failed and "cursor" in text, cursor


def says_what_is_wrong():
    with Server() as s:
        for arguments, reason in (
                ({}, "`trace` is missing"),
                ({"trace": 7}, "`trace` has the wrong type"),
                ({"trace": "ocamlopt.ctf", "top": "3"}, "`top` has the wrong type"),
                ({"trace": "ocamlopt.ctf", "top": -3}, "`top` has the wrong type"),
                ({"trace": "ocamlopt.ctf", "colour": 1}, "no argument `colour`"),
                ({"trace": "missing.ctf"}, "No such file"),
                ({"trace": "ocamlopt.ctf", "filter": "size:x"}, "--filter: column"),
                ({"trace": "ocamlopt.ctf\0"}, "wrong type")):
            text, failed = s.call("hotspots", **arguments)
            assert failed and reason in text, f"{arguments}: {text}"
        assert s.ask("tools/call", name="nothing")["code"] == -32602
        assert s.ask("tools/call")["code"] == -32602
        assert s.ask("resources/list")["code"] == -32601


def stays_in_its_folders():
    with Server() as s:
        for path in "../secret.ctf", str(FOLDER.parent / "secret.ctf"), "link.ctf", "/etc/passwd", "./../secret.ctf":
            text, failed = s.call("hotspots", trace=path)
            assert failed and "outside" in text, f"{path}: {text}"
            text, failed = s.call("source", trace="ocamlopt.ctf", file=path)
            assert failed and "outside" in text, f"{path}: {text}"
    with Server("--folder", str(FOLDER), "--folder", str(FOLDER.parent)) as s:
        assert not s.call("hotspots", trace="../secret.ctf")[1]
        assert s.call("hotspots", trace="/etc/passwd")[1]
    other = subprocess.run([ALLOTRACE, "mcp", "--folder", "missing"], cwd=FOLDER, text=True, stderr=subprocess.PIPE)
    assert other.returncode == 1 and "missing: No such file" in other.stderr


def options_are_no_way_in():
    """What begins with dashes is a value."""
    with Server() as s:
        text, failed = s.call("callers", trace="ocamlopt.ctf", function="--help")
        assert "usage:" not in text, text
        text, failed = s.call("explain", topic="--help")
        assert failed and "usage:" not in text, text
        (FOLDER / "--json").write_bytes((FOLDER / "ocamlopt.ctf").read_bytes())
        text, failed = s.call("summary", trace="--json")
        assert not failed and text.startswith("main.exe"), text


def explains():
    with Server() as s:
        for topic, word in ("filter", "size:RANGE"), ("string-concat", "Buffer"), ("hotspots", "--min-share"):
            text, failed = s.call("explain", topic=topic)
            assert not failed and word in text, text


def shows_source():
    folder = FOLDER / "asmcomp"
    folder.mkdir(exist_ok=True)
    (folder / "interf.ml").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    with Server() as s:
        text, failed = s.call("source", trace="ocamlopt.ctf", file="asmcomp/interf.ml", around=3)
        assert not failed, text
        marked = [line for line in text.splitlines()[1:] if "%" in line]
        assert marked, text
        row = next(r for r in json.loads(command("hotspots", "--json", "--min-share=0", "ocamlopt.ctf"))["hotspots"]
                   if r.get("file") == "asmcomp/interf.ml")
        assert f"{100 * row['share']:.1f}%" in text and f"line {row['line']}" in text, (row, text)
        text, failed = s.call("source", trace="ocamlopt.ctf", file="asmcomp/interf.ml", line=1, around=0)
        assert text.splitlines()[1:] == ["            1  line 1"], text


def records():
    preload = os.environ.get("MCP_PRELOAD")
    if not preload:
        raise tap.Skip("no recorder was given")
    with Server("--allow-run", preload=preload) as s:
        text, failed = s.call("record", output="new.ctf", rate=1, command=["sh", "-c", "echo said; seq 1000 | sort"])
        assert not failed and "said" in text and "recorded" in text, text
        assert not s.call("hotspots", trace="new.ctf")[1]
        text, failed = s.call("record", output="../new.ctf", command=["true"])
        assert failed and "outside" in text, text
        text, failed = s.call("record", output="no.ctf", command=[])
        assert failed and "array" in text, text
        text, failed = s.call("record", output="no.ctf", command=["sh", "-c", "exit 7"])
        assert failed and "[exit status 7]" in text, text
    with Server(preload=preload) as s:
        assert s.ask("tools/call", name="record", arguments={"output": "x.ctf", "command": ["true"]})["code"] == -32602


def cancels():
    preload = os.environ.get("MCP_PRELOAD")
    if not preload:
        raise tap.Skip("no recorder was given")
    with Server("--allow-run", preload=preload) as s:
        slow = s.send("tools/call", name="record", arguments={"output": "slow.ctf", "command": ["sleep", "1000"]})
        waiting = s.send("tools/call", name="summary", arguments={"trace": "ocamlopt.ctf"})
        assert s.ask("ping") == {}  # at once
        s.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}}) + "\n")
        assert s.read()["id"] == waiting
    with Server("--allow-run", "--timeout", "500ms", preload=preload) as s:
        text, failed = s.call("record", output="slow.ctf", command=["sleep", "1000"])
        assert failed and "exceeded the time limit" in text, text


def survives_what_is_no_message():
    with Server() as s:
        for text, code in ("{", -32700), ("[]", -32600), ("7", -32600), ('{"id":1}', -32600), ("\xff", -32700):
            s.write(text + "\n")
            assert s.read()["error"]["code"] == code, text
        s.write("\n  \n")
        s.write(json.dumps({"jsonrpc": "2.0", "result": {}, "id": 9}) + "\n")
        s.write(" " * (5 << 20) + "\n")
        assert s.read()["error"]["code"] == -32600
        assert s.ask("ping") == {}


def answers_what_was_asked_before_the_end():
    with Server() as s:
        n = s.send("tools/call", name="summary", arguments={"trace": "ocamlopt.ctf"})
        assert json.loads(s.end())["id"] == n
        assert s.process.returncode == 0


def tests():
    return [(t.__name__.replace("_", " "), t) for t in (
        introduces_itself, lists_tools, answers_as_commands_do, answers_in_pages, says_what_is_wrong,
        stays_in_its_folders, options_are_no_way_in, explains, shows_source, records, cancels,
        survives_what_is_no_message, answers_what_was_asked_before_the_end)]


if __name__ == "__main__":
    sys.exit(tap.main(sys.argv[2:], tests()))
