(* Linked before the modules of a program: it is traced without a change to them. *)
let () = Memtrace.trace_if_requested ()
