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
  $ for i in 1 2 3; do allotrace run --rate 0.02 -o before$i.ctf ./prog 2>/dev/null; done
  $ sed -i 's/^static struct row .parse/\/* Grows in steps. *\/\n&/; s/^        rows = realloc.*/        if ((i \& (i - 1)) == 0)\n            rows = realloc(rows, 2 * i * sizeof *rows);/' prog.c
  $ gcc -g -O1 -fno-inline -o prog prog.c
  $ for i in 1 2 3; do allotrace run --rate 0.02 -o after$i.ctf ./prog 2>/dev/null; done
  $ allotrace diff --top 2 before1.ctf after1.ctf | head -5 | sed 's|/[^ ]*/||'
  Before: 1\.\d MB · After: 1\d\d\.\d KB · Reduction: 8\d % ± \d % (re)
       before      after                 change       q  site
   +9\d\d\.\d KB +\d+\.\d KB +-\d+\.\d KB ± \d+\.\d KB  <0\.001  prog\.c:14 → 16 parse (re)
  No sure change; these differences may be accidents:
   +1\d\d\.\d KB +1\d\d\.\d KB .* prog\.c:7 copy (re)

Several runs a side:

  $ allotrace diff --before before*.ctf --after after*.ctf | sed -n '1,2p; s|/[^ ]*/||; /parse/p'
  Before: 1\.\d MB · After: 1\d\d\.\d KB · Reduction: 8\d % ± \d+ % (re)
  Note: means of several runs (3 before, 3 after)
   +9\d\d\.\d KB +\d+\.\d KB +-\d+\.\d KB ± \d+\.\d KB  <0\.001  prog\.c:14 → 16 parse (re)
