module M = Gc_values.Part (Gc)

let () =
  M.run ();
  if Array.length Sys.argv > 1 then
    ignore (Gc.Memprof.start ~sampling_rate:1e-3 Gc.Memprof.null_tracker)
