(* written FROM TO: a program as it is written for memtrace 0.2.3, whose traces have no domains: it
   keeps its own account of the stacks, from what it is told to be common to them, and copies. In
   the order of the file, an end may come before its allocation, which is another domain's. A copy
   without domains has only what version 2 can say. *)
open Memtrace.Trace

let live = Obj_id.Tbl.create 10
let ended = Obj_id.Tbl.create 10
let stack = ref [||]
let stacks = ref 0

let see (_ : Timedelta.t) : Event.t -> unit = function
  | Alloc { obj_id; length; nsamples; source; backtrace_buffer; backtrace_length; common_prefix } ->
    assert (source <> External || nsamples >= 0);
    let fresh = Array.sub backtrace_buffer common_prefix (backtrace_length - common_prefix) in
    stack := Array.append (Array.sub !stack 0 common_prefix) fresh;
    if !stack <> Array.sub backtrace_buffer 0 backtrace_length then incr stacks;
    if not (Obj_id.Tbl.mem ended obj_id) then Obj_id.Tbl.add live obj_id length
  | Promote id -> assert (Obj_id.Tbl.mem live id || not (Obj_id.Tbl.mem ended id))
  | Collect id ->
    Obj_id.Tbl.add ended id ();
    Obj_id.Tbl.remove live id

let copy reader filename =
  let fd = Unix.openfile filename Unix.[ O_WRONLY; O_CREAT; O_TRUNC ] 0o600 in
  let info = Reader.info reader in
  let writer = Writer.create fd ~getpid:(fun () -> info.pid) info in
  Reader.iter reader (fun time event ->
      Writer.put_event writer ~decode_callstack_entry:(Reader.lookup_location_code reader)
        (Timedelta.offset info.start_time time) event);
  Writer.close writer

let () =
  let reader = Reader.open_ ~filename:Sys.argv.(1) in
  Reader.iter reader see;
  (try copy reader Sys.argv.(2) with Invalid_argument _ -> print_string "not copied, ");
  Printf.printf "%d live, %d wrong stacks\n" (Obj_id.Tbl.length live) !stacks;
  Reader.close reader
