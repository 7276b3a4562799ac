module G = Gc
module M = Gc_values.Part (struct let full_major = G.full_major end)
let () = M.run (); G.compact ()
