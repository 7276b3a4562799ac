(** Draws the distances between samples: how often a coin is tossed until it shows heads. *)

type t

val make : ?rand:Random.State.t -> sampling_rate:float -> unit -> t
(** A coin that shows heads with the probability [sampling_rate]. By default, the numbers are the same
    in each run. *)

val draw : t -> int
(** The number of tosses up to the next heads, which is counted too: at least 1, and
    [1 / sampling_rate] on average. *)
