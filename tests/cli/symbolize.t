A trace without addresses stays as it is, to the byte:

  $ cp $TRACES/ocamlopt.ctf a.ctf
  $ allotrace symbolize a.ctf
  a.ctf: all places are already symbolized
  $ cmp a.ctf $TRACES/ocamlopt.ctf

With --output there is a copy of it, with the same events:

  $ allotrace symbolize -o b.ctf a.ctf
  a.ctf: all places are already symbolized
  $ cmp <(allotrace dump a.ctf) <(allotrace dump b.ctf)

It is read twice, so it has to be a file:

  $ allotrace symbolize - <a.ctf
  allotrace: symbolize reads its trace twice, so standard input cannot be used
  Try `allotrace symbolize --help`.
  [2]

One that cannot be used:

  $ allotrace symbolize missing.ctf
  allotrace: missing.ctf: No such file or directory
  [1]
  $ allotrace symbolize -o no/such/folder.ctf a.ctf
  allotrace: no/such/folder.ctf: No such file or directory
  [1]

One that some process is still recording:

  $ python3 -c 'import fcntl, subprocess, sys
  > with open("a.ctf", "r+b") as trace:
  >     fcntl.lockf(trace, fcntl.LOCK_EX)
  >     sys.exit(subprocess.run(["allotrace", "symbolize", "a.ctf"]).returncode)'
  allotrace: a.ctf: still being recorded; use --output to symbolize what is there so far
  [1]
  $ cmp a.ctf $TRACES/ocamlopt.ctf

Where a file has no symbols, a hint says which Debian package has them, if its own package is known, or else where
they may be asked for:

  $ cat >stripped.c <<'END'
  > #include <stdlib.h>
  > #include <string.h>
  > static __attribute__((noinline)) void *make(void) { return malloc(1000); }
  > int main(void) { for (int i = 0; i < 100; i++) free(make()), free(strdup("a")); return 0; }
  > END
  $ ${CC:-cc} -O1 -s -o stripped stripped.c
  $ allotrace run -q -r 1 -o s.ctf -- ./stripped
  $ mkdir bin
  $ printf '#!/bin/sh\necho "$@" >>asked\nexit 1\n' >bin/dpkg-query; chmod +x bin/dpkg-query
  $ export PATH=$PWD/bin:$PATH
  $ unset DEBUGINFOD_URLS
  $ allotrace hotspots s.ctf 2>&1 >out | sed 's/^/  /'
    allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them, if you set DEBUGINFOD_URLS=https://debuginfod.elfutils.org: allotrace symbolize --debuginfod s.ctf
  $ grep -c '^-S .*/stripped ' asked
  1
  $ grep -o 'stripped+0x' out | uniq
  stripped+0x
  $ DEBUGINFOD_URLS=https://example.org allotrace hotspots s.ctf 2>&1 >out | sed 's/^/  /'
    allotrace: hint: places shown as module+0x… are addresses without symbols; a debuginfod server may have them: allotrace symbolize --debuginfod s.ctf
  $ allotrace symbolize s.ctf | tail -n 1
    for names, ask servers: allotrace symbolize --debuginfod s.ctf
  $ printf '#!/bin/sh\necho "diversion by x from: /y"\necho "libs1:amd64: $2"\necho "libs1:amd64, t: $3"; echo "libc6:i386: $2"' >bin/dpkg-query
  $ allotrace hotspots s.ctf 2>&1 >out | sed 's/^/  /'
    allotrace: hint: places shown as module+0x… are addresses without symbols; install libs1-dbgsym libc6-dbg, then run: allotrace symbolize s.ctf
  $ allotrace symbolize s.ctf | tail -n 1
    for names, install libs1-dbgsym libc6-dbg, then: allotrace symbolize s.ctf

Each file without symbols has one line, which names the debug files that would have them:

  $ ${CC:-cc} -O1 -g -Wl,--build-id=0x0123456789abcdef -o linked stripped.c
  $ objcopy --only-keep-debug linked linked.debug; objcopy --strip-all --add-gnu-debuglink=linked.debug linked; mv linked.debug away
  $ allotrace run -q -r 1 --no-symbolize -o l.ctf -- ./linked
  $ allotrace symbolize -o no.ctf l.ctf | grep linked: | grep -o 'it has.*'
  it has no symbols there; nor is there /usr/lib/debug/.build-id/01/23456789abcdef.debug, or linked.debug beside it
  $ cp linked $'odd\e[31m'; allotrace run -q -r 1 --no-symbolize -o o.ctf -- $'./odd\e[31m'
  $ allotrace symbolize -o no.ctf o.ctf | grep -o 'odd.*: it has'
  odd?[31m: it has
  $ allotrace symbolize --debug-dir /nowhere -o no.ctf l.ctf | grep linked: | grep -o '/nowhere.*,'
  /nowhere/.build-id/01/23456789abcdef.debug,
  $ mkdir -p there/.build-id/01; cp away there/.build-id/01/23456789abcdef.debug
  $ allotrace symbolize --debug-dir there -o yes.ctf l.ctf | grep -c linked
  0
  [1]
  $ mv away linked.debug; allotrace symbolize l.ctf | grep -c linked
  0
  [1]

If there is no room for the names of many traces, one line says of how many, and they stay as they are:

  $ (ulimit -S -f 1; allotrace run -r 1 -o full.%p.ctf -- bash -c 'ulimit -S -f unlimited; ./stripped; ./stripped; ./stripped' 2>&1) | grep 'not symbolized'
  allotrace: 3 traces are not symbolized: File too large; once there is room, for each: allotrace symbolize full.\d+.ctf (re)
  $ allotrace info $(ls full.*.ctf | tail -1) | grep -c blocks
  1
