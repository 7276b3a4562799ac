#!/usr/bin/env python3
"""embed.py: compresses the files of the viewer's page and writes them as C, for assets.h.

    embed.py OUTPUT FILE...
"""
import gzip
import hashlib
import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
    ".map": "application/json",
}


def rows(data):
    for i in range(0, len(data), 24):
        yield "    " + ",".join(str(byte) for byte in data[i:i + 24]) + ","


def main(output, names):
    text = ['#include "answers/assets.h"']
    table = []
    for i, path in enumerate(sorted((pathlib.Path(n) for n in names), key=lambda p: p.name)):
        plain = path.read_bytes()
        packed = gzip.compress(plain, 9, mtime=0)
        where = "/" if path.name == "index.html" else "/" + path.name
        tag = hashlib.sha256(plain).hexdigest()[:16]
        text += [f"static const unsigned char file_{i}[] = {{", *rows(packed), "};"]
        table.append(f'    {{.path = "{where}", .type = "{TYPES[path.suffix]}", .tag = "\\"{tag}\\"",'
                     f" .gzip = file_{i}, .gzip_size = sizeof file_{i}, .size = {len(plain)}}},")
    text += ["const asset assets[] = {", *table, "    {.path = 0},", "};", ""]
    pathlib.Path(output).write_text("\n".join(text))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
