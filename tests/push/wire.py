"""wire.py: reads the protocol buffers that are pushed: pprof's profile.proto, and OTLP's profiles. Written
from their descriptions; a message is a dict from field numbers to lists of values."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def message(data):
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            [value] = struct.unpack_from("<Q", data, at)
            at += 8
        elif wire == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size, "a field is cut short"
            at += size
        else:
            raise ValueError(f"wire type {wire}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def numbers(fields, field):
    """Of a repeated field of numbers, packed or not."""
    values = []
    for part in fields.get(field, []):
        if isinstance(part, int):
            values.append(part)
            continue
        at = 0
        while at < len(part):
            value, at = varint(part, at)
            values.append(value)
    return values


def number(fields, field):
    return fields.get(field, [0])[-1]


NAMED = {"thread": "threads", "thread.name": "threads", "scope": "scopes"}  # labels, and what they are called here


def pprof(data, labels=("thread", "scope")):
    """{"time", "duration", "samples": {value type: {stack: sum}}, "threads": {value type: {name: sum}}, "scopes": the
    same}; a stack is a tuple of functions, innermost first."""
    top = message(data)
    strings = [s.decode() for s in top[6]]
    assert strings[0] == ""
    functions = {number(f, 1): strings[number(f, 2)] for f in map(message, top.get(5, []))}
    lines = {number(m, 1): [functions[number(message(line), 1)] for line in m[4]]
             for m in map(message, top.get(4, []))}
    for table in 3, 4, 5:  # mappings, locations, functions: Parca refuses ids in another order
        ids = [number(message(m), 1) for m in top.get(table, [])]
        assert ids == list(range(1, len(ids) + 1)), f"ids {ids[:20]} of table {table}"
    types = [strings[number(message(t), 1)] for t in top[1]]
    samples, named = {t: {} for t in types}, {kind: {t: {} for t in types} for kind in ("threads", "scopes")}
    for m in map(message, top.get(2, [])):
        stack = tuple(name for at in numbers(m, 1) for name in lines[at])
        for t, value in zip(types, numbers(m, 2), strict=True):
            samples[t][stack] = samples[t].get(stack, 0) + value
            for label in map(message, m.get(3, [])):
                key, name = strings[number(label, 1)], strings[number(label, 2)]
                assert key in labels, f"a label {key}"
                if key in NAMED:
                    of = named[NAMED[key]][t]
                    of[name] = of.get(name, 0) + value
    return {"time": number(top, 9), "duration": number(top, 10), "samples": samples} | named


def otlp(data):
    """The same, "spans": {value type: {(id of the trace, id of the span): sum}}, and "attributes" of the resource."""
    top = message(data)
    [resource], dictionary = map(message, top[1]), message(top[2][0])
    strings = [s.decode() for s in dictionary[5]]
    for table in range(1, 8):
        assert dictionary[table][0] == b"", f"table {table} does not begin with an empty entry"
    functions = [strings[number(message(f), 1)] for f in dictionary[3]]
    lines = [[functions[number(message(line), 1)] for line in message(m).get(3, [])]
             for m in dictionary[2]]
    stacks = [tuple(name for at in numbers(message(s), 1) for name in lines[at])
              for s in dictionary[7]]
    attributes = {}
    for pair in map(message, message(resource[1][0])[1]):
        attributes[pair[1][0].decode()] = message(pair[2][0])[1][0].decode()
    named = [None] + [(NAMED[strings[number(message(a), 1)]], message(message(a)[2][0])[1][0].decode())
                      for a in dictionary[6][1:]]
    links = [tuple(ids[0].hex() for _, ids in sorted(message(m).items())) for m in dictionary[4]]
    result = {"attributes": attributes, "samples": {}, "threads": {}, "scopes": {}, "spans": {}}
    for profile in map(message, message(resource[2][0]).get(2, [])):
        name = strings[number(message(profile[1][0]), 1)]
        sums = result["samples"].setdefault(name, {})
        for sample in map(message, profile.get(2, [])):
            stack, value = stacks[number(sample, 1)], sum(numbers(sample, 4))
            sums[stack] = sums.get(stack, 0) + value
            if link := number(sample, 3):
                of = result["spans"].setdefault(name, {})
                of[links[link]] = of.get(links[link], 0) + value
            for kind, text in (named[at] for at in numbers(sample, 2)):
                of = result[kind].setdefault(name, {})
                of[text] = of.get(text, 0) + value
        result |= {"time": number(profile, 3), "duration": number(profile, 4)}
        assert len(profile[7][0]) == 16, "the id of a profile has 16 bytes"
    return result
