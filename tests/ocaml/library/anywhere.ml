(* Tracing that begins, or ends, in another domain than the main one. *)
let work n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let start filename = Memtrace.start_tracing ~context:None ~sampling_rate:1. ~filename
let elsewhere f = Domain.join (Domain.spawn f)

let () =
  elsewhere (fun () ->
      let tracer = start "a.ctf" in
      work 1000;
      Memtrace.stop_tracing tracer;
      work 10);
  let tracer = start "b.ctf" in
  elsewhere (fun () ->
      work 2000;
      elsewhere (fun () -> work 1000));
  elsewhere (fun () -> Memtrace.stop_tracing tracer);
  work 10;
  assert (not (Memtrace.currently_tracing ()));
  print_endline "done"
