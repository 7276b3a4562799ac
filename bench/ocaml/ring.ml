(* The program on which memtrace 0.2.3 was measured, as a trace of it shows: builds trees of 10 to
   15 levels, keeps the last ten of them, and makes a block of 64 KB beside each. *)
type tree = Leaf | Node of tree * tree

let rec make d = if d = 0 then Leaf else let d = d - 1 in Node (make d, make d)

let () =
  let kept = Array.make 10 (Leaf, "") in
  for i = 1 to 2000 do
    let tree = make (10 + (i mod 6)) in
    kept.(i mod 10) <- (tree, string_of_int i);
    ignore (Sys.opaque_identity (Bytes.create 65536))
  done;
  print_endline (snd kept.(0))
