(* Every function of the library, but for what takes several processes. Prints TAP; works in an empty
   folder. *)
open Memtrace.Trace

let number = ref 0

let test name f =
  incr number;
  match f () with
  | () -> Printf.printf "ok %d - %s\n%!" !number name
  | exception error ->
    Printf.printf "not ok %d - %s\n# %s\n%!" !number name (Printexc.to_string error)

let check what condition = if not condition then failwith what

let same what print got want =
  if got <> want then failwith (Printf.sprintf "%s: got %s, expected %s" what (print got) (print want))

let same_int what = same what string_of_int
let same_text what = same what (Printf.sprintf "%S")

let raises what wanted f =
  match f () with
  | exception error when wanted error -> ()
  | exception error -> failwith (what ^ ": it raised " ^ Printexc.to_string error)
  | _ -> failwith (what ^ ": it raised nothing")

let is_invalid = function Invalid_argument _ -> true | _ -> false

(* ---- tracing ----------------------------------------------------------------------------- *)

let[@inline never] work size count =
  for _ = 1 to count do
    ignore (Sys.opaque_identity (Array.make size 0))
  done

let trace ?(context = None) ?(sampling_rate = 1.) filename f =
  let tracer = Memtrace.start_tracing ~context ~sampling_rate ~filename in
  Fun.protect f ~finally:(fun () -> Memtrace.stop_tracing tracer)

let with_reader filename f =
  let reader = Reader.open_ ~filename in
  Fun.protect (fun () -> f reader) ~finally:(fun () -> Reader.close reader)

let events filename =
  with_reader filename (fun reader ->
      let all = ref [] in
      Reader.iter reader (fun time event -> all := (time, event) :: !all);
      List.rev !all)

(* How many blocks of that length the trace has. *)
let count filename wanted =
  List.length
    (List.filter
       (function _, Event.Alloc { length; _ } -> length = wanted | _ -> false)
       (events filename))

let starts_and_stops () =
  check "tracing before" (not (Memtrace.currently_tracing ()));
  let tracer = Memtrace.start_tracing ~context:None ~sampling_rate:1. ~filename:"a.ctf" in
  check "not tracing" (Memtrace.currently_tracing ());
  work 71 100;
  Memtrace.stop_tracing tracer;
  check "tracing after" (not (Memtrace.currently_tracing ()));
  work 71 10;
  Memtrace.stop_tracing tracer;
  same_int "blocks" (count "a.ctf" 71) 100

let starts_again () =
  for i = 1 to 5 do
    trace "again.ctf" (fun () -> work 71 (10 * i));
    same_int "blocks" (count "again.ctf" 71) (10 * i)
  done

let one_at_a_time () =
  trace "a.ctf" (fun () ->
      let again () = Memtrace.start_tracing ~context:None ~sampling_rate:1. ~filename:"b.ctf" in
      raises "a second one" (function Failure _ -> true | _ -> false) again;
      check "a file of the second one" (not (Sys.file_exists "b.ctf"));
      work 71 50);
  same_int "blocks" (count "a.ctf" 71) 50

let refuses_rates () =
  List.iter
    (fun sampling_rate ->
      raises (string_of_float sampling_rate) is_invalid (fun () ->
          trace ~sampling_rate "r.ctf" ignore))
    [ 0.; -1.; 1.5; nan ];
  check "a file" (not (Sys.file_exists "r.ctf"))

let refuses_files () =
  List.iter
    (fun file ->
      raises file is_invalid (fun () -> trace file ignore);
      check "tracing" (not (Memtrace.currently_tracing ())))
    [ "no/a.ctf"; "."; "/dev/full" ]

(* Not tail recursive. *)
let rec deep n = if n = 0 then (work 71 1; 0) else 1 + deep (n - 1)

