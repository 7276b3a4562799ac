Expectations, here at rate 1, where numbers are exact:

  $ $TESTDIR/make-trace >exact.ctf <<'END'
  > alloc major 999 1000 main@main.c:30 parse@src/a.c:10
  > alloc major 99 100 main@main.c:30 parse@src/a.c:12
  > alloc major 499 500 main@main.c:31 print@src/a.c:40
  > END
  $ allotrace check --expect 'parse=10KB' --expect 'a.c:40=2 blocks' --expect 'total=16 words' exact.ctf
    verdict       actual  expected  within   ratio  site
    PASS          8.6 KB   10.0 KB     10x    0.86  parse
    PASS         1 block  2 blocks     10x    0.50  a.c:40
    FAIL     1,600 words  16 words     10x  100.00  total
  2 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --within 2x -e 'parse=10KB' -e 'under:main=1600 words' exact.ctf
    verdict       actual     expected  within  ratio  site
    PASS          8.6 KB      10.0 KB      2x   0.86  parse
    PASS     1,600 words  1,600 words      2x   1.00  under:main
  2 passed, 0 failed, 0 undecided
  $ allotrace check --json -e 'parse=1KB' --within 2 exact.ctf
  {"passed":0,"failed":1,"undecided":0,
   "checks":[
    {"verdict":"FAIL","expected":1024,"within":2,"value":8800,"low":8800,"high":8800,"samples":1100,"unit":"B","site":"parse","name":"parse","measure":"allocated"}]}
  [3]
  $ allotrace check --csv -e 'parse=10KB' exact.ctf
  verdict,expected,within,value,low,high,samples,unit,site,name,measure,filter
  PASS,10240,10,8800,8800,8800,1100,B,parse,parse,allocated,
  $ allotrace check --markdown -e 'parse=10KB' -e 'total=16 words' exact.ctf
  | verdict | actual | expected | within | ratio | site |
  | --- | ---: | ---: | ---: | ---: | --- |
  | **PASS** | 8.6 KB | 10.0 KB | 10x | 0.86 | `parse` |
  | **FAIL** | 1,600 words | 16 words | 10x | 100.00 | `total` |
  
  1 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --markdown --csv -e 'parse=10KB' exact.ctf
  allotrace: check: --json, --csv and --markdown exclude each other
  Try `allotrace check --help`.
  [2]
  $ allotrace check --markdown --update budget.toml exact.ctf 2>&1 | head -1
  allotrace: check: --update writes a budget file: it cannot be combined with limits, --budget or a form of output

What a function leaves to others is not its own; and nothing is not checked:

  $ allotrace check -e 'main=10KB' -e 'under:main=10KB' exact.ctf 2>&1 | sed '1d;4d'
    FAIL         0 B   10.0 KB     10x   0.00  main
    PASS     12.5 KB   10.0 KB     10x   1.25  under:main
  allotrace: warning: `main` itself has no samples; `under:main` also counts the functions that it calls
  $ printf 'alloc major 99 100 main@m.c:1 f@a.c:1\ncollect 0\nalloc major 199 200 main@m.c:1 g@a.c:2\n' | $TESTDIR/make-trace >early.ctf
  $ allotrace check --measure peak -e 'f=1KB' early.ctf
    verdict  actual  expected  within  ratio  site
    FAIL        0 B    1.0 KB     10x   0.00  f, live at the peak
  0 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --measure survived -e 'f=1KB' early.ctf >/dev/null
  [3]
  $ allotrace check --measure peak -e 'nosuch=1KB' early.ctf >/dev/null
  allotrace: warning: nothing in the trace is called `nosuch`: it allocates nothing, or has a different name
  [3]
  $ echo '# [[budget]]' >none.toml; allotrace check --budget none.toml exact.ctf
  allotrace: none.toml: contains no [[budget]]; to write one: allotrace check --update
  [1]

JUnit XML is valid whatever a site is called:

  $ allotrace check -e $'x\xFF<\e>=1KB' --junit any.xml exact.ctf >/dev/null
  allotrace: warning: nothing in the trace is called `x�<?>`: it allocates nothing, or has a different name
  [3]
  $ python3 -c 'import xml.dom.minidom as x; print(x.parse("any.xml").getElementsByTagName("testcase")[0].getAttribute("name"))'
  x�<?>

