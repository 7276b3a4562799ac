(** Draws the distances between samples: the number of tosses of a coin until it shows heads. *)

type t

val make : ?rand:Random.State.t -> sampling_rate:float -> unit -> t
(** Makes a coin that shows heads with probability [sampling_rate]. By default, the numbers are
    the same in each run. *)

val draw : t -> int
(** Returns the number of tosses up to and including the next heads: at least 1, and [1 /
    sampling_rate] on average. *)
