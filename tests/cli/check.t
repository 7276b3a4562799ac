Expectations, here at rate 1, where numbers are exact:

  $ $TESTDIR/make-trace >exact.ctf <<'END'
  > alloc major 999 1000 main@main.c:30 parse@src/a.c:10
  > alloc major 99 100 main@main.c:30 parse@src/a.c:12
  > alloc major 499 500 main@main.c:31 print@src/a.c:40
  > END
  $ allotrace check --expect 'parse=10KB' --expect 'a.c:40=2 blocks' --expect 'total=16 words' exact.ctf
  Site   || Expected             || Actual      || Ratio  || Verdict
  parse  || 10.0 KB, within 10x  || 8.6 KB      || 0.86   || PASS
  a.c:40 || 2 blocks, within 10x || 1 block     || 0.50   || PASS
  total  || 16 words, within 10x || 1,600 words || 100.00 || FAIL
  2 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --within 2x -e 'parse=10KB' -e 'under:main=1600 words' exact.ctf
  Site       || Expected               || Actual      || Ratio || Verdict
  parse      || 10.0 KB, within 2x     || 8.6 KB      || 0.86  || PASS
  under:main || 1,600 words, within 2x || 1,600 words || 1.00  || PASS
  2 passed, 0 failed, 0 undecided
  $ allotrace check --json -e 'parse=1KB' --within 2 exact.ctf
  {"passed":0,"failed":1,"undecided":0,
   "checks":[
    {"name":"parse","site":"parse","unit":"B","expected":1024,"within":2,"value":8800,"low":8800,"high":8800,"samples":1100,"verdict":"FAIL"}]}
  [3]
  $ allotrace check --csv -e 'parse=10KB' exact.ctf
  verdict,expected,within,value,low,high,samples,unit,site,name
  PASS,10240,10,8800,8800,8800,1100,B,parse,parse

Of some blocks alone; what a filter hides is no site:

  $ allotrace check -e 'parse=800B' --within 1.01 --filter 'size:<1K' exact.ctf
  Site  || Expected            || Actual || Ratio || Verdict
  parse || 800 B, within 1.01x || 800 B  || 1.00  || PASS
  1 passed, 0 failed, 0 undecided
  $ allotrace check -e 'main=12KB' -e 'parse=1B' --within 1.1 --filter 'hide:parse hide:print' exact.ctf
  Site  || Expected             || Actual                  || Ratio || Verdict
  main  || 12.0 KB, within 1.1x || 12.5 KB                 || 1.04  || PASS
  parse || 1 B, within 1.1x     || no sample (at most 0 B) || 0.00  || FAIL
  1 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check -e 'total=1KB' --filter 'size:<1M size:>100K' exact.ctf
  allotrace: warning: the filter kept 0 of 3 blocks: `size` removed the last 3
  Site  || Expected           || Actual                  || Ratio || Verdict
  total || 1.0 KB, within 10x || no sample (at most 0 B) || 0.00  || FAIL
  0 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check -e 'total=1KB' --filter 'size:x' exact.ctf
  allotrace: --filter: column 6: `x` does not begin with a number
    size:x
         ^
  Try `allotrace check --help`.
  [2]
  $ allotrace check --update part.toml --filter 'fn:print' exact.ctf; cat part.toml
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "4400 B"
  
  [[budget]]
  site = "print"
  max = "4400 B"
  $ allotrace check --budget part.toml --filter 'fn:print' exact.ctf
  Site  || Expected       || Actual || Ratio || Verdict
  total || at most 4.3 KB || 3.9 KB || 0.91  || PASS
  print || at most 4.3 KB || 3.9 KB || 0.91  || PASS
  2 passed, 0 failed, 0 undecided

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
  Site              || Expected               || Actual                           || Ratio || Verdict
  the whole program || at most 9.0 MB         || 7.6 MB ± 1.5 MB                  || 0.85  || UNDECIDED (a rate of 2.5e-4 would decide)
  f                 || at most 110,000 blocks || 100,045 blocks ± 20,131 blocks   || 0.91  || UNDECIDED (a rate of 8e-4 would decide)
  g                 || 400 words, within 3x   || no sample (at most 36,889 words) || 0.00  || UNDECIDED (a rate of 0.028 would decide)
  0 passed, 0 failed, 3 undecided
  [4]
  $ sed -i 's/"110000 blocks"/"50000 blocks"/' budget.toml
  $ allotrace check --budget budget.toml --junit junit.xml few.ctf
  Site              || Expected              || Actual                           || Ratio || Verdict
  the whole program || at most 9.0 MB        || 7.6 MB ± 1.5 MB                  || 0.85  || UNDECIDED (a rate of 2.5e-4 would decide)
  f                 || at most 50,000 blocks || 100,045 blocks ± 20,131 blocks   || 2.00  || FAIL
  g                 || 400 words, within 3x  || no sample (at most 36,889 words) || 0.00  || UNDECIDED (a rate of 0.028 would decide)
  0 passed, 1 failed, 2 undecided
  [3]
  $ cat junit.xml
  <?xml version="1.0" encoding="UTF-8"?>
  <testsuite name="allotrace check" tests="3" failures="1" errors="0" skipped="2">
    <testcase classname="allotrace" name="the whole program">
      <skipped message="UNDECIDED (a rate of 2.5e-4 would decide): 7.6 MB ± 1.5 MB; expected at most 9.0 MB"/>
    </testcase>
    <testcase classname="allotrace" name="f">
      <failure message="100,045 blocks ± 20,131 blocks; expected at most 50,000 blocks"/>
    </testcase>
    <testcase classname="allotrace" name="g">
      <skipped message="UNDECIDED (a rate of 0.028 would decide): no sample (at most 36,889 words); expected 400 words, within 3x"/>
    </testcase>
  </testsuite>
  $ python3 -c 'import xml.dom.minidom as x; print(x.parse("junit.xml").documentElement.tagName)'
  testsuite

