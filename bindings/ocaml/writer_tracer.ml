(* A writer can be used by one caller at a time, but samples come at any time: in another thread
   or domain, or during a write, which calls functions of the program. So events are queued, and
   whoever finds the writer free writes what is in the queue. *)
open Trace

(* A sampled block; its id is set when it is written. *)
type block = { mutable id : Obj_id.t option }

type event =
  | Alloc of block * Allocation_source.t * Gc.Memprof.allocation
  | External of block * int * int * Printexc.raw_backtrace (* words, samples *)
  | Promote of block
  | Collect of block
  | Close

type t = {
  writer : Writer.t;
  report_exn : exn -> unit;
  depth : int;
  queue : (Timestamp.t * event) list Atomic.t; (* latest first *)
  busy : bool Atomic.t; (* somebody is writing *)
  over : bool Atomic.t; (* the writer is closed, or has failed *)
  stop_sampling : (unit -> unit) Atomic.t;
  distances : Geometric_sampler.t;
  left : int Atomic.t; (* bytes outside the heap until the next sample *)
}

let current : t option Atomic.t = Atomic.make None
let active () = Atomic.get current

(* ---- writing ----------------------------------------------------------------------------- *)

let put_alloc t time block source ~length ~nsamples callstack =
  block.id <-
    Some (Writer.put_alloc_with_raw_backtrace t.writer time ~length ~nsamples ~source ~callstack)

let write t (time, event) =
  if not (Atomic.get t.over) then
    match event with
    | Alloc (block, source, { size; n_samples; callstack; _ }) ->
      put_alloc t time block source ~length:size ~nsamples:n_samples callstack
    | External (block, length, nsamples, stack) ->
      put_alloc t time block External ~length ~nsamples stack
    | Promote { id } -> Option.iter (Writer.put_promote t.writer time) id
    | Collect { id } -> Option.iter (Writer.put_collect t.writer time) id
    | Close -> Atomic.set t.over true; Writer.close t.writer

let fail t error =
  Atomic.set t.over true;
  t.report_exn error

let rec write_all t =
  if Atomic.get t.queue <> [] && Atomic.compare_and_set t.busy false true then begin
    Fun.protect ~finally:(fun () -> Atomic.set t.busy false) (fun () ->
        try List.iter (write t) (List.rev (Atomic.exchange t.queue [])) with error -> fail t error);
    write_all t
  end

let rec enqueue t event =
  let before = Atomic.get t.queue in
  if not (Atomic.compare_and_set t.queue before (event :: before)) then enqueue t event

let put t event =
  if not (Atomic.get t.over) then begin
    enqueue t (Timestamp.now (), event);
    write_all t
  end

(* ---- sampling ---------------------------------------------------------------------------- *)

let tracker t =
  let alloc heap (sample : Gc.Memprof.allocation) =
    let block = { id = None } and nobodys = Tracer.is_nobodys sample in
    if not nobodys then put t (Alloc (block, heap, sample));
    if nobodys || Atomic.get t.over then None else Some block
  in
  let collect block = put t (Collect block) in
  { Gc.Memprof.alloc_minor = alloc Minor; alloc_major = alloc Major;
    promote = (fun block -> put t (Promote block); Some block);
    dealloc_minor = collect; dealloc_major = collect }

let word = Sys.word_size / 8
let distance sampler = word * min (Geometric_sampler.draw sampler) (max_int / word / 4)

let stop_sampling t = Atomic.exchange t.stop_sampling ignore ()

let stop t =
  Tracer.quietly stop_sampling t;
  (match active () with
   | Some now as it when now == t -> ignore (Atomic.compare_and_set current it None : bool)
   | _ -> ());
  put t Close

let start ~depth ~report_exn ~sampling_rate writer =
  let distances =
    Geometric_sampler.make ~rand:(Random.State.make_self_init ()) ~sampling_rate () in
  let t =
    { writer; report_exn; depth; queue = Atomic.make []; busy = Atomic.make false;
      over = Atomic.make false; stop_sampling = Atomic.make ignore; distances;
      left = Atomic.make (distance distances) } in
  Atomic.set t.stop_sampling (Sampling.start ~sampling_rate ~callstack_size:depth (tracker t));
  Atomic.set current (Some t);
  at_exit (fun () -> stop t);
  t

(* ---- memory outside the heap ------------------------------------------------------------- *)

module Tokens = Map.Make (Int)

(* The tokens of all tracers. *)
let tokens : (t * block) Tokens.t Atomic.t = Atomic.make Tokens.empty
let latest = Atomic.make 0

let rec change_tokens change =
  let before = Atomic.get tokens in
  if not (Atomic.compare_and_set tokens before (change before)) then change_tokens change

let rec draw t samples =
  if Atomic.get t.left > 0 then samples
  else begin
    ignore (Atomic.fetch_and_add t.left (distance t.distances) : int);
    draw t (samples + 1)
  end

let record_external t bytes samples =
  let block = { id = None } and token = Atomic.fetch_and_add latest (-1) - 1 in
  let stack = Printexc.get_callstack t.depth in
  change_tokens (Tokens.add token (t, block));
  put t (External (block, (bytes + word - 1) / word, samples, stack));
  Some token

let[@inline never] external_sampled t bytes samples =
  let before = Tracer.is_quiet () in
  Tracer.set_quiet true;
  match record_external t bytes samples with
  | token -> Tracer.set_quiet before; token
  | exception error -> Tracer.set_quiet before; raise error

let external_alloc t ~bytes =
  if Atomic.fetch_and_add t.left (-bytes) > bytes || Atomic.get t.over then None
  else
    match draw t 0 with
    | 0 -> None
    | samples -> external_sampled t bytes samples

let free token =
  match Tokens.find_opt token (Atomic.get tokens) with
  | None -> ()
  | Some (t, block) ->
    change_tokens (Tokens.remove token);
    put t (Collect block)

let external_free token = Tracer.quietly free token