Maxima on the command line are those of a budget file; without a site, they limit the whole program:

  $ allotrace check --max-peak 10KB --max-peak 'parse=1KB' --max-allocated 'print=1 blocks' --max-survived 0 exact.ctf
    verdict   actual         expected  ratio  site
    PASS     1 block  at most 1 block   1.00  print
    FAIL     12.5 KB  at most 10.0 KB   1.25  total, live at the peak
    FAIL      8.6 KB   at most 1.0 KB   8.59  parse, live at the peak
    FAIL     12.5 KB      at most 0 B         total, never freed
  1 passed, 3 failed, 0 undecided
  [3]
  $ printf '[[budget]]\nmeasure = "peak"\nmax = "%s"\n' 10KB 20KB >twice.toml; allotrace check --budget twice.toml --max-peak 20KB exact.ctf
    verdict   actual         expected  ratio  site
    PASS     12.5 KB  at most 20.0 KB   0.62  total, live at the peak
    FAIL     12.5 KB  at most 10.0 KB   1.25  total, live at the peak
    PASS     12.5 KB  at most 20.0 KB   0.62  total, live at the peak
  2 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --max-allocated 10KB --filter fn:parse -m live --json exact.ctf
  {"passed":1,"failed":0,"undecided":0,
   "checks":[
    {"verdict":"PASS","max":10240,"value":8800,"low":8800,"high":8800,"samples":1100,"unit":"B","site":"total","name":"total","measure":"allocated","filter":"fn:parse"}]}
  $ allotrace check --max-peak =1B exact.ctf
  allotrace: --max-peak: `=1B` does not have the form '12MB', '50000 blocks' or 'SITE=12MB'
  Try `allotrace check --help`.
  [2]
  $ allotrace check --max-allocated '3 B*s' exact.ctf
  allotrace: --max-allocated: `3 B*s` is not an amount for the measure allocated
  Try `allotrace check --help`.
  [2]
  $ allotrace check --update x.toml --max-peak 1B exact.ctf
  allotrace: check: --update writes a budget file: it cannot be combined with limits, --budget or a form of output
  Try `allotrace check --help`.
  [2]

