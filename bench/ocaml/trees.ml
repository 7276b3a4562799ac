(* Builds and walks binary trees: nearly all that it does is allocate. *)
type tree = Leaf | Node of tree * int * tree

let rec build depth = if depth = 0 then Leaf else Node (build (depth - 1), depth, build (depth - 1))
let rec sum = function Leaf -> 0 | Node (l, n, r) -> sum l + n + sum r

let () =
  let kept = build 16 in
  let total = ref 0 in
  for _ = 1 to 6000 do
    total := !total + sum (build 14)
  done;
  Printf.printf "%d\n" (!total + sum kept)
