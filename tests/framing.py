#!/usr/bin/python3
"""framing.py ALLOTRACE TRACE...: babeltrace2 and `allotrace dump` must see the same events.

A trace is framed as the Common Trace Format demands, so any CTF reader can take it apart once a
metadata text describes it; traces do not carry one. Compared are
kind and time of every event. Exit status 77: there is no babeltrace2 here.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

VINT = """struct { enum : uint8_t { b0 = 0 ... 252, b2 = 253, b4 = 254, b8 = 255 } tag;
  variant <tag> { struct {} b0; uint16_t b2; int32_t b4; int64_t b8; } value; }"""
CODEWORD = """struct { enum : uint2_t { hit = 0, one = 1, more = 2, miss = 3 } tag; uint14_t bucket;
  variant <tag> { struct {} hit; struct {} one; uint8_t more; uint64_t miss; } rest; }"""


def integer(bits, signed=False, clock=""):
    align = 8 if bits % 8 == 0 else 1
    return (f"integer {{ size = {bits}; align = {align}; "
            f"signed = {'true' if signed else 'false'}; base = 10; {clock} }}")


def metadata(version):
    types = "".join(f"typealias {integer(n)} := uint{n}_t;\n" for n in (2, 5, 7, 8, 10, 14, 16, 20, 25, 32, 64))
    types += "".join(f"typealias {integer(n, True)} := int{n}_t;\n" for n in (32, 64))
    clock = "map = clock.us.value;"
    names = """enum : uint5_t { old = 0 ... 30, new = 31 }"""
    # The definition's code precedes the file's name; each string is there only if its code says so.
    location = f"""struct {{ uint20_t line; uint8_t_unaligned start; uint10_t end; {names} file; {names} def;
      variant <file> {{ struct {{}} old; string new; }} file_name;
      variant <def> {{ struct {{}} old; string new; }} def_name; }}"""
    short = "".join(f"""event {{ name = "short"; id = {100 + n}; fields := struct {{
      vint common_prefix; uint8_t n; codeword backtrace[n]; }}; }};\n""" for n in range(1, 17))
    return f"""/* CTF 1.8 */
{types}
typealias integer {{ size = 8; align = 1; signed = false; }} := uint8_t_unaligned;
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ uint32_t magic; }}; }};
clock {{ name = us; freq = 1000000; }};
typealias {VINT} := vint;
typealias {CODEWORD} := codeword;
typealias {location} := location;
stream {{
  packet.context := struct {{ uint32_t packet_size;
    {integer(64, clock=clock)} timestamp_begin; {integer(64, clock=clock)} timestamp_end;
    uint32_t flush_duration; uint16_t version; uint64_t pid; {"uint16_t domain;" if version > 2 else ""}
    uint16_t verify_bucket; uint16_t verify_prediction; uint64_t verify_code;
    uint64_t id_begin; uint64_t id_end; }};
  event.header := struct {{ {integer(25, clock=clock)} timestamp; uint7_t id; }} align(8);
}};
event {{ name = "info"; id = 0; fields := struct {{
  floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} rate; uint8_t word; string exe; string host;
  string params; uint64_t pid; {"string context;" if version > 1 else ""} }}; }};
event {{ name = "location"; id = 1; fields := struct {{ uint64_t code; uint8_t n; location where[n]; }}; }};
event {{ name = "alloc"; id = 2; fields := struct {{ vint length; vint samples; uint8_t source;
  vint common_prefix; uint16_t n; codeword backtrace[n]; }}; }};
event {{ name = "promote"; id = 3; fields := struct {{ vint delta; }}; }};
event {{ name = "collect"; id = 4; fields := struct {{ vint delta; }}; }};
{short}"""


def babeltrace_events(trace):
    """(time in us since the epoch, kind) of each event but info and locations."""
    version = struct.unpack_from("<H", trace.read_bytes(), 28)[0]
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "metadata").write_text(metadata(version))
        shutil.copy(trace, pathlib.Path(directory) / "stream")
        done = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", directory],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"babeltrace2: {done.stderr.strip()[-1500:]}")
    events = re.findall(r"^\[(\d+)\] (\w+):", done.stdout, re.M)
    return [(int(time), "alloc" if kind == "short" else kind) for time, kind in events]


def allotrace_events(allotrace, trace):
    kinds = {"a": "alloc", "A": "alloc", "AE": "alloc", "P": "promote", "C": "collect"}
    done = subprocess.run([allotrace, "dump", "--format", "plain", trace], stdout=subprocess.PIPE,
                          text=True, check=True)
    return [(int(fields[0]), kinds[fields[2]]) for fields in map(str.split, done.stdout.splitlines())]


def main(allotrace, *traces):
    if not shutil.which("babeltrace2"):
        print("skipped: there is no babeltrace2")
        return 77
    for trace in map(pathlib.Path, traces):
        events = babeltrace_events(trace)
        start = events[0][0]
        theirs = [(time - start, kind) for time, kind in events if kind not in ("info", "location")]
        ours = allotrace_events(allotrace, trace)
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), "the end")
            sys.exit(f"{trace}: {len(ours)} events, babeltrace2 {len(theirs)}; they differ at {at}")
        print(f"{trace.name}: {len(ours)} events agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