A site that is gone keeps its limit, but not one that may have a different name now, and not if part of the trace is gone:

  $ allotrace check --max-allocated vanished=1KB --max-allocated 'gone.c:11=0 blocks' --junit gone.xml exact.ctf; grep -c system-out gone.xml
    verdict    actual          expected  ratio  site
    PASS          0 B    at most 1.0 KB   0.00  vanished
    PASS     0 blocks  at most 0 blocks         gone.c:11
  2 passed, 0 failed, 0 undecided
  allotrace: warning: nothing in the trace is called `vanished`: it allocates nothing, or has a different name
  allotrace: warning: nothing in the trace is called `gone.c:11`: it allocates nothing, or its line has moved
  2
  $ allotrace check --max-allocated parce=1KB --max-allocated 'a.c:11=0 blocks' --junit gone.xml exact.ctf; grep -o 'UNDECIDED ([^)]*)' gone.xml
    verdict    rate needed    actual          expected  ratio  site
    UNDECIDED         none       0 B    at most 1.0 KB   0.00  parce
    UNDECIDED         none  0 blocks  at most 0 blocks         a.c:11
  Checks of sites that may have another name in the trace cannot be decided at any rate.
  0 passed, 0 failed, 2 undecided
  allotrace: warning: nothing in the trace is called `parce`: it allocates nothing, or has a different name
  allotrace: hint: there is `parse`
  allotrace: warning: nothing in the trace is called `a.c:11`: it allocates nothing, or its line has moved
  UNDECIDED (the trace has a similar name, not this one)
  UNDECIDED (the trace has a similar name, not this one)
  $ printf 'rate 1\nalloc external 10 11 main@a.cc:1 ns::reader(long)@a.cc:2\n' | $TESTDIR/make-trace >parameters.ctf
  $ allotrace check --max-allocated 'ns::reader(int (*)(int))=1KB' --max-allocated 'ns::writer(int)=1KB' parameters.ctf
    verdict    rate needed  actual        expected  ratio  site
    UNDECIDED         none     0 B  at most 1.0 KB   0.00  ns::reader(int (*)(int))
    PASS                       0 B  at most 1.0 KB   0.00  ns::writer(int)
  Checks of sites that may have another name in the trace cannot be decided at any rate.
  1 passed, 0 failed, 1 undecided
  allotrace: warning: nothing in the trace is called `ns::reader(int (*)(int))`: it allocates nothing, or has a different name
  allotrace: hint: there is `ns::reader(long)`
  allotrace: warning: nothing in the trace is called `ns::writer(int)`: it allocates nothing, or has a different name
  [4]
  $ printf 'rate 1\nalloc external 10 11 main@a.c:1 prog+0x1149@/bin/prog[0123]:0\nalloc external 10 11 main@a.c:1 f@/bin/prog:0\n' | $TESTDIR/make-trace >unnamed.ctf
  $ allotrace check --max-allocated vanished=100B --max-allocated vanished=80B --max-allocated b.c:9=100B --max-allocated b.c:9=200B --max-allocated a.c=80B --junit gone.xml unnamed.ctf; grep -o 'UNDECIDED ([^)]*)' gone.xml
    verdict    rate needed  actual       expected  ratio  site
    PASS                       0 B  at most 100 B   0.00  vanished
    UNDECIDED         none     0 B   at most 80 B   0.00  vanished
    UNDECIDED         none     0 B  at most 100 B   0.00  b.c:9
    PASS                       0 B  at most 200 B   0.00  b.c:9
    UNDECIDED         none     0 B   at most 80 B   0.00  a.c
  Checks of sites that may be among the places without a name or line cannot be decided until these are symbolized.
  2 passed, 0 failed, 3 undecided
  allotrace: warning: nothing in the trace is called `vanished`: it allocates nothing, or has a different name
  allotrace: warning: nothing in the trace is called `vanished`: it allocates nothing, or has a different name
  allotrace: warning: nothing in the trace is called `b.c:9`: it allocates nothing, or its line has moved
  allotrace: warning: nothing in the trace is called `b.c:9`: it allocates nothing, or its line has moved
  allotrace: warning: nothing in the trace is called `a.c`: it allocates nothing, or has a different name
  UNDECIDED (it may be one of the places without a name or line)
  UNDECIDED (it may be one of the places without a name or line)
  UNDECIDED (it may be one of the places without a name or line)
  $ for i in 1 2 3; do echo alloc major 9 1 main@m.c:1 f@a.c:1; done | (echo rate 1e-4; cat) | $TESTDIR/make-trace >gone.ctf
  $ allotrace check --max-allocated g=1MB --max-allocated h=200KB gone.ctf
    verdict    rate needed     actual  ±                         expected  ratio  site
    PASS                    no sample  at most 288.2 KB    at most 1.0 MB   0.00  g
    UNDECIDED       1.5e-4  no sample  at most 288.2 KB  at most 200.0 KB   0.00  h
  1 passed, 0 failed, 1 undecided
  allotrace: warning: nothing in the trace is called `g`: it allocates too little to be sampled, or has a different name
  allotrace: warning: nothing in the trace is called `h`: it allocates too little to be sampled, or has a different name
  [4]
  $ head -c 100000 $TRACES/ocamlopt.ctf >cut.ctf; allotrace check --max-allocated nosuch=1GB cut.ctf 2>&1 | sed 1,3d
    verdict    rate needed     actual  ±                     expected  ratio  site
    UNDECIDED         none  no sample  at most 1.4 MB  at most 1.0 GB   0.00  nosuch
  Checks that depend on the missing part of the trace cannot be decided at any rate.
  0 passed, 0 failed, 1 undecided
  allotrace: warning: nothing in the trace is called `nosuch`: it allocates too little to be sampled, or has a different name

