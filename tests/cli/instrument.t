An ordinary program: the call goes before the first item and its comment, behind what is opened.

  $ mkdir bin && cat > bin/main.ml <<'END'
  > (* Copyright somebody. *)
  > open Printf
  > open! Str
  > 
  > (** Greets. *)
  > let greet name = printf "let () = %s (* no comment\n" name
  > 
  > let () = greet "you"
  > END
  $ cat > bin/dune <<'END'
  > (executable
  >  (name main)
  >  (libraries str unix)) ; all of them
  > END
  $ cp -r bin before
  $ allotrace instrument bin/main.ml | tee patch
  --- bin/main.ml
  +++ bin/main.ml
  @@ -2,6 +2,8 @@
   open Printf
   open! Str
   
  +let () = Memtrace.trace_if_requested ()
  +
   (** Greets. *)
   let greet name = printf "let () = %s (* no comment\n" name
   
  --- bin/dune
  +++ bin/dune
  @@ -1,3 +1,3 @@
   (executable
    (name main)
  - (libraries str unix)) ; all of them
  + (libraries str unix memtrace)) ; all of them
  $ diff -r bin before
  $ allotrace instrument bin/main.ml --apply | cmp - patch
  $ allotrace instrument bin/main.ml
  allotrace: hint: nothing to do: the call and the library are already there
  $ (cd before && patch -sp1 < ../patch) && diff -r bin before
  $ stat -c %a bin/main.ml bin/dune
  644
  644

What is there already stays as it is; what is missing is added.

  $ cp patch /dev/null; printf '(test (name main))' > bin/dune; allotrace instrument bin/main.ml
  --- bin/dune
  +++ bin/dune
  @@ -1,1 +1,1 @@
  -(test (name main))
  \ No newline at end of file
  +(test (name main) (libraries memtrace))
  \ No newline at end of file
  $ cat > other.dune <<'END'
  > (executables
  >  (names other main)
  >  (libraries
  >   memtrace ; there
  >   str))
  > END
  $ allotrace instrument bin/main.ml --dune other.dune
  allotrace: hint: nothing to do: the call and the library are already there

