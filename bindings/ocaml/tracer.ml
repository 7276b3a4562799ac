(* What follows a sample happens in C (tracer_stubs.c). Here is what has to be in OCaml: the
   interface to Memprof, and whether tracing is on.

   Sessions are numbered, and callbacks name theirs: in OCaml 5, callbacks of a session that has
   ended may come late, and from any domain. *)

type plan = {
  fd : Unix.file_descr;
  rate : float;
  depth : int;
  native : bool;
  executable : string;
  host : string;
  parameters : string;
  context : string;
}

external begin_ : plan -> int = "caml_memtrace_begin"
external end_ : int -> bool = "caml_memtrace_end" [@@noalloc]
external current : unit -> int = "caml_memtrace_current" [@@noalloc]
external seed : float -> (unit, unit) Gc.Memprof.tracker -> int option -> unit
  = "caml_memtrace_seed"
external failure_text : bytes -> int = "caml_memtrace_failure" [@@noalloc]
external alloc : int -> Gc.Memprof.allocation -> int -> int = "caml_memtrace_alloc" [@@noalloc]
external promote : int -> int -> unit = "caml_memtrace_promote" [@@noalloc]
external collect : int -> int -> unit = "caml_memtrace_collect" [@@noalloc]
external depth : unit -> int = "caml_memtrace_depth" [@@noalloc]
external draw : int -> int = "caml_memtrace_draw" [@@noalloc]
external record_external : int -> int -> int -> Printexc.raw_backtrace -> int
  = "caml_memtrace_external" [@@noalloc]

external set_quiet : bool -> unit = "caml_memtrace_set_quiet" [@@noalloc]
external is_quiet : unit -> bool = "caml_memtrace_is_quiet" [@@noalloc]
external is_nobodys : Gc.Memprof.allocation -> bool = "caml_memtrace_is_nobodys" [@@noalloc]

(* Calls [f] so that what the library allocates in between is not recorded. Finalisers and signal
   handlers, which may run at any allocation, are still recorded. *)
let quietly f argument =
  let before = is_quiet () in
  set_quiet true;
  match f argument with
  | result -> set_quiet before; result
  | exception error -> set_quiet before; raise error

type t = { number : int; filename : string }

(* The session for which Memprof samples, and the function that stops it. The session itself may
   be over: in the child of a fork; if its file could no longer be written; and, in OCaml 5, if
   it was stopped by a domain that does not take part in the sampling and so could not stop that. *)
let sampling : (t * (unit -> unit)) option Atomic.t = Atomic.make None

let is_active () = current () <> 0

let active () =
  match Atomic.get sampling with
  | Some (session, _) when session.number = current () -> Some session
  | _ -> None

(* Stops the sampling for a session; false if that was done already. *)
let rec stop_sampling session =
  match Atomic.get sampling with
  | Some (sampled, stop) as now when sampled.number = session.number ->
    if Atomic.compare_and_set sampling now None then (stop (); true) else stop_sampling session
  | _ -> false

(* Prints why the session ended, if it did so by itself. Bypasses the channel, which may be in
   use. *)
let say_why session =
  let text = Bytes.create 100 in
  match failure_text text with
  | 0 -> ()
  | length ->
    let why = Bytes.sub_string text 0 length in
    let line = Printf.sprintf "memtrace: %s: %s: the trace ends here\n" session.filename why in
    try ignore (Unix.write_substring Unix.stderr line 0 (String.length line) : int)
    with Unix.Unix_error _ -> ()

(* Handles a sample whose session is over. *)
let over session =
  if current () <> session.number && stop_sampling session then say_why session

let tracker session =
  let { number; _ } = session in
  let tracked id = if id >= 0 then Some id else (over session; None) in
  { Gc.Memprof.alloc_minor = (fun sample -> tracked (alloc number sample 0));
    alloc_major = (fun sample -> tracked (alloc number sample 1));
    promote = (fun id -> promote number id; Some id);
    dealloc_minor = (fun id -> collect number id);
    dealloc_major = (fun id -> collect number id) }

let stop session =
  let sampled = stop_sampling session in
  let ended = end_ session.number in
  if sampled && not ended then say_why session

(* ---- start ------------------------------------------------------------------------------- *)

let plan ~context ~sampling_rate ~depth fd =
  { fd; depth; rate = sampling_rate;
    native = Sys.backend_type = Sys.Native;
    executable = Sys.executable_name;
    host = Unix.gethostname ();
    parameters = Sys.runtime_parameters ();
    context = Option.value context ~default:"" }

let cannot_write filename error =
  let why =
    match error with
    | Unix.Unix_error (EAGAIN, "lock", _) -> "something else is writing it"
    | Unix.Unix_error (why, _, _) -> Unix.error_message why
    | error -> raise error
  in
  invalid_arg (Printf.sprintf "Memtrace: %s: %s" filename why)

(* Opens the file without truncating it, since something else may be writing it and hold its
   lock. *)
let begin_session ~context ~sampling_rate ~depth filename =
  let fd =
    try Unix.openfile filename Unix.[ O_WRONLY; O_CREAT; O_CLOEXEC ] 0o666
    with error -> cannot_write filename error in
  match begin_ (plan ~context ~sampling_rate ~depth fd) with
  | number -> { number; filename }
  | exception error ->
    Unix.close fd;
    cannot_write filename error

let begin_sampling ~sampling_rate ~depth ~seed:given session =
  (* One more frame than wanted shows whether the stack is deeper. *)
  match
    seed sampling_rate Gc.Memprof.null_tracker given;
    Sampling.start ~sampling_rate ~callstack_size:(depth + 1) (tracker session)
  with
  | stop -> Atomic.set sampling (Some (session, stop))
  | exception error ->
    ignore (end_ session.number : bool);
    raise (match error with Failure _ -> Failure "this program uses Gc.Memprof itself" | _ -> error)

let start ~context ~sampling_rate ~depth ~seed ~filename =
  if not (sampling_rate > 0. && sampling_rate <= 1.) then
    invalid_arg "Memtrace: the sampling rate must be above 0 and at most 1";
  if depth < 1 then invalid_arg "Memtrace: the depth must be above 0";
  (match Atomic.get sampling with
   | Some (forgotten, _) -> ignore (stop_sampling forgotten : bool)
   | None -> ());
  let session = begin_session ~context ~sampling_rate ~depth filename in
  begin_sampling ~sampling_rate ~depth ~seed session;
  at_exit (fun () -> stop session);
  session

(* ---- memory outside the heap ------------------------------------------------------------- *)

(* A token has the number of the session in its upper bits and the block's id in its lower ones. *)
let id_bits = 40

let[@inline never] external_alloc ~bytes =
  match draw bytes with
  | 0 -> None
  | samples ->
    let session = current () and before = is_quiet () in
    set_quiet true;
    let stack = Printexc.get_callstack (depth () + 2) in
    let id = record_external session bytes samples stack in
    let token = Sys.opaque_identity (Some ((session lsl id_bits) lor id)) in
    set_quiet before;
    if id < 0 then None else token

let external_free token = collect (token lsr id_bits) (token land ((1 lsl id_bits) - 1))
