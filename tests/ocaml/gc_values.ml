(* What other programs do with Gc, and blocks to be seen. *)
module type PART = sig
  val full_major : unit -> unit
end

module Part (X : PART) = struct
  let run () =
    for _ = 1 to 100 do ignore (Sys.opaque_identity (Array.make 13 0)) done;
    X.full_major ()
end

module type WHOLE = module type of Gc