Programs in other forms. A function shows what changes.

  $ instrument() { # DUNE; the program is standard input
  >   printf '%b' "$1" > dune; cat > main.ml; allotrace instrument main.ml
  > }
  $ echo 'print_endline "hello";;' | instrument '(executable (name main) (libraries memtrace))'
  --- main.ml
  +++ main.ml
  @@ -1,1 +1,3 @@
  +let () = Memtrace.trace_if_requested ();;
  +
   print_endline "hello";;
  $ printf 'let () =\r\n  ()\r\n' | instrument '(executable\r\n (name main)\r\n (modes exe))\r\n' | cat -A | grep '^[+]'
  +++ main.ml$
  +let () = Memtrace.trace_if_requested ()^M$
  +^M$
  +++ dune$
  + (libraries memtrace)^M$
  $ echo 'let () = ()' | instrument '(executables\n (names a main)\n (libraries\n  #| one |#\n  "str"\n  ; none\n  ))\n' | grep '^[+]'
  +++ main.ml
  +let () = Memtrace.trace_if_requested ()
  +
  +++ dune
  +  memtrace
  $ printf '[@@@warning "-a"]\nlet x = {|(*|} and y = \x27"\x27 and z = \x27\\n\x27\n(* "*)" {a|*)|a} *)\nlet f (x : \x27a) = x' | instrument '(test (name main) (libraries memtrace))'
  --- main.ml
  +++ main.ml
  @@ -1,4 +1,6 @@
   [@@@warning "-a"]
  +let () = Memtrace.trace_if_requested ()
  +
   let x = {|(*|} and y = '"' and z = '\n'
   (* "*)" {a|*)|a} *)
   let f (x : 'a) = x
  \ No newline at end of file

Programs that become daemons: the call goes behind the fork.

  $ dune='(executable (name main) (libraries unix memtrace))\n'
  $ instrument "$dune" <<'END'
  > let serve () = ()
  > let () =
  >   if Unix.fork () <> 0 then exit 0;
  >   ignore (Unix.setsid ());
  >   if Unix.fork () <> 0 then exit 0;
  >   serve ()
  > END
  --- main.ml
  +++ main.ml
  @@ -3,4 +3,5 @@
     if Unix.fork () <> 0 then exit 0;
     ignore (Unix.setsid ());
     if Unix.fork () <> 0 then exit 0;
  +  Memtrace.trace_if_requested ();
     serve ()
  $ instrument "$dune" <<'END'
  > let daemonize () =
  >   if Unix.fork () <> 0 then exit 0;
  >   ignore (Unix.setsid ())
  > let () =
  >   if Array.length Sys.argv > 1 then begin
  >     daemonize ();
  >     print_endline "daemon"
  >   end;
  >   print_endline "served"
  > END
  --- main.ml
  +++ main.ml
  @@ -6,4 +6,5 @@
       daemonize ();
       print_endline "daemon"
     end;
  +  Memtrace.trace_if_requested ();
     print_endline "served"
  $ instrument "$dune" <<'END'
  > let () =
  >   match Unix.fork () with
  >   | 0 -> print_endline "child"
  >   | _ -> exit 0
  > END
  --- main.ml
  +++ main.ml
  @@ -1,4 +1,4 @@
   let () =
     match Unix.fork () with
  -  | 0 -> print_endline "child"
  +  | 0 -> Memtrace.trace_if_requested (); print_endline "child"
     | _ -> exit 0
  $ instrument "$dune" <<'END'
  > let () = Lwt_daemon.daemonize ()
  > let () = print_endline "served"
  > END
  --- main.ml
  +++ main.ml
  @@ -1,2 +1,4 @@
   let () = Lwt_daemon.daemonize ()
  +
  +let () = Memtrace.trace_if_requested ()
   let () = print_endline "served"

One that only has children: its own heap is traced.

  $ instrument "$dune" <<'END'
  > let work () = match Unix.fork () with 0 -> print_endline "child" | pid -> ignore (Unix.waitpid [] pid)
  > let () = work (); work ()
  > END
  allotrace: warning: main.ml: line 1: it forks; only the parent is traced
  --- main.ml
  +++ main.ml
  @@ -1,2 +1,4 @@
  +let () = Memtrace.trace_if_requested ()
  +
   let work () = match Unix.fork () with 0 -> print_endline "child" | pid -> ignore (Unix.waitpid [] pid)
   let () = work (); work ()

What is not sure to be right is refused, with the reason.

  $ instrument "$dune" <<'END'
  > let detach f = if Unix.fork () = 0 then f () else exit 0
  > let () = detach print_newline
  > END
  allotrace: main.ml: line 1: it becomes a daemon here, in a way that is not supported; put `Memtrace.trace_if_requested ()` after the fork, in the child
  [1]
  $ instrument "$dune" <<'END'
  > let () =
  >   if Unix.fork () = 0 then print_endline "served" else exit 0;
  >   print_endline "done"
  > END
  allotrace: main.ml: line 2: it becomes a daemon here, in a way that is not supported; put `Memtrace.trace_if_requested ()` after the fork, in the child
  [1]
  $ instrument "$dune" <<'END'
  > let main () = if Array.length Sys.argv > 1 then Lwt_daemon.daemonize ()
  > let () = main ()
  > END
  allotrace: main.ml: line 1: it becomes a daemon here, in a way that is not supported; put `Memtrace.trace_if_requested ()` after the fork, in the child
  [1]
  $ printf 'let a () = Unix.fork ()\nlet b () = Unix.fork ()\n' | instrument "$dune"
  allotrace: main.ml: line 2: it forks in several places; put `Memtrace.trace_if_requested ()` in the process to be traced
  [1]
  $ printf 'let x = 1 (* and so on' | instrument "$dune"
  allotrace: main.ml: line 1: not OCaml source: a comment is not closed
  [1]
  $ printf 'let x = "and so on' | instrument "$dune"
  allotrace: main.ml: line 1: not OCaml source: a string is not closed
  [1]
  $ printf '#if OCAML\nlet x = 1\n#endif' | instrument "$dune"
  allotrace: main.ml: line 1: preprocessor and toplevel directives are not supported
  [1]
  $ printf 'let () =\n  Gc.Memprof.start ~sampling_rate:1. tracker' | instrument "$dune"
  allotrace: main.ml: line 2: it starts Gc.Memprof itself, and a program can have only one profile
  [1]
  $ printf 'module Memtrace = struct end' | instrument "$dune"
  allotrace: main.ml: line 1: it has its own module Memtrace
  [1]
  $ printf '(* nothing *)' | instrument "$dune"
  allotrace: main.ml: it is empty
  [1]
  $ printf 'open Unix' | instrument "$dune"
  allotrace: main.ml: it does nothing
  [1]
  $ printf 'open Unix let x = 1' | instrument "$dune"
  allotrace: main.ml: line 1: the first item shares its line with an `open`
  [1]
  $ main='let () = print_newline ()'
  $ for dune in '(library (name main))' '(executable (name other))' '(executable (name main)' \
  >   '(executable (name main)))' '(test (name main))(executable (name main))' '(* -*- tuareg -*- *)' \
  >   '(executable (name main) (modes js))' '(executable (name "main' \
  >   '(executable (name main) (preprocess (action (run cppo %{input-file}))))'; do
  >   echo "$main" | instrument "$dune"
  > done
  allotrace: dune: no executable or test named `main` is built here
  allotrace: dune: no executable or test named `main` is built here
  allotrace: dune: line 1: not a dune file: a parenthesis is not closed
  allotrace: dune: line 1: not a dune file: a closing parenthesis has no match
  allotrace: dune: line 1: two stanzas build `main`
  allotrace: dune: line 1: dune files written in OCaml are not supported
  allotrace: dune: line 1: it is compiled to JavaScript, which has no Gc.Memprof
  allotrace: dune: line 1: not a dune file: a string is not closed
  allotrace: dune: line 1: it uses a custom preprocessor, which may transform the source in any way
  [1]
  $ touch memtrace.ml; echo "$main" | instrument "(executable (name main))"; rm memtrace.ml
  allotrace: main.ml: a module memtrace.ml next to it hides the library
  $ rm dune; allotrace instrument main.ml
  allotrace: dune: No such file or directory
  allotrace: hint: use --dune FILE to name the dune file that builds the program
  [1]
  $ allotrace instrument none.ml
  allotrace: none.ml: No such file or directory
  [1]
  $ allotrace instrument main.c
  allotrace: main.c: not an OCaml source file; its name must end in .ml
  [1]
  $ allotrace instrument
  allotrace: instrument needs one source file
  Try `allotrace instrument --help`.
  [2]
  $ printf 'let x = 1\0' > main.ml; echo "(test (name main))" > dune; allotrace instrument main.ml
  allotrace: main.ml: not a text file
  [1]
