(* The same work, sampled by the program itself; prints each sample as a line. *)

let depth = 128
let samples = ref []

let note kind info =
  samples := (kind, info) :: !samples;
  None

let place slot =
  let open Printexc in
  let name = match Slot.name slot with Some n -> n | None -> "?" in
  match Slot.location slot with
  | Some l -> Some (Printf.sprintf "%s@%s:%d:%d-%d" name l.filename l.line_number l.start_char l.end_char)
  | None -> None

let print (kind, (info : Gc.Memprof.allocation)) =
  let kind = if info.source = Gc.Memprof.Custom then "alloc_ext" else kind in
  let slots = Option.value ~default:[||] (Printexc.backtrace_slots info.callstack) in
  let places = List.filter_map place (Array.to_list slots) in
  Printf.printf "%s %d %d %s\n" kind info.size info.n_samples (String.concat " " (List.rev places))

let () =
  Gc.Memprof.start ~sampling_rate:1.0 ~callstack_size:depth
    { Gc.Memprof.null_tracker with
      alloc_minor = note "alloc"; alloc_major = note "alloc_major" };
  (* In OCaml 4.11, the first major block after the start has one sample less than it should. *)
  ignore (Sys.opaque_identity (Array.make 300 0));
  Work.run ();
  Gc.Memprof.stop ();
  List.iter print (List.rev !samples)
