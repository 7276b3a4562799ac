(* What other programs do with Gc, and blocks to be seen. *)
module type PART = sig
  val full_major : unit -> unit
end

let work () = for _ = 1 to 100 do ignore (Sys.opaque_identity (Array.make 13 0)) done

module Part (X : PART) = struct
  let run () =
    work ();
    X.full_major ()
end

module type WHOLE = module type of Gc

(* Samples every word until `stop`, and says how many blocks of 13 words there were. *)
let sampled (start : (int, int) Gc.Memprof.tracker -> unit) stop =
  let seen = ref 0 and died = ref 0 in
  let see (info : Gc.Memprof.allocation) = if info.size = 13 then incr seen; Some 1 in
  let die n = died := !died + n in
  start
    { Gc.Memprof.alloc_minor = see; alloc_major = see; promote = (fun n -> Some n);
      dealloc_minor = die; dealloc_major = die };
  work ();
  Gc.full_major ();
  stop ();
  Printf.printf "%d seen, %b\n%!" !seen (!died >= 100)