Of some blocks alone; what a filter hides is no site:

  $ allotrace check -e 'parse=800B' --within 1.01 --filter 'size:<1K' exact.ctf
    verdict  actual  expected  within  ratio  site
    PASS      800 B     800 B   1.01x   1.00  parse, size:<1K
  1 passed, 0 failed, 0 undecided
  $ allotrace check -e 'main=12KB' -e 'parse=1B' --within 1.1 --filter 'hide:parse hide:print' exact.ctf
    verdict   actual  expected  within  ratio  site
    PASS     12.5 KB   12.0 KB    1.1x   1.04  main, hide:parse hide:print
    FAIL         0 B       1 B    1.1x   0.00  parse, hide:parse hide:print
  1 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check -e 'total=1KB' --filter 'size:<1M size:>100K' exact.ctf
  allotrace: warning: the filter kept 0 of 3 blocks: `size:>100K` removed the last 3
    verdict  actual  expected  within  ratio  site
    FAIL        0 B    1.0 KB     10x   0.00  total, size:<1M size:>100K
  0 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check -e 'total=1KB' --filter 'size:x' exact.ctf
  allotrace: --filter: column 6: `x` does not begin with a number
    size:x
         ^
  Try `allotrace check --help`.
  [2]
  $ allotrace check --update part.toml --filter 'fn:print' exact.ctf; cat part.toml
  allotrace: wrote part.toml: limits (allocated) for the total, and for 1 function with 100% of it
  allotrace: hint: to limit what is never freed, too: allotrace check --update part.toml --measure survived exact.ctf
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  filter = "fn:print"
  max = "4400 B"
  
  [[budget]]
  site = "print"
  filter = "fn:print"
  max = "4400 B"
  $ allotrace check --budget part.toml exact.ctf
    verdict  actual        expected  ratio  site
    PASS     3.9 KB  at most 4.3 KB   0.91  total, fn:print
    PASS     3.9 KB  at most 4.3 KB   0.91  print, fn:print
  2 passed, 0 failed, 0 undecided
  $ allotrace check --update part.toml --filter 'fn:parse' exact.ctf; grep filter part.toml
  allotrace: updated 2 limits in part.toml
  filter = "fn:print"
  filter = "fn:print"

