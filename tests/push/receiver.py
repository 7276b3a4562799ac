"""receiver.py: a receiver that keeps what it gets and behaves as a test wants."""
import contextlib
import gzip
import http.server
import socket
import ssl
import struct
import threading
import time


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.got = []  # (path, headers, body), of those that were taken
        self.refused = []  # the same of those that were read and not taken
        self.seen = 0  # requests
        self.behave = lambda n: 200  # of the number of the request: a status, or what to do, which may return one
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        server.seen += 1
        action = server.behave(server.seen)
        if callable(action) and (action := action(self)) is None:
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip" or body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        (server.got if action == 200 else server.refused).append((self.path, dict(self.headers), body))
        self.send_response(action)
        self.end_headers()
        self.wfile.write(b"so it is\n" if action != 200 else b"")


def reset(handler):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def page(handler):
    """What servers say at addresses that they do not know."""
    handler.rfile.read(int(handler.headers["Content-Length"]))
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<!doctype html><title>Welcome</title>")


def later(status, seconds):
    """Does not take it now, and says when to come again."""
    def answer(handler):
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(status)
        handler.send_header("Retry-After", str(seconds))
        handler.end_headers()
    return answer


def garbage(handler):
    handler.wfile.write(b"\x00\xff" * 1000)
    handler.close_connection = True


def endless(handler):
    """An answer that does not end."""
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(b"x" * 65536)


def slow(handler):
    """Longer than anything waits for it."""
    time.sleep(600)


def late(handler):
    """Takes it after a while."""
    time.sleep(1.5)
    return 200


def with_tls(receiver, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
