(* A stand-in for tracers that are written in OCaml, linked in front of a program: what src/trace/FORMAT.md
   has a tracer do with each sample, done by Memprof's callbacks in OCaml, without any library. It
   writes a trace (version 2) that every reader reads. It is not memtrace 0.2.3, of which no figure
   follows from it. *)

external set_8 : bytes -> int -> int -> unit = "%bytes_unsafe_set"
external set_16 : bytes -> int -> int -> unit = "%caml_bytes_set16u"
external set_32 : bytes -> int -> int32 -> unit = "%caml_bytes_set32u"
external set_64 : bytes -> int -> int64 -> unit = "%caml_bytes_set64u"

let packet_size = 32768
let header_size = 66
let no_bucket = 0xFFFF

type packet = { bytes : bytes; mutable at : int; mutable first : int; mutable last : int;
                mutable id_begin : int; mutable id_end : int }

let packet () = { bytes = Bytes.create packet_size; at = header_size; first = 0; last = 0;
                  id_begin = 0; id_end = 0 }

let put_8 p v = set_8 p.bytes p.at v; p.at <- p.at + 1
let put_16 p v = set_16 p.bytes p.at v; p.at <- p.at + 2
let put_32 p v = set_32 p.bytes p.at (Int32.of_int v); p.at <- p.at + 4
let put_64 p v = set_64 p.bytes p.at v; p.at <- p.at + 8
let put_string p s =
  Bytes.blit_string s 0 p.bytes p.at (String.length s);
  p.at <- p.at + String.length s;
  put_8 p 0

let put_vint p v =
  if v >= 0 && v <= 252 then put_8 p v
  else if v >= 0 && v <= 0xFFFF then (put_8 p 253; put_16 p v)
  else (put_8 p 254; put_32 p v)

let put_event p kind time = put_32 p ((kind lsl 25) lor (time land 0x1FFFFFF))
let now () = int_of_float (Unix.gettimeofday () *. 1e6)

(* ---- packets ----------------------------------------------------------------------------- *)

let file = ref Unix.stdout
let pid = ref 0
let locations = packet ()
let events = packet ()
let next_id = ref 0

let begin_packet p time =
  p.first <- time;
  p.last <- time;
  p.id_begin <- !next_id;
  p.id_end <- !next_id

let write p =
  let size = p.at in
  if size > header_size then begin
    p.at <- 0;
    put_32 p 0xC1FC1FC1;
    put_32 p (size * 8);
    put_64 p (Int64.of_int p.first);
    put_64 p (Int64.of_int p.last);
    put_32 p 0;
    put_16 p 2;
    put_64 p (Int64.of_int !pid);
    put_16 p no_bucket;
    put_16 p 0;
    put_64 p 0L;
    put_64 p (Int64.of_int p.id_begin);
    put_64 p (Int64.of_int p.id_end);
    ignore (Unix.write !file p.bytes 0 size);
    p.at <- header_size
  end

let flush () = write locations; write events

(* Room for an event. *)
let reserve time size =
  if events.at + size > packet_size || time - events.first > 29_000_000 then flush ();
  if events.at = header_size then begin_packet events time;
  events.last <- time

(* ---- places ------------------------------------------------------------------------------ *)

let known = Hashtbl.create 1000

let put_place p slot =
  let at = Printexc.Slot.location slot in
  let line, start, end_, name =
    match at with
    | None -> 0, 0, 0, "?"
    | Some l -> l.line_number, min 255 l.start_char, min 1023 l.end_char, l.filename in
  let word = line lor (start lsl 20) lor (end_ lsl 28) lor (31 lsl 38) lor (31 lsl 43) in
  put_32 p word;
  put_16 p (word lsr 32);
  put_string p name;
  put_string p (Option.value (Printexc.Slot.name slot) ~default:"?")

let announce (entry : Printexc.raw_backtrace_entry) =
  if not (Hashtbl.mem known entry) then begin
    Hashtbl.add known entry ();
    let slots =
      Option.value (Printexc.backtrace_slots_of_raw_entry entry) ~default:[||] in
    if locations.at + 4000 > packet_size then write locations;
    if locations.at = header_size then begin_packet locations events.first;
    put_event locations 1 events.first;
    put_64 locations (Int64.of_int (entry :> int));
    put_8 locations (Array.length slots);
    for i = Array.length slots - 1 downto 0 do put_place locations slots.(i) done
  end

