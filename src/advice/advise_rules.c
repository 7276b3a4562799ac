/* advise_rules.c: the table of rules. Upper limits of gains (`most`) that are less than 1 follow
 * from how things grow. If each size is at least twice the one before, all but the last add up to
 * less than the last, and only the last is needed. */
#include "advice/advise_rules.h"

const char *const advise_certainties[] = {
    [ADVISE_GUESS] = "guess", [ADVISE_LIKELY] = "likely", [ADVISE_DEFINITE] = "definite"};

/* Three rules recognize the same reason by different signs. */
#define KEY_COMPARISON_TEXTS                                                                       \
    .title = "a comparison or hash of keys allocates",                                             \
    .why = "A function that compares or hashes keys allocates each time it is called, for "        \
           "instance the pairs that it passes to the polymorphic compare or to Hashtbl.hash. "     \
           "Containers and sorting call it many times per operation.",                             \
    .what_to_do = "Compare field by field with Int.compare, String.compare and so on; hash "       \
                  "fields one by one and combine the hashes. Neither allocates. For sorting, "     \
                  "compute the key once per element."

const advise_rule advise_rules[] = {
    /* ---- OCaml: named by the library's functions ------------------------------------------ */
    {
        .name = "key-comparison",
        .family = ADVISE_OCAML,
        .owner = NAMES(KEY_FUNCTION),
        .shape = ADVISE_BARE,
        .max_words = 8,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        KEY_COMPARISON_TEXTS,
        .evidence = "the function's name, and the small blocks it allocates itself",
    },
    {
        .name = "key-comparison",
        .family = ADVISE_OCAML,
        .owner = NAMES(KEY_HASH),
        .caller = NAMES(COMPARING),
        .shape = ADVISE_BARE,
        .max_words = 8,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        KEY_COMPARISON_TEXTS,
        .evidence = "a Hashtbl calls it to hash a key, and it allocates small blocks itself",
    },
    {
        .name = "key-comparison",
        .family = ADVISE_OCAML,
        .caller = NAMES(COMPARING),
        .shape = ADVISE_BARE | ADVISE_ANONYMOUS,
        .max_words = 8,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        KEY_COMPARISON_TEXTS,
        .evidence = "a sort or a container of the standard library calls it",
    },
    {
        .name = "boxed-bytes",
        .family = ADVISE_OCAML,
        .within = NAMES(READ_INT),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "integers read from bytes are boxed",
        .why = "Bytes.get_int32_be and similar functions return an int32 or int64, which is boxed "
               "(a separate block) unless the compiler sees that the same function consumes it.",
        .what_to_do = "Convert it to int in the same expression (Int32.to_int, Int64.to_int), or "
                      "read with get_uint16_be and get_uint8 and assemble the int; keep 32-bit "
                      "numbers as int (63 bits) or Optint, and box once, where an interface "
                      "requires it. Streaming parsers can return ints, too.",
        .evidence = "the reading function is on the stack",
        .filter = "fn:/Stdlib__([Bb]ytes|[Ss]tring)\\.get_int(32|64)/",
    },
    {
        .name = "boxed-integer",
        .family = ADVISE_OCAML,
        .within = NAMES(BOXED_INT),
        .min_words = 1,
        .max_words = 3,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "int32, int64 or nativeint values are boxed",
        .why = "An int32, int64 or nativeint that is stored, returned, or passed to a function "
               "that is not inlined is boxed: it becomes a separate block.",
        .what_to_do = "Use int where 63 bits suffice, or Optint; keep a chain of operations within "
                      "one function, where the compiler unboxes intermediate values; store many of "
                      "them in a Bigarray or in Bytes, not in records, refs or arrays.",
        .evidence = "a function of Int32, Int64, Nativeint or Random is on the stack",
        .filter = "fn:/Stdlib__([Ii]nt(32|64)|[Nn]ativeint|[Rr]andom)\\./",
    },
    {
        .name = "boxed-float",
        .family = ADVISE_OCAML,
        .within = NAMES(BOXED_FLOAT),
        .max_words = 1,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "floats are boxed",
        .why = "A float that is returned, or stored anywhere except in a float array or an "
               "all-float record, is boxed: it becomes a separate block.",
        .what_to_do =
            "Keep floats in float arrays or all-float records; keep sums in local refs, which the "
            "compiler unboxes; mark small functions that return floats [@inline].",
        .evidence = "a function that returns a float is on the stack",
        .filter = "fn:/Stdlib__([Ff]loat|[Rr]andom)\\.|float_of_string/",
    },
    {
        .name = "formatting",
        .family = ADVISE_OCAML,
        .within = NAMES(FORMATTING),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "Printf or Format interprets a format on every call",
        .why =
            "Printf, Format and Scanf interpret the format on every call and allocate closures and "
            "intermediate values for each conversion; Format.asprintf and sprintf also allocate a "
            "formatter or buffer per call. The formatted text itself is the smaller part.",
        .what_to_do =
            "On hot paths, build text with Buffer.add_string, string_of_int and String.concat; "
            "format only messages that are actually shown (pass the logger a function that formats "
            "on demand); print to one channel or formatter instead of building strings.",
        .evidence = "Printf, Format or Scanf is on the stack",
        .filter = "fn:/CamlinternalFormat|Stdlib__([Pp]rintf|[Ff]ormat|[Ss]canf)/",
    },
    {
        .name = "list-append",
        .family = ADVISE_OCAML,
        .within = NAMES(LIST_APPEND),
        .spreads = true,
        .max_alive = 50, /* what is kept had to be allocated once */
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "lists are copied to append to them",
        .why = "`l @ m` copies all of l, and List.concat all lists but the last. In a loop that "
               "adds to the end of a list, that is quadratic.",
        .what_to_do = "Add to the front and call List.rev once at the end; use List.rev_append "
                      "where order does not matter; put the shorter list on the left; or collect "
                      "in a Queue, a Buffer or a growing array.",
        .evidence = "(@), List.append or List.concat is on the stack",
        .filter = "fn:/Stdlib\\.\\(?@|Stdlib__[Ll]ist\\.(append|concat|flatten)/",
    },
    {
        .name = "string-concat",
        .family = ADVISE_OCAML,
        .within = NAMES(STRING_CONCAT),
        .spreads = true,
        .max_alive = 50, /* what is kept had to be allocated once */
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "strings are copied to append to them",
        .why = "`a ^ b` copies both strings. In a chain or loop, the first parts are copied again "
               "each time.",
        .what_to_do =
            "Add the pieces to a Buffer, or collect them in a list and call String.concat once; or "
            "write directly to the channel or Buffer that receives the result.",
        .evidence = "(^), Bytes.cat or Bytes.extend is on the stack",
        .filter = "fn:/Stdlib\\.\\(?\\^|Stdlib__[Bb]ytes\\.(cat|extend)/",
    },
    {
        .name = "buffer-growth",
        .family = ADVISE_OCAML,
        .within = NAMES(BUFFER_GROWTH),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.5,
        .title = "a Buffer grows repeatedly",
        .why = "A full Buffer is copied into one of twice the size.",
        .what_to_do = "Pass the expected size to Buffer.create, or reuse one Buffer after "
                      "Buffer.clear, which keeps its memory (Buffer.reset does not).",
        .evidence =
            "Buffer.resize is on the stack; all but the last size can be saved, at most half",
        .filter = "fn:/Stdlib__[Bb]uffer\\.resize/",
    },
    {
        .name = "buffer-made",
        .family = ADVISE_OCAML,
        .within = NAMES(BUFFER_MADE),
        .min_young = 50,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a new Buffer is created each time",
        .why = "Buffer.create allocates the buffer's bytes, each time for a short-lived text.",
        .what_to_do =
            "Keep one Buffer, and call Buffer.clear, which keeps its memory, before each use.",
        .evidence = "Buffer.create is on the stack, and most blocks die before promotion",
        .filter = "fn:/Stdlib__[Bb]uffer\\.create/",
    },
    {
        .name = "optional-result",
        .family = ADVISE_OCAML,
        .within = NAMES(LOOKUP),
        .max_words = 1,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a lookup wraps its result in Some",
        .why = "find_opt and similar functions return `Some x`, a block that is usually taken "
               "apart immediately.",
        .what_to_do = "Use `match find … with x -> … | exception Not_found -> …`, or mem where "
                      "only presence matters; neither allocates.",
        .evidence = "a function that ends in _opt is on the stack",
        .filter = "fn:/Stdlib__.*_opt/",
    },
    {
        .name = "hashtbl-growth",
        .family = ADVISE_OCAML,
        .within = NAMES(HASHTBL_GROWTH),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.75,
        .title = "a Hashtbl grows repeatedly",
        .why = "A Hashtbl with more than two elements per bucket moves to a bucket array of twice "
               "the size; the move needs a second temporary array.",
        .what_to_do = "Pass the expected number of elements to Hashtbl.create, or reuse one table "
                      "after Hashtbl.clear, which keeps its array (Hashtbl.reset does not).",
        .evidence = "Hashtbl.resize is on the stack; the last array, a quarter or more, remains",
        .filter = "fn:/Stdlib__[Hh]ashtbl\\..*(resize|insert_all_buckets)/",
    },
    {
        .name = "tree-update",
        .family = ADVISE_OCAML,
        .within = NAMES(TREE_UPDATE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Map or Set copies a path on every change",
        .why = "Adding to or removing from a Map or Set allocates new nodes for the whole path "
               "from the root, about log2 of the number of elements, and more for rebalancing.",
        .what_to_do =
            "If old versions are not needed, use a Hashtbl, a bit set or an array; build known "
            "contents at once with of_list or of_seq; merge in bulk with union instead of adding "
            "one by one. Adding an element that a Set already contains costs nothing.",
        .evidence = "a function of Map.Make or Set.Make is on the stack",
        .filter = "fn:/Stdlib__([Mm]ap|[Ss]et)\\.Make/",
    },
    {
        .name = "ocaml-heap",
        .family = ADVISE_NATIVE,
        .within = NAMES(OCAML_HEAP),
        .certainty = ADVISE_DEFINITE,
        .title = "the OCaml heap grows",
        .why = "When its heap is full, OCaml's runtime takes a large piece of memory from malloc, "
               "whichever part of the program happens to be allocating. This trace does not show "
               "what fills the heap, unless it contains OCaml's blocks.",
        .what_to_do =
            "Record the OCaml heap, which `allotrace run` does automatically and `attach` cannot, "
            "and look at what is live there: allotrace hotspots --measure live.",
        .evidence = "the runtime's functions for this are on the stack",
    },
    {
        .name = "partial-application",
        .family = ADVISE_OCAML,
        .within = NAMES(PARTIAL),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "functions are partially applied",
        .why = "Calling a function with fewer arguments than it takes allocates a closure that "
               "stores them, and one more for each further argument passed separately.",
        .what_to_do = "Pass all arguments at once; write `fun x -> f a x` outside the loop, or "
                      "compute `f a` once before it.",
        .evidence = "caml_curry, the compiler's function for this, is on the stack",
        .filter = "fn:caml_curry",
    },
    {
        .name = "binding-closure",
        .family = ADVISE_OCAML,
        .caller = NAMES(BINDER),
        .shape = ADVISE_BARE,
        .min_words = 3,
        .max_words = 30,
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "each let* or >>= allocates a closure",
        .why = "The code after a `let*`, `>>=` or bind is a function; each time, a closure is "
               "allocated for it with all variables that it uses. In a chain, each step allocates "
               "the closure of the next.",
        .what_to_do = "Use plain `let` for steps that cannot fail or wait; on hot paths, match on "
                      "the result instead of binding it; move code that does not depend on the "
                      "loop into named functions.",
        .evidence = "the function is called by a bind and allocates blocks of 3 words or more",
    },
    {
        .name = "promise",
        .family = ADVISE_OCAML,
        .within = NAMES(PROMISE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "Lwt allocates promises and callbacks",
        .why = "Each Lwt bind or map allocates closures, even on a resolved promise; on a pending "
               "one, also a new promise and a callback.",
        .what_to_do = "Write steps that never wait as plain functions; process batches (one "
                      "promise for many items) in inner loops; check Lwt.state before binding "
                      "where the result is usually already there.",
        .evidence = "Lwt is on the stack",
        .filter = "fn:/^Lwt/",
    },
    {
        .name = "sequence",
        .family = ADVISE_OCAML,
        .within = NAMES(SEQ),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Seq allocates for each element",
        .why = "Each element of a Seq is a node and a closure for the rest, allocated again by "
               "every Seq.map and Seq.filter on the way.",
        .what_to_do = "On hot paths, use the container's own iter or fold, and combine several Seq "
                      "functions into one.",
        .evidence = "Seq is on the stack",
        .filter = "fn:/Stdlib__[Ss]eq\\.|to_seq/",
    },
    {
        .name = "list-pass",
        .family = ADVISE_OCAML,
        .within = NAMES(LIST_PASS),
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "intermediate lists between passes",
        .why = "List.map, List.filter, List.rev, List.sort and similar functions allocate a new "
               "list, three words per element. Most of these die young.",
        .what_to_do = "Combine several passes into one (filter_map, fold_left, iter); use rev_map "
                      "where order does not matter; for frequent sorting, sort an array in place.",
        .evidence = "the List function is on the stack, and most blocks die before promotion",
        .filter = "fn:/Stdlib__[Ll]ist\\./",
    },
    {
        .name = "array-copy",
        .family = ADVISE_OCAML,
        .within = NAMES(ARRAY_COPY),
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "arrays are copied",
        .why = "Array.append, sub, copy, map, of_list and similar functions allocate a new array "
               "each time. Most of these die young.",
        .what_to_do = "Pass the array with bounds instead of Array.sub; reuse one array; use iter "
                      "or fold where only the elements are needed.",
        .evidence = "the Array function is on the stack, and most blocks die before promotion",
        .filter = "fn:/Stdlib__[Aa]rray\\./",
    },
    {
        .name = "string-copy",
        .family = ADVISE_OCAML,
        .within = NAMES(STRING_COPY),
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "strings are cut and copied",
        .why = "String.sub, split_on_char, trim, Bytes.to_string, Buffer.contents and similar "
               "functions copy. Most copies die young.",
        .what_to_do = "Work with positions in the original (index_from, a start and a length); use "
                      "Buffer.output_buffer and add_substring, which make no intermediate copy; "
                      "Bytes.unsafe_to_string is safe if the bytes never change again.",
        .evidence = "the function is on the stack, and most blocks die before promotion",
        .filter = "fn:/Stdlib__([Ss]tring|[Bb]ytes|[Bb]uffer)\\./",
    },
    /* ---- OCaml: by shape ------------------------------------------------------------------ */
    {
        .name = "closure",
        .family = ADVISE_OCAML,
        .shape = ADVISE_BARE | ADVISE_ANONYMOUS | ADVISE_CREATED,
        .min_words = 3,
        .max_words = 30,
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "an anonymous function is allocated each time",
        .why = "A function that uses variables from its surroundings, as in `List.iter (fun x -> … "
               "y …)`, is a closure: a block of 2 or 3 words plus one per variable, allocated each "
               "time its line runs. (OCaml attributes the block to the anonymous function itself.)",
        .what_to_do = "Create it once, outside the loop; pass what it needs as arguments of a "
                      "named function; or write the loop with `for` or `let rec`.",
        .evidence = "an anonymous function without a caller on the stack is being allocated, not "
                    "called; a tail call looks the same",
    },
    {
        .name = "per-element",
        .family = ADVISE_OCAML,
        .caller = NAMES(ITERATOR),
        .shape = ADVISE_BARE | ADVISE_ANONYMOUS,
        .min_words = 3,
        .max_words = 30,
        .min_young = 50,
        .certainty = ADVISE_GUESS,
        .most = 1,
        .title = "allocation for each element",
        .why = "An anonymous function that iter, map or fold calls for each element allocates a "
               "block each time: a nested closure (2 or 3 words plus one per variable), a partial "
               "application (4 or 5 words), or a tuple or record.",
        .what_to_do = "If it is a closure, create it before the iteration, or write the inner loop "
                      "with `for` or `let rec`. If it is an accumulator (a tuple in fold_left), "
                      "use several refs or arguments of a `let rec`.",
        .evidence = "the function's place on the stack and the sizes; the trace does not record "
                    "what the blocks are",
    },
    {
        .name = "small-result",
        .family = ADVISE_OCAML,
        .shape = ADVISE_BARE,
        .min_words = 1,
        .max_words = 1,
        .min_young = 80,
        .certainty = ADVISE_GUESS,
        .most = 1,
        .title = "short-lived options or floats",
        .why = "A one-word block is `Some x`, Ok or Error, a float, or a ref captured by a "
               "closure. These die young: they carry a result to a caller that takes it apart.",
        .what_to_do = "For options: return a sentinel value, raise Not_found (raise_notrace), or "
                      "mark the function [@inline] so that the block is never allocated. For "
                      "floats: use float arrays, all-float records or local refs.",
        .evidence = "only size and lifetime; the trace does not record what the blocks are",
        .filter = "size:1w",
    },
    {
        .name = "small-result",
        .family = ADVISE_OCAML,
        .shape = ADVISE_BARE,
        .min_words = 2,
        .max_words = 2,
        .min_young = 80,
        .certainty = ADVISE_GUESS,
        .most = 1,
        .title = "short-lived pairs, list cells or boxed integers",
        .why = "A two-word block is a pair, a list cell, a record or constructor with two values, "
               "or a boxed int32, int64 or nativeint. These die young.",
        .what_to_do = "For pairs: return one value and pass the other on, or mark the function "
                      "[@inline], so that `let a, b = f x` does not allocate; do not build a key "
                      "for a single lookup. For integers: use int instead of int32 or int64.",
        .evidence = "only size and lifetime; the trace does not record what the blocks are",
        .filter = "size:2w",
    },
    {
        .name = "small-result",
        .family = ADVISE_OCAML,
        .shape = ADVISE_BARE,
        .min_words = 3,
        .max_words = 8,
        .min_young = 80,
        .certainty = ADVISE_GUESS,
        .most = 1,
        .title = "short-lived tuples, records or closures",
        .why = "A block of a few words is a tuple or record, a partial application (4 or 5 words), "
               "or a closure (2 or 3 words plus one per variable that it uses). These die young.",
        .what_to_do =
            "For tuples and records: pass the values as arguments, or mark the function that "
            "returns them [@inline]. For partial applications: pass all arguments at once. For "
            "closures: create them outside the loop, or use `for` and `let rec`.",
        .evidence = "only size and lifetime; the trace does not record what the blocks are",
        .filter = "size:3w..8w",
    },
    {
        .name = "large-block",
        .family = ADVISE_OCAML,
        .min_words = 257,
        .min_blocks = 10,
        .max_alive = 50,
        .max_largest = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "large blocks go straight to the major heap",
        .why = "A block of more than 256 words is not allocated in the minor heap, where "
               "allocation is cheap, but in the major heap, and each one makes the major collector "
               "work. These blocks are short-lived.",
        .what_to_do = "Allocate it once and reuse it: keep one Bytes or array from call to call, "
                      "let the caller pass it in, or take it from a small pool.",
        .evidence = "sizes, and most blocks are freed while the program runs",
        .filter = "size:>256w",
    },
    {
        .name = "promoted-in-vain",
        .family = ADVISE_OCAML,
        .max_words = 256,
        .min_promoted = 50,
        .max_alive = 20,
        .certainty = ADVISE_LIKELY,
        .by_promotion = true,
        .title = "blocks are promoted prematurely",
        .why = "Most of these blocks are still alive when the minor heap is full, so they are "
               "copied to the major heap, but nearly all die while the program runs.",
        .what_to_do = "Try a larger minor heap (OCAMLRUNPARAM=s=4M is 4 million words; the default "
                      "is 256k), which gives them time to die where that costs nothing; or release "
                      "them earlier, by working in smaller portions.",
        .evidence = "promotions and deaths; only a run can tell how large the minor heap must be",
    },
    /* ---- native ---------------------------------------------------------------------------- */
    {
        .name = "vector-growth",
        .family = ADVISE_NATIVE,
        .within = NAMES(VECTOR_GROWTH),
        .min_sizes = 3,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.5,
        .title = "a vector grows repeatedly",
        .why = "A full vector moves its elements to a block of twice the size.",
        .what_to_do = "Call reserve (Rust: Vec::with_capacity) with the expected number of "
                      "elements, or reuse one vector after clear, which keeps its memory.",
        .evidence = "the function that grows vectors is on the stack; all but the last size can be "
                    "saved, at most half",
        .filter =
            "fn:/_M_realloc_(insert|append)|_back_slow_path|raw_vec|Vec<.*>::(push|insert|ext)/",
    },
    {
        .name = "vector-copy",
        .family = ADVISE_NATIVE,
        .within = NAMES(VECTOR_COPY),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a std::vector is copied",
        .why = "The copy constructor or assignment of a vector allocates and copies all elements. "
               "Parameters and captures by value and `auto x = …` do so silently.",
        .what_to_do = "Take it by const reference or as a span; return it by value (moved, not "
                      "copied); std::move it if it is no longer needed; write `const auto &`.",
        .evidence = "the copy constructor or assignment is on the stack",
        .filter = "fn:/vector<.*::(vector|operator=)\\(/",
    },
    {
        .name = "string-plus",
        .family = ADVISE_NATIVE,
        .within = NAMES(STRING_PLUS),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "std::string + creates intermediate strings",
        .why = "`a + b` creates a new string, and appends to it.",
        .what_to_do = "reserve one string and append (+=) the pieces to it; build into a reused "
                      "buffer; take std::string_view where the text is only read.",
        .evidence = "operator+ of std::string is on the stack",
        .filter = "fn:/std::operator\\+</",
    },
    {
        .name = "string-growth",
        .family = ADVISE_NATIVE,
        .within = NAMES(STRING_GROWTH),
        .min_sizes = 3,
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.5,
        .title = "a std::string grows repeatedly",
        .why = "A full string moves to a block of at least twice the size.",
        .what_to_do =
            "reserve the expected length, or reuse one string after clear, which keeps its memory.",
        .evidence = "the function that grows strings is on the stack; all but the last size can be "
                    "saved, at most half",
        .filter = "fn:/basic_string<.*::(_M_mutate|_M_append|_M_replace|__grow_by)/",
    },
    {
        .name = "std-string-copy",
        .family = ADVISE_NATIVE,
        .within = NAMES(STD_STRING_COPY),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a std::string is copied",
        .why = "Copying a std::string of more than 15 bytes allocates. Parameters and captures by "
               "value, substr, and `auto x = …` do so silently.",
        .what_to_do = "Take std::string_view or a const reference; std::move it if it is no longer "
                      "needed; write `const auto &` in loops.",
        .evidence = "the copy constructor or assignment is on the stack",
        .filter = "fn:/basic_string<.*::(_M_construct|basic_string|_M_assign|__init_copy)/",
    },
    {
        .name = "std-string-made",
        .family = ADVISE_NATIVE,
        .within = NAMES(STD_STRING_MADE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a std::string is created from characters each time",
        .why = "A literal, char pointer or substr passed as a std::string is copied into a new "
               "string, which allocates from 16 bytes on.",
        .what_to_do = "Take std::string_view; create constants once (static const std::string); "
                      "use maps with std::less<> and look up with views.",
        .evidence = "the constructor is on the stack",
        .filter = "fn:/basic_string<.*::(_M_construct|basic_string)/",
    },
    {
        .name = "node-container",
        .family = ADVISE_NATIVE,
        .within = NAMES(NODE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a container allocates each element separately",
        .why = "std::map, set, list, unordered_map and unordered_set allocate a node for each "
               "element.",
        .what_to_do = "Use a sorted vector or a flat hash map; or give the container a "
                      "std::pmr::unsynchronized_pool_resource or monotonic_buffer_resource, so "
                      "that nodes come from a pool.",
        .evidence = "the function that allocates nodes is on the stack",
    },
    {
        .name = "rust-copy",
        .family = ADVISE_NATIVE,
        .within = NAMES(RUST_COPY),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Vec, String or similar is copied",
        .why = "clone, to_vec, to_owned, and to_string or String::from of a &str allocate and copy "
               "the value, with everything it owns.",
        .what_to_do = "Borrow it (&str, &[T]); move it if it is no longer needed; share it (Rc, "
                      "Arc), or copy it only when it changes (Cow); for repeated copies, "
                      "clone_from and clone_from_slice reuse the old memory.",
        .evidence = "clone, to_vec or to_owned is on the stack",
        .filter = "fn:/ as core::clone::Clone>::clone|::to_vec|ToOwned>::to_owned/",
    },
    {
        .name = "realloc-growth",
        .family = ADVISE_NATIVE,
        .type = NAMES(REALLOC),
        .min_sizes = 3,
        .min_grown = 20,
        .certainty = ADVISE_LIKELY,
        .by_growth = true,
        .title = "blocks grow by realloc",
        .why = "The same code resizes a block repeatedly. Each realloc counts with its whole new "
               "size, even if the allocator extends the block in place.",
        .what_to_do =
            "Request the final size at once if it is known, or keep the block for the next use. If "
            "it grows by a fixed step, let it grow by a factor instead, such as 1.5 or 2.",
        .evidence = "in realloc, one block ends when a larger one begins",
        .filter = "type:realloc",
    },
    {
        .name = "string-duplicate",
        .family = ADVISE_NATIVE,
        .type = NAMES(STRDUP),
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "strings are duplicated",
        .why = "strdup allocates and copies each string.",
        .what_to_do = "Point into text that remains anyway; intern frequent strings; copy into one "
                      "arena that is freed as a whole.",
        .evidence = "the memory comes from strdup or strndup",
        .filter = "fn:/strn?dup/",
    },
    {
        .name = "temporary",
        .family = ADVISE_NATIVE,
        .min_brief = 90,
        .max_largest = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "very short-lived memory",
        .why = "Nearly all of these blocks are freed within a millisecond: a buffer or object that "
               "one call allocates, uses and frees.",
        .what_to_do = "Keep one buffer or object and reuse it from call to call (libraries often "
                      "have a reset function); use an array on the stack if the size is bounded, "
                      "and malloc only for larger sizes; or let the caller provide the memory.",
        .evidence = "lifetimes; the trace does not record who freed them",
        .filter = "life:<1ms",
    },
    {
        .name = "pool",
        .family = ADVISE_NATIVE,
        .max_words = 32,
        .min_blocks = 10000,
        .min_one_size = 90,
        .max_brief = 50,
        .certainty = ADVISE_GUESS,
        .by_calls = true,
        .title = "many small blocks of one size",
        .why = "Each block costs an allocator call and a header, which is a large part of a small "
               "block, and the blocks are scattered in memory.",
        .what_to_do = "Take them from a pool or arena in chunks of a few pages; store them by "
                      "value in an array; if they die together, free the arena as a whole. The "
                      "bytes stay the same, but the calls and headers disappear.",
        .evidence = "number, size and lifetimes",
    },
    /* ---- guests ---------------------------------------------------------------------------- */
    {
        .name = "bound-method",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_BOUND_METHOD),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "methods are used as values",
        .why = "Reading a method without calling it, as in `var m = object.method;`, allocates a "
               "new object that binds both.",
        .what_to_do = "Call it directly, object.method(…), which allocates nothing; or read it "
                      "once, before the loop.",
        .evidence = "the type of the objects",
        .filter = "type:BoundMethod",
    },
    {
        .name = "guest-closure",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_CLOSURE),
        .min_young = 50,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "functions are created at run time",
        .why = "A function declared within another becomes a new object each time its declaration "
               "runs, with one more object for each captured variable.",
        .what_to_do = "Declare it outside the loop or at the top level, and pass captured values "
                      "as arguments.",
        .evidence = "the type of the objects, and most die young",
        .filter = "type:/Closure|Function|Upvalue/",
    },
    {
        .name = "array-growth",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_ARRAY_STORE),
        .min_sizes = 4,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "arrays grow element by element",
        .why = "A full array moves to a larger store, each time it outgrows the last one.",
        .what_to_do = "Write the last element first, so that the store has its final size at once; "
                      "or keep the array and reuse it.",
        .evidence = "the type of the objects, and the many sizes of their stores",
        .filter = "type:ArrayStorage",
    },
    {
        .name = "temporary-array",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_ARRAY) | NAMES(GUEST_ARRAY_STORE),
        .min_young = 80,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "short-lived arrays",
        .why = "Arrays are allocated here and die young, such as pairs that only carry two values "
               "from one place to another.",
        .what_to_do = "Create the array once, before the loop, and overwrite its elements; use "
                      "variables or fields for a fixed number of values.",
        .evidence = "type and lifetime",
        .filter = "type:Array",
    },
    {
        .name = "string-building",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_STRING),
        .min_young = 50,
        .min_sizes = 8,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "strings are built piece by piece",
        .why = "`s = s + piece` copies all of s each time: for n pieces that is n²/2. The "
               "intermediate strings die young.",
        .what_to_do =
            "Print or store the pieces instead of one long string; if one string is needed, join "
            "neighbours in pairs, which copies each character only log n times.",
        .evidence = "the type of the objects, many sizes, and most die young",
        .filter = "type:String",
    },
    {
        .name = "temporary-object",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_OBJECT),
        .min_young = 80,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "short-lived objects",
        .why = "Objects are allocated here and die young.",
        .what_to_do = "Keep one and set its fields again; or avoid it: pass the values as "
                      "arguments, return one value.",
        .evidence = "type and lifetime",
        .filter = "type:/Object|Instance/",
    },
};
const size_t advise_n_rules = sizeof advise_rules / sizeof *advise_rules;
