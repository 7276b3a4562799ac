(* A domain that was there before another one starts Memprof. *)
let () =
  let go = Atomic.make 0 in
  let await n = while Atomic.get go < n do Domain.cpu_relax () done in
  let other =
    Domain.spawn (fun () ->
        Gc_values.work ();
        Atomic.set go 1;
        await 2;
        Gc_values.work ()) in
  await 1;
  Gc_values.work ();
  Gc_values.sampled
    (fun tracker -> ignore (Gc.Memprof.start ~sampling_rate:1. tracker))
    Gc.Memprof.stop;
  Atomic.set go 2;
  Domain.join other
