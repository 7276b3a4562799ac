let () =
  Memtrace.trace_if_requested ();
  print_endline (String.concat " " (List.init 100 string_of_int))
