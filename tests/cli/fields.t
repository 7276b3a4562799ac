What the data of a report consist of, from its columns:

  $ allotrace hotspots --by thread --fields $TRACES/ocamlopt.ctf
  
  Fields of JSON:
    name                                            meaning
    by                                              what a row is
    unit                                            of amounts: B, blocks, B·s
    rate                                            the chance of each word
    program                                         what was recorded
    measure                                         what is added up
    headers                                         whether amounts include the header of each block, a word
    total.value, low, high, samples                 of all that the query counts
    hotspots[].share                                the part of the total, 0 to 1
    hotspots[].value, low, high, samples            the estimate in the unit of the measure, and the ends of its 95% interval
    hotspots[].blocks                               sampled blocks
    hotspots[].thread                               what the threads are called
    hotspots[].callers[]                            the nearest code outside of libraries that led to it; or the sites of a type or of threads; largest first
    hotspots[].callers[].function, file, line       the caller
    hotspots[].callers[].share                      the part of the total, 0 to 1
    hotspots[].callers[].value, low, high, samples  the estimate in the unit of the measure, and the ends of its 95% interval
    hotspots[].callers[].blocks                     sampled blocks
    hotspots[].callers_omitted                      callers that are not listed
    omitted.sites                                   rows not listed
    omitted.share                                   theirs of the total
    omitted.value, low, high, samples               what they amount to
  
  Columns of CSV:
    name                    meaning
    share                   the part of the total, 0 to 1
    value,low,high,samples  the estimate in the unit of the measure, and the ends of its 95% interval
    blocks                  sampled blocks
    function,file,line      the place; empty where a row is a type, threads, a scope, a trace or a span
    thread                  what the threads are called
    type                    the type; empty where a row is a place, threads, a scope, a trace or a span
  $ allotrace types --fields --csv $TRACES/ocamlopt.ctf
  name,meaning
  share,"the part of the total, 0 to 1"
  "value,low,high,samples","the estimate in the unit of the measure, and the ends of its 95% interval"
  blocks,sampled blocks
  "function,file,line","the place; empty where a row is a type, threads, a scope, a trace or a span"
  type,"the type of what is allocated, if the recorder knew it"
  $ allotrace info --fields $TRACES/ocamlopt.ctf | head -4
  
  Fields of JSON:
    name                                 meaning
    file                                 as it was named

On a terminal, it fits:

  $ script -qec "stty cols 60; allotrace peak --fields --color never $TRACES/ocamlopt.ctf" /dev/null | tr -d '\r' | sed -n '1,12p'
  
  Fields of JSON:
    name                                            meaning
    unit                                            of
                                                    amounts:
                                                    B, blocks,
                                                    B·s
    rate                                            the chance
                                                    of each
                                                    word
    program                                         what was
                                                    recorded

Each field that JSON has is described, and so is each column of CSV:

  $ cat >described.py <<'EOF'
  > import json, re, subprocess, sys
  > def run(*words):
  >     return subprocess.run(["allotrace", *sys.argv[1:], *words], capture_output=True, text=True).stdout
  > def paths(value, path=""):
  >     """Those of values; of a tree's rows, which are like those that they are below, once."""
  >     if isinstance(value, list):
  >         for item in value:
  >             yield from paths(item, path + "[]")
  >     elif isinstance(value, dict):
  >         for key, item in value.items():
  >             yield from paths(item, f"{path}.{key}" if path else key)
  >     else:
  >         yield re.sub(r"(\.\w+\[\])\1+", r"\1", path)
  > def names(rows):
  >     """Several that are one row stand as `a.b, c`."""
  >     for row in rows:
  >         first, *rest = row["name"].split(", ")
  >         yield from [first, *(first[:first.rfind(".") + 1] + name for name in rest)]
  > fields, data = json.loads(run("--fields", "--json")), json.loads(run("--json"))
  > fields, data = (fields[0], data[0]) if isinstance(data, list) else (fields, data)
  > known = set(names(fields["json"]))
  > for path in sorted(set(paths(data))):
  >     if path not in known and not any(name.startswith(path + ".") for name in known): # null
  >         print("not described:", *sys.argv[1:-1], path)
  > head, listed = run("--csv").partition("\n")[0], ",".join(row["name"] for row in fields.get("csv", []))
  > if head != listed and "…" not in listed:
  >     print("not described:", *sys.argv[1:-1], head)
  > EOF
  $ for of in hotspots 'hotspots --by scope' 'hotspots --measure peak --filter size:>=1K' types tree 'callers Misc.Stdlib.List.map2' peak timeline 'timeline --top 2' leaks lifetimes stats 'stats --measure byteseconds' advise info 'check --expect total=1GB' "diff $TRACES/ocamlopt.ctf"; do
  >   python3 described.py $of $TRACES/ocamlopt.ctf
  >   python3 described.py $of $TRACES/irmin-replay.ctf
  > done
