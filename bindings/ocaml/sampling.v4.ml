let start ~sampling_rate ~callstack_size tracker =
  Gc.Memprof.start ~sampling_rate ~callstack_size tracker;
  fun () -> try Gc.Memprof.stop () with Failure _ -> ()
