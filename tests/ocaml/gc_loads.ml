let () =
  Gc_values.work ();
  Dynlink.loadfile Sys.argv.(1)
