(** Reading and writing traces: sequences of sampled allocations, promotions and collections. *)

exception Parse_error of string
(** The bytes are not a trace. *)

(** Points in time. *)
module Timestamp : sig
  type t

  val of_int64 : int64 -> t
  (** Converts from microseconds since the Unix epoch. *)

  val to_int64 : t -> int64
  val of_float : float -> t
  (** Converts from seconds since the Unix epoch. *)

  val to_float : t -> float
  val now : unit -> t
end

(** Times since the start of a trace. *)
module Timedelta : sig
  type t

  val to_int64 : t -> int64
  (** In microseconds. *)

  val offset : Timestamp.t -> t -> Timestamp.t
  (** [offset start t] is the point in time [t] after [start]. *)
end

(** Places in the source code. *)
module Location : sig
  type t = {
    filename : string;
    line : int;  (** 0 if unknown *)
    start_char : int;  (** in that line, from 0 *)
    end_char : int;  (** also counted from the start of that line *)
    defname : string;  (** the function, as the compiler names it: [Module.function] *)
  }
  (** In a file, lines are at most 1048575, start characters at most 255, and end characters at
      most 1023. *)

  val to_string : t -> string
  (** [defname@filename:line:start_char-end_char] *)

  val unknown : t
end

(** Codes that stand for the frames of a call stack; {!Reader.lookup_location_code} returns their
    places. *)
module Location_code : sig
  type t = private int

  module Tbl : Hashtbl.SeededS with type key = t
end

(** Ids of sampled blocks, unique within a trace. *)
module Obj_id : sig
  type t = private int

  val of_int : int -> t

  module Tbl : Hashtbl.SeededS with type key = t
end

(** Domains of OCaml 5. In traces of OCaml 4 there is one, number 0; in traces of native
    programs, each thread is one. *)
module Domain_id : sig
  type t = private int

  val main_domain : t
  val of_int : int -> t
  (** @raise Invalid_argument if the number is not from 0 to 65535. *)

  module Tbl : Hashtbl.SeededS with type key = t
end

module Allocation_source : sig
  (** Where a block was allocated: in the minor heap, in the major heap, or outside the heap. *)
  type t = Minor | Major | External

  val to_string : t -> string
end

module Event : sig
  type t =
    | Alloc of {
        obj_id : Obj_id.t;
        length : int;  (** in words, without the header *)
        nsamples : int;  (** how many of its words were sampled *)
        source : Allocation_source.t;
        backtrace_buffer : Location_code.t array;
            (** Its first [backtrace_length] elements are the frames, outermost first. The other
                elements are undefined, and all are once the next event is read. *)
        backtrace_length : int;
        common_prefix : int;
            (** At least this many of the first frames are the same as in the previous
                allocation. *)
      }
    | Promote of Obj_id.t  (** from the minor to the major heap *)
    | Collect of Obj_id.t

  val to_string : ?domain:Domain_id.t -> (Location_code.t -> Location.t list) -> t -> string
  (** Formats an event like [allotrace dump], without the time, and without the domain unless it
      is given. *)
end

(** The head of a trace. *)
module Info : sig
  type t = {
    sample_rate : float;  (** probability with which each word was sampled *)
    word_size : int;  (** in bits *)
    executable_name : string;
    host_name : string;
    ocaml_runtime_params : string;
    pid : int64;
    start_time : Timestamp.t;
    context : string option;
  }
end

(** Reads traces that are plain or compressed by gzip or zstd. A damaged trace is read as far as
    possible; {!Reader.warnings} returns what was found. A reader belongs to one thread at a
    time. *)