By other measures than what was allocated; each budget may have its own, and its own filter:

  $ $TESTDIR/make-trace >lives.ctf <<'END'
  > alloc minor 99 100 main@main.c:30 parse@a.c:10
  > alloc minor 49 50 main@main.c:30 parse@a.c:11
  > promote 1
  > collect 0
  > alloc major 999 1000 main@main.c:31 print@b.c:40
  > collect 2
  > END
  $ for m in allocated blocks live peak promoted survived byteseconds; do allotrace check --update $m.toml -m $m lives.ctf; tail -n +4 $m.toml; done
  allotrace: wrote allocated.toml: limits (allocated) for the total, and for 2 functions with 100% of it
  allotrace: hint: to limit what is never freed, too: allotrace check --update allocated.toml --measure survived lives.ctf
  [[budget]]
  site = "total"
  max = "10120 B"
  
  [[budget]]
  site = "print"
  max = "8800 B"
  
  [[budget]]
  site = "parse"
  max = "1320 B"
  allotrace: wrote blocks.toml: limits (blocks) for the total, and for 2 functions with 100% of it
  [[budget]]
  site = "total"
  measure = "blocks"
  max = "4 blocks"
  
  [[budget]]
  site = "parse"
  measure = "blocks"
  max = "3 blocks"
  
  [[budget]]
  site = "print"
  measure = "blocks"
  max = "2 blocks"
  allotrace: wrote live.toml: limits (live) for the total, and for 1 function with 100% of it
  [[budget]]
  site = "total"
  measure = "live"
  max = "441 B"
  
  [[budget]]
  site = "parse"
  measure = "live"
  max = "441 B"
  allotrace: wrote peak.toml: limits (peak) for the total, and for 1 function with 95% of it
  [[budget]]
  site = "total"
  measure = "peak"
  max = "9240 B"
  
  [[budget]]
  site = "print"
  measure = "peak"
  max = "8800 B"
  allotrace: wrote promoted.toml: limits (promoted) for the total, and for 1 function with 100% of it
  [[budget]]
  site = "total"
  measure = "promoted"
  max = "441 B"
  
  [[budget]]
  site = "parse"
  measure = "promoted"
  max = "441 B"
  allotrace: wrote survived.toml: limits (survived) for the total, and for 1 function with 100% of it
  [[budget]]
  site = "total"
  measure = "survived"
  max = "441 B"
  
  [[budget]]
  site = "parse"
  measure = "survived"
  max = "441 B"
  allotrace: wrote byteseconds.toml: limits (byteseconds) for the total, and for 2 functions with 100% of it
  [[budget]]
  site = "total"
  measure = "byteseconds"
  max = "14 B*s"
  
  [[budget]]
  site = "print"
  measure = "byteseconds"
  max = "9 B*s"
  
  [[budget]]
  site = "parse"
  measure = "byteseconds"
  max = "5 B*s"
  $ cat *ed.toml blocks.toml live.toml peak.toml byteseconds.toml | sed '/fn:/d' >all.toml
  $ allotrace check --budget all.toml --junit all.xml lives.ctf; grep -o ' name="[^"]*"' all.xml | grep -v allotrace
    verdict    actual          expected  ratio  site
    PASS       9.0 KB    at most 9.9 KB   0.91  total
    PASS       7.8 KB    at most 8.6 KB   0.91  print
    PASS       1.2 KB    at most 1.3 KB   0.91  parse
    PASS        400 B     at most 441 B   0.91  total, promoted
    PASS        400 B     at most 441 B   0.91  parse, promoted
    PASS        400 B     at most 441 B   0.91  total, never freed
    PASS        400 B     at most 441 B   0.91  parse, never freed
    PASS     3 blocks  at most 4 blocks   0.75  total
    PASS     2 blocks  at most 3 blocks   0.67  parse
    PASS      1 block  at most 2 blocks   0.50  print
    PASS        400 B     at most 441 B   0.91  total, live
    PASS        400 B     at most 441 B   0.91  parse, live
    PASS       8.2 KB    at most 9.0 KB   0.91  total, live at the peak
    PASS       7.8 KB    at most 8.6 KB   0.91  print, live at the peak
    PASS       12 B·s    at most 14 B·s   0.86  total
    PASS        8 B·s     at most 9 B·s   0.89  print
    PASS        4 B·s     at most 5 B·s   0.80  parse
  17 passed, 0 failed, 0 undecided
   name="total"
   name="print"
   name="parse"
   name="total, promoted"
   name="parse, promoted"
   name="total, never freed"
   name="parse, never freed"
   name="total, blocks"
   name="parse, blocks"
   name="print, blocks"
   name="total, live"
   name="parse, live"
   name="total, live at the peak"
   name="print, live at the peak"
   name="total, B·s"
   name="print, B·s"
   name="parse, B·s"
  $ cat >own.toml <<'END'
  > [[budget]]
  > filter = "file:a.c size:>=500"
  > measure = "peak"
  > max = "0 blocks"
  > 
  > [[budget]]
  > site = "parse"
  > expect = "3 B*s"
  > within = 1.5
  > END
  $ allotrace check --budget own.toml --filter 'promoted' lives.ctf
    verdict    actual          expected  within  ratio  site
    PASS     0 blocks  at most 0 blocks                 total, live at the peak, file:a.c size:>=500
    FAIL        2 B·s             3 B·s    1.5x   0.53  parse, promoted
  1 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --budget own.toml --json lives.ctf
  {"passed":2,"failed":0,"undecided":0,
   "checks":[
    {"verdict":"PASS","max":0,"value":0,"low":0,"high":0,"samples":0,"unit":"blocks","site":"total","name":"total","measure":"peak","filter":"file:a.c size:>=500"},
    {"verdict":"PASS","expected":3,"within":1.5,"value":4,"low":4,"high":4,"samples":150,"unit":"B·s","site":"parse","name":"parse","measure":"byteseconds"}]}
  $ allotrace check --budget own.toml --csv lives.ctf
  verdict,expected,within,value,low,high,samples,unit,site,name,measure,filter
  PASS,0,,0,0,0,0,blocks,total,total,peak,file:a.c size:>=500
  PASS,3,1.5,4,4,4,150,B·s,parse,parse,byteseconds,
  $ allotrace check -m peak -e 'total=3 blocks' -e 'print=10KB' --within 2x lives.ctf
    verdict    actual  expected  within  ratio  site
    PASS     2 blocks  3 blocks      2x   0.67  total, live at the peak
    PASS       7.8 KB   10.0 KB      2x   0.78  print, live at the peak
  2 passed, 0 failed, 0 undecided
  $ allotrace check -m peak -e 'total=3 B*s' lives.ctf
  allotrace: --expect: `total=3 B*s` is not an amount for the measure peak
  Try `allotrace check --help`.
  [2]
  $ allotrace check -m blocks -e 'total=3 KB' lives.ctf
  allotrace: --expect: `total=3 KB` is not an amount for the measure blocks
  Try `allotrace check --help`.
  [2]
  $ sed -i 's/a.c/a.c heap:x/' own.toml; allotrace check --budget own.toml lives.ctf
  allotrace: own.toml:2:25: `x` is not one of minor, major, external
  [1]

