(* Builds binary trees and keeps each for a while, so that nearly all blocks are promoted. *)
type tree = Leaf | Node of tree * int * tree

let rec build depth = if depth = 0 then Leaf else Node (build (depth - 1), depth, build (depth - 1))

let () =
  let kept = Array.make 4 Leaf in
  for i = 1 to 488 do
    kept.(i land 3) <- build 15
  done;
  match kept.(0) with
  | Leaf -> ()
  | Node (_, n, _) -> Printf.printf "%d\n" n
