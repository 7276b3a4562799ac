(* Allocates in every way that the runtime tells apart, in numbers and sizes that are known. *)

type tree = Leaf | Node of tree * int * tree

let keep : Obj.t list ref = ref []

let rec build n = if n = 0 then Leaf else Node (build (n - 1), n, Leaf)
let[@inline] pair x = (x, x + 1)
let[@inline] nested x = (pair x, pair (x + 1))

let small () =
  for i = 1 to 100 do
    ignore (Sys.opaque_identity (ref i));
    ignore (Sys.opaque_identity (nested i));
    ignore (Sys.opaque_identity (float_of_int i, Some i))
  done

let closures () = List.map (fun f -> f 1) (List.init 20 (fun i x -> x + i))

let major () =
  for i = 1 to 10 do
    ignore (Sys.opaque_identity (Array.make (1000 + i) 0));
    ignore (Sys.opaque_identity (Bytes.create (10_000 * i)))
  done

let marshalled () =
  let text = Marshal.to_string (build 50) [] in
  ignore (Sys.opaque_identity (Marshal.from_string text 0 : tree));
  let long = Marshal.to_string (Array.make 2000 1.5) [] in
  ignore (Sys.opaque_identity (Marshal.from_string long 0 : float array))

let external_memory () =
  for _ = 1 to 3 do
    ignore (Sys.opaque_identity (Bigarray.Array1.create Bigarray.char Bigarray.c_layout 80_000))
  done

exception Found of int

let exceptions () =
  for i = 1 to 50 do
    try raise (Found (Sys.opaque_identity i)) with Found j -> ignore (Sys.opaque_identity [ j ])
  done

let rec deep n f = if n = 0 then f () else 1 + deep (n - 1) f

(* Deeper than the stacks that are kept. *)
let too_deep () = ignore (deep 500 (fun () -> !(Sys.opaque_identity (ref 7))))

let text () =
  for i = 1 to 20 do
    ignore (Sys.opaque_identity (Printf.sprintf "%d-%s" i (String.make i 'x')))
  done;
  ignore (Sys.opaque_identity (String.concat "," (List.map string_of_int [ 1; 2; 3 ])))

let run () =
  small ();
  keep := Obj.repr (closures ()) :: !keep;
  major ();
  marshalled ();
  external_memory ();
  exceptions ();
  keep := Obj.repr (build 100) :: !keep;
  too_deep ();
  text ();
  (* Samples of what C allocates are handed over at the next allocation. *)
  ignore (Sys.opaque_identity (ref 0))
