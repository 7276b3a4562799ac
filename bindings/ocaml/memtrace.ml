module Trace = Trace
module External = Tracer.External

type tracer = Tracer.t

let default_sampling_rate = 1e-6
let default_depth = 128
let currently_tracing = Tracer.active
let stop_tracing = Tracer.stop

(* ---- what the environment says ----------------------------------------------------------- *)

exception Senseless of string * string (* a variable, and what is wrong with its value *)

external is_privileged : unit -> bool = "caml_memtrace_is_privileged"

let variable name =
  match if is_privileged () then None else Sys.getenv_opt name with
  | Some "" -> None
  | value -> value

(* A variable's value, if it is set, and if it then is what it has to be. *)
let parsed name (parse, valid) =
  match variable name with
  | None -> None
  | Some text -> (
      match parse text with
      | None -> raise (Senseless (name, Printf.sprintf "`%s` is not %s" text valid))
      | value -> value)

let parse_rate text =
  match float_of_string_opt text with
  | Some rate when rate > 0. && rate <= 1. -> Some rate
  | _ -> None

let parse_positive text =
  match int_of_string_opt text with
  | Some n when n > 0 -> Some n
  | _ -> None

let rate = (parse_rate, "a rate above 0 and at most 1, like 1e-6")
let text = (Option.some, "a text")
let count = (parse_positive, "a whole number above 0")
let process = (parse_positive, "the id of a process")
let whole = (int_of_string_opt, "a whole number")
let seed () = parsed "MEMTRACE_SEED" whole
let depth () = Option.value (parsed "MEMTRACE_DEPTH" count) ~default:default_depth

(* The name of this process's file, and whether each process has its own. *)
let expand pattern =
  let name = Buffer.create 80 and own = ref false in
  let rec from i =
    if i < String.length pattern then
      match String.sub pattern i (min 2 (String.length pattern - i)) with
      | "%p" ->
        own := true;
        Buffer.add_string name (string_of_int (Unix.getpid ()));
        from (i + 2)
      | "%%" -> Buffer.add_char name '%'; from (i + 2)
      | _ -> Buffer.add_char name pattern.[i]; from (i + 1)
  in
  from 0;
  (Buffer.contents name, !own)

(* May this process write a file that is not its own? *)
let is_chosen () =
  match parsed "MEMTRACE_PROCESS" process with
  | None -> true
  | Some chosen -> chosen = Unix.getpid ()

(* ---- starting ---------------------------------------------------------------------------- *)

let start_tracing ~context ~sampling_rate ~filename =
  let depth = try depth () with Senseless (_, _) -> default_depth in
  let seed = try seed () with Senseless (_, _) -> None in
  Tracer.start ~context ~sampling_rate ~depth ~seed ~filename

let requested ~context ~sampling_rate filename =
  let first name kind other = match parsed name kind with None -> other | some -> some in
  let sampling_rate =
    Option.value (first "MEMTRACE_RATE" rate sampling_rate) ~default:default_sampling_rate in
  let context = first "MEMTRACE_CONTEXT" text context in
  ignore (Tracer.start ~context ~sampling_rate ~depth:(depth ()) ~seed:(seed ()) ~filename : tracer)

let warn what why =
  Printf.eprintf "memtrace: %s: %s, so nothing is traced\n%!" what why;
  false

(* Does what is requested, or says why not. *)
let attempt ~own ~context ~sampling_rate filename =
  try
    let chosen = own || is_chosen () in
    if chosen then requested ~context ~sampling_rate filename;
    chosen
  with
  | Senseless (name, why) -> warn name why
  | Failure why -> warn filename why
  | Unix.Unix_error (Unix.EAGAIN, "lock", _) -> warn filename "something else is writing it"
  | Unix.Unix_error (error, _, _) -> warn filename (Unix.error_message error)

let trace_if_requested ?(if_started = ignore) ?context ?sampling_rate () =
  match variable "MEMTRACE" with
  | None -> ()
  | Some _ when currently_tracing () -> ()
  | Some pattern ->
    let filename, own = expand pattern in
    if attempt ~own ~context ~sampling_rate filename then begin
      if not own then Unix.putenv "MEMTRACE" "";
      if_started ()
    end
