(* Builds and walks binary trees: nearly all that it does is allocate. They have several sizes, so
   that minor collections find them in all states: else it would be luck what survives these. *)
type tree = Leaf | Node of tree * int * tree

let rec build depth = if depth = 0 then Leaf else Node (build (depth - 1), depth, build (depth - 1))
let rec sum = function Leaf -> 0 | Node (l, n, r) -> sum l + n + sum r

let () =
  let kept = build 16 in
  let total = ref 0 in
  for i = 1 to 15000 do
    total := !total + sum (build (10 + (i mod 5)))
  done;
  Printf.printf "%d\n" (!total + sum kept)
