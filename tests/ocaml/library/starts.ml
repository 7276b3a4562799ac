(* starts once PROGRAM: starts that program, without arguments. *)
let work n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let () =
  match Sys.argv with
  | [| _; "once"; program |] ->
    work 2;
    let pid = Unix.create_process program [| program |] Unix.stdin Unix.stdout Unix.stderr in
    ignore (Unix.waitpid [] pid)
  | _ -> work 1
