(* dump [--full | --plain] FILE: a trace as tests/decode.py prints it, read by Memtrace.Trace. *)
open Memtrace.Trace

let full, plain, filename =
  match Sys.argv with
  | [| _; "--full"; filename |] -> (true, false, filename)
  | [| _; "--plain"; filename |] -> (false, true, filename)
  | _ -> (false, false, Sys.argv.(1))

let reader = Reader.open_ ~filename
let places = Reader.lookup_location_code reader

let frame code =
  match places code with
  | [] -> Printf.sprintf " $%d" (code :> int)
  | places -> String.concat "" (List.map (fun place -> " " ^ Location.to_string place) places)

(* What --in-order prints: the frames that are not common, and how many there are. *)
let changed : Event.t -> string = function
  | Alloc e ->
    let source =
      match e.source with Minor -> "alloc" | Major -> "alloc_major" | External -> "alloc_ext" in
    let frames =
      List.init (e.backtrace_length - e.common_prefix) (fun i ->
          frame e.backtrace_buffer.(e.common_prefix + i)) in
    Printf.sprintf "%010d %s %d len=%d dom=%d depth=%d % 4d:%s" (e.obj_id :> int) source e.nsamples
      e.length (Reader.domain reader :> int) e.backtrace_length e.common_prefix (String.concat "" frames)
  | event -> Event.to_string places event

let line : Event.t -> string = function
  | Alloc e when plain ->
    let source = match e.source with Minor -> "a" | Major -> "A" | External -> "AE" in
    assert (e.backtrace_length = 0);
    Printf.sprintf "%010d %s %d" (e.obj_id :> int) source e.length
  | Promote id when plain -> Printf.sprintf "%010d P" (id :> int)
  | Collect id when plain -> Printf.sprintf "%010d C" (id :> int)
  | event ->
    if full then Event.to_string ~domain:(Reader.domain reader) places event else changed event

let () =
  Reader.iter reader ~parse_backtraces:(not plain) (fun time event ->
      Printf.printf "%010Ld %s\n" (Timedelta.to_int64 time) (line event));
  List.iter (Printf.printf "warning: %s\n") (Reader.warnings reader);
  Reader.close reader