let alloc_frames filename =
  with_reader filename (fun reader ->
      let all = ref [] in
      Reader.iter reader (fun _ event ->
          match event with
          | Alloc { backtrace_buffer; backtrace_length; length; _ } ->
            let frames = Array.sub backtrace_buffer 0 backtrace_length in
            let places = List.concat_map (Reader.lookup_location_code reader) (Array.to_list frames) in
            all := (length, places) :: !all
          | _ -> ());
      List.rev !all)

let deep_stacks () =
  trace "deep.ctf" (fun () -> ignore (Sys.opaque_identity (deep 10_000) : int));
  match List.assoc_opt 71 (alloc_frames "deep.ctf") with
  | None -> failwith "no block"
  | Some places -> check (string_of_int (List.length places)) (List.length places > 3000)

let is_ours { Location.filename; _ } =
  List.mem (Filename.basename filename) [ "memtrace.ml"; "tracer.ml"; "writer_tracer.ml" ]

let none_is_ours places =
  let whole = String.concat " " (List.map Location.to_string places) in
  List.iter (fun place -> check whole (not (is_ours place))) places

let nothing_of_its_own () =
  trace "own.ctf" (fun () ->
      for _ = 1 to 100 do
        Option.iter Memtrace.External.free (Memtrace.External.alloc ~bytes:80)
      done);
  let allocs = alloc_frames "own.ctf" in
  check "no events" (List.length allocs >= 100);
  List.iter
    (fun (length, places) -> if length <> 10 then none_is_ours places)
    allocs

let head () =
  trace ~context:(Some "a remark") ~sampling_rate:0.25 "head.ctf" ignore;
  with_reader "head.ctf" (fun reader ->
      let info = Reader.info reader in
      check "rate" (info.sample_rate = 0.25);
      same_int "word size" info.word_size Sys.word_size;
      same_text "executable" info.executable_name Sys.executable_name;
      same_text "host" info.host_name (Unix.gethostname ());
      same_text "parameters" info.ocaml_runtime_params (Sys.runtime_parameters ());
      check "process" (info.pid = Int64.of_int (Unix.getpid ()));
      check "context" (info.context = Some "a remark");
      check "time" (abs_float (Timestamp.to_float info.start_time -. Unix.gettimeofday ()) < 600.));
  trace "head.ctf" ignore;
  with_reader "head.ctf" (fun reader -> check "no context" ((Reader.info reader).context = None))

let memprof_is_taken () =
  let sampled = ref 0 in
  let tracker =
    { Gc.Memprof.null_tracker with alloc_major = (fun _ -> incr sampled; None) } in
  ignore (Gc.Memprof.start ~sampling_rate:1. tracker);
  raises "taken" (function Failure _ -> true | _ -> false) (fun () -> trace "a.ctf" ignore);
  check "tracing" (not (Memtrace.currently_tracing ()));
  work 1000 5;
  Gc.Memprof.stop ();
  check "the program's own sampling" (!sampled >= 5)

(* ---- memory outside of the heap ---------------------------------------------------------- *)

let calls = ref 0

(* No tail call, which would leave no frame. *)
let[@inline never] external_work bytes =
  let token = Memtrace.External.alloc ~bytes in
  incr calls;
  token

let external_exactly () =
  check "a token without tracing" (Memtrace.External.alloc ~bytes:1_000_000 = None);
  trace "ext.ctf" (fun () ->
      let tokens = List.init 10 (fun i -> external_work (80 * (i + 1))) in
      check "not all sampled" (List.for_all Option.is_some tokens);
      List.iteri (fun i token -> if i < 4 then Option.iter Memtrace.External.free token) tokens;
      check "nothing" (Memtrace.External.alloc ~bytes:0 = None);
      raises "negative" is_invalid (fun () -> ignore (Memtrace.External.alloc ~bytes:(-1))));
  let lengths = ref [] and collected = ref 0 in
  let ids = Obj_id.Tbl.create 10 in
  with_reader "ext.ctf" (fun reader ->
      Reader.iter reader (fun _ event ->
          match event with
          | Alloc { source = External; length; nsamples; obj_id; backtrace_buffer; backtrace_length; _ } ->
            lengths := length :: !lengths;
            same_int "samples" nsamples length;
            Obj_id.Tbl.add ids obj_id ();
            let innermost = backtrace_buffer.(backtrace_length - 1) in
            let places = Reader.lookup_location_code reader innermost in
            let place = List.nth places (List.length places - 1) in
            check ("frame " ^ Location.to_string place)
              (Filename.basename place.filename = "api.ml")
          | Collect id -> if Obj_id.Tbl.mem ids id then incr collected
          | _ -> ()));
  check "lengths" (List.rev !lengths = List.init 10 (fun i -> 10 * (i + 1)));
  same_int "collected" !collected 4

