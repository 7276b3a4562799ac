let gc = (module Gc : Gc_values.WHOLE)
module M = Gc_values.Part ((val Sys.opaque_identity gc))
let () = M.run ()
