module M = Gc_values.Part (Gc)

let sample () =
  Gc_values.sampled
    (fun tracker -> ignore (Gc.Memprof.start ~sampling_rate:1. tracker))
    Gc.Memprof.stop

let () =
  M.run ();
  match Sys.argv with
  | [| _; "start" |] -> sample ()
  | [| _; "twice" |] -> sample (); sample ()
  | [| _; "stop" |] -> (try Gc.Memprof.stop () with Failure _ -> ()); sample ()
  | _ -> ()