let external_sampled () =
  let tokens = ref 0 in
  trace ~sampling_rate:0.01 "ext.ctf" (fun () ->
      for _ = 1 to 100_000 do
        if Memtrace.External.alloc ~bytes:24 <> None then incr tokens
      done);
  let samples =
    List.fold_left
      (fun n -> function
        | _, Event.Alloc { source = External; nsamples; _ } -> n + nsamples
        | _ -> n)
      0 (events "ext.ctf") in
  (* 300 000 words: 3000 samples, and six standard deviations of that. *)
  check (Printf.sprintf "%d samples" samples) (abs (samples - 3000) < 330);
  check (Printf.sprintf "%d tokens" !tokens) (!tokens <= samples && !tokens > 2600)

module _ : sig
  type t [@@immediate]
end = struct
  type t = Memtrace.External.token
end

(* The collector runs in the middle of [alloc], which allocates, and so do finalisers: in native code
   of OCaml 4. Memprof tells nothing of those that run in the middle of its own callbacks. *)
let finalisers_within () =
  let finaliser (_ : int ref) = work 73 1 in
  let sampled () = Option.iter Memtrace.External.free (Memtrace.External.alloc ~bytes:80) in
  trace "final.ctf" (fun () ->
      for i = 1 to 100_000 do
        if i mod 100 = 0 then Gc.finalise finaliser (Sys.opaque_identity (ref i));
        sampled ()
      done;
      Gc.full_major ());
  let within = List.exists (fun l -> l.Location.defname = "Memtrace__Tracer.external_alloc") in
  let blocks = List.filter (fun (length, _) -> length = 73) (alloc_frames "final.ctf") in
  check "none within" (Sys.backend_type <> Native || Sys.ocaml_version.[0] <> '4' || List.exists (fun (_, places) -> within places) blocks)

let late_token () =
  let token = ref None in
  trace "a.ctf" (fun () -> token := external_work 800);
  trace "b.ctf" (fun () -> Option.iter Memtrace.External.free !token);
  Option.iter Memtrace.External.free !token;
  check "sampled" (!token <> None);
  check "a collection of nothing"
    (List.for_all (function _, Event.Collect _ -> false | _ -> true) (events "b.ctf"))

(* ---- writing and reading ----------------------------------------------------------------- *)

let start = Timestamp.of_float 1.5e9
let at us = Timestamp.of_int64 (Int64.add (Timestamp.to_int64 start) (Int64.of_int us))

let info : Info.t =
  { sample_rate = 0.5; word_size = 64; executable_name = "prog.exe"; host_name = "somewhere";
    ocaml_runtime_params = "v=0"; pid = Int64.of_int (Unix.getpid ()); start_time = start;
    context = Some "context" }

let opened filename = Unix.openfile filename Unix.[ O_WRONLY; O_CREAT; O_TRUNC; O_CLOEXEC ] 0o600
let create ?getpid ?domain filename = Writer.create (opened filename) ?getpid ?domain info

(* Codes are private integers; traces are where they come from. *)
let codes : int list -> Location_code.t array = fun codes -> Obj.magic (Array.of_list codes)

let place ?(file = "f.ml") line : Location.t =
  { filename = file; line; start_char = 1; end_char = 20; defname = "F.f" ^ string_of_int line }

