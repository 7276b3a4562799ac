(** The tracer of this process: {!Gc.Memprof} on one side, a file on the other. *)

type t

val start :
  context:string option -> sampling_rate:float -> depth:int -> seed:int option ->
  filename:string -> t
(** Without a seed, samples are chosen at random.

    @raise Failure if a tracer, or Memprof, is active.
    @raise Invalid_argument if the rate is not above 0 and at most 1, or the depth not above 0.
    @raise Unix.Unix_error if the file cannot be written, or something else is writing it. *)

val stop : t -> unit
val active : unit -> bool

(** Memory outside of the heap; see {!Memtrace.External}. *)
module External : sig
  type token

  val alloc : bytes:int -> token option
  val free : token -> unit
end
