(* More than a small disk holds. *)
let () =
  for _ = 1 to 100_000 do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done;
  Printf.printf "%b\n" (Memtrace.currently_tracing ())
