(* Gc.Memprof in a unit of the name that Gc had before OCaml 4.13, with a small letter. *)
type tracker = {
  alloc_minor : Obj.t -> unit option;
  alloc_major : Obj.t -> unit option;
  promote : unit -> unit option;
  dealloc_minor : unit -> unit;
  dealloc_major : unit -> unit;
}

external c_start : float -> int -> tracker -> Obj.t = "caml_memprof_start"

let[@inline never] start () =
  let none _ = None in
  ignore
    (c_start 1e-3 10
       { alloc_minor = none; alloc_major = none; promote = none; dealloc_minor = ignore;
         dealloc_major = ignore })