Sampled: what the samples leave open is undecided, unless something surely fails:

  $ for i in $(seq 100); do echo alloc major 9 1 main@m.c:1 f@a.c:1; done | (echo rate 1e-4; cat) | $TESTDIR/make-trace >few.ctf
  $ cat >budget.toml <<'END'
  > [[budget]]
  > name = "the whole program"
  > max = "9 MB"
  > 
  > [[budget]]
  > site = "f"
  > max = "110000 blocks"
  > 
  > [[budget]]
  > site = "g"
  > expect = "400 words"
  > within = 3
  > END
  $ allotrace check --budget budget.toml few.ctf
    verdict    rate needed          actual  ±                                   expected  within  ratio  site
    UNDECIDED       2.5e-4          7.6 MB  ± 1.5 MB                      at most 9.0 MB           0.85  the whole program
    UNDECIDED         8e-4  100,045 blocks  ± 20,131 blocks       at most 110,000 blocks           0.91  f
    UNDECIDED        0.028       no sample  at most 36,889 words               400 words      3x   0.00  g
  0 passed, 0 failed, 3 undecided
  allotrace: warning: nothing in the trace is called `g`: it allocates too little to be sampled, or has a different name
  [4]
  $ sed -i 's/"110000 blocks"/"50000 blocks"/' budget.toml
  $ allotrace check --budget budget.toml --junit junit.xml few.ctf
    verdict    rate needed          actual  ±                                  expected  within  ratio  site
    UNDECIDED       2.5e-4          7.6 MB  ± 1.5 MB                     at most 9.0 MB           0.85  the whole program
    FAIL                    100,045 blocks  ± 20,131 blocks       at most 50,000 blocks           2.00  f
    UNDECIDED        0.028       no sample  at most 36,889 words              400 words      3x   0.00  g
  0 passed, 1 failed, 2 undecided
  allotrace: warning: nothing in the trace is called `g`: it allocates too little to be sampled, or has a different name
  [3]
  $ cat junit.xml
  <?xml version="1.0" encoding="UTF-8"?>
  <testsuite name="allotrace check" tests="3" failures="1" errors="0" skipped="2">
    <testcase classname="allotrace" name="the whole program">
      <skipped message="UNDECIDED (a rate of 2.5e-4 would decide): 7.6 MB ± 1.5 MB; expected at most 9.0 MB"/>
    </testcase>
    <testcase classname="allotrace" name="f, blocks">
      <failure message="100,045 blocks ± 20,131 blocks; expected at most 50,000 blocks"/>
    </testcase>
    <testcase classname="allotrace" name="g, words">
      <skipped message="UNDECIDED (a rate of 0.028 would decide): no sample (at most 36,889 words); expected 400 words, within 3x"/>
    </testcase>
  </testsuite>
  $ python3 -c 'import xml.dom.minidom as x; print(x.parse("junit.xml").documentElement.tagName)'
  testsuite

