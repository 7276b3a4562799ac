(* unusual WHAT: what a program may do that a recorder could break. *)

let work n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let rec endless n = 1 + endless (n + 1) + List.length (Sys.opaque_identity [ n ])

let overflow () =
  for _ = 1 to 3 do
    try print_int (endless 0) with Stack_overflow -> print_endline "overflow"
  done

let threads () =
  work 20;
  let worker i = Thread.create work (1000 * i) in
  List.iter Thread.join (List.init 5 (fun i -> worker (i + 1)));
  Thread.join (Thread.create (fun () -> work 10; Thread.exit ()) ())

let wait pid =
  match Unix.waitpid [] pid with
  | _, Unix.WEXITED n -> Printf.printf "exited %d\n%!" n
  | _ -> print_endline "killed"

let fork leave =
  work 1000;
  match Unix.fork () with
  | 0 -> work 500; leave 7
  | pid -> wait pid; work 10

let signals () =
  let count = ref 0 in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> incr count; work 10));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.001; it_value = 0.001 });
  while !count < 20 do work 10 done;
  print_endline "signals"

exception Stop

let raising_handler () =
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> raise Stop));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0.01 });
  (try while true do work 10 done with Stop -> print_endline "stopped");
  work 100

let finalisers () =
  let count = ref 0 in
  for _ = 1 to 100 do
    Gc.finalise (fun _ -> incr count) (Sys.opaque_identity (ref 0))
  done;
  let weak = Weak.create 10 in
  for i = 0 to 9 do Weak.set weak i (Some (Sys.opaque_identity (ref i))) done;
  Gc.full_major ();
  Gc.compact ();
  Printf.printf "%d %b\n" !count (Weak.check weak 3)

let () =
  if Sys.argv.(1) = "idle" then at_exit (fun () -> Unix.sleepf 0.05); (* the last of all *)
  at_exit (fun () -> print_endline "at exit");
  match Sys.argv.(1) with
  | "overflow" -> overflow ()
  | "threads" -> threads ()
  | "fork" -> fork exit
  | "fork-_exit" -> fork Unix._exit
  | "exec" -> work 1000; Unix.execve "/bin/echo" [| "echo"; "other" |] [||]
  | "_exit" -> work 1000; Unix._exit 3
  | "exit" -> work 1000; exit 3
  | "idle" -> work 1000
  | "uncaught" -> work 1000; failwith "uncaught"
  | "kill" -> work 100_000; Unix.sleepf 1.2; work 1000; Unix.kill (Unix.getpid ()) Sys.sigkill
  | "signals" -> signals ()
  | "raise" -> raising_handler ()
  | "finalisers" -> finalisers ()
  | what -> prerr_endline what; exit 9