module Reader : sig
  type t

  val open_ : filename:string -> t
  (** Opens a file.

      @raise Unix.Unix_error if the file cannot be read.
      @raise Parse_error if it is not a trace. *)

  val create : Unix.file_descr -> t
  (** Like {!open_}, for an open descriptor, which {!close} closes. A pipe can be read as well,
      but only once. *)

  val info : t -> Info.t

  val iter : t -> ?parse_backtraces:bool -> (Timedelta.t -> Event.t -> unit) -> unit
  (** Calls the function for each event from the start of the trace, in the order of the file.
      That is the order of time within a domain, but not across domains. With
      [parse_backtraces:false], all backtraces are empty, and reading is faster. Can be called
      again.

      @raise Invalid_argument if the reader is closed. *)

  val domain : t -> Domain_id.t
  (** Returns the domain of the event that {!iter} passed last. *)

  val lookup_location_code : t -> Location_code.t -> Location.t list
  (** Returns the place of a frame: several places, outermost first, if functions were inlined;
      none if the trace does not tell. If the trace tells the type of object that a frame
      allocates, the first place has the file name [<type>], and the type as its [defname]. Can
      be called while and after events are read with their backtraces.

      @raise Invalid_argument if no event had this code yet. *)

  val warnings : t -> string list
  (** Returns the kinds of damage that the last {!iter} found, each as a line that says how often
      and where. *)

  val size_bytes : t -> int64
  (** Returns the size of the file; 0 for a pipe. *)

  val close : t -> unit
end

(** Writes traces. A writer belongs to one thread at a time: a call raises [Invalid_argument]
    while another thread is inside the writer, or a function that the writer called. *)
module Writer : sig
  type t

  exception Pid_changed
  (** The process is not the one that the trace is of, since it was forked. *)

  val create :
    Unix.file_descr -> ?getpid:(unit -> int64) -> ?domain:Domain_id.t -> Info.t -> t
  (** Starts a trace in an open file, which {!close} closes. Without [domain], the trace is of
      version 2, which memtrace 0.2.3 can read: all events are those of {!Domain_id.main_domain},
      and blocks are numbered from 0. With [domain], which is the default domain of events, it is
      of version 3, which can hold events of several domains.

      Whenever something is written to the file, [getpid] is called to check that the process is
      that of the {!Info.t}. By default nothing is checked; a program that forks should pass a
      function that calls {!Unix.getpid}.

      @raise Unix.Unix_error here and in the functions below, if the file cannot be written.
      @raise Pid_changed likewise, if the process is another one.
      @raise Invalid_argument if the sampling rate is not above 0 and at most 1. *)

  val domain : t -> Domain_id.t

  (** Time does not go back within a domain: an event earlier than the one before it gets the
      same time. *)

  val put_alloc :
    t -> Timestamp.t -> length:int -> nsamples:int -> source:Allocation_source.t ->
    callstack:Location_code.t array ->
    decode_callstack_entry:(Location_code.t -> Location.t list) -> Obj_id.t
  (** Writes an allocation and returns the new block's id. [callstack] begins with the frame that
      allocates. [decode_callstack_entry] is called for each frame before it is first written;
      its exceptions are passed on. If a frame has more than 255 places, or a name above 4095
      bytes, it becomes {!Location.unknown}.

      @raise Invalid_argument if there are more samples than the block has words, including its
      header. *)

  val put_alloc_with_raw_backtrace :
    t -> Timestamp.t -> length:int -> nsamples:int -> source:Allocation_source.t ->
    callstack:Printexc.raw_backtrace -> Obj_id.t
  (** Like {!put_alloc}, with a call stack of this program. *)

  val put_promote : t -> Timestamp.t -> Obj_id.t -> unit
  val put_collect : t -> Timestamp.t -> Obj_id.t -> unit
  (** @raise Invalid_argument in a trace of version 2, if no block with that id was written. *)

  val put_event :
    t -> ?domain:Domain_id.t -> decode_callstack_entry:(Location_code.t -> Location.t list) ->
    Timestamp.t -> Event.t -> unit
  (** Writes an event as it was read, with its id, in [domain], by default the writer's. In a
      trace of version 3, either the writer chooses all ids, or all come with events.

      @raise Invalid_argument if the trace has ids of the other kind; in a trace of version 2,
      also if an allocation's id does not follow that of the previous allocation, or the domain
      is another one. *)

  val flush : t -> unit
  (** Writes what is buffered to the file. *)

  val close : t -> unit
end
