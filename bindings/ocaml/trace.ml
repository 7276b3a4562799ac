(* The types of a trace, and a thin layer over reader_stubs.c and writer_stubs.c. Some
   constructors and record fields are known there by position, which the stubs document. *)

exception Parse_error of string

(* For the tables of identifiers. OCaml 5 has another name for the hash function than OCaml 4. *)
module Identifier = struct
  type t = int

  let equal : int -> int -> bool = ( = )
  let[@warning "-32"] hash = Hashtbl.seeded_hash
  let[@warning "-32"] seeded_hash = Hashtbl.seeded_hash
end

module Timestamp = struct
  type t = int (* microseconds since the epoch; 63 bits last for 146,000 years *)

  let of_int64 = Int64.to_int
  let to_int64 = Int64.of_int
  let of_float seconds = int_of_float (Float.round (seconds *. 1e6))
  let to_float t = float_of_int t /. 1e6
  let now () = of_float (Unix.gettimeofday ())
end

module Timedelta = struct
  type t = int (* microseconds *)

  let to_int64 = Int64.of_int
  let offset start t = start + t
end

module Location = struct
  type t = { filename : string; line : int; start_char : int; end_char : int; defname : string }

  let to_string { filename; line; start_char; end_char; defname } =
    Printf.sprintf "%s@%s:%d:%d-%d" defname filename line start_char end_char

  let unknown = { filename = "<unknown>"; line = 0; start_char = 0; end_char = 0; defname = "??" }
end

module Location_code = struct
  type t = int

  module Tbl = Hashtbl.MakeSeeded (Identifier)
end

module Obj_id = struct
  type t = int

  let of_int = Fun.id

  module Tbl = Hashtbl.MakeSeeded (Identifier)
end

module Domain_id = struct
  type t = int

  let main_domain = 0
  let of_int n = if n < 0 || n > 0xffff then invalid_arg "Domain_id.of_int" else n

  module Tbl = Hashtbl.MakeSeeded (Identifier)
end

module Allocation_source = struct
  type t = Minor | Major | External

  let to_string = function Minor -> "minor" | Major -> "major" | External -> "external"
end

module Event = struct
  type t =
    | Alloc of {
        obj_id : Obj_id.t;
        length : int;
        nsamples : int;
        source : Allocation_source.t;
        backtrace_buffer : Location_code.t array;
        backtrace_length : int;
        common_prefix : int;
      }
    | Promote of Obj_id.t
    | Collect of Obj_id.t

  let kind = function
    | Allocation_source.Minor -> "alloc"
    | Major -> "alloc_major"
    | External -> "alloc_ext"

  let frame decode code =
    match decode code with
    | [] -> Printf.sprintf " $%d" code
    | places -> String.concat "" (List.map (fun place -> " " ^ Location.to_string place) places)

  let to_string ?domain decode = function
    | Alloc e ->
      let frames = List.init e.backtrace_length (fun i -> frame decode e.backtrace_buffer.(i)) in
      let domain = match domain with Some n -> Printf.sprintf " dom=%d" n | None -> "" in
      Printf.sprintf "%010d %s %d len=%d%s %4d:%s" e.obj_id (kind e.source) e.nsamples e.length
        domain e.common_prefix (String.concat "" frames)
    | Promote id -> Printf.sprintf "%010d promote" id
    | Collect id -> Printf.sprintf "%010d collect" id
end

module Info = struct
  type t = {
    sample_rate : float;
    word_size : int;
    executable_name : string;
    host_name : string;
    ocaml_runtime_params : string;
    pid : int64;
    start_time : Timestamp.t;
    context : string option;
  }
end

