(* A program for each rule of advice about OCaml, in which it applies, and one that does the same
   as the advice says, in which it must not. `causes NAME` runs one. *)

let rounds = 300_000
let sink = ref 0
let last = ref (Obj.repr 0)
let[@inline never] keep x = last := Obj.repr x

let each f = for i = 1 to rounds do f i done [@@inline]
let some n f = for i = 1 to rounds / n do f i done [@@inline]

(* ---- key-comparison ---- *)

type pair = { a : int; b : int }

module Slow = struct
  type t = pair
  let compare x y = compare (x.a, x.b) (y.a, y.b)
  let equal x y = x.a = y.a && x.b = y.b
  let hash x = Hashtbl.hash (x.a, x.b)
end

module Fast = struct
  type t = pair
  let compare x y = match Int.compare x.a y.a with 0 -> Int.compare x.b y.b | c -> c
  let equal x y = x.a = y.a && x.b = y.b
  let hash x = (x.a * 65599) + x.b
end

module Slow_set = Set.Make (Slow)
module Fast_set = Set.Make (Fast)
module Slow_table = Hashtbl.Make (Slow)
module Fast_table = Hashtbl.Make (Fast)

let all = List.init 100 (fun i -> { a = i / 10; b = i mod 10 })
let slow_set = Slow_set.of_list all
let fast_set = Fast_set.of_list all
let slow_table = Slow_table.create 100
let fast_table = Fast_table.create 100

let () =
  List.iter (fun p -> Slow_table.replace slow_table p (); Fast_table.replace fast_table p ()) all

let[@inline never] compares () =
  some 10 (fun i -> if Slow_set.mem { a = i mod 10; b = 3 } slow_set then incr sink)

let[@inline never] compares_right () =
  some 10 (fun i -> if Fast_set.mem { a = i mod 10; b = 3 } fast_set then incr sink)

let[@inline never] hashes () =
  each (fun i -> if Slow_table.mem slow_table { a = i mod 10; b = 3 } then incr sink)

let[@inline never] hashes_right () =
  each (fun i -> if Fast_table.mem fast_table { a = i mod 10; b = 3 } then incr sink)

let[@inline never] sorts () =
  some 100 (fun _ -> keep (List.sort (fun x y -> compare (x.b, x.a) (y.b, y.a)) all))

let[@inline never] sorts_right () =
  some 100 (fun _ ->
      keep (List.sort (fun x y -> let c = Int.compare x.b y.b in
                                  if c = 0 then Int.compare x.a y.a else c) all))

(* ---- boxes ---- *)

let bytes = Bytes.make 64 'x'
let last_int32 = ref 0l
let last_int64 = ref 0L
let[@inline never] read_int32 i = Bytes.get_int32_be bytes (i land 31)

let[@inline never] read_int i =
  let i = i land 31 in
  (Bytes.get_uint16_be bytes i lsl 16) lor Bytes.get_uint16_be bytes (i + 2)

let[@inline never] reads () = each (fun i -> last_int32 := read_int32 i)
let[@inline never] reads_right () = each (fun i -> if read_int i = i then incr sink; keep [ i ])
let[@inline never] counts () = each (fun _ -> last_int64 := Int64.succ !last_int64)
let[@inline never] counts_right () = each (fun i -> incr sink; keep [ i ])
let last_float = ref 0.
let floats = Array.make 16 0.
let[@inline never] averages () = some 10 (fun _ -> last_float := Random.float 1.0)

let[@inline never] averages_right () =
  each (fun i ->
      floats.(i land 15) <- floats.(i land 15) +. float_of_int i;
      keep [ i ])

(* ---- text ---- *)

let[@inline never] prints () =
  some 10 (fun i -> sink := !sink + String.length (Printf.sprintf "%d: %s" i "x"))

let buffer = Buffer.create 100

let[@inline never] prints_right () =
  each (fun i ->
      Buffer.clear buffer;
      Buffer.add_string buffer (string_of_int i);
      Buffer.add_string buffer ": x";
      sink := !sink + Buffer.length buffer)

let[@inline never] concats () =
  some 300 (fun _ ->
      let s = ref "" in
      for i = 1 to 100 do s := !s ^ string_of_int i done;
      keep !s)

