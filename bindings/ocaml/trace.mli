(** Reading and writing traces: sequences of sampled allocations, promotions and collections. *)

exception Parse_error of string
(** These bytes are no trace. *)

(** Points in time. *)
module Timestamp : sig
  type t

  val of_int64 : int64 -> t
  (** From microseconds since the Unix epoch. *)

  val to_int64 : t -> int64
  val of_float : float -> t
  (** From seconds since the Unix epoch. *)

  val to_float : t -> float
  val now : unit -> t
end

(** Times since the start of a trace. *)
module Timedelta : sig
  type t

  val to_int64 : t -> int64
  (** In microseconds. *)

  val offset : Timestamp.t -> t -> Timestamp.t
  (** [offset start t] is the point in time at [t] after [start]. *)
end

(** Places in the source. *)
module Location : sig
  type t = {
    filename : string;
    line : int;  (** 0 if it is unknown *)
    start_char : int;  (** in that line, from 0 *)
    end_char : int;  (** counted from the start of that line, too *)
    defname : string;  (** the function, as the compiler calls it, [Module.function] *)
  }
  (** In a file, lines are at most 1048575, and characters at most 255 and 1023. *)

  val to_string : t -> string
  (** [defname@filename:line:start_char-end_char] *)

  val unknown : t
end

(** What stands for the frames of a call stack; {!Reader.lookup_location_code} says where these
    are. *)
module Location_code : sig
  type t = private int

  module Tbl : Hashtbl.SeededS with type key = t
end

(** Identify sampled blocks: each has its own in the whole of a trace. *)
module Obj_id : sig
  type t = private int

  val of_int : int -> t

  module Tbl : Hashtbl.SeededS with type key = t
end

(** OCaml 5's domains. In traces of OCaml 4 there is one, number 0; in those of native programs, each
    thread is one. *)
module Domain_id : sig
  type t = private int

  val main_domain : t
  val of_int : int -> t
  (** @raise Invalid_argument if it is not from 0 to 65535. *)

  module Tbl : Hashtbl.SeededS with type key = t
end

module Allocation_source : sig
  (** Where a block was allocated: in the minor or the major heap, or outside of the heap. *)
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
            (** In its first [backtrace_length] elements are the frames, from the outermost to that
                which allocates. The rest is meaningless, and so is all of it once the next event
                is read. *)
        backtrace_length : int;
        common_prefix : int;
            (** That many of the first frames are those of the allocation before, at least. *)
      }
    | Promote of Obj_id.t  (** from the minor to the major heap *)
    | Collect of Obj_id.t

  val to_string : ?domain:Domain_id.t -> (Location_code.t -> Location.t list) -> t -> string
  (** As [allotrace dump] has it, without the time; an allocation without the domain, unless that is
      given. *)
end

(** What a trace says of itself. *)
module Info : sig
  type t = {
    sample_rate : float;  (** the probability with which each word was sampled *)
    word_size : int;  (** in bits *)
    executable_name : string;
    host_name : string;
    ocaml_runtime_params : string;
    pid : int64;
    start_time : Timestamp.t;
    context : string option;
  }
end

(** Reads plain traces and those compressed by gzip or zstd. A damaged trace is read as far as it
    goes: {!Reader.warnings} says what was met. A reader belongs to one thread at a time. *)
module Reader : sig
  type t

  val open_ : filename:string -> t
  (** @raise Unix.Unix_error if the file cannot be read.
      @raise Parse_error if it is no trace. *)

  val create : Unix.file_descr -> t
  (** The same from an open file, which {!close} closes. A pipe can be read as well, but only
      once. *)

  val info : t -> Info.t

  val iter : t -> ?parse_backtraces:bool -> (Timedelta.t -> Event.t -> unit) -> unit
  (** Calls the function for each event, from the start of the trace, in the order of the file: that
      of time within a domain, but not across domains. Without [parse_backtraces], which is [true]
      by default, all backtraces are empty, and reading is faster. Can be called again.

      @raise Invalid_argument if the reader is closed. *)

  val domain : t -> Domain_id.t
  (** In which the event happened that {!iter} handed over last. *)

  val lookup_location_code : t -> Location_code.t -> Location.t list
  (** Where a frame is; several places, from the outermost on, where functions were inlined, and
      none if the trace does not say. If the trace says what type of object a frame allocates, then
      the first place has the file name [<type>], and the type as its [defname]. Can be asked while
      and after events are read with their backtraces.

      @raise Invalid_argument if no event had this code yet. *)

  val warnings : t -> string list
  (** The kinds of damage that the last {!iter} met, each in a line with how often and where. *)

  val size_bytes : t -> int64
  (** Of the file; 0 if it is a pipe. *)

  val close : t -> unit
end

(** Writes traces. A writer belongs to one thread at a time: what is called while another thread, or
    the function that it was given, is inside of it raises [Invalid_argument]. *)
module Writer : sig
  type t

  exception Pid_changed
  (** The process is not the one that the trace is of: a fork lies between. *)

  val create :
    Unix.file_descr -> ?getpid:(unit -> int64) -> ?domain:Domain_id.t -> Info.t -> t
  (** Starts a trace in an open file, which {!close} closes. Without [domain] it is of version 2,
      which memtrace 0.2.3 reads as well: all events are those of {!Domain_id.main_domain}, and
      blocks are numbered from 0 on. With [domain], whose events they are by default, it is of
      version 3, which can hold those of several.

      Each time that something goes to the file, [getpid] is asked whether the process is that of
      the {!Info.t}. By default nothing is asked: a program that forks should give a function that
      calls {!Unix.getpid}.

      @raise Unix.Unix_error here and in all that follows, if the file cannot be written.
      @raise Pid_changed likewise, if the process is another one.
      @raise Invalid_argument if the sampling rate is not above 0 and at most 1. *)

  val domain : t -> Domain_id.t

  (** In a domain, time does not go back: an event that is earlier than the one before gets the same
      time. *)

  val put_alloc :
    t -> Timestamp.t -> length:int -> nsamples:int -> source:Allocation_source.t ->
    callstack:Location_code.t array ->
    decode_callstack_entry:(Location_code.t -> Location.t list) -> Obj_id.t
  (** Writes an allocation, and gives the block its id. [callstack] begins with the frame that
      allocates. [decode_callstack_entry] is asked where a frame is before it is first written; what
      it raises, this raises. More than 255 places for a frame, or a name above 4095 bytes, become
      {!Location.unknown}.

      @raise Invalid_argument if the block does not have that many words, of which one is its
      header. *)

  val put_alloc_with_raw_backtrace :
    t -> Timestamp.t -> length:int -> nsamples:int -> source:Allocation_source.t ->
    callstack:Printexc.raw_backtrace -> Obj_id.t
  (** The same with a call stack of this program. *)

  val put_promote : t -> Timestamp.t -> Obj_id.t -> unit
  val put_collect : t -> Timestamp.t -> Obj_id.t -> unit
  (** @raise Invalid_argument in a trace of version 2, if no block with that id was written. *)

  val put_event :
    t -> ?domain:Domain_id.t -> decode_callstack_entry:(Location_code.t -> Location.t list) ->
    Timestamp.t -> Event.t -> unit
  (** Writes an event as it was read, with its id; in [domain], by default the writer's. A trace of
      version 3 has either ids that the writer gives, or only such as come with events.

      @raise Invalid_argument if it has the other kind; and, in a trace of version 2, if an
      allocation's id does not follow on that of the allocation before, or the domain is another
      one. *)

  val flush : t -> unit
  (** Writes what is buffered to the file. *)

  val close : t -> unit
end
