"""viewer.py: a viewer to test, and requests to it byte by byte."""
import contextlib
import json
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap

ALLOTRACE = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
TRACES = pathlib.Path(__file__).resolve().parent.parent / "traces"
PATIENCE = 120  # seconds that anything may take on a machine that is busy


class Reply:
    """An answer: status, headers (names in lower case), body."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        match = re.match(r"HTTP/1\.[01] (\d{3})", lines[0])
        self.status = int(match.group(1)) if match else 0
        self.headers = {k.lower(): v.strip() for k, _, v in (l.partition(":") for l in lines[1:])}

    def json(self):
        return json.loads(self.body)


class Viewer:
    """`allotrace view` at a port of its own, as a context."""

    def __init__(self, *traces, options=(), command=None, **how):
        """`command`: what says its address on standard error instead."""
        words = command or ["view", "--no-open", *options, *map(str, traces)]
        self.process = subprocess.Popen([ALLOTRACE, *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **how)
        self.address = (self.process.stderr if command else self.process.stdout).readline().strip()
        match = re.search(r"http://([^/]*):(\d+)/\?token=([0-9a-f]{32})$", self.address)
        if not match:
            raise AssertionError(f"{self.address!r}, {self.process.communicate()}")
        self.host, self.port, self.token = match.group(1), int(match.group(2)), match.group(3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, how=signal.SIGINT):
        """Asks it to end; its exit status, and what it said."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said

    def connect(self, family=socket.AF_INET):
        s = socket.socket(family)
        s.settimeout(PATIENCE)
        s.connect(("::1" if family == socket.AF_INET6 else "127.0.0.1", self.port))
        return s

    def raw(self, request):
        """Sends bytes and reads all that comes until the connection is closed."""
        with contextlib.closing(self.connect()) as s:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                s.sendall(request)
            parts = []
            with contextlib.suppress(ConnectionResetError):
                while part := s.recv(1 << 16):
                    parts.append(part)
            return Reply(b"".join(parts))

    def get(self, path, headers=None, method="GET"):
        """One request with the headers that a browser sends, unless they say otherwise."""
        all_headers = {"Host": f"localhost:{self.port}", "Connection": "close"} | (headers or {})
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in all_headers.items() if value is not None]
        return self.raw("\r\n".join(lines + ["", ""]).encode("latin-1"))

    def api(self, endpoint, status=200, **parameters):
        """Asks the API, with the token, and checks the status of its answer."""
        query = urllib.parse.urlencode(parameters | {"token": self.token})
        reply = self.get(f"/api/{endpoint}?{query}")
        if reply.status != status:
            raise AssertionError(f"{endpoint} {parameters}: {reply.status}, not {status}: {reply.body[:500]}")
        return reply.json()


def check(condition, what):
    assert condition, what


def run_tests():
    """Runs all tests, as clients that may have many connections."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.exit(tap.main())
