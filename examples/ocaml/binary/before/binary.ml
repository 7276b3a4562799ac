type point = { x : int; y : int; height : int }
type track = { name : string; points : point array }
type cursor = { bytes : Bytes.t; mutable at : int }

(* What a field is, is a function; how to go through a file, is written once. *)
let read cursor size get =
  let value = get cursor.bytes cursor.at in
  cursor.at <- cursor.at + size;
  value

let int cursor = Int32.to_int (read cursor 4 Bytes.get_int32_be)

let text cursor =
  let size = int cursor in
  read cursor size (fun bytes at -> Bytes.sub_string bytes at size)

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
