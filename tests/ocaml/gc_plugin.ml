(* A plugin of gc_loads.ml. *)
let () =
  Gc_values.sampled
    (fun tracker -> ignore (Gc.Memprof.start ~sampling_rate:1. tracker))
    Gc.Memprof.stop
