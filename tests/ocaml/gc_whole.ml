let gc = (module Gc : Gc_values.WHOLE)
module G = (val Sys.opaque_identity gc)
module M = Gc_values.Part (G)

let () =
  M.run ();
  if Array.length Sys.argv > 1 then
    Gc_values.sampled
      (fun tracker -> ignore (G.Memprof.start ~sampling_rate:1. tracker))
      G.Memprof.stop