let decode (code : Location_code.t) =
  match (code :> int) with
  | 3 -> []
  | 4 -> [ place 40; place 41; place ~file:"g.ml" 42 ]
  | n -> [ place n ]

let put writer us length callstack =
  Writer.put_alloc writer (at us) ~length ~nsamples:1 ~source:Minor ~callstack:(codes callstack)
    ~decode_callstack_entry:decode

let shown reader =
  let lines = ref [] in
  Reader.iter reader (fun time event ->
      let text = Event.to_string (Reader.lookup_location_code reader) event in
      lines := Printf.sprintf "%Ld %s" (Timedelta.to_int64 time) text :: !lines);
  List.rev !lines

let last_domain reader =
  Reader.iter reader (fun _ _ -> ());
  Reader.domain reader

let same_lines got want = same "events" (String.concat "\n") got want

let written_events () =
  let writer = create "w.ctf" in
  let a = put writer 10 5 [ 1; 2 ] in
  let b = put writer 20 500 [ 4; 3; 2 ] in
  Writer.put_promote writer (at 30) a;
  Writer.put_collect writer (at 40) b;
  Writer.flush writer;
  let c =
    Writer.put_alloc writer (at 50) ~length:7 ~nsamples:8 ~source:External ~callstack:(codes [])
      ~decode_callstack_entry:decode in
  Writer.close writer;
  Writer.close writer;
  let id (o : Obj_id.t) = (o :> int) in
  check "ids" (List.length (List.sort_uniq compare [ id a; id b; id c ]) = 3);
  with_reader "w.ctf" (fun reader ->
      check "head" (Reader.info reader = info);
      same_lines (shown reader)
        [ Printf.sprintf "10 %010d alloc 1 len=5    0: F.f2@f.ml:2:1-20 F.f1@f.ml:1:1-20" (id a);
          Printf.sprintf
            "20 %010d alloc 1 len=500    1: F.f2@f.ml:2:1-20 $3 F.f40@f.ml:40:1-20 \
             F.f41@f.ml:41:1-20 F.f42@g.ml:42:1-20"
            (id b);
          Printf.sprintf "30 %010d promote" (id a);
          Printf.sprintf "40 %010d collect" (id b);
          Printf.sprintf "50 %010d alloc_ext 8 len=7    0:" (id c) ];
      check "size" (Reader.size_bytes reader = Unix.LargeFile.((stat "w.ctf").st_size));
      same_int "warnings" (List.length (Reader.warnings reader)) 0)

let copied_events () =
  let domain = Domain_id.of_int 7 in
  let writer = create ~domain "from.ctf" in
  check "domain" (Writer.domain writer = domain);
  for i = 1 to 20_000 do
    let id = put writer i (i mod 40) [ i mod 17; i mod 5; i mod 3; 100 ] in
    if i mod 2 = 0 then Writer.put_collect writer (at i) id
  done;
  Writer.close writer;
  let copy = create ~domain:Domain_id.main_domain "to.ctf" in
  with_reader "from.ctf" (fun reader ->
      Reader.iter reader (fun time event ->
          same_int "domain" (Reader.domain reader :> int) 7;
          Writer.put_event copy ~domain:(Reader.domain reader) (Timedelta.offset start time) event
            ~decode_callstack_entry:(Reader.lookup_location_code reader));
      raises "an id of its own" is_invalid (fun () -> put copy 30_000 1 [ 1 ]));
  Writer.close copy;
  same_lines (with_reader "to.ctf" shown) (with_reader "from.ctf" shown);
  same_int "its domain" (with_reader "to.ctf" last_domain :> int) 7

let u16 bytes at = Char.code bytes.[at] lor (Char.code bytes.[at + 1] lsl 8)
let version filename = u16 (In_or_out.read_file filename) 28