A budget from a trace, which the trace meets; then the same for another one:

  $ allotrace check --update new.toml $TRACES/ocamlopt.ctf && cat new.toml
  allotrace: wrote new.toml: limits (allocated) for the total, and for 1 function with 15% of it
  allotrace: hint: to limit what is never freed, too: allotrace check --update new.toml --measure survived \S+/ocamlopt.ctf (re)
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "738 MB"
  
  [[budget]]
  site = "Stdlib__set.Make.bal"
  max = "128 MB"
  $ allotrace check --budget new.toml $TRACES/ocamlopt.ctf
    verdict    actual  ±                  expected  ratio  site
    PASS     639.3 MB  ± 30.6 MB  at most 738.0 MB   0.87  total
    PASS      99.2 MB  ± 12.1 MB  at most 128.0 MB   0.77  Stdlib__set.Make.bal
  2 passed, 0 failed, 0 undecided
  $ allotrace check --budget new.toml $TRACES/irmin-replay.ctf
    verdict    rate needed     actual  ±                        expected   ratio  site
    FAIL                      79.0 GB  ± 1.5 GB         at most 738.0 MB  109.65  total
    UNDECIDED         none  no sample  at most 28.1 MB  at most 128.0 MB    0.00  Stdlib__set.Make.bal
  Checks of sites that may have another name in the trace cannot be decided at any rate.
  0 passed, 1 failed, 1 undecided
  allotrace: warning: nothing in the trace is called `Stdlib__set.Make.bal`: it allocates too little to be sampled, or has a different name
  allotrace: hint: there is `Stdlib__Map.Make.bal`
  [3]
  $ allotrace check --update new.toml $TRACES/irmin-replay.ctf && cat new.toml
  allotrace: updated 2 limits in new.toml
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "90728 MB"
  
  [[budget]]
  site = "Stdlib__set.Make.bal"
  max = "63403 KB"
  $ allotrace check --update budget.toml few.ctf
  allotrace: budget.toml: contains expectations; only limits can be updated
  [1]

What makes no sense:

  $ allotrace check exact.ctf
  allotrace: check needs a limit, such as --max-peak 100MB, or --budget or --update
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect parse exact.ctf
  allotrace: --expect: `parse` does not have the form 'SITE=50000 blocks' or 'SITE=12MB'
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect 'parse=3 cows' exact.ctf
  allotrace: --expect: `parse=3 cows` does not have the form 'SITE=50000 blocks' or 'SITE=12MB'
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect 'parse=1MB' --within 1 exact.ctf
  allotrace: --within: `1` is not a factor above 1, such as 2x
  Try `allotrace check --help`.
  [2]
  $ allotrace check --update a.toml --budget b.toml exact.ctf
  allotrace: check: --update writes a budget file: it cannot be combined with limits, --budget or a form of output
  Try `allotrace check --help`.
  [2]
  $ allotrace check --budget no-such.toml exact.ctf
  allotrace: no-such.toml: No such file or directory
  [1]
  $ printf '[[budget]]\nsite = parse\n' >wrong.toml; allotrace check --budget wrong.toml exact.ctf
  allotrace: wrong.toml:2:8: expected a string
  [1]
  $ allotrace check -e 'parse=1MB' no-such.ctf
  allotrace: no-such.ctf: No such file or directory
  [1]

A long name is shown whole, and does not make the table wide:

  $ name="std::_Rb_tree<$(printf 'std::basic_string<char>,%.0s' {1..8})int>::_M_get_node()"
  $ printf '%s\n' "alloc external 10 11 main@a.cc:1 $name@a.cc:2" 'alloc external 10 11 main@a.cc:3' | $TESTDIR/make-trace >long.ctf
  $ allotrace check -e main=88B -e "$name=88B" long.ctf
    verdict  actual  expected  within  ratio  site
    PASS       88 B      88 B     10x   1.00  main
    PASS       88 B      88 B     10x   1.00  std::_Rb_tree<…>::_M_get_node()
  2 passed, 0 failed, 0 undecided

