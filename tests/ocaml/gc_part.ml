module M = Gc_values.Part (Gc)
let () = M.run ()
