(** What {!Gc.Memprof} samples, through a {!Trace.Writer} of the program's: see
    {!Memtrace.Memprof_tracer}. *)

type t

val start : depth:int -> report_exn:(exn -> unit) -> sampling_rate:float -> Trace.Writer.t -> t
val stop : t -> unit

val active : unit -> t option
(** The one that was started and not stopped. *)

(** Memory outside of the heap; tokens are below 0. *)

val external_alloc : t -> bytes:int -> int option
val external_free : int -> unit
