let start ~sampling_rate ~callstack_size tracker =
  let profile = Gc.Memprof.start ~sampling_rate ~callstack_size tracker in
  fun () ->
    (* Fails in a domain that does not have the profile, and if the profile has been stopped
       already. *)
    (try Gc.Memprof.stop () with Failure _ -> ());
    try Gc.Memprof.discard profile with Failure _ -> ()
