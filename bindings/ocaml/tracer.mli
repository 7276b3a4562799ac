(** The tracer of this process, between {!Gc.Memprof} and a file. *)

type t

val start :
  context:string option -> sampling_rate:float -> depth:int -> seed:int option ->
  filename:string -> t
(** Without a seed, samples are chosen at random.

    @raise Failure if Memprof is active.
    @raise Invalid_argument if the rate is not above 0 and
    at most 1, if the depth is not above 0, if the file cannot be written, or if something else
    is writing it. *)

val stop : t -> unit
val is_active : unit -> bool
val active : unit -> t option

val quietly : ('a -> 'b) -> 'a -> 'b
(** Calls a function, during which what this library allocates in this thread is not recorded. *)

val set_quiet : bool -> unit
val is_quiet : unit -> bool

val is_nobodys : Gc.Memprof.allocation -> bool
(** Whether it is quiet, and the library made this allocation, itself or through the standard
    library. *)

(** Memory outside the heap; see {!Memtrace.External}. Tokens are not negative. *)

val external_alloc : bytes:int -> int option
val external_free : int -> unit