let versions () =
  let close_at_once writer = Writer.close writer in
  close_at_once (create "two.ctf");
  close_at_once (create ~domain:Domain_id.main_domain "three.ctf");
  same_int "without a domain" (version "two.ctf") 2;
  same_int "with one" (version "three.ctf") 3

(* As memtrace 0.2.3 does it, whose reader counts blocks. *)
let version_2_numbers_blocks () =
  let writer = create "w2.ctf" in
  let alloc_as id : Event.t =
    Alloc { obj_id = Obj_id.of_int id; length = 1; nsamples = 1; source = Minor;
            backtrace_buffer = codes [ 1 ]; backtrace_length = 1; common_prefix = 0 } in
  let put_event ?domain id event =
    Writer.put_event writer ?domain ~decode_callstack_entry:decode (at id) event in
  same_int "first" (put writer 1 1 [ 1 ] :> int) 0;
  put_event 2 (alloc_as 1);
  List.iter
    (fun (what, event) -> raises what is_invalid (fun () -> put_event 3 event))
    [ ("a gap", alloc_as 3); ("again", alloc_as 1); ("a promotion", Promote (Obj_id.of_int 2));
      ("a collection", Collect (Obj_id.of_int 2)) ];
  raises "a domain" is_invalid (fun () -> put_event ~domain:(Domain_id.of_int 1) 3 (alloc_as 2));
  put_event 3 ~domain:Domain_id.main_domain (alloc_as 2);
  put_event 4 (Collect (Obj_id.of_int 2));
  Writer.close writer;
  same_lines (with_reader "w2.ctf" shown)
    (List.init 3 (fun i ->
         Printf.sprintf "%d %010d alloc 1 len=1    %d: F.f1@f.ml:1:1-20" (i + 1) i (min i 1))
     @ [ "4 0000000002 collect" ])

let own_backtraces () =
  let writer = create "own.ctf" in
  let callstack = Printexc.get_callstack 10 in
  ignore
    (Writer.put_alloc_with_raw_backtrace writer (at 1) ~length:1 ~nsamples:1 ~source:Major ~callstack
      : Obj_id.t);
  Writer.close writer;
  match with_reader "own.ctf" shown with
  | [ line ] -> check line (Option.is_some (String.index_opt line '@'))
  | _ -> failwith "not one event"

exception Odd

let what_decoding_raises () =
  let writer = create "odd.ctf" in
  let odd f =
    Writer.put_alloc writer (at 1) ~length:1 ~nsamples:1 ~source:Minor ~callstack:(codes [ 1 ])
      ~decode_callstack_entry:f in
  raises "its own" (( = ) Odd) (fun () -> odd (fun _ -> raise Odd));
  ignore (put writer 2 1 [ 2 ] : Obj_id.t);
  let inner = ref false in
  let inside _ = (try Writer.flush writer with Invalid_argument _ -> inner := true); [] in
  ignore (Writer.put_alloc writer (at 3) ~length:1 ~nsamples:1 ~source:Minor
            ~callstack:(codes [ 9 ]) ~decode_callstack_entry:inside : Obj_id.t);
  check "used within" !inner;
  raises "samples" is_invalid (fun () ->
      Writer.put_alloc writer (at 4) ~length:1 ~nsamples:3 ~source:Minor ~callstack:(codes [])
        ~decode_callstack_entry:decode);
  Writer.close writer;
  raises "closed" is_invalid (fun () -> put writer 5 1 []);
  same_int "events" (List.length (events "odd.ctf")) 3

let another_process () =
  let pid = ref info.pid in
  let writer = create ~getpid:(fun () -> !pid) "pid.ctf" in
  ignore (put writer 1 1 [ 1 ] : Obj_id.t);
  Writer.flush writer;
  ignore (put writer 2 1 [ 1 ] : Obj_id.t);
  pid := 1L;
  raises "other" (( = ) Writer.Pid_changed) (fun () -> Writer.flush writer);
  raises "other still" (( = ) Writer.Pid_changed) (fun () -> Writer.close writer);
  same_int "events" (List.length (events "pid.ctf")) 1