module Reader = struct
  (* Reads a file once from its start. *)
  type pass

  (* The current event of a pass. *)
  type cursor = {
    mutable kind : int;
    mutable time : Timedelta.t;
    mutable id : Obj_id.t;
    mutable on_domain : Domain_id.t;
    mutable heap : Allocation_source.t;
    mutable words : int;
    mutable samples : int;
    mutable n_frames : int;
    mutable n_common : int;
  }

  external pass_open : Unix.file_descr -> bool -> pass = "caml_memtrace_pass_open"
  external pass_close : pass -> unit = "caml_memtrace_pass_close"
  external pass_info : pass -> Info.t = "caml_memtrace_pass_info"
  external pass_next : pass -> cursor -> bool = "caml_memtrace_pass_next"
  external pass_frames : pass -> int -> Location_code.t array -> unit = "caml_memtrace_pass_frames"
  external pass_n_codes : pass -> int = "caml_memtrace_pass_n_codes"
  external pass_code : pass -> int -> Location_code.t = "caml_memtrace_pass_code"
  external pass_places : pass -> int -> Location.t list = "caml_memtrace_pass_places"
  external pass_warnings : pass -> string list = "caml_memtrace_pass_warnings"

  let () = Callback.register_exception "caml_memtrace_parse_error" (Parse_error "")

  (* The codes met by a pass: code → index in the pass. *)
  type codes = { pass : pass; indices : int Location_code.Tbl.t; mutable known : int }

  type t = {
    fd : Unix.file_descr;
    info : Info.t;
    mutable first : pass option; (* has read the head; None once it has been used *)
    mutable codes : codes; (* of the last pass with backtraces *)
    mutable last : pass;
    mutable domain : Domain_id.t; (* of the event last passed to the caller *)
    mutable closed : bool;
  }

  let codes_of pass = { pass; indices = Location_code.Tbl.create 1024; known = 0 }

  let create fd =
    let pass = pass_open fd true in
    { fd; info = pass_info pass; first = Some pass; codes = codes_of pass; last = pass;
      domain = Domain_id.main_domain; closed = false }

  let open_ ~filename =
    let fd = Unix.openfile filename Unix.[ O_RDONLY; O_CLOEXEC ] 0 in
    try create fd
    with error ->
      Unix.close fd;
      raise
        (match error with
         | Unix.Unix_error (why, what, _) -> Unix.Unix_error (why, what, filename)
         | error -> error)

  let info t = t.info
  let domain t = t.domain

  let is_regular t = (Unix.LargeFile.fstat t.fd).st_kind = S_REG

  (* Begins at the start of the file. The first pass continues after the head; a pipe has only
     that one. *)
  let begin_pass t ~backtraces =
    if t.closed then invalid_arg "Memtrace.Trace.Reader: it is closed";
    let pass =
      match t.first with
      | Some first when backtraces || not (is_regular t) -> first
      | None when not (is_regular t) -> invalid_arg "Memtrace.Trace.Reader: a pipe is read once"
      | _ -> pass_open t.fd backtraces
    in
    t.first <- None;
    t.last <- pass;
    if backtraces && t.codes.pass != pass then t.codes <- codes_of pass;
    pass

  let cursor () =
    { kind = 0; time = 0; id = 0; on_domain = 0; heap = Minor; words = 0; samples = 0;
      n_frames = 0; n_common = 0 }

  (* Returns the buffer with the current backtrace of a domain. Frames shared with the next
     backtrace stay in place. *)
  let buffer buffers { on_domain; n_frames; _ } =
    let old = Option.value (Domain_id.Tbl.find_opt buffers on_domain) ~default:[||] in
    if Array.length old >= n_frames then old
    else begin
      let grown = Array.make (max 64 (max n_frames (2 * Array.length old))) 0 in
      Array.blit old 0 grown 0 (Array.length old);
      Domain_id.Tbl.replace buffers on_domain grown;
      grown
    end

  (* [n_common] is relative to the domain's own previous backtrace. A caller may not know of
     domains, so it is 0 if another domain's allocation came between. *)
  let alloc pass buffers latest c =
    let backtrace_buffer = buffer buffers c in
    pass_frames pass c.n_common backtrace_buffer;
    let common_prefix = if !latest = c.on_domain then c.n_common else 0 in
    latest := c.on_domain;
    Event.Alloc
      { obj_id = c.id; length = c.words; nsamples = c.samples; source = c.heap; backtrace_buffer;
        backtrace_length = c.n_frames; common_prefix }

  let event pass buffers latest c ~backtraces =
    if not backtraces then c.n_frames <- 0;
    match c.kind with
    | 0 -> alloc pass buffers latest c
    | 1 -> Event.Promote c.id
    | _ -> Collect c.id

  let iter t ?(parse_backtraces = true) f =
    let pass = begin_pass t ~backtraces:parse_backtraces in
    let cursor = cursor () and buffers = Domain_id.Tbl.create 4 in
    let latest = ref Domain_id.main_domain in
    while pass_next pass cursor do
      let event = event pass buffers latest cursor ~backtraces:parse_backtraces in
      t.domain <- cursor.on_domain;
      f cursor.time event
    done

  (* Adds the codes that the pass has met since the last call. *)
  let catch_up codes =
    for index = codes.known to pass_n_codes codes.pass - 1 do
      Location_code.Tbl.replace codes.indices (pass_code codes.pass index) index
    done;
    codes.known <- pass_n_codes codes.pass

  let lookup_location_code t code =
    catch_up t.codes;
    match Location_code.Tbl.find_opt t.codes.indices code with
    | Some index -> pass_places t.codes.pass index
    | None -> invalid_arg "Memtrace.Trace.Reader.lookup_location_code"

  let warnings t = pass_warnings t.last

  let size_bytes t = if is_regular t then (Unix.LargeFile.fstat t.fd).st_size else 0L

  let close t =
    if not t.closed then begin
      t.closed <- true;
      pass_close t.codes.pass;
      pass_close t.last;
      Unix.close t.fd
    end
end

module Writer = struct
  exception Pid_changed

  (* The writer's streams, of all domains. *)
  type raw

  type alloc = {
    time : Timestamp.t;
    on_domain : Domain_id.t;
    heap : Allocation_source.t;
    words : int;
    samples : int;
    frames : Location_code.t array; (* innermost first *)
    id : Obj_id.t; (* or [any_id] *)
  }

  let any_id = -1 (* the writer chooses *)

  (* Callbacks that the writer calls while it writes. *)
  type questions = { places : Location_code.t -> Location.t list; is_other_process : unit -> bool }

  type change = { at : Timestamp.t; by : Domain_id.t; block : Obj_id.t; is_promotion : bool }

  external raw_create : Unix.file_descr -> Info.t -> bool -> questions -> raw = "caml_memtrace_raw_create"
  external raw_alloc : raw -> questions -> alloc -> Obj_id.t = "caml_memtrace_raw_alloc"
  external raw_change : raw -> questions -> change -> unit = "caml_memtrace_raw_change"
  external raw_flush : raw -> questions -> unit = "caml_memtrace_raw_flush"
  external raw_close : raw -> questions -> unit = "caml_memtrace_raw_close"

  type t = {
    raw : raw;
    fd : Unix.file_descr;
    domain : Domain_id.t;
    has_domains : bool; (* version 3; in version 2, ids are numbered from 0 *)
    questions : questions; (* with no places *)
    mutable chosen_ids : bool option; (* whether ids come with the events; None: no events yet *)
    mutable closed : bool;
  }

  let () = Callback.register_exception "caml_memtrace_pid_changed" Pid_changed

  let create fd ?getpid ?domain (info : Info.t) =
    if not (info.sample_rate > 0. && info.sample_rate <= 1.) then
      invalid_arg "Memtrace.Trace.Writer.create: sample_rate";
    let pid () = match getpid with Some f -> f () | None -> info.pid in
    let questions =
      { places = (fun _ -> []); is_other_process = (fun () -> not (Int64.equal (pid ()) info.pid)) } in
    let has_domains = Option.is_some domain in
    { raw = raw_create fd info has_domains questions; fd; has_domains; questions;
      domain = Option.value domain ~default:Domain_id.main_domain; chosen_ids = None;
      closed = false }

  let domain t = t.domain

  let set_chosen_ids t chosen =
    match t.chosen_ids with
    | None -> t.chosen_ids <- Some chosen
    | Some before ->
      if before <> chosen then
        invalid_arg "Memtrace.Trace.Writer: ids come either with all events or with none"

  let write_alloc t places alloc =
    if t.has_domains then set_chosen_ids t (alloc.id <> any_id);
    raw_alloc t.raw { t.questions with places } alloc

  let put_alloc t time ~length ~nsamples ~source ~callstack ~decode_callstack_entry =
    write_alloc t decode_callstack_entry
      { time; on_domain = t.domain; heap = source; words = length; samples = nsamples;
        frames = callstack; id = any_id }

  (* A raw backtrace is an array of entries, which are integers; their types are only abstract. *)
  external entries : Printexc.raw_backtrace -> Location_code.t array = "%identity"
  external of_entries : Location_code.t array -> Printexc.raw_backtrace = "%identity"

  (* Returns the outermost place first, followed by the functions that were inlined into it. *)
  let rec places_of_slot inner slot =
    let converted = Printexc.convert_raw_backtrace_slot slot in
    let places =
      match Printexc.Slot.location converted with
      | None -> inner
      | Some { filename; line_number = line; start_char; end_char; _ } ->
        let defname = Option.value (Printexc.Slot.name converted) ~default:"??" in
        { Location.filename; line; start_char; end_char; defname } :: inner
    in
    match Printexc.get_raw_backtrace_next_slot slot with
    | None -> places
    | Some next -> places_of_slot places next

  let places_here code =
    places_of_slot [] (Printexc.get_raw_backtrace_slot (of_entries [| code |]) 0)

  let put_alloc_with_raw_backtrace t time ~length ~nsamples ~source ~callstack =
    put_alloc t time ~length ~nsamples ~source ~callstack:(entries callstack)
      ~decode_callstack_entry:places_here

  let put_change t at by block is_promotion =
    raw_change t.raw t.questions { at; by; block; is_promotion }

  let put_promote t time id = put_change t time t.domain id true
  let put_collect t time id = put_change t time t.domain id false

  let domain_of_event t = function
    | None -> t.domain
    | Some domain ->
      if not (t.has_domains || domain = t.domain) then
        invalid_arg
          "Memtrace.Trace.Writer.put_event: another domain, which takes a writer that was created \
           with one";
      domain

  let put_event t ?domain ~decode_callstack_entry time event =
    let domain = domain_of_event t domain in
    match event with
    | Event.Promote id -> put_change t time domain id true
    | Collect id -> put_change t time domain id false
    | Alloc { obj_id; length; nsamples; source; backtrace_buffer; backtrace_length; _ } ->
      let frame i = backtrace_buffer.(backtrace_length - 1 - i) in
      let alloc =
        { time; on_domain = domain; heap = source; words = length; samples = nsamples;
          frames = Array.init backtrace_length frame; id = obj_id } in
      ignore (write_alloc t decode_callstack_entry alloc : Obj_id.t)

  let flush t = raw_flush t.raw t.questions

  let close t =
    if not t.closed then begin
      t.closed <- true;
      Fun.protect (fun () -> raw_close t.raw t.questions) ~finally:(fun () -> Unix.close t.fd)
    end
end
