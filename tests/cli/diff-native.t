A native program before and after a change, recorded:

  $ command -v gcc >/dev/null || exit 80
  $ cat >prog.c <<'END'
  > #include <stdlib.h>
  > #include <string.h>
  > 
  > struct row { char *text; };
  > 
  > static char *copy(const char *s) {
  >     char *t = malloc(strlen(s) + 1);
  >     return strcpy(t, s);
  > }
  > 
  > static struct row *parse(int n) {
  >     struct row *rows = malloc(sizeof *rows);
  >     for (int i = 1; i <= n; i++)
  >         rows = realloc(rows, i * sizeof *rows);
  >     return rows;
  > }
  > 
  > static void render(int n) {
  >     for (int i = 0; i < n; i++)
  >         free(copy("a line of some length that is printed, or would be, if this were real"));
  > }
  > 
  > int main(void) {
  >     free(parse(500));
  >     render(2000);
  > }
  > END
  $ gcc -g -O1 -fno-inline -o prog prog.c
  $ for i in 1 2 3; do MEMTRACE_SEED=$i allotrace run --rate 0.02 -o before$i.ctf ./prog 2>/dev/null; done
  $ sed -i 's/^static struct row .parse/\/* Grows in steps. *\/\n&/; s/^        rows = realloc.*/        if ((i \& (i - 1)) == 0)\n            rows = realloc(rows, 2 * i * sizeof *rows);/' prog.c
  $ gcc -g -O1 -fno-inline -o prog prog.c
  $ for i in 1 2 3; do MEMTRACE_SEED=$i allotrace run --rate 0.02 -o after$i.ctf ./prog 2>/dev/null; done
  $ cat >judge.py <<'END'
  > # What is as good as certain, however the samples fall.
  > import json, sys
  > d = json.load(sys.stdin)
  > ratio, top = d["total"]["ratio"], d["sites"][0]
  > print("total:", "sure" if d["total"]["sure"] else "not sure", 0.05 < ratio["low"] < ratio["high"] < 0.25)
  > print("first:", top["site_after"]["function"], top["site_before"]["line"], top["site_after"]["line"],
  >       "sure" if top["sure"] else "not sure", -1.2e6 < top["change"]["value"] < -0.8e6)
  > END
  $ allotrace diff --json before1.ctf after1.ctf | python3 judge.py
  total: sure True
  first: parse 14 16 sure True
  $ allotrace diff before1.ctf after1.ctf | sed 's|/[^ ]*/||; 6q'
    before  1\.\d MB ± \d\d\.\d KB (re)
    after   1\d\d\.\d KB ± \d\d\.\d KB (re)
    change  -\S+ [KM]B ± \d\d\.\d KB, -8\d% ± \d% (re)
  Sites below about 1.2 KB may be invisible at this rate.
    before, KB +after +change +± +q  site (re)
   .*<0\.001  prog\.c:16 parse \(was line 14\) (re)

Several runs a side, whose intervals are wider:

  $ allotrace diff --json --before before*.ctf --after after*.ctf | python3 judge.py
  total: sure True
  first: parse 14 16 sure True
  $ allotrace diff --before before*.ctf --after after*.ctf | sed -n 4p
  Amounts are means of several runs: 3 before, 3 after.

A budget from the program after the change; the one before it does not keep it:

  $ allotrace check --update budget.toml after1.ctf
  allotrace: wrote budget.toml: limits (allocated) for the total, and for 1 function with 96% of it
  allotrace: hint: to limit what is never freed, too: allotrace check --update budget.toml --measure survived after1.ctf
  $ allotrace check --budget budget.toml after2.ctf | tail -1
  \d passed, 0 failed, \d undecided (re)
  $ allotrace check --expect 'parse=1MB' --within 2x --expect 'copy=2000 blocks' before1.ctf
    verdict +actual  ± +expected  within  ratio  site (re)
    PASS +\S+ [KM]B  ± .* 1\.0 MB +2x +\S+  parse (re)
    PASS +\S+ blocks  ± .* 2,000 blocks +2x +\S+  copy (re)
  2 passed, 0 failed, 0 undecided
  $ allotrace check --budget budget.toml before1.ctf >verdicts
  [3]
  $ grep -c 'FAIL .* total$' verdicts
  1

The jobs in the manual for CI, as far as they are shell, in a repository of that program; other commands are stubs:

  $ command -v git >/dev/null || exit 80
  $ mkdir -p project/examples/ci bin && cp "$TESTDIR/../../examples/ci/report.c" project/examples/ci/ && cd project
  $ git init -q && git config user.email a@b.c && git config user.name a && git add . && git commit -qm before
  $ sed -i 's/^#define ROOM .*/#define ROOM 2/' examples/ci/report.c && git commit -qam after
  $ cat >../shell.py <<'END'
  > # The steps of a job, as its runner puts them together.
  > import re, sys, textwrap
  > block = next(b for b in open(sys.argv[1]).read().split("```") if sys.argv[2] in b)
  > steps = re.findall(r"^( +)- (?:run: )?\|\n((?:\1 +.*\n)+)", block, re.M)
  > print("".join(textwrap.dedent(body) for _, body in steps if "apt-get" not in body))
  > END
  $ printf '#!/bin/sh\necho gh "$@"\n' >../bin/gh; printf '#!/bin/sh\necho curl "$@"\n' >../bin/curl; chmod +x ../bin/*
  $ export BEFORE=$(git rev-parse HEAD~) AFTER=$(git rev-parse HEAD) HOME=$PWD NUMBER=7 GITHUB_REPOSITORY=a/b GITHUB_STEP_SUMMARY=summary.md
  $ export CI_MERGE_REQUEST_DIFF_BASE_SHA=$BEFORE CI_COMMIT_SHA=$AFTER NOTES_TOKEN=t CI_API_V4_URL=http://x CI_PROJECT_ID=1 CI_MERGE_REQUEST_IID=2
  $ for job in 'on: pull_request' 'merge_request_event'; do
  >   rm -f *.ctf allocations.md; python3 ../shell.py "$TESTDIR/../../docs/ci.md" "$job" >../job.sh
  >   PATH=$PWD/../bin:$PATH bash -eo pipefail ../job.sh
  >   tail -1 allocations.md; [ ! -e summary.md ] || cmp summary.md allocations.md; rm -f summary.md
  > done
  gh pr comment 7 --repo a/b --body-file allocations.md
  \*\*Increased by \d+% ± \d+%\*\*; \d sites? changed significantly. (re)
  curl --fail --silent --show-error --header PRIVATE-TOKEN: t --form body=<allocations.md http://x/projects/1/merge_requests/2/notes
  \*\*Increased by \d+% ± \d+%\*\*; \d sites? changed significantly. (re)
