(* Four domains at work at once, and one that a domain starts. *)
let work n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let () =
  let inner () = work 3000 in
  let outer i () = work (1000 * i); Domain.join (Domain.spawn inner) in
  List.iter Domain.join (List.init 3 (fun i -> Domain.spawn (outer (i + 1))));
  work 500
