module Trace = Trace
module Geometric_sampler = Geometric_sampler

type tracer = To_file of Tracer.t | Through_writer of Writer_tracer.t

let default_sampling_rate = 1e-6
let default_depth = 128
let greatest_depth = 3800 (* frames; a trace can surely hold most of such a stack *)

let find_tracer () =
  match Tracer.active () with
  | Some tracer -> Some (To_file tracer)
  | None -> Option.map (fun tracer -> Through_writer tracer) (Writer_tracer.active ())

let active_tracer () = Tracer.quietly find_tracer ()
let currently_tracing () = Tracer.is_active () || Writer_tracer.active () <> None

let stop_tracing = function
  | To_file tracer -> Tracer.stop tracer
  | Through_writer tracer -> Writer_tracer.stop tracer

let refuse_second () =
  if currently_tracing () then failwith "Memtrace: this process is being traced already"

(* ---- the environment --------------------------------------------------------------------- *)

external is_privileged : unit -> bool = "caml_memtrace_is_privileged"

let variable name =
  match if is_privileged () then None else Sys.getenv_opt name with
  | Some "" -> None
  | value -> value

(* Returns the parsed value of a variable, or [None] if it is not set. Raises if the value is
   invalid. *)
let parsed name (parse, valid) =
  match variable name with
  | None -> None
  | Some text -> (
      match parse text with
      | None -> invalid_arg (Printf.sprintf "Memtrace: %s: `%s` is not %s" name text valid)
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
let process = (parse_positive, "a process id")
let whole = (int_of_string_opt, "a whole number")
let seed () = parsed "MEMTRACE_SEED" whole
let depth default = Option.value (parsed "MEMTRACE_DEPTH" count) ~default

(* Returns the name of this process's file, and whether it contains the process id. *)
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

(* Whether this process may write a file whose name is not its own. *)
let is_chosen () =
  match parsed "MEMTRACE_PROCESS" process with
  | None -> true
  | Some chosen -> chosen = Unix.getpid ()

(* ---- starting ---------------------------------------------------------------------------- *)

let start_tracing ~context ~sampling_rate ~filename =
  refuse_second ();
  let depth = depth greatest_depth and seed = seed () in
  Tracer.quietly
    (fun () -> To_file (Tracer.start ~context ~sampling_rate ~depth ~seed ~filename)) ()

let requested ~context ~sampling_rate filename =
  let first name kind other = match parsed name kind with None -> other | some -> some in
  let sampling_rate =
    Option.value (first "MEMTRACE_RATE" rate sampling_rate) ~default:default_sampling_rate in
  let context = first "MEMTRACE_CONTEXT" text context in
  let depth = depth default_depth and seed = seed () in
  let start () = Tracer.start ~context ~sampling_rate ~depth ~seed ~filename in
  ignore (Tracer.quietly start () : Tracer.t)

(* Starts tracing as requested, or prints why it cannot. *)
let attempt ~own ~context ~sampling_rate filename =
  let chosen = own || is_chosen () in
  try
    if chosen then requested ~context ~sampling_rate filename;
    chosen
  with Failure why ->
    Printf.eprintf "memtrace: %s: %s, so nothing is traced\n%!" filename why;
    false

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

(* ---- tracing through a writer ------------------------------------------------------------ *)

module Memprof_tracer = struct
  type t = tracer

  let complain = function
    | Trace.Writer.Pid_changed -> () (* the child of a fork is not traced *)
    | error -> Printf.eprintf "memtrace: %s: the trace ends here\n%!" (Printexc.to_string error)

  let start ?(report_exn = complain) ~sampling_rate writer =
    refuse_second ();
    Tracer.quietly
      (fun writer ->
        Through_writer (Writer_tracer.start ~depth:greatest_depth ~report_exn ~sampling_rate writer))
      writer

  let stop = stop_tracing
  let active_tracer = active_tracer

  type ext_token = int

  let ext_alloc ~bytes =
    if bytes < 0 then invalid_arg "Memtrace.External.alloc";
    match Writer_tracer.active () with
    | None -> Tracer.external_alloc ~bytes
    | Some tracer -> Writer_tracer.external_alloc tracer ~bytes

  let ext_free token =
    if token < 0 then Writer_tracer.external_free token else Tracer.external_free token
end

module External = struct
  type token = Memprof_tracer.ext_token

  let alloc = Memprof_tracer.ext_alloc
  let free = Memprof_tracer.ext_free
end
