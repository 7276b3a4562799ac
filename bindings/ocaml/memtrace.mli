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

    This library has the interface of Jane Street's [memtrace], and the tools of each can read the
    traces of the other. It works in native code and in bytecode, in OCaml 4.12 to 4.14 and from
    5.3 on, whose [Gc.Memprof] it uses: a program can use either this library or [Gc.Memprof], not
    both. *)

(** {1 Tracing on request} *)

val trace_if_requested :
  ?if_started:(unit -> unit) -> ?context:string -> ?sampling_rate:float -> unit -> unit
(** [trace_if_requested ()] starts tracing if the environment variable [MEMTRACE] names a file.
    It does nothing if the variable is unset or empty, or if this process is being traced
    already. Tracing goes on until the program exits.

    [if_started] is called when tracing has started. [context] is a remark that is stored in the
    trace. [sampling_rate] is the probability with which each word is sampled; the default is
    {!default_sampling_rate}.

    Call it once, early, in the main module: what was allocated before is not in the trace. A
    program that forks to become a daemon should call it in the child. A program with several
    domains should call it before it spawns the first one, since a domain inherits tracing from
    the one that spawned it.

    The environment takes precedence:

    - [MEMTRACE]: the file. [%p] becomes the process id and [%%] a percent sign; anything else,
      including any other percent sign, is used as it is.
    - [MEMTRACE_RATE]: the sampling rate; overrides [sampling_rate].
    - [MEMTRACE_CONTEXT]: the remark; overrides [context].
    - [MEMTRACE_DEPTH]: how many frames are kept of a call stack, counted from the innermost; the
      default is 128. Deep stacks are what makes sampling expensive.
    - [MEMTRACE_SEED]: an integer that makes the choice of samples repeatable. Without it, each run
      draws different samples. In OCaml 5 that is true only of the domain that starts tracing: the
      runtime starts each spawned domain in the same state in every run.
    - [MEMTRACE_PROCESS]: the id of the one process that may be traced; [allotrace run] sets it.

    Programs that this one starts are not traced, since [MEMTRACE] is emptied for them, unless it
    contains [%p]. The child of a fork is not traced.

    If the program uses [Gc.Memprof] itself, a line on standard error says so, and the program
    runs untraced. If the file can no longer be written, say because the disk is full, the trace
    ends, and a line says so. In a program with more rights than its user has, the variables are
    ignored.

    @raise Invalid_argument if tracing is requested and the file cannot be written, or something
    else is writing it; if a variable that is used is invalid; or if [sampling_rate] is used and
    is not above 0 and at most 1. *)

val default_sampling_rate : float
(** 1e-6: one word in a million. *)

(** {1 Tracing by hand} *)

type tracer
(** A trace that is being written. *)

val start_tracing : context:string option -> sampling_rate:float -> filename:string -> tracer
(** Starts tracing to a file, regardless of the environment, except for [MEMTRACE_DEPTH] and
    [MEMTRACE_SEED]. Without [MEMTRACE_DEPTH], 3800 frames are kept of a call stack. There can be
    one tracer at a time. Threads, domains and forks are treated as in {!trace_if_requested}.

    @raise Invalid_argument if the file cannot be written, or something else is writing it; if
    the rate is not above 0 and at most 1; or if one of these variables is invalid.
    @raise Failure if this process is being traced already, or uses [Gc.Memprof] itself. *)

val stop_tracing : tracer -> unit
(** Stops tracing and closes the file, which then holds a complete trace. Does nothing if tracing
    has stopped already, as it does when the program exits. *)

val currently_tracing : unit -> bool
(** Whether this process is being traced. *)

(** {1 Memory outside the heap} *)

(** For libraries that hold memory which the garbage collector does not manage, and want it to be
    in the trace. *)
module External : sig
  type token [@@immediate]
  (** A sampled block. *)

  val alloc : bytes:int -> token option
  (** To be called after allocating that many bytes. If the result is [Some token], then {!free}
      must be called when they are freed. The result is [None] if there is no tracing, and mostly
      also if there is; that costs a few machine instructions.

      @raise Invalid_argument if [bytes] is negative. *)

  val free : token -> unit
end

(** {1 Traces} *)

module Trace = Trace

(** {1 Tracing through a writer} *)

(** For programs that make the {!Trace.Writer} themselves. This costs more than {!start_tracing}. *)
module Memprof_tracer : sig
  type t
  (** The type {!tracer}. *)

  val start : ?report_exn:(exn -> unit) -> sampling_rate:float -> Trace.Writer.t -> t
  (** Starts tracing through a writer. The writer's head must have the same rate, and the writer
      must not be used otherwise until {!stop}. When writing fails, the trace ends and
      [report_exn] is called, once, at any point of the program; by default it prints a line on
      standard error, except for {!Trace.Writer.Pid_changed}.

      @raise Failure as {!start_tracing} does.
      @raise Invalid_argument if the rate is not from 0 to 1. *)

  val stop : t -> unit
  (** Like {!stop_tracing}; also closes the writer. *)

  val active_tracer : unit -> t option
  (** The tracer of this process, however it was started. *)

  type ext_token [@@immediate]

  val ext_alloc : bytes:int -> ext_token option
  (** Like {!External.alloc}. *)

  val ext_free : ext_token -> unit
end

module Geometric_sampler = Geometric_sampler
