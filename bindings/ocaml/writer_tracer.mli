(** Writes what {!Gc.Memprof} samples through a {!Trace.Writer} of the program: see
    {!Memtrace.Memprof_tracer}. *)

type t

val start : depth:int -> report_exn:(exn -> unit) -> sampling_rate:float -> Trace.Writer.t -> t
val stop : t -> unit

val active : unit -> t option
(** The tracer that was started and not stopped. *)

(** Memory outside the heap; tokens are negative. *)

val external_alloc : t -> bytes:int -> int option
val external_free : int -> unit
