#!/usr/bin/python3
"""A second, independent decoder of memtrace traces, written from the description of the format
(src/trace/FORMAT.md) alone. It is a test of that description, of the reader and of the writer.

    decode.py [--plain | --no-backtraces | --changed | --in-order | --packets] FILE

prints each event on a line: by default with its whole backtrace; --plain without; --changed with
the frames alone that differ from the domain's previous backtrace, by which the whole is determined;
--in-order likewise, but with the whole one where another domain's has come between.
--no-backtraces decodes none. --packets prints the packet headers instead. It has no mercy on
damaged files: what is not as described, or what memtrace's own reader would refuse or skip, ends it
with the offset and status 1.
"""
import gc
import struct
import sys

MAGIC = 0xC1FC1FC1
U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
I32, I64, F64 = struct.Struct("<i"), struct.Struct("<q"), struct.Struct("<d")
HEAD = struct.Struct("<IIQQIHQ")  # up to the domain, which only version 3 has
TAIL = struct.Struct("<HHQQQ")
BUCKETS = 16384
SOURCES = ["alloc", "alloc_major", "alloc_ext"]
PLAIN_SOURCES = ["a", "A", "AE"]


class Malformed(Exception):
    pass


def demand(condition, message, at):
    if not condition:
        raise Malformed(f"{message}, at byte {at}")


class Packet:
    """A packet header; `body` and `end` are offsets of its events and of what follows it."""

    def __init__(self, data, at):
        demand(at + HEAD.size <= len(data), "no room for a packet header", at)
        magic, bits, self.begin, self.finish, _, self.version, self.pid = HEAD.unpack_from(data, at)
        demand(magic == MAGIC, "no magic number", at)
        demand(1 <= self.version <= 3, f"unknown version {self.version}", at)
        self.at, self.domain, tail = at, 0, at + HEAD.size
        if self.version == 3:
            self.domain = U16.unpack_from(data, tail)[0]
            tail += 2
        verify_bucket, verify_prediction, verify_code, self.id_begin, self.id_end = \
            TAIL.unpack_from(data, tail)
        self.verify = (verify_bucket, verify_prediction, verify_code)
        self.body, self.end = tail + TAIL.size, at + bits // 8
        demand(bits % 8 == 0 and self.body <= self.end <= min(len(data), at + 32768),
               f"impossible packet size of {bits} bits", at)
        demand(self.begin <= self.finish, "a packet that ends before it begins", at)
        demand(self.finish - self.begin <= 30_000_000, "a packet of more than 30 s", at)


class Names:
    """A move-to-front table of 31; each entry is [name, value]."""

    def __init__(self):
        self.entries = []

    def used(self, code, at):
        demand(code < len(self.entries), f"name code {code} of an empty entry", at)
        self.entries.insert(0, self.entries.pop(code))
        return self.entries[0]

    def added(self, name, value):
        self.entries.insert(0, (name, value))
        del self.entries[31:]
        return self.entries[0]


class Domain:
    """What the codes of one domain's events depend on."""

    def __init__(self):
        self.files = Names()
        self.codes, self.predictions = [0] * BUCKETS, [0] * BUCKETS
        self.stack = []
        self.last_time = 0


