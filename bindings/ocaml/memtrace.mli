(** Records where a program allocates, into a trace that [allotrace] reads.

    One line in the main module, before anything else happens:

    {[ let () = Memtrace.trace_if_requested () ]}

    and one name in its [dune] file, [(libraries memtrace)]. Then

    {v
    MEMTRACE=prog.ctf ./prog.exe
    allotrace hotspots prog.ctf
    v}

    Without the variable, the call does nothing. With it, a random sample of all allocated words is
    recorded, each with its call stack, when it is promoted and when it is collected. At the default
    rate that costs next to nothing.

    This library has the interface of Jane Street's [memtrace], and its traces can be read by the
    tools for that one, and the other way round. It works in native code and in bytecode, in OCaml
    4.12 to 4.14 and from 5.3 on, whose [Gc.Memprof] it uses: a program can use either this library
    or [Gc.Memprof], not both. *)

(** {1 Tracing on request} *)

val trace_if_requested :
  ?if_started:(unit -> unit) -> ?context:string -> ?sampling_rate:float -> unit -> unit
(** [trace_if_requested ()] starts tracing if the environment variable [MEMTRACE] names a file, and
    does nothing if it is unset or empty, or if this process is being traced already. Tracing goes
    on until the program exits.

    [if_started] is called when tracing has started. [context] is a remark that the trace carries.
    [sampling_rate] is the probability with which each word is sampled; by default it is
    {!default_sampling_rate}.

    To be called once, early, in the main module: what was allocated before is not in the trace. In
    a program that forks to become a daemon, call it in the child; in one with several domains,
    before the first is spawned: each has the tracing of the one that spawned it.

    The environment has the last word:
    - [MEMTRACE]: the file. [%p] in it becomes the process id and [%%] a percent sign; all else,
      also another percent sign, stands for itself.
    - [MEMTRACE_RATE]: the sampling rate; it goes before [sampling_rate].
    - [MEMTRACE_CONTEXT]: the remark; it goes before [context].
    - [MEMTRACE_DEPTH]: how many frames are kept of a call stack, from the innermost on; by default
      128. Deep stacks are what sampling costs.
    - [MEMTRACE_SEED]: a whole number that makes the choice of samples repeatable. Without it, each
      run draws samples of its own; in OCaml 5 that is so of the domain that starts tracing, while
      the runtime lets each domain that is spawned begin at the same place in every run.
    - [MEMTRACE_PROCESS]: the id of the one process that may be traced; [allotrace run] sets it.

    Programs that this one starts are not traced, as [MEMTRACE] is emptied for them, unless there is
    [%p] in it. The child of a fork is not traced.

    If the program uses [Gc.Memprof] itself, then a line on standard error says so and it goes on
    untraced. If the file cannot be written any longer, say because a disk is full, then the trace ends
    there, and a line says so. In a program that runs with more rights than its user has, the
    variables are ignored.

    @raise Invalid_argument if tracing is requested and the file cannot be written, or something else
    is writing it; if a variable that is used is not what it has to be; or if [sampling_rate] is used,
    and is not above 0 and at most 1. *)

val default_sampling_rate : float
(** 1e-6: of a million words, one. *)

(** {1 Tracing by hand} *)

type tracer
(** A trace in the making. *)

val start_tracing : context:string option -> sampling_rate:float -> filename:string -> tracer
(** Starts tracing to a file, whatever the environment says; that has a say in the depth and the
    seed alone. Without [MEMTRACE_DEPTH], 3800 frames are kept of a call stack. There can be one tracer
    at a time. Threads, domains and forks are as above.

    @raise Invalid_argument if the file cannot be written, or something else is writing it; if the
    rate is not above 0 and at most 1; or if one of these variables is not what it has to be.
    @raise Failure if this process is being traced already, or uses [Gc.Memprof] itself. *)

val stop_tracing : tracer -> unit
(** Stops tracing, and closes the file: the trace is whole then. Does nothing if that has happened,
    as it does by itself when the program exits. *)

val currently_tracing : unit -> bool
(** Is this process being traced? *)

(** {1 Memory outside of the heap} *)

(** For libraries that hold memory which the garbage collector does not know of, and want it to be
    in the trace. *)
module External : sig
  type token [@@immediate]
  (** A sampled block. *)

  val alloc : bytes:int -> token option
  (** To be called after that many bytes have been allocated. If this is [Some token], then {!free}
      has to be called when they are freed. When there is no tracing, and mostly when there is, it
      is [None], at the price of a few machine instructions.

      @raise Invalid_argument if [bytes] is negative. *)

  val free : token -> unit
end

(** {1 Traces} *)

module Trace = Trace

(** {1 Tracing through a writer} *)

(** For programs that make the {!Trace.Writer} themselves. It costs more than {!start_tracing}. *)
module Memprof_tracer : sig
  type t
  (** The same as {!tracer}. *)

  val start : ?report_exn:(exn -> unit) -> sampling_rate:float -> Trace.Writer.t -> t
  (** Starts tracing through a writer, which must have the same rate in its head, and is not to be used
      otherwise until {!stop}. When writing fails, the trace ends and [report_exn] is called, once, in
      the middle of the program; by default it prints a line on standard error, for all but
      {!Trace.Writer.Pid_changed}.

      @raise Failure as {!start_tracing} does.
      @raise Invalid_argument if the rate is not from 0 to 1. *)

  val stop : t -> unit
  (** As {!stop_tracing}; closes the writer. *)

  val active_tracer : unit -> t option
  (** By which this process is being traced, however that began. *)

  type ext_token [@@immediate]

  val ext_alloc : bytes:int -> ext_token option
  (** As {!External.alloc}. *)

  val ext_free : ext_token -> unit
end

module Geometric_sampler = Geometric_sampler
