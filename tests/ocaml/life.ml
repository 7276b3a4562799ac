(* Blocks of which it is known whether they are promoted and collected; a size tells each kind. *)

let use x = ignore (Sys.opaque_identity x)
let kept = ref []

let[@inline never] make count size keep =
  for _ = 1 to count do
    let block = Array.make size 0 in
    if keep then kept := block :: !kept else use block
  done

let () =
  Gc.minor ();
  make 100 71 false; (* die young *)
  Gc.minor ();
  make 50 81 true; (* are promoted, and die *)
  Gc.minor ();
  kept := [];
  Gc.full_major ();
  make 30 1001 false; (* are major, and die *)
  Gc.full_major ();
  make 20 1101 true; (* are major, and live on *)
  make 10 91 true; (* are promoted, and live on *)
  Gc.full_major ();
  use !kept;
  at_exit (fun () -> print_int (List.length !kept))
