(* A forked child is not traced, but can trace itself. *)
let work n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let say who = Printf.printf "%s: %b\n%!" who (Memtrace.currently_tracing ())

let child () =
  work 100;
  say "child";
  let tracer = Memtrace.start_tracing ~context:None ~sampling_rate:1. ~filename:"child.ctf" in
  work 500;
  say "child again";
  Memtrace.stop_tracing tracer;
  work 100

let () =
  Memtrace.trace_if_requested ();
  work 10;
  match Unix.fork () with
  | 0 -> child ()
  | pid ->
    ignore (Unix.waitpid [] pid);
    work 20;
    say "parent"