class Decoder:
    def __init__(self, data, backtraces=True):
        self.data, self.backtraces = data, backtraces
        self.domains, self.locations = {}, {}
        self.head, self.at = None, 0
        self.next_id = 0  # of a trace whose ids have no gaps

    # ---- primitives: each reads at self.at and moves past it

    def take(self, kind):
        value = kind.unpack_from(self.data, self.at)[0]
        self.at += kind.size
        return value

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def vint(self):
        first = self.byte()
        if first <= 252:
            return first
        return self.take((U16, I32, I64)[first - 253])

    def string(self):
        end = self.data.index(b"\0", self.at)
        value = self.data[self.at:end].decode("utf-8", "surrogateescape")
        self.at = end + 1
        return value

    # ---- the head and locations

    def read_info(self):
        packet = Packet(self.data, 0)
        self.at = packet.body
        demand(self.take(U32) == packet.begin & 0x1FFFFFF,
               "the first event is not a trace info at the packet's begin", packet.body)
        self.head = packet
        self.rate, self.word_size = self.take(F64), self.byte()
        self.executable, self.host, self.parameters = self.string(), self.string(), self.string()
        self.pid = self.take(U64)
        self.context = self.string() if packet.version >= 2 else ""
        demand(self.at == packet.end, "more than a trace info in the first packet", self.at)
        demand(packet.verify[0] == 0xFFFF, "a cache check in the first packet", 0)

    def read_location(self, domain):
        at = self.at
        word = self.take(U32) | self.take(U16) << 32
        line, start, end = word & 0xFFFFF, word >> 20 & 0xFF, word >> 28 & 0x3FF
        file_code, function_code = word >> 38 & 31, word >> 43
        file, functions = (domain.files.added(self.string(), Names()) if file_code == 31
                           else domain.files.used(file_code, at))
        function, _ = (functions.added(self.string(), None) if function_code == 31
                       else functions.used(function_code, at))
        return f"{function}@{file}:{line}:{start}-{end}"

    def read_locations(self, domain):
        at, code = self.at, self.take(U64)
        places = [self.read_location(domain) for _ in range(self.byte())]
        place = self.locations.setdefault(code, " ".join(places))
        demand(place == " ".join(places), f"another place of code {code:#x}", at)

    # ---- backtraces

    def read_codewords(self, domain, n):
        """Decodes n codewords; returns the list of their codes."""
        codes, predictions, data, at = domain.codes, domain.predictions, self.data, self.at
        frames, last = [], 0
        for _ in range(n):
            word = data[at] | data[at + 1] << 8
            at += 2
            bucket, tag = word >> 2, word & 3
            predictions[last] = last = bucket
            if tag == 3:
                codes[bucket] = U64.unpack_from(data, at)[0]
                at += 8
            frames.append(codes[bucket])
            if tag == 2:
                tag = data[at]
                at += 1
            elif tag == 3:
                tag = 0
            for _ in range(tag):
                last = predictions[last]
                frames.append(codes[last])
        self.at = at
        return frames

    def skip_codewords(self, n):
        for _ in range(n):
            self.at += (2, 2, 3, 10)[self.data[self.at] & 3]

    def read_backtrace(self, domain, n, common):
        """Returns how many frames of the previous backtrace remain."""
        if not self.backtraces:
            self.skip_codewords(n)
            return 0
        fresh = self.read_codewords(domain, n)
        if common > len(domain.stack):
            return len(domain.stack)
        domain.stack[common:] = fresh
        return common

    # ---- events

    def read_event(self, packet, domain, last_id):
        """Returns (kind, time, id, length, samples, source, common); kind None for a location."""
        at, word = self.at, self.take(U32)
        code, low, begin = word >> 25, word & 0x1FFFFFF, packet.begin
        time = (begin & ~0x1FFFFFF) + low + (0x2000000 if low < begin & 0x1FFFFFF else 0)
        demand(begin <= time <= packet.finish, "an event outside its packet's time", at)
        demand(time >= domain.last_time, "time runs backwards", at)
        domain.last_time = time
        time -= self.head.begin
        if code == 1:
            self.read_locations(domain)
            return (None,)
        if code in (3, 4):
            delta = self.vint()
            demand(delta >= 0 or (code == 4 and packet.version == 3),
                   "an object beyond the packet's latest", at)
            return ("promote" if code == 3 else "collect", time, last_id - delta)
        demand(code == 2 or 101 <= code <= 116, f"unknown event {code}", at)
        length, samples, source = ((code - 100, 1, 0) if code != 2
                                   else (self.vint(), self.vint(), self.byte()))
        demand(source <= 2, f"unknown source {source}", at)
        common = self.vint()
        n = self.take(U16) if code == 2 else self.byte()
        kept = self.read_backtrace(domain, n, common)
        return ("alloc", time, last_id + 1, length, samples, source, kept)

    def check_cache(self, packet, domain):
        bucket, prediction, code = packet.verify
        if self.backtraces and bucket != 0xFFFF:
            demand((domain.predictions[bucket], domain.codes[bucket]) == (prediction, code),
                   "the cache check fails", packet.at)

    def packet_events(self, packet):
        domain = self.domains.setdefault(packet.domain, Domain())
        demand(packet.begin >= domain.last_time, "packets run backwards", packet.at)
        self.check_cache(packet, domain)
        demand(packet.version == 3 or packet.id_begin == self.next_id,
               f"ids go on from {packet.id_begin} instead of {self.next_id}", packet.at)
        self.at, last_id = packet.body, packet.id_begin - 1
        while self.at < packet.end:
            event = self.read_event(packet, domain, last_id)
            if event[0] == "alloc":
                last_id += 1
            if event[0]:
                yield packet.domain, domain.stack, event
        domain.last_time = packet.finish
        demand(self.at == packet.end, "an event that exceeds its packet", self.at)
        demand(last_id + 1 == packet.id_end, "a wrong id at the end of the packet", packet.at)
        self.next_id = packet.id_end

    def packets(self):
        at = self.head.end
        while at < len(self.data):
            packet = Packet(self.data, at)
            demand(packet.version == self.head.version, "the version changes", at)
            yield packet
            at = packet.end

    def events(self):
        """Yields (domain, its stack, event) for each event but locations."""
        for packet in self.packets():
            if packet.pid == self.pid:
                yield from self.packet_events(packet)

    def frame_text(self, code):
        demand(code in self.locations, f"code {code:#x} is not announced before", self.at)
        return self.locations[code] or f"${code - (1 << 64) if code >> 63 else code}"


