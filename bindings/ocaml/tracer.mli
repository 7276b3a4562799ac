(** The tracer of this process: {!Gc.Memprof} on one side, a file on the other. *)

type t

val start :
  context:string option -> sampling_rate:float -> depth:int -> seed:int option ->
  filename:string -> t
(** Without a seed, samples are chosen at random.

    @raise Failure if Memprof is active.
    @raise Invalid_argument if the rate is not above 0 and at most 1, or the depth not above 0, or
    the file cannot be written, or something else is writing it. *)

val stop : t -> unit
val is_active : unit -> bool
val active : unit -> t option

val quietly : ('a -> 'b) -> 'a -> 'b
(** Calls a function in which what this library allocates, in this thread, is not to be recorded. *)

val set_quiet : bool -> unit
val is_quiet : unit -> bool

val is_nobodys : Gc.Memprof.allocation -> bool
(** Is it quiet, and was this allocated by the library, itself or through the standard library? *)

(** Memory outside of the heap; see {!Memtrace.External}. Tokens are not below 0. *)

val external_alloc : bytes:int -> int option
val external_free : int -> unit
