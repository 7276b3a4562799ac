let () =
  Stdlib__gc.start ();
  print_endline "started"
