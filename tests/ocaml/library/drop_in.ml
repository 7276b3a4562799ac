(* drop_in [RATE [CONTEXT]]: the one call, as programs have it. *)
let argument n = if n < Array.length Sys.argv then Some Sys.argv.(n) else None

let () =
  if argument 2 = Some "memprof" then
    ignore (Gc.Memprof.start ~sampling_rate:0.5 Gc.Memprof.null_tracker);
  let sampling_rate = Option.map float_of_string (argument 1) in
  let context = argument 2 in
  Memtrace.trace_if_requested ~if_started:(fun () -> print_endline "started") ?context ?sampling_rate ();
  if Memtrace.currently_tracing () then Memtrace.trace_if_requested ();
  print_endline (if Memtrace.currently_tracing () then "traced" else "untraced")
