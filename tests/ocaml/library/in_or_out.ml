(* Whole files; OCaml 4.13 has no In_channel. *)
let read_file name =
  let channel = open_in_bin name in
  Fun.protect
    (fun () -> really_input_string channel (in_channel_length channel))
    ~finally:(fun () -> close_in channel)

let write_file name text =
  let channel = open_out_bin name in
  output_string channel text;
  close_out channel