A budget from a trace, which the trace meets; then the same for another one:

  $ allotrace check --update new.toml $TRACES/ocamlopt.ctf && cat new.toml
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "744 MB"
  
  [[budget]]
  site = "Stdlib__set.Make.bal"
  max = "124 MB"
  $ allotrace check --budget new.toml $TRACES/ocamlopt.ctf
  Site                 || Expected         || Actual             || Ratio || Verdict
  total                || at most 744.0 MB || 639.3 MB ± 30.8 MB || 0.86  || PASS
  Stdlib__set.Make.bal || at most 124.0 MB || 99.2 MB ± 12.3 MB  || 0.80  || PASS
  2 passed, 0 failed, 0 undecided
  $ allotrace check --budget new.toml $TRACES/irmin-replay.ctf
  Site                 || Expected         || Actual                      || Ratio  || Verdict
  total                || at most 744.0 MB || 79.0 GB ± 1.5 GB            || 108.77 || FAIL
  Stdlib__set.Make.bal || at most 124.0 MB || no sample (at most 28.1 MB) || 0.00   || PASS
  1 passed, 1 failed, 0 undecided
  [3]
  $ allotrace check --update new.toml $TRACES/irmin-replay.ctf && cat new.toml
  # Allocation budgets, checked by: allotrace check --budget FILE TRACE
  # Written by: allotrace check --update FILE TRACE
  
  [[budget]]
  site = "total"
  max = "91553 MB"
  
  [[budget]]
  site = "Stdlib__set.Make.bal"
  max = "32 MB"
  $ allotrace check --update budget.toml few.ctf
  allotrace: budget.toml: it has expectations; only maxima can be updated
  [1]

What makes no sense:

  $ allotrace check exact.ctf
  allotrace: check needs --expect, --budget or --update
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect parse exact.ctf
  allotrace: --expect: `parse` is not like 'SITE=50000 blocks' or 'SITE=12MB'
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect 'parse=3 cows' exact.ctf
  allotrace: --expect: `parse=3 cows` is not like 'SITE=50000 blocks' or 'SITE=12MB'
  Try `allotrace check --help`.
  [2]
  $ allotrace check --expect 'parse=1MB' --within 1 exact.ctf
  allotrace: --within: `1` is no factor above 1, like 2x
  Try `allotrace check --help`.
  [2]
  $ allotrace check --update a.toml --budget b.toml exact.ctf
  allotrace: check: --update stands alone
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