let no_process_is_asked_for () =
  let writer = Writer.create (opened "pid.ctf") { info with pid = 42L } in
  ignore (put writer 1 1 [ 1 ] : Obj_id.t);
  Writer.close writer;
  check "process" (with_reader "pid.ctf" (fun reader -> (Reader.info reader).pid) = 42L)

let places_that_are_too_large () =
  let writer = create "large.ctf" in
  let long = { (place 1) with filename = String.make 5000 'f' } in
  let places code = if (code : Location_code.t :> int) = 1 then [ place 1; long ]
    else List.init 256 place in
  ignore
    (Writer.put_alloc writer (at 1) ~length:1 ~nsamples:1 ~source:Minor ~callstack:(codes [ 1; 2 ])
       ~decode_callstack_entry:places : Obj_id.t);
  Writer.close writer;
  check "not unknown" (alloc_frames "large.ctf" = [ (1, [ Location.unknown; Location.unknown ]) ])

let full_disk () =
  let fd = Unix.openfile "/dev/full" [ Unix.O_WRONLY ] 0 in
  let is_full = function Unix.Unix_error (Unix.ENOSPC, _, _) -> true | _ -> false in
  raises "full" is_full (fun () -> Writer.create fd info);
  Unix.close fd

let forgotten_writer () =
  ignore (Sys.opaque_identity (put (create "forgotten.ctf") 1 1 [ 1 ]) : Obj_id.t);
  Gc.full_major ();
  same_int "events" (List.length (events "forgotten.ctf")) 0

(* ---- tracing through a writer ------------------------------------------------------------ *)

module Direct = Memtrace.Memprof_tracer

let whole = { info with sample_rate = 1. }

let through_a_writer () =
  let kept = ref [] in
  let tracer = Direct.start ~sampling_rate:1. (Writer.create (opened "direct.ctf") whole) in
  check "active" (Memtrace.currently_tracing () && Direct.active_tracer () <> None);
  work 71 1000;
  kept := List.init 100 (fun _ -> Array.make 81 0);
  Gc.full_major ();
  let tokens = List.init 10 (fun i -> external_work (8 * (i + 1000))) in
  check "tokens" (List.for_all Option.is_some tokens);
  List.iteri (fun i token -> if i < 4 then Option.iter Memtrace.External.free token) tokens;
  Direct.stop tracer;
  check "still active" (not (Memtrace.currently_tracing ()));
  work 71 10;
  Direct.stop tracer;
  List.iter (Option.iter Memtrace.External.free) tokens;
  check "kept" (List.length !kept = 100);
  let lengths = Obj_id.Tbl.create 1000 and promoted = ref 0 and gone = Hashtbl.create 10 in
  List.iter
    (function
      | _, Event.Alloc { obj_id; length; source; _ } ->
        Obj_id.Tbl.add lengths obj_id (if source = External then length + 10_000 else length)
      | _, Promote id -> if Obj_id.Tbl.find lengths id = 81 then incr promoted
      | _, Collect id -> Hashtbl.add gone (Obj_id.Tbl.find lengths id) ())
    (events "direct.ctf");
  let gone_of length = List.length (Hashtbl.find_all gone length) in
  same_int "blocks" (count "direct.ctf" 71) 1000;
  same_int "collected" (gone_of 71) 1000;
  same_int "promoted" !promoted 100;
  same_int "external blocks" (List.length (List.filter (fun i -> count "direct.ctf" (i + 1000) = 1)
                                             (List.init 10 Fun.id))) 10;
  same_int "freed" (List.length (List.filter (fun i -> gone_of (i + 11_000) = 1)
                                   (List.init 10 Fun.id))) 4;
  List.iter
    (fun (length, places) -> if length < 1000 then none_is_ours places)
    (alloc_frames "direct.ctf")