def print_plain(decoder, out):
    for _, _, event in decoder.events():
        kind, time, ident = event[:3]
        end = f"{PLAIN_SOURCES[event[5]]} {event[3]}" if kind == "alloc" else kind[0].upper()
        out.write(f"{time:010d} {ident:010d} {end}\n")


def print_full(decoder, out, changed_only=False, in_order=False):
    latest = 0
    for domain, stack, event in decoder.events():
        kind, time, ident = event[:3]
        if kind != "alloc":
            out.write(f"{time:010d} {ident:010d} {kind}\n")
            continue
        length, samples, source, common = event[3:]
        if in_order and domain != latest:
            common = 0
        latest = domain
        depth = f" depth={len(stack)}" if changed_only else ""
        frames = stack[common:] if changed_only else stack
        out.write(f"{time:010d} {ident:010d} {SOURCES[source]} {samples} len={length} "
                  f"dom={domain}{depth} {common: 4d}:")
        out.write("".join([" " + decoder.frame_text(code) for code in frames]) + "\n")


def print_packets(decoder, out):
    for p in [decoder.head, *decoder.packets()]:
        out.write(f"{p.at} size={p.end - p.at} version={p.version} pid={p.pid} dom={p.domain} "
                  f"time={p.begin}-{p.finish} ids={p.id_begin}-{p.id_end} "
                  f"verify={p.verify[0]},{p.verify[1]},{p.verify[2]:x}\n")


def main(arguments):
    option = arguments.pop(0) if len(arguments) == 2 else ""
    if len(arguments) != 1 or option not in ("", "--plain", "--no-backtraces", "--changed",
                                             "--in-order", "--packets"):
        sys.exit(__doc__)
    gc.disable()  # there are no cycles, and many objects
    # However the environment wants standard output: a system call for each line would take longer.
    sys.stdout = open(1, "w", buffering=1 << 16, errors="surrogateescape", closefd=False)
    try:
        with open(arguments[0], "rb") as file:
            decoder = Decoder(file.read(), option not in ("--plain", "--no-backtraces"))
        decoder.read_info()
        if option == "--packets":
            print_packets(decoder, sys.stdout)
        elif option == "--plain":
            print_plain(decoder, sys.stdout)
        else:
            in_order = option == "--in-order"
            print_full(decoder, sys.stdout, in_order or option == "--changed", in_order)
    except (Malformed, IndexError, ValueError, struct.error) as error:
        sys.exit(f"decode.py: {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
