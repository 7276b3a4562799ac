(* Fibers that allocate, are suspended, resumed in another order, and discontinued. *)
open Effect
open Effect.Deep

type _ Effect.t += Yield : unit Effect.t

exception Enough

let made = ref 0

let work n =
  made := !made + n;
  for _ = 1 to n do
    ignore (Sys.opaque_identity (Array.make 13 0))
  done

let waiting : (unit, unit) continuation Queue.t = Queue.create ()

let fiber steps () =
  for _ = 1 to steps do
    work 10;
    perform Yield
  done

let start run =
  match_with run ()
    { retc = ignore;
      exnc = (function Enough -> work 1 | e -> raise e);
      effc = fun (type a) (e : a Effect.t) ->
        match e with
        | Yield -> Some (fun (k : (a, unit) continuation) -> Queue.push k waiting)
        | _ -> None }

let rec go_on steps =
  if steps > 0 && not (Queue.is_empty waiting) then begin
    continue (Queue.pop waiting) ();
    go_on (steps - 1)
  end

let () =
  List.iter (fun i -> start (fiber (100 * i))) [1; 2; 3];
  go_on 300;
  start (fun () -> start (fiber 5); fiber 5 ());
  go_on 10;
  Queue.iter (fun k -> discontinue k Enough) waiting;
  Printf.printf "%d blocks\n" !made
