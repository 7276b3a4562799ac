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
  let is_error wanted = function Unix.Unix_error (error, _, "no/a.ctf") -> error = wanted | _ -> false in
  raises "no folder" (is_error Unix.ENOENT) (fun () -> trace "no/a.ctf" ignore);
  check "tracing" (not (Memtrace.currently_tracing ()))

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

let create ?getpid ?domain filename =
  let fd = Unix.openfile filename Unix.[ O_WRONLY; O_CREAT; O_TRUNC; O_CLOEXEC ] 0o600 in
  Writer.create fd ?getpid ?domain info

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
  let copy = create "to.ctf" in
  with_reader "from.ctf" (fun reader ->
      Reader.iter reader (fun time event ->
          same_int "domain" (Reader.domain reader :> int) 7;
          Writer.put_event copy ~domain:(Reader.domain reader) (Timedelta.offset start time) event
            ~decode_callstack_entry:(Reader.lookup_location_code reader));
      raises "an id of its own" is_invalid (fun () -> put copy 30_000 1 [ 1 ]));
  Writer.close copy;
  same_lines (with_reader "to.ctf" shown) (with_reader "from.ctf" shown);
  same_int "its domain" (with_reader "to.ctf" last_domain :> int) 7

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

let full_disk () =
  let fd = Unix.openfile "/dev/full" [ Unix.O_WRONLY ] 0 in
  let is_full = function Unix.Unix_error (Unix.ENOSPC, _, _) -> true | _ -> false in
  raises "full" is_full (fun () -> Writer.create fd info);
  Unix.close fd

let forgotten_writer () =
  ignore (Sys.opaque_identity (put (create "forgotten.ctf") 1 1 [ 1 ]) : Obj_id.t);
  Gc.full_major ();
  same_int "events" (List.length (events "forgotten.ctf")) 0

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
  test "the head says what it should" head;
  test "a program with Memprof keeps it" memprof_is_taken;
  test "external memory, exactly" external_exactly;
  test "external memory, sampled" external_sampled;
  test "tokens of another trace mean nothing" late_token;
  test "what is written is read" written_events;
  test "events can be copied" copied_events;
  test "own backtraces" own_backtraces;
  test "what decoding raises" what_decoding_raises;
  test "another process" another_process;
  test "a full disk" full_disk;
  test "a writer that is not closed" forgotten_writer;
  test "reads twice, and within" reads_twice_and_within;
  test "reads pipes" reads_pipes;
  test "refuses what is no trace, and closed readers" refuses_what_is_no_trace;
  test "reads what is damaged" damage;
  test "small things" small_things;
  Printf.printf "1..%d\n" !number