(* The writer asks for the process when it has a packet to write: in the middle of events. *)
let nothing_is_lost_while_it_writes () =
  let within = ref 0 in
  let getpid () =
    if Memtrace.External.alloc ~bytes:(8 * 777) <> None then incr within;
    whole.pid in
  let tracer = Direct.start ~sampling_rate:1. (Writer.create ~getpid (opened "direct.ctf") whole) in
  raises "a second one" (function Failure _ -> true | _ -> false) (fun () -> trace "a.ctf" ignore);
  work 71 20_000;
  Direct.stop tracer;
  check "nothing within" (!within > 0);
  same_int "events within" (count "direct.ctf" 777) !within;
  same_int "blocks" (count "direct.ctf" 71) 20_000

let a_failure_is_reported_once () =
  let reported = ref [] and fd = opened "direct.ctf" in
  let report_exn error = reported := error :: !reported in
  let tracer = Direct.start ~report_exn ~sampling_rate:1. (Writer.create fd whole) in
  let full = Unix.openfile "/dev/full" [ Unix.O_WRONLY ] 0 in
  Unix.dup2 full fd;
  Unix.close full;
  work 71 20_000;
  Direct.stop tracer;
  match !reported with
  | [ Unix.Unix_error (Unix.ENOSPC, "write", _) ] -> ()
  | errors -> failwith (String.concat "; " (List.map Printexc.to_string errors))

let distances () =
  let module G = Memtrace.Geometric_sampler in
  let draws ?rand sampling_rate =
    let sampler = G.make ?rand ~sampling_rate () in
    List.init 100_000 (fun _ -> G.draw sampler) in
  check "each toss" (List.for_all (( = ) 1) (draws 1.));
  check "not repeatable" (draws 0.1 = draws 0.1);
  check "not random" (draws 0.1 <> draws ~rand:(Random.State.make [| 7 |]) 0.1);
  let drawn = draws 0.1 in
  (* Six standard deviations: the mean of as many draws has one of 0.03, the share of ones 0.001. *)
  let mean = float_of_int (List.fold_left ( + ) 0 drawn) /. 1e5 in
  check (string_of_float mean) (abs_float (mean -. 10.) < 0.18);
  let ones = List.length (List.filter (( = ) 1) drawn) in
  check (string_of_int ones) (abs (ones - 10_000) < 600)

(* ---- reading ----------------------------------------------------------------------------- *)

let reads_twice_and_within () =
  with_reader "from.ctf" (fun reader ->
      let n = ref 0 and inner = ref 0 in
      Reader.iter reader (fun _ _ -> incr n);
      Reader.iter reader ~parse_backtraces:false (fun _ event ->
          (match event with
           | Alloc { backtrace_length; common_prefix; _ } ->
             same_int "frames" (backtrace_length + common_prefix) 0
           | _ -> ());
          if !n = 30_000 then Reader.iter reader (fun _ _ -> incr inner);
          decr n);
      same_int "second pass" !n 0;
      same_int "pass within a pass" !inner 30_000;
      (try Reader.iter reader (fun _ _ -> raise Odd) with Odd -> ());
      Reader.iter reader (fun _ _ -> incr n);
      same_int "after an exception" !n 30_000)

let reads_pipes () =
  let from, into = Unix.pipe ~cloexec:true () in
  let bytes = In_or_out.read_file "w.ctf" in
  ignore (Unix.write_substring into bytes 0 (String.length bytes) : int);
  Unix.close into;
  let reader = Reader.create from in
  check "size" (Reader.size_bytes reader = 0L);
  let n = ref 0 in
  Reader.iter reader ~parse_backtraces:false (fun _ _ -> incr n);
  same_int "events" !n 5;
  raises "again" is_invalid (fun () -> Reader.iter reader (fun _ _ -> ()));
  Reader.close reader