let[@inline never] concats_right () =
  some 300 (fun _ ->
      Buffer.clear buffer;
      for i = 1 to 100 do Buffer.add_string buffer (string_of_int i) done;
      keep (Buffer.contents buffer))

let fill b =
  for i = 1 to 2000 do Buffer.add_char b (Char.unsafe_chr (i land 127)) done;
  sink := !sink + Buffer.length b
[@@inline]

let[@inline never] buffers () = some 1000 (fun _ -> fill (Buffer.create 16))
let[@inline never] buffers_right () = some 100 (fun _ -> fill (Buffer.create 2000))
let kept = Buffer.create 2000

let[@inline never] buffers_kept () =
  some 100 (fun i -> Buffer.clear kept; fill kept; for j = 1 to 100 do keep [ i; j ] done)

let words = "a few words with blanks in between"

let[@inline never] cuts () =
  each (fun i -> sink := !sink + String.length (String.sub words (i land 7) 10))

let[@inline never] cuts_right () =
  each (fun i -> sink := !sink + String.index_from words (i land 7) ' '; keep [ i ])

(* ---- lists, arrays, sequences ---- *)

let numbers = List.init 10 Fun.id
let array = Array.init 10 Fun.id

let[@inline never] appends () =
  some 1000 (fun _ ->
      let l = ref [] in
      for i = 1 to 100 do l := !l @ [ i ] done;
      keep !l)

let[@inline never] appends_right () =
  some 100 (fun _ ->
      let l = ref [] in
      for i = 1 to 100 do l := i :: !l done;
      keep (List.rev !l))

let[@inline never] passes () =
  some 10 (fun _ -> sink := !sink + List.length (List.map succ (List.filter (fun x -> x > 2) numbers)))

let[@inline never] passes_right () =
  each (fun i ->
      sink := List.fold_left (fun n x -> if x > 2 then n + x else n) !sink numbers;
      keep [ i ])

let[@inline never] copies () = each (fun _ -> keep (Array.append array (Array.sub array 2 5)))

let[@inline never] copies_right () =
  each (fun i ->
      for j = 2 to 6 do sink := !sink + array.(j) done;
      keep [ i ])

let[@inline never] sequences () =
  some 10 (fun _ -> sink := Seq.fold_left ( + ) !sink (Seq.map succ (List.to_seq numbers)))

let[@inline never] sequences_right () = passes_right ()

(* ---- containers ---- *)

let[@inline never] tables n =
  some 5000 (fun _ ->
      let t = Hashtbl.create n in
      for i = 1 to 3000 do Hashtbl.replace t i () done;
      keep t)

let found = Hashtbl.create 100
let () = for i = 1 to 100 do Hashtbl.replace found i i done

let[@inline never] finds () =
  each (fun i -> match Hashtbl.find_opt found (i mod 100) with
                 | Some x -> sink := !sink + x | None -> ())

let[@inline never] finds_right () =
  each (fun i ->
      (match Hashtbl.find found (i mod 100) with x -> sink := !sink + x | exception Not_found -> ());
      keep [ i ])

module Ints = Map.Make (Int)

let[@inline never] trees () =
  some 1000 (fun _ ->
      let m = ref Ints.empty in
      for i = 1 to 100 do m := Ints.add i i !m done;
      keep !m)

let[@inline never] trees_right () = tables 3000

(* ---- functions ---- *)

let[@inline never] made i = List.iter (fun x -> sink := !sink + x + i) numbers
let[@inline never] closures () = each made

let[@inline never] rec total i l = match l with
  | [] -> ()
  | x :: rest -> sink := !sink + x + i; total i rest

let[@inline never] closures_right () = each (fun i -> total i numbers; keep [ i ])

let[@inline never] elements () =
  some 10 (fun i ->
      List.iter (fun x -> List.iter (fun y -> sink := !sink + x + y + i) numbers) numbers)

let[@inline never] elements_right () =
  each (fun i -> for x = 0 to 9 do total (x + i) numbers done; keep [ i ])

let[@inline never] half x = if x land 1 = 0 then Some (x / 2) else None
let ( let* ) o f = match o with None -> None | Some x -> f x

let[@inline never] bind_four i =
  let r =
    let* a = half i in
    let* b = half (a + a) in
    let* c = half (a + b + b) in
    half (a + b + c)
  in
  incr sink;
  r

