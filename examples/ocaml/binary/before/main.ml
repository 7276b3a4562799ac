(* main FILE: says how high a walk goes. *)
let () = Memtrace.trace_if_requested ()

let read_file name =
  let channel = open_in_bin name in
  let bytes = Bytes.create (in_channel_length channel) in
  really_input channel bytes 0 (Bytes.length bytes);
  close_in channel;
  bytes

let () =
  let track = Binary.parse (read_file Sys.argv.(1)) in
  let highest = Array.fold_left (fun most p -> max most p.Binary.height) 0 track.points in
  Printf.printf "%s: %d points, up to %d m\n" track.name (Array.length track.points) highest