(* ---- backtraces -------------------------------------------------------------------------- *)

let buckets = 16384
let codes = Array.make buckets 0
let dates = Array.make buckets 0
let predictions = Array.make buckets 0
let clock = ref 0
let previous = ref [||] (* innermost first, as they come *)

let rec common old old_n stack n i =
  if i < n && i < old_n
     && (Array.unsafe_get old (old_n - 1 - i) : int) = Array.unsafe_get stack (n - 1 - i)
  then common old old_n stack n (i + 1)
  else i

let bucket code =
  let hash = code * 0x1E3779B97F4A7C15 in
  let a = (hash lsr 49) land (buckets - 1) in
  if Array.unsafe_get codes a = code then a
  else
    let b = (hash lsr 35) land (buckets - 1) in
    if Array.unsafe_get codes b = code || dates.(b) < dates.(a) then b else a

(* From the frame i on, towards the innermost, 0; gives how many codewords there are. *)
let rec put_frames stack i last count =
  if i < 0 then count
  else begin
    let code = Array.unsafe_get stack i in
    let b = bucket code in
    Array.unsafe_set predictions last b;
    incr clock;
    Array.unsafe_set dates b !clock;
    if Array.unsafe_get codes b = code then begin
      let rec follow i last run =
        if i < 0 || run = 255 then (i, last, run)
        else
          let next = Array.unsafe_get predictions last in
          if Array.unsafe_get codes next = Array.unsafe_get stack i then
            follow (i - 1) next (run + 1)
          else (i, last, run) in
      let i, last, run = follow (i - 1) b 0 in
      put_16 events ((b lsl 2) lor min run 2);
      if run >= 2 then put_8 events run;
      put_frames stack i last (count + 1)
    end
    else begin
      Array.unsafe_set codes b code;
      put_16 events ((b lsl 2) lor 3);
      put_64 events (Int64.of_int code);
      announce (Obj.magic code : Printexc.raw_backtrace_entry);
      put_frames stack (i - 1) b (count + 1)
    end
  end

let alloc (sample : Gc.Memprof.allocation) heap =
  let time = now () in
  let stack : int array = Obj.magic (Printexc.raw_backtrace_entries sample.callstack) in
  let n = Array.length stack in
  reserve time (40 + (10 * n));
  let same = common !previous (Array.length !previous) stack n 0 in
  let heap = match sample.source with Custom -> 2 | _ -> heap in
  let is_short = heap = 0 && sample.n_samples = 1 && sample.size <= 16 && n - same < 256 in
  if is_short then put_event events (100 + sample.size) time
  else begin
    put_event events 2 time;
    put_vint events sample.size;
    put_vint events sample.n_samples;
    put_8 events heap
  end;
  put_vint events same;
  let count_at = events.at in
  events.at <- events.at + (if is_short then 1 else 2);
  let count = put_frames stack (n - 1 - same) 0 0 in
  if is_short then set_8 events.bytes count_at count else set_16 events.bytes count_at count;
  previous := stack;
  let id = !next_id in
  incr next_id;
  events.id_end <- !next_id;
  Some id

let change kind id =
  let time = now () in
  reserve time 16;
  put_event events kind time;
  put_vint events (!next_id - 1 - id)

let begin_ filename rate =
  file := Unix.openfile filename Unix.[ O_WRONLY; O_CREAT; O_TRUNC ] 0o666;
  pid := Unix.getpid ();
  let time = now () in
  begin_packet events time;
  put_event events 0 time;
  put_64 events (Int64.bits_of_float rate);
  put_8 events 64;
  put_string events Sys.executable_name;
  put_string events (Unix.gethostname ());
  put_string events "";
  put_64 events (Int64.of_int !pid);
  put_string events "";
  flush ();
  at_exit flush;
  Gc.Memprof.start ~sampling_rate:rate ~callstack_size:128
    { alloc_minor = (fun sample -> alloc sample 0); alloc_major = (fun sample -> alloc sample 1);
      promote = (fun id -> change 3 id; Some id);
      dealloc_minor = (fun id -> change 4 id); dealloc_major = (fun id -> change 4 id) }

let () =
  match Sys.getenv_opt "TRACER_FILE" with
  | None -> ()
  | Some filename -> ignore (begin_ filename (float_of_string (Sys.getenv "TRACER_RATE")))