let[@inline never] bind_infix i =
  let r =
    Option.bind (half i) (fun a ->
        Option.bind (half (a + a)) (fun b ->
            Option.bind (half (i + i)) (fun c -> half (a + b + c))))
  in
  incr sink;
  r

let[@inline never] binds () = each (fun i -> keep (bind_four (8 * i)))
let[@inline never] infix_binds () = each (fun i -> keep (bind_infix (8 * i)))

let[@inline never] binds_right () =
  each (fun i ->
      match half (8 * i) with
      | None -> ()
      | Some a -> ( match half (a + a) with None -> () | Some b -> keep (half (a + b))))

(* ---- small and large blocks ---- *)

let[@inline never] divide a b = (a / b, a mod b)
let[@inline never] tuples () = each (fun i -> let q, r = divide i 7 in sink := !sink + q + r)

let[@inline never] options () =
  each (fun i -> match half (2 * i) with Some x -> sink := !sink + x | None -> ())

let[@inline never] three i = (i, i + 1, i + 2)
let[@inline never] triples () = each (fun i -> let a, b, c = three i in sink := !sink + a + b + c)

(* Anonymous functions that are called, though not by an iterator nor by what is around them. *)
let actions = [| (fun i -> keep (three i); (i, i, i)); (fun i -> keep (three i); (i, 1, i)) |]
let[@inline never] act i = let r = actions.(i land 1) i in incr sink; keep r
let[@inline never] callbacks () = each act
let[@inline never] add a b c = a + b + c
let[@inline never] apply f i = let g = f i in sink := !sink + g 2 3
let[@inline never] partial () = each (apply (Sys.opaque_identity add))
let held = ref []
let[@inline never] lists () = each (fun i -> held := (i, i) :: !held)

let[@inline never] larges () =
  some 100 (fun i ->
      let b = Bytes.create 65536 in
      Bytes.set b i 'x';
      keep b)

let one = Bytes.create 65536
let[@inline never] larges_right () = each (fun i -> Bytes.set one (i land 255) 'x'; keep [ i ])

(* Trees that are larger than the minor heap, and are dropped. *)
type tree = Leaf | Node of tree * tree

let rec grow depth = if depth = 0 then Leaf else Node (grow (depth - 1), grow (depth - 1))
let[@inline never] forest () = for _ = 1 to 40 do keep (grow 17) done

let () =
  match Sys.argv.(1) with
  | "compares" -> compares () | "compares_right" -> compares_right ()
  | "hashes" -> hashes () | "hashes_right" -> hashes_right ()
  | "sorts" -> sorts () | "sorts_right" -> sorts_right ()
  | "reads" -> reads () | "reads_right" -> reads_right ()
  | "counts" -> counts () | "counts_right" -> counts_right ()
  | "averages" -> averages () | "averages_right" -> averages_right ()
  | "prints" -> prints () | "prints_right" -> prints_right ()
  | "concats" -> concats () | "concats_right" -> concats_right ()
  | "buffers" -> buffers () | "buffers_right" -> buffers_right ()
  | "buffers_kept" -> buffers_kept ()
  | "cuts" -> cuts () | "cuts_right" -> cuts_right ()
  | "appends" -> appends () | "appends_right" -> appends_right ()
  | "passes" -> passes () | "passes_right" -> passes_right ()
  | "copies" -> copies () | "copies_right" -> copies_right ()
  | "sequences" -> sequences () | "sequences_right" -> sequences_right ()
  | "tables" -> tables 1 | "tables_right" -> tables 3000
  | "finds" -> finds () | "finds_right" -> finds_right ()
  | "trees" -> trees () | "trees_right" -> trees_right ()
  | "closures" -> closures () | "closures_right" -> closures_right ()
  | "elements" -> elements () | "elements_right" -> elements_right ()
  | "binds" -> binds () | "infix_binds" -> infix_binds () | "binds_right" -> binds_right ()
  | "tuples" -> tuples () | "options" -> options () | "triples" -> triples ()
  | "callbacks" -> callbacks ()
  | "partial" -> partial () | "lists" -> lists ()
  | "larges" -> larges () | "larges_right" -> larges_right ()
  | "forest" -> forest ()
  | _ -> exit 2
