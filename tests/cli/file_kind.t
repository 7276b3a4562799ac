Files that are no traces, of kinds that can be told by what they begin with. The command says what to do with them.

  $ command -v gcc >/dev/null || exit 80
  $ printf 'int main(void) { return 0; }' >words.c; gcc -o words words.c; gcc -shared -o lib.so words.c; chmod -x lib.so
  $ cp $TRACES/ocamlopt.ctf good.ctf; printf '#!/bin/sh\n' >s.sh; mkdir bin; cp words 'bin/two words'
  $ allotrace export --to html -o app.html good.ctf; cp app.html 'my app.html'; echo '<HTML>' >other.html
  $ for format in pprof speedscope sqlite; do allotrace export --to $format -o x.$format good.ctf; done
  $ allotrace hotspots --index good.ctf >/dev/null
  $ gzip -c good.ctf | gzip >twice.gz; gzip -c words >words.gz; echo 'v 1' | gzip >heaptrack.gz; echo heap_v2/512 >jemalloc
  $ echo '{"head":{"callFrame":{}}}' >v8.heapprofile
  $ for f in words 'bin/two words' s.sh lib.so app.html 'my app.html' other.html x.* good.ctf.idx twice.gz words.gz heaptrack.gz jemalloc v8.heapprofile; do
  >     allotrace hotspots "$f" && echo read
  > done
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  allotrace: bin/two words: a program, not a trace; to record it: allotrace run -- 'bin/two words'
  allotrace: s.sh: a script, not a trace; to record it: allotrace run -- ./s.sh
  allotrace: lib.so: a library or object file, not a trace
  allotrace: app.html: a page that `allotrace export --to html` made, not a trace; open it in a browser
  allotrace: my app.html: a page that `allotrace export --to html` made, not a trace; open it in a browser
  allotrace: other.html: an HTML page, not a trace
  allotrace: x.pprof: perhaps a profile of pprof, not a trace; to make one of it: allotrace import -o imported.ctf x.pprof
  allotrace: x.speedscope: JSON, not a trace
  allotrace: x.sqlite: an SQLite database, not a trace
  allotrace: good.ctf.idx: the index of a trace; name the trace itself
  allotrace: twice.gz: compressed twice; decompress it once
  allotrace: words.gz: compressed, but what is in it is not a trace
  allotrace: heaptrack.gz: a recording of heaptrack, not a trace; to make one of it: allotrace import -o imported.ctf heaptrack.gz
  allotrace: jemalloc: a heap dump of jemalloc, not a trace; to make one of it: allotrace import -o imported.ctf jemalloc
  allotrace: v8.heapprofile: a heap profile of V8, not a trace; to make one of it: allotrace import -o imported.ctf v8.heapprofile
  [1]

Commands that take several traces say the same; a trace is never taken for something else, nor is standard input looked at:

  $ allotrace words; allotrace diff good.ctf words; allotrace info words; allotrace symbolize words; allotrace view words
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  allotrace: words: a program, not a trace; to record it: allotrace run -- ./words
  [1]
  $ allotrace - <words
  allotrace: standard input: byte 0: not a memtrace trace: it begins with 7f 45 4c 46 instead of c1 1f fc c1
  [1]
  $ allotrace import -o imported.ctf x.pprof 2>/dev/null; allotrace imported.ctf >/dev/null
  $ printf '\001\002\003\004' | cat - <(tail -c +5 good.ctf) >spoilt.ctf; allotrace spoilt.ctf
  allotrace: spoilt.ctf: byte 0: not a memtrace trace: it begins with 01 02 03 04 instead of c1 1f fc c1
  [1]
