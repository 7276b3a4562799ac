(** {!Gc.Memprof}, with one interface for OCaml 4 and OCaml 5. *)

val start :
  sampling_rate:float ->
  callstack_size:int ->
  ('minor, 'major) Gc.Memprof.tracker ->
  unit -> unit
(** Starts sampling and returns a function that stops it. The function does as much as is
    possible in its domain: in OCaml 5, a domain that does not take part in the sampling cannot
    stop the others. *)
