(** {!Gc.Memprof} as OCaml 4 and OCaml 5 have it. *)

val start :
  sampling_rate:float ->
  callstack_size:int ->
  ('minor, 'major) Gc.Memprof.tracker ->
  unit -> unit
(** Starts sampling and gives what stops it. That does as much as it can where it is called: in
    OCaml 5, a domain that does not take part cannot stop the others. *)