A function may be named without its parameters, and a name that is not quite right gets a hint:

  $ printf 'rate 1\nalloc external 10 11 main@a.cc:1 f(int)@a.cc:2\nalloc external 20 21 main@a.cc:1 f(long)@a.cc:5\nalloc external 40 41 main@a.cc:1 fork()@a.cc:8\n' | $TESTDIR/make-trace >overloads.ctf
  $ allotrace check -e 'f=32 words' -e 'f(int)=11 words' -e 'under:f=2 blocks' -e 'fork=1 blocks' -e 'fo=1 blocks' --within 1.01x overloads.ctf
    verdict    actual  expected  within  ratio  site
    PASS     32 words  32 words   1.01x   1.00  f
    PASS     11 words  11 words   1.01x   1.00  f(int)
    PASS     2 blocks  2 blocks   1.01x   1.00  under:f
    PASS      1 block   1 block   1.01x   1.00  fork
    FAIL     0 blocks   1 block   1.01x   0.00  fo
  4 passed, 1 failed, 0 undecided
  allotrace: warning: nothing in the trace is called `fo`: it allocates nothing, or has a different name
  allotrace: hint: there is `fork()`
  [3]
  $ allotrace check -e under:frok=1MB -e a.cc:9=1MB overloads.ctf 2>&1 | sed 1,3d
  0 passed, 2 failed, 0 undecided
  allotrace: warning: nothing in the trace is called `under:frok`: it allocates nothing, or has a different name
  allotrace: hint: there is `fork()`
  allotrace: warning: nothing in the trace is called `a.cc:9`: it allocates nothing, or its line has moved

What a trace lacks may be what is too much:

  $ head -c 100000 $TRACES/ocamlopt.ctf >cut.ctf
  $ printf '[[budget]]\nmax = "%s"\n' '1 GB' '1 MB' >cut.toml
  $ allotrace check --budget cut.toml cut.ctf
  allotrace: warning: cut.ctf: byte 99987: the trace is cut short; every whole event before the cut was used
  The trace ends early, at 519 ms: the file is cut short.
  Everything after that is missing.
    verdict    rate needed    actual  ±                expected   ratio  site
    UNDECIDED         none  339.9 MB  ± 22.3 MB  at most 1.0 GB    0.33  total
    FAIL                    339.9 MB  ± 22.3 MB  at most 1.0 MB  339.89  total
  Checks that depend on the missing part of the trace cannot be decided at any rate.
  0 passed, 1 failed, 1 undecided
  [3]
  $ allotrace check -e total=1GB -e total=10GB --json cut.ctf 2>/dev/null | jq -c '.checks[] | .verdict, .deciding_rate'
  "UNDECIDED"
  null
  "UNDECIDED"
  null
  $ allotrace check -e total=300MB cut.ctf 2>/dev/null | tail -1
  0 passed, 0 failed, 1 undecided

A measure that a file has no budget of is added to it; one that it has is kept:

  $ allotrace check --update both.toml exact.ctf
  allotrace: wrote both.toml: limits (allocated) for the total, and for 2 functions with 100% of it
  allotrace: hint: to limit what is never freed, too: allotrace check --update both.toml --measure survived exact.ctf
  $ allotrace check --update both.toml -m survived exact.ctf
  allotrace: added to both.toml: limits (survived) for the total, and for 2 functions with 100% of it
  $ allotrace check --update both.toml -m survived exact.ctf
  allotrace: updated 6 limits in both.toml
  $ allotrace check --update both.toml early.ctf
  allotrace: updated 6 limits in both.toml
  $ cat both.toml
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "2640 B"
  
  [[budget]]
  site = "parse"
  max = "0 B"
  
  [[budget]]
  site = "print"
  max = "0 B"
  
  [[budget]]
  site = "total"
  measure = "survived"
  max = "1761 B"
  
  [[budget]]
  site = "parse"
  measure = "survived"
  max = "0 B"
  
  [[budget]]
  site = "print"
  measure = "survived"
  max = "0 B"
  $ allotrace check --update tiny.toml -m peak -f 'fn:nosuch' exact.ctf
  allotrace: warning: the filter kept 0 of 3 blocks: `fn` removed the last 3
  allotrace: wrote tiny.toml: a limit (peak) for the total alone: no function has 5% of it
