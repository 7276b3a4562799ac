let () = Memtrace.trace_if_requested ()

let write { Binary.name; points } =
  let buffer = Buffer.create 1000 in
  let int n = Buffer.add_int32_be buffer (Int32.of_int n) in
  int (String.length name);
  Buffer.add_string buffer name;
  int (Array.length points);
  Array.iter (fun { Binary.x; y; height } -> int x; int y; int height) points;
  Buffer.to_bytes buffer

let track n =
  { Binary.name = Printf.sprintf "walk of %d points" n;
    points = Array.init n (fun i -> { Binary.x = 7 * i; y = -i; height = i mod 4000 }) }

let round_trip n () =
  let track = track n in
  Alcotest.(check bool) "same" true (Binary.parse (write track) = track)

let case n = Alcotest.test_case (Printf.sprintf "%d points" n) `Quick (round_trip n)

(* The last one, number 68, is the large one. *)
let () = Alcotest.run "tracks" [ ("binary", List.init 68 case @ [ case 500_000 ]) ]
