type point = { x : int; y : int; height : int }
type track = { name : string; points : point array }
type cursor = { bytes : Bytes.t; mutable at : int }

(* Here the compiler knows what it reads, and keeps it in a register: no Int32 is allocated. *)
let int cursor =
  let value = Int32.to_int (Bytes.get_int32_be cursor.bytes cursor.at) in
  cursor.at <- cursor.at + 4;
  value

let text cursor =
  let size = int cursor in
  let value = Bytes.sub_string cursor.bytes cursor.at size in
  cursor.at <- cursor.at + size;
  value

let point cursor =
  let x = int cursor in
  let y = int cursor in
  let height = int cursor in
  { x; y; height }

let track cursor =
  let name = text cursor in
  let n = int cursor in
  { name; points = Array.init n (fun _ -> point cursor) }

let parse bytes = track { bytes; at = 0 }
