(* Linked in front of a program: has the runtime sample it, and does nothing with the samples but
   count. Less than that, nobody's recorder can cost. *)
let () =
  let events = ref 0 in
  let count _ = incr events in
  let keep _ = incr events; Some () in
  match Sys.getenv_opt "COUNT_RATE" with
  | None -> ()
  | Some rate ->
    Gc.Memprof.start ~sampling_rate:(float_of_string rate) ~callstack_size:128
      { alloc_minor = keep; alloc_major = keep; promote = keep; dealloc_minor = count;
        dealloc_major = count }
    |> ignore
