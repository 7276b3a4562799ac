#!/usr/bin/python3
"""Who is refused by the viewer, and what it survives.

    test_security.py ALLOTRACE
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from viewer import ALLOTRACE, PATIENCE, TRACES, Viewer, check, run_tests, tap

equal, test = tap.same, tap.test

TRACE = TRACES / "ocamlopt.ctf"


@test
def names_of_the_loopback_interface_are_hosts():
    with Viewer(TRACE) as v:
        for host in ["localhost", f"localhost:{v.port}", "LOCALHOST:1", "127.0.0.1:80", "127.1.2.3",
                     f"[::1]:{v.port}", "[::1]"]:
            equal(v.get("/api/info", {"Host": host, "Cookie": f"allotrace-{v.port}={v.token}"}).status,
                  200, host)


@test
def other_hosts_are_refused():
    with Viewer(TRACE) as v:
        cookie = {"Cookie": f"allotrace-{v.port}={v.token}"}
        for host in ["evil.example", f"evil.example:{v.port}", "localhost.evil.example", "localhost@evil",
                     "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "0.0.0.0", "", "localhost:80:80",
                     "[::1", "2130706433", "localhost:x", "a" * 300]:
            reply = v.get("/api/info", cookie | {"Host": host})
            check(reply.status in (421, 400), f"{host}: {reply.status}")
            check(b"traces" not in reply.body, host)
        for path in ["/", f"/?token={v.token}"]:
            equal(v.get(path, {"Host": "evil.example"}).status, 421, path)
        check(v.get("/api/info", cookie | {"Host": None}).status in (400, 421), "no host")


@test
def requests_of_other_sites_are_refused():
    with Viewer(TRACE) as v:
        url = f"/api/info?token={v.token}"
        for origin in ["http://evil.example", "null", "http://localhost:1", f"https://localhost:{v.port}",
                       f"http://localhost:{v.port}.evil.example", f"http://127.0.0.1:{v.port}", ""]:
            equal(v.get(url, {"Origin": origin}).status, 403, origin)
        equal(v.get(url, {"Origin": f"http://localhost:{v.port}"}).status, 200, "own origin")
        for site, mode, status in [("cross-site", "cors", 403), ("same-site", "no-cors", 403),
                                   ("cross-site", "navigate", 403), ("none", "navigate", 200),
                                   ("same-origin", "cors", 200)]:
            equal(v.get(url, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}).status, status, site)
        # A link on another site may open the page, which holds nothing; a frame or script may not.
        page = v.get("/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status
        check(page in (200, 404), f"the page: {page}")
        equal(v.get("/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status, 403, "script")


@test
def nothing_is_answered_without_the_token():
    with Viewer(TRACE) as v:
        wrong = v.token[:-1] + ("0" if v.token[-1] != "0" else "1")
        name = f"allotrace-{v.port}"
        for query, cookie in [("", None), ("?token=", None), (f"?token={wrong}", None),
                              (f"?token={v.token}0", None), (f"?token={v.token[:-1]}", None),
                              (f"?token={v.token}%00", None), ("", f"{name}={wrong}"),
                              ("", f"other={v.token}"), ("", f"{name}x={v.token}"), ("", f"{name}={v.token}x"),
                              ("", v.token), ("", ";;;==;")]:
            for endpoint in ["info", "tree", "live", "nonsense"]:
                reply = v.get(f"/api/{endpoint}{query}", {"Cookie": cookie})
                equal(reply.status, 403, f"{endpoint}{query} {cookie}")
        for cookie in [f"{name}={v.token}", f"a=b; {name}={v.token}; c=d", f"{name}={wrong}; {name}={v.token}"]:
            equal(v.get("/api/info", {"Cookie": cookie}).status, 200, cookie)


@test
def tokens_differ_from_run_to_run():
    with Viewer(TRACE) as a, Viewer(TRACE) as b:
        check(a.token != b.token and a.port != b.port, "two viewers")
        equal(b.get(f"/api/info?token={a.token}").status, 403)


@test
def only_get_is_answered():
    with Viewer(TRACE) as v:
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "BREW"]:
            reply = v.get(f"/api/info?token={v.token}", {"Content-Length": "0"}, method)
            check(reply.status in (405, 400, 501), f"{method}: {reply.status}")
            check(b'"traces"' not in reply.body, method)
        head = v.get(f"/api/info?token={v.token}", method="HEAD")
        equal((head.status, head.body), (200, b""))
        equal(v.get(f"/api/info?token={v.token}", method="POST").headers.get("allow"), "GET, HEAD")


def opening(v, body, name="new.ctf", length=None, **headers):
    """A request that opens a file, with what the page sends but for `headers`; None: without."""
    all_headers = {"Host": f"localhost:{v.port}", "Connection": "close", "Origin": f"http://localhost:{v.port}",
                   "X-Allotrace": "open", "Sec-Fetch-Site": "same-origin", "Cookie": f"allotrace-{v.port}={v.token}",
                   "Content-Length": str(len(body) if length is None else length)} | headers
    lines = [f"POST /api/open?name={name} HTTP/1.1", *(f"{k}: {x}" for k, x in all_headers.items() if x is not None), "", ""]
    return v.raw("\r\n".join(lines).encode("latin-1") + body)


def left_over(folder):
    return sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*"))


@test
def a_file_is_opened_and_gone_when_the_server_ends():
    body = TRACE.read_bytes()
    with tempfile.TemporaryDirectory() as folder, Viewer(TRACE, env=os.environ | {"TMPDIR": folder}) as v:
        reply = opening(v, body, "../a%20b%1b.ctf")
        equal((reply.status, reply.json()), (200, {"trace": 1}))
        info = v.api("info")["traces"]
        equal([t["name"] for t in info], [TRACE.name, "a b.ctf"])
        equal(v.api("tree", trace=1)["total"], v.api("tree")["total"])
        [inner, file] = left_over(folder)
        equal((pathlib.Path(folder, inner).stat().st_mode & 0o777, pathlib.Path(folder, file).stat().st_mode & 0o777), (0o700, 0o600))
        for i in range(2, 9):
            equal(opening(v, body).status, 200, f"file {i}")
        equal(opening(v, body).status, 400, "no more than 8")
        equal(v.end()[0], 0)
        equal(left_over(folder), [], "nothing stays")


@test
def only_the_page_opens_files():
    with tempfile.TemporaryDirectory() as folder, Viewer(TRACE, env=os.environ | {"TMPDIR": folder}) as v:
        body = TRACE.read_bytes()
        for status, headers in [(403, {"Origin": None}), (403, {"Origin": "http://evil.example"}), (403, {"Origin": "null"}),
                                (403, {"X-Allotrace": None}), (403, {"X-Allotrace": "close"}), (403, {"Cookie": None}),
                                (403, {"Cookie": f"allotrace-{v.port}=0"}), (403, {"Sec-Fetch-Site": "cross-site"}),
                                (403, {"Sec-Fetch-Site": "same-site"}), (421, {"Host": "evil.example"})]:
            equal(opening(v, body, **headers).status, status, headers)
        for status, name, bytes_, length in [(413, "empty", b"", 0), (413, "large", b"x", 3 << 30), (411, "sizeless", b"", ""),
                                             (400, "none", b"no trace at all", None), (400, "cut", body[:30], None)]:
            check(opening(v, bytes_, name, length).status in (status, 400), name)
        equal(len(v.api("info")["traces"]), 1)
        # What ends in the middle leaves nothing behind, and keeps no other from being opened.
        with contextlib.closing(v.connect()) as s:
            s.sendall(f"POST /api/open HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nX-Allotrace: open\r\nCookie: allotrace-{v.port}={v.token}\r\nContent-Length: 100000\r\n\r\nabc".encode())
            while not left_over(folder):
                time.sleep(0.01)
            equal(opening(v, body).status, 503, "one at a time")
        while opening(v, body).status == 503:
            time.sleep(0.01)
        equal(len(v.api("info")["traces"]), 2)
        equal(len(left_over(folder)), 2)


@test
def files_are_opened_at_the_loopback_interface_alone():
    with Viewer(TRACE, options=["--host", "127.0.0.1"]) as v:
        equal(opening(v, TRACE.read_bytes(), Host=f"127.0.0.1:{v.port}", Origin=f"http://127.0.0.1:{v.port}").status, 403)


@test
def no_path_leads_to_a_file():
    with Viewer(TRACE) as v:
        for path in ["/../../../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "//etc/passwd", "/etc/passwd",
                     "/%2e%2e/%2e%2e/etc/passwd", "/api/../../etc/passwd", "/./", "/api/", "/api", "/index.html/..",
                     "/\\..\\..\\etc\\passwd", "/api/info/../../etc/passwd", f"/{TRACE}", "/%00", "/api/info%00"]:
            reply = v.get(f"{path}?token={v.token}")
            check(reply.status in (404, 400), f"{path}: {reply.status}")
            check(b"root:" not in reply.body, path)


@test
def answers_forbid_inline_code_and_frames():
    with Viewer(TRACE) as v:
        for path in ["/", f"/api/info?token={v.token}", "/api/info", "/nothing"]:
            headers = v.get(path).headers
            policy = dict(d.strip().partition(" ")[::2] for d in headers["content-security-policy"].split(";"))
            equal(policy["default-src"], "'none'", path)
            equal(policy["script-src"], "'self'", path)
            equal(policy["style-src"], "'self'", path)
            equal(policy["frame-ancestors"], "'none'", path)
            check("unsafe" not in headers["content-security-policy"], path)
            equal(headers["x-content-type-options"], "nosniff", path)
            equal(headers["referrer-policy"], "no-referrer", path)
            check("access-control-allow-origin" not in headers, path)


@test
def the_document_quotes_the_policy():
    document = (TRACES.parent.parent / "docs" / "viewer-api.md").read_text()
    quoted = re.search(r"`Content-Security-Policy: ([^`]*)`", document)
    check(quoted, "a policy in the document")
    with Viewer(TRACE) as v:
        equal(" ".join(quoted.group(1).split()), v.get("/nothing").headers["content-security-policy"])


@test
def the_page_gets_a_cookie_for_the_right_token_alone():
    with Viewer(TRACE) as v:
        if v.get("/").status == 404:
            return  # built without the page
        cookie = v.get(f"/?token={v.token}").headers["set-cookie"]
        equal(cookie, f"allotrace-{v.port}={v.token}; Path=/; HttpOnly; SameSite=Strict")
        for path in ["/", "/?token=", f"/?token={v.token[::-1]}0"]:
            check("set-cookie" not in v.get(path).headers, path)


@test
def oversized_requests_are_refused():
    with Viewer(TRACE) as v:
        long = "a" * 200_000
        for status, path, headers in [(414, f"/api/tree?token={v.token}&filter=fn:{long}", {}),
                                      (431, "/api/info", {"X-Long": long}),
                                      (431, "/api/info", {f"X-{i}": "b" * 1000 for i in range(200)})]:
            reply = v.get(path, headers)
            check(reply.status in (status, 400, 413, 414, 431, 0), f"{path[:20]}: {reply.status}")
        many = "&".join(f"p{i}=1" for i in range(200))
        equal(v.get(f"/api/tree?token={v.token}&{many}").status, 400, "many parameters")
        v.api("info")


@test
def bytes_that_are_no_request_are_survived():
    with Viewer(TRACE) as v:
        for junk in [b"\0" * 1000, b"\r\n" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
                     b"GET /api/info HTTP/1.1\r\nHost localhost\r\n\r\n", bytes(range(256)) * 8 + b"\r\n\r\n",
                     b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n"]:
            with contextlib.closing(v.connect()) as s:
                with contextlib.suppress(OSError):
                    s.sendall(junk)
        v.api("info")


@test
def slow_clients_keep_nobody_waiting():
    with Viewer(TRACE) as v:
        slow = [v.connect() for _ in range(50)]
        for i, s in enumerate(slow):
            s.sendall([b"", b"G", b"GET /api/info HTTP/1.1\r\nHost: local", b"GET / HTTP/1.1\r\n"][i % 4])
        # One that asks for much and reads nothing.
        deaf = v.connect()
        request = f"GET /api/tree?token={v.token}&min=0.1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for _ in range(20):
            deaf.sendall(request)
        equal(len(v.api("info")["traces"]), 1)
        for s in [*slow, deaf]:
            s.close()
        v.api("info")


@test
def a_thousand_connections_are_survived():
    with Viewer(TRACE) as v, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(v.connect())) for _ in range(1000)]
        request = f"GET /api/info?token={v.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for s in clients:
            s.sendall(request)
        for i, s in enumerate(clients):
            equal(s.recv(12), b"HTTP/1.1 200", f"connection {i}")
        v.api("info")


@test
def many_streams_end_with_the_viewer():
    with Viewer(TRACE) as v, contextlib.ExitStack() as stack:
        request = f"GET /api/live?token={v.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        streams = []
        for _ in range(100):
            s = stack.enter_context(contextlib.closing(v.connect()))
            s.sendall(request)
            streams.append(s)
        for s in streams:
            got = b""
            while b"\n\n" not in got:
                got += s.recv(4096)
            check(b"text/event-stream" in got and b"event: trace\n" in got, got[:200])
        equal(v.end(), (0, ""))


@test
def it_ends_at_signals_while_it_works():
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Viewer(TRACE) as v, contextlib.ExitStack() as stack:
            for i in range(40):
                s = stack.enter_context(contextlib.closing(v.connect()))
                s.sendall(f"GET /api/tree?token={v.token}&filter=size:>={i} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            equal(v.end(how), (0, ""), how.name)


@test
def a_port_that_is_taken_is_passed_over():
    with Viewer(TRACE) as a, Viewer(TRACE) as b:
        check(b.port != a.port, f"{a.port}, {b.port}")
        refused = subprocess.run([ALLOTRACE, "view", "--no-open", "--port", str(a.port), TRACE],
                                 capture_output=True, text=True, timeout=PATIENCE)
        equal((refused.returncode, refused.stdout), (1, ""))
        check("in use" in refused.stderr, refused.stderr)


@test
def it_listens_at_the_loopback_interface_alone():
    with Viewer(TRACE) as v:
        inodes = set()
        for fd in os.listdir(f"/proc/{v.process.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # it may read its trace meanwhile
                inodes.add(os.readlink(f"/proc/{v.process.pid}/fd/{fd}").removeprefix("socket:[").removesuffix("]"))
        listening = []
        for table in ("tcp", "tcp6"):
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{v.process.pid}/net/{table}") as lines:
                listening += [line.split()[1].split(":")[0] for line in list(lines)[1:]
                              if line.split()[3] == "0A" and line.split()[9] in inodes]
        check(listening, "it listens")
        for address in listening:
            check(address in ("0100007F", "00000000000000000000000001000000"), address)


@test
def what_cannot_be_read_ends_it():
    for operands, status in [(["/nonexistent.ctf"], 1), ([__file__], 1), ([], 2), ([str(TRACE), "/nonexistent"], 1),
                             (["--port", "99999", str(TRACE)], 2), (["--host", "no.such.host.invalid", str(TRACE)], 1)]:
        done = subprocess.run([ALLOTRACE, "view", "--no-open", *operands], capture_output=True, text=True,
                              timeout=PATIENCE)
        equal((done.returncode, done.stdout), (status, ""), operands)
        check(done.stderr.startswith("allotrace: "), done.stderr)


if __name__ == "__main__":
    run_tests()
