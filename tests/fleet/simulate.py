"""simulate.py: makes the trace of another process on another host from a trace: its packets stay as they are, but
for host, process id and clock."""
import struct

MAGIC = 0xC1FC1FC1
CLOCK = 1 << 25  # events hold so many low bits of their times: clocks differ by multiples of it


def end_of_text(data, at):
    return data.index(0, at) + 1


def rename_host(packet, header, host):
    """The first packet holds the trace info: rate, word size, executable, host."""
    begin = end_of_text(packet, header + 4 + 8 + 1)
    end = end_of_text(packet, begin)
    renamed = bytearray(packet[:begin] + host.encode() + b"\0" + packet[end:])
    struct.pack_into("<I", renamed, 4, 8 * len(renamed))
    return renamed


def change_pid_in_info(packet, header, pid):
    at = header + 4 + 8 + 1
    for _ in range(3):  # executable, host, parameters
        at = end_of_text(packet, at)
    struct.pack_into("<Q", packet, at, pid)


def process(data, host, pid, clocks):
    """The bytes of the trace of a process on `host`, started `clocks` times CLOCK microseconds later."""
    out, at, own = [], 0, None
    while at < len(data):
        magic, bits = struct.unpack_from("<II", data, at)
        assert magic == MAGIC and bits, "only whole traces can be changed"
        packet = bytearray(data[at:at + bits // 8])
        at += bits // 8
        begin, end = struct.unpack_from("<QQ", packet, 8)
        version, old = struct.unpack_from("<HQ", packet, 28)
        if own is None:
            own, header = old, 68 if version > 2 else 66
            packet = rename_host(packet, header, host)
            change_pid_in_info(packet, header, pid)
        struct.pack_into("<QQ", packet, 8, begin + clocks * CLOCK, end + clocks * CLOCK)
        struct.pack_into("<Q", packet, 30, pid if old == own else 0)  # 0 is nobody: others do not stay
        out.append(packet)
    return b"".join(out)