let refuses_what_is_no_trace () =
  In_or_out.write_file "text" "no trace at all, but a text that is longer than a packet header is";
  raises "text" (function Parse_error _ -> true | _ -> false) (fun () -> Reader.open_ ~filename:"text");
  raises "nothing" (function Unix.Unix_error (Unix.ENOENT, _, "none.ctf") -> true | _ -> false)
    (fun () -> Reader.open_ ~filename:"none.ctf");
  let reader = Reader.open_ ~filename:"w.ctf" in
  raises "unknown code" is_invalid (fun () -> Reader.lookup_location_code reader (codes [ 99 ]).(0));
  raises "closed within" is_invalid (fun () ->
      Reader.iter reader (fun _ _ -> Reader.close reader; Reader.close reader));
  raises "closed" is_invalid (fun () -> Reader.iter reader (fun _ _ -> ()))

let damage () =
  let bytes = In_or_out.read_file "from.ctf" in
  In_or_out.write_file "cut.ctf" (String.sub bytes 0 (String.length bytes - 10));
  with_reader "cut.ctf" (fun reader ->
      let n = ref 0 in
      Reader.iter reader (fun _ _ -> incr n);
      check (Printf.sprintf "%d events" !n) (!n > 29_000 && !n < 30_000);
      same_int "warnings" (List.length (Reader.warnings reader)) 1)

let small_things () =
  same_text "place" (Location.to_string (place 3)) "F.f3@f.ml:3:1-20";
  same_text "unknown" (Location.to_string Location.unknown) "??@<unknown>:0:0-0";
  check "time" (Timestamp.to_float (Timestamp.of_float 12.5) = 12.5);
  check "now" (abs_float (Timestamp.to_float (Timestamp.now ()) -. Unix.gettimeofday ()) < 600.);
  same_text "sources"
    (String.concat " " (List.map Allocation_source.to_string [ Minor; Major; External ]))
    "minor major external";
  raises "domain" is_invalid (fun () -> Domain_id.of_int 65536);
  same_int "id" (Obj_id.of_int 5 :> int) 5;
  same_int "main" (Domain_id.main_domain :> int) 0;
  let table = Location_code.Tbl.create 3 in
  Location_code.Tbl.add table (codes [ 8 ]).(0) "eight";
  check "table" (Location_code.Tbl.find_opt table (codes [ 8 ]).(0) = Some "eight");
  check "default rate" (Memtrace.default_sampling_rate = 1e-6)

let () =
  test "starts and stops" starts_and_stops;
  test "starts again" starts_again;
  test "there is one tracer at a time" one_at_a_time;
  test "refuses rates" refuses_rates;
  test "refuses files" refuses_files;
  test "stacks that are deep are kept" deep_stacks;
  test "nothing of the library's own is recorded" nothing_of_its_own;
  test "the head says what it should" head;
  test "a program with Memprof keeps it" memprof_is_taken;
  test "external memory, exactly" external_exactly;
  test "external memory, sampled" external_sampled;
  test "what finalisers allocate is recorded" finalisers_within;
  test "tokens of another trace mean nothing" late_token;
  test "what is written is read" written_events;
  test "events can be copied" copied_events;
  test "a writer without a domain writes version 2" versions;
  test "version 2 numbers blocks" version_2_numbers_blocks;
  test "own backtraces" own_backtraces;
  test "what decoding raises" what_decoding_raises;
  test "another process" another_process;
  test "by default no process is asked for" no_process_is_asked_for;
  test "places that are too large are unknown" places_that_are_too_large;
  test "tracing through a writer" through_a_writer;
  test "nothing is lost while the writer works" nothing_is_lost_while_it_writes;
  test "a writer's failure is reported once" a_failure_is_reported_once;
  test "distances between samples" distances;
  test "a full disk" full_disk;
  test "a writer that is not closed" forgotten_writer;
  test "reads twice, and within" reads_twice_and_within;
  test "reads pipes" reads_pipes;
  test "refuses what is no trace, and closed readers" refuses_what_is_no_trace;
  test "reads what is damaged" damage;
  test "small things" small_things;
  Printf.printf "1..%d\n" !number
