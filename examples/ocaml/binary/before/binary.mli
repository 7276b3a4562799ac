(** Tracks of walks, in a binary form: the size of the name, the name, the number of points, and three
    numbers for each. All numbers are signed, of four bytes, the most significant first. *)

type point = { x : int; y : int; height : int }
type track = { name : string; points : point array }

val parse : Bytes.t -> track
(** @raise Invalid_argument if the track does not end where its file does. *)
