  $ cd $TRACES; allotrace info ocamlopt.ctf irmin-replay.ctf; cd - >/dev/null
  /tmp/tmpmqaeyo2t.sh: line 1: allotrace: command not found

As JSON, an array:

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ allotrace info --json a.ctf
  /tmp/tmpmqaeyo2t.sh: line 5: allotrace: command not found
  [127]
  $ allotrace info --json a.ctf - <a.ctf | python3 -c '
  > import json, sys
  > for trace in json.load(sys.stdin): print(trace["file"], trace["allocated"]["samples"])'
  /tmp/tmpmqaeyo2t.sh: line 7: allotrace: command not found
  Traceback (most recent call last):
    File "<string>", line 3, in <module>
    File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/__init__.py", line 293, in load
      return loads(fp.read(),
             ^^^^^^^^^^^^^^^^
    File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/__init__.py", line 346, in loads
      return _default_decoder.decode(s)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^
    File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py", line 337, in decode
      obj, end = self.raw_decode(s, idx=_w(s, 0).end())
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    File "/root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py", line 355, in raw_decode
      raise JSONDecodeError("Expecting value", s, err.value) from None
  json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
  [1]

Promotions agree with the events:

  $ allotrace dump --no-backtraces a.ctf | awk '
  > $3 == "alloc" { samples[$2] = $4; all += $4 }
  > $3 == "promote" { promoted += samples[$2] }
  > END { printf "%d of %d\n", promoted, all }'
  /tmp/tmpmqaeyo2t.sh: line 11: allotrace: command not found
  0 of 0

What is wrong with a file is part of the answer; one that cannot be read does not hide the others:

  $ head -c 60000 a.ctf >cut.ctf
  $ allotrace info nothing.ctf cut.ctf | grep -A1 -e '^[^ ]' -e warnings
  /tmp/tmpmqaeyo2t.sh: line 18: allotrace: command not found
  [1]
  $ allotrace info nothing.ctf cut.ctf >/dev/null
  /tmp/tmpmqaeyo2t.sh: line 20: allotrace: command not found
  [127]
  $ allotrace info --strict cut.ctf
  /tmp/tmpmqaeyo2t.sh: line 22: allotrace: command not found
  [127]
