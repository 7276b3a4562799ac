/* advise_rules.c: the table of rules and the conditions that they share. Upper limits of gains
 * (`most`) that are below 1 follow from how things grow: if each size is at least double the one
 * before, all but the last add up to less than the last, and only the last is needed. */
#include "advice/advise_rules.h"

const char *const advise_certainties[] = {
    [ADVISE_GUESS] = "guess", [ADVISE_LIKELY] = "likely", [ADVISE_DEFINITE] = "definite"};

/* Three rows know by different signs what comes to the same. */
#define KEY_COMPARISON_TEXTS                                                                       \
    .title = "a comparison or hash of keys allocates",                                             \
    .why = "A function that compares or hashes keys makes blocks each time it is called, such "    \
           "as the pairs that it hands to the polymorphic compare or to Hashtbl.hash. "            \
           "Containers and sorting call it many times for each operation.",                        \
    .what_to_do = "Compare field by field with Int.compare, String.compare and so on; hash "       \
                  "fields one by one and mix the numbers. Neither needs a block. For sorting, "    \
                  "a key can be made once for each element."

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
        .evidence = "the function's name, and that it allocates small blocks itself",
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
        .why = "Bytes.get_int32_be and its family return an int32 or int64, which is a pointer to "
               "a block of its own unless the compiler sees it used up in the same function.",
        .what_to_do = "Turn it into an int in the same expression (Int32.to_int, Int64.to_int), or "
                      "read with get_uint16_be and get_uint8 and put the int together; keep 32-bit "
                      "numbers as int (63 bits) or Optint, and box once, at the edge, where an "
                      "interface asks for it. Parsers that stream can hand out ints as well.",
        .evidence = "the stack names the function that reads",
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
        .why = "An int32, int64 or nativeint that is stored, returned or passed to a function that "
               "is not inlined is a pointer to a block of its own.",
        .what_to_do = "Use int where 63 bits suffice, or Optint; keep a chain of operations within "
                      "one function, where the compiler unboxes what is in between; keep many in a "
                      "Bigarray or in Bytes, not in records, refs or arrays.",
        .evidence = "the stack names a function of Int32, Int64, Nativeint or Random",
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
        .why = "A float that is returned, or stored anywhere but in a float array or a record of "
               "floats alone, is a pointer to a block of its own.",
        .what_to_do = "Keep floats in float arrays, or in records all of whose fields are floats; "
                      "keep sums in local refs, which the compiler unboxes; mark small functions "
                      "that return floats [@inline].",
        .evidence = "the stack names a function that returns a float",
        .filter = "fn:/Stdlib__([Ff]loat|[Rr]andom)\\.|float_of_string/",
    },
    {
        .name = "formatting",
        .family = ADVISE_OCAML,
        .within = NAMES(FORMATTING),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "Printf or Format interprets a format at each call",
        .why = "Printf, Format and Scanf walk through the format each time and make closures and "
               "intermediate values for every conversion; Format.asprintf and sprintf also make a "
               "formatter or a buffer for each call. What is formatted is the smaller part.",
        .what_to_do = "On hot paths, put text together with Buffer.add_string, string_of_int and "
                      "String.concat; format only messages that are really shown (log with a "
                      "function that formats when asked); print to one channel or formatter "
                      "instead of making strings.",
        .evidence = "the stack names Printf, Format or Scanf",
        .filter = "fn:/CamlinternalFormat|Stdlib__([Pp]rintf|[Ff]ormat|[Ss]canf)/",
    },
    {
        .name = "list-append",
        .family = ADVISE_OCAML,
        .within = NAMES(LIST_APPEND),
        .spreads = true,
        .max_alive = 50, /* what is kept had to be made once */
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "lists are copied to append to them",
        .why = "`l @ m` copies all of l, and List.concat all lists but the last. In a loop that "
               "adds to the end of a list, that is quadratic.",
        .what_to_do = "Add to the front and List.rev once at the end; List.rev_append where order "
                      "does not matter; put the short list on the left; or collect in a Queue, a "
                      "Buffer or an array that grows.",
        .evidence = "the stack names (@), List.append or List.concat",
        .filter = "fn:/Stdlib\\.\\(?@|Stdlib__[Ll]ist\\.(append|concat|flatten)/",
    },
    {
        .name = "string-concat",
        .family = ADVISE_OCAML,
        .within = NAMES(STRING_CONCAT),
        .spreads = true,
        .max_alive = 50, /* what is kept had to be made once */
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "strings are copied to append to them",
        .why = "`a ^ b` copies both strings. In a chain or a loop, what came first is copied again "
               "each time.",
        .what_to_do =
            "Add the pieces to a Buffer, or collect them in a list and String.concat them "
            "once; write to the channel or Buffer where the result goes anyway.",
        .evidence = "the stack names (^), Bytes.cat or Bytes.extend",
        .filter = "fn:/Stdlib\\.\\(?\\^|Stdlib__[Bb]ytes\\.(cat|extend)/",
    },
    {
        .name = "buffer-growth",
        .family = ADVISE_OCAML,
        .within = NAMES(BUFFER_GROWTH),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.5,
        .title = "a Buffer grows again and again",
        .why = "A Buffer that is full is copied into one of double the size.",
        .what_to_do = "Give Buffer.create the size to expect, or use one Buffer again after "
                      "Buffer.clear, which keeps its memory (Buffer.reset does not).",
        .evidence =
            "the stack names Buffer.resize; all but the last size can be saved, at most half",
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
        .title = "a Buffer is made each time",
        .why = "Buffer.create makes the buffer's bytes, each time for a text that is soon done.",
        .what_to_do =
            "Keep one Buffer and Buffer.clear it, which keeps its memory, before each use.",
        .evidence = "the stack names Buffer.create, and most die before they are promoted",
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
        .title = "a look-up wraps its result in Some",
        .why = "find_opt and its like return `Some x`, a block that mostly is taken apart at once.",
        .what_to_do =
            "Use `match find … with x -> … | exception Not_found -> …`, or mem where only "
            "presence matters; neither makes a block.",
        .evidence = "the stack names the function that ends in _opt",
        .filter = "fn:/Stdlib__.*_opt/",
    },
    {
        .name = "hashtbl-growth",
        .family = ADVISE_OCAML,
        .within = NAMES(HASHTBL_GROWTH),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 0.75,
        .title = "a Hashtbl grows again and again",
        .why = "A Hashtbl with more than two elements a bucket moves to an array of buckets twice "
               "as large, with a second one that only the move needs.",
        .what_to_do =
            "Give Hashtbl.create the number of elements to expect, or use one table again "
            "after Hashtbl.clear, which keeps its array (Hashtbl.reset does not).",
        .evidence = "the stack names Hashtbl.resize; the last array, a quarter or more, stays",
        .filter = "fn:/Stdlib__[Hh]ashtbl\\..*(resize|insert_all_buckets)/",
    },
    {
        .name = "tree-update",
        .family = ADVISE_OCAML,
        .within = NAMES(TREE_UPDATE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Map or Set is copied along a path at each change",
        .why = "Adding to, or removing from, a Map or Set makes new nodes for the whole path from "
               "the root, about as many as the number of elements has binary digits, and more to "
               "balance it.",
        .what_to_do = "Where old versions are not needed, use a Hashtbl, a bit set or an array; "
                      "build from what is known at once with of_list or of_seq; merge in bulk with "
                      "union instead of adding one by one. To add what is in a Set already costs "
                      "nothing.",
        .evidence = "the stack names the function of Map.Make or Set.Make",
        .filter = "fn:/Stdlib__([Mm]ap|[Ss]et)\\.Make/",
    },
    {
        .name = "ocaml-heap",
        .family = ADVISE_NATIVE,
        .within = NAMES(OCAML_HEAP),
        .certainty = ADVISE_DEFINITE,
        .title = "the OCaml heap grows",
        .why = "OCaml's runtime gets a large piece of memory by malloc when its heap is full, "
               "whatever part of the program allocates just then. What fills the heap is not in "
               "this trace, unless OCaml's blocks are.",
        .what_to_do = "Record the OCaml heap, which `allotrace run` does by itself and `attach` "
                      "cannot, and look at what is live there: allotrace hotspots --measure live.",
        .evidence = "the stack names the runtime's functions for it",
    },
    {
        .name = "partial-application",
        .family = ADVISE_OCAML,
        .within = NAMES(PARTIAL),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "functions are applied to some of their arguments",
        .why = "A function that gets fewer arguments than it has makes a closure that keeps them, "
               "and one more for each further argument that comes alone.",
        .what_to_do = "Pass all arguments at once; write `fun x -> f a x` outside of the loop, or "
                      "make `f a` once before it.",
        .evidence = "the stack names the compiler's functions for it, caml_curry",
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
        .title = "each let* or >>= makes a closure",
        .why = "What follows a `let*`, `>>=` or bind is a function, and a closure is made for it "
               "each time, with all variables that it uses. In a chain, each step makes that of "
               "the next.",
        .what_to_do = "Write steps that cannot fail or wait with plain `let`; on hot paths, match "
                      "on the result instead of binding it; move what does not depend on the loop "
                      "into functions with names.",
        .evidence = "the function is called by a bind and allocates blocks of 3 words or more",
    },
    {
        .name = "promise",
        .family = ADVISE_OCAML,
        .within = NAMES(PROMISE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "Lwt makes promises and callbacks",
        .why = "Each bind or map of Lwt makes closures, also on a promise that is resolved "
               "already; on one that is not, a new promise and a callback as well.",
        .what_to_do =
            "Write steps that never wait as plain functions; work on batches (one promise "
            "for many items) in inner loops; look at Lwt.state before binding where the "
            "answer is mostly there already.",
        .evidence = "the stack names Lwt",
        .filter = "fn:/^Lwt/",
    },
    {
        .name = "sequence",
        .family = ADVISE_OCAML,
        .within = NAMES(SEQ),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Seq makes blocks for each element",
        .why = "Each element of a Seq passes as a node and a closure for the rest, again in every "
               "Seq.map and Seq.filter on its way.",
        .what_to_do = "Use the container's own iter or fold on hot paths, and do in one function "
                      "what several Seq functions do one after another.",
        .evidence = "the stack names Seq",
        .filter = "fn:/Stdlib__[Ss]eq\\.|to_seq/",
    },
    {
        .name = "list-pass",
        .family = ADVISE_OCAML,
        .within = NAMES(LIST_PASS),
        .min_young = 50,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "lists that only lead from one pass to the next",
        .why = "List.map, List.filter, List.rev, List.sort and their like make a new list, three "
               "words for each element. These mostly die young.",
        .what_to_do = "Do in one pass what several do one after another (filter_map, fold_left, "
                      "iter); use rev_map where order does not matter; sort an array in place if "
                      "it is sorted often.",
        .evidence = "the stack names the List function, and most die before they are promoted",
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
        .why = "Array.append, sub, copy, map, of_list and their like make a new array each time. "
               "These mostly die young.",
        .what_to_do = "Pass the array with bounds instead of Array.sub; fill one array again; use "
                      "iter or fold where only the elements are needed.",
        .evidence = "the stack names the Array function, and most die before they are promoted",
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
        .why = "String.sub, split_on_char, trim, Bytes.to_string, Buffer.contents and their like "
               "copy. The copies mostly die young.",
        .what_to_do = "Work with positions in the original (index_from, a start and a length); "
                      "Buffer.output_buffer and add_substring copy nothing in between; "
                      "Bytes.unsafe_to_string is right where the bytes never change again.",
        .evidence = "the stack names the function, and most die before they are promoted",
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
        .title = "an anonymous function is made each time",
        .why = "A function that uses variables from around it, like that in `List.iter (fun x -> … "
               "y …)`, is a closure: a block of 2 or 3 words and one more for each such variable, "
               "made each time its line runs. (OCaml counts the block at the anonymous function "
               "itself.)",
        .what_to_do = "Make it once, outside of the loop; pass what it needs as arguments of a "
                      "function with a name; or write the loop with `for` or `let rec`.",
        .evidence =
            "an anonymous function that nobody on the stack calls can only be in the making; "
            "a call from a function that ended with it (a tail call) looks the same",
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
        .title = "something is made for each element",
        .why =
            "An anonymous function that iter, map or fold calls for each element makes a block "
            "each time: a closure within the closure (2 or 3 words and one for each variable), a "
            "partial application (4 or 5 words), or a tuple or record.",
        .what_to_do =
            "If it is a closure, make it before the iteration, or write the inner loop "
            "with `for` or `let rec`. If it is an accumulator (a tuple in fold_left), use "
            "several refs or arguments of a `let rec`.",
        .evidence = "the function's place on the stack and the sizes; the trace does not say what "
                    "the blocks are",
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
        .title = "options or floats that live for a moment",
        .why = "A block of one word is `Some x`, Ok or Error, a float, or a ref that a closure "
               "captures. These die young: they carry a result to a caller that takes it apart.",
        .what_to_do = "For options: return a value that cannot occur otherwise, raise Not_found "
                      "(raise_notrace), or mark the function [@inline] so that the block is never "
                      "made. For floats: float arrays, records of floats alone, local refs.",
        .evidence = "size and lifetime alone; the trace does not say what the blocks are",
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
        .title = "pairs, list cells or boxed integers that live for a moment",
        .why = "A block of two words is a pair, a list cell, a record or constructor with two "
               "values, or a boxed int32, int64 or nativeint. These die young.",
        .what_to_do = "For pairs: return one value and pass the other on, or mark the function "
                      "[@inline], so that `let a, b = f x` makes no block; do not build keys for "
                      "one look-up. For integers: int instead of int32 or int64.",
        .evidence = "size and lifetime alone; the trace does not say what the blocks are",
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
        .title = "tuples, records or closures that live for a moment",
        .why = "A block of a few words is a tuple or record, a partial application (4 or 5 words), "
               "or a closure (2 or 3 words and one more for each variable that it uses). These die "
               "young.",
        .what_to_do =
            "For tuples and records: pass the values as arguments, or mark the function "
            "that returns them [@inline]. For partial applications: pass all arguments at "
            "once. For closures: make them outside of the loop, or use `for` and `let rec`.",
        .evidence = "size and lifetime alone; the trace does not say what the blocks are",
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
        .why = "A block of more than 256 words is not made in the minor heap, where allocation is "
               "cheap, but in the major heap, and each one drives the major collector on. These "
               "come and go.",
        .what_to_do = "Make it once and fill it again: one Bytes or array that is kept from call "
                      "to call, handed in by the caller, or taken from a small pool.",
        .evidence = "sizes, and that most are freed while the program runs",
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
        .title = "blocks are promoted, and die later",
        .why =
            "Most of these blocks are alive when the minor heap is full, so that they are copied "
            "to the major heap, but nearly all die while the program runs.",
        .what_to_do = "Try a larger minor heap (OCAMLRUNPARAM=s=4M is 4 million words; the default "
                      "is 256k), which gives them time to die where dying costs nothing; or let go "
                      "of them earlier, by working in smaller portions.",
        .evidence = "promotions and deaths; how large the minor heap must be, only a run can tell",
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
        .title = "a vector grows again and again",
        .why = "A vector that is full moves its elements to a block of double the size.",
        .what_to_do = "Call reserve (Rust: Vec::with_capacity) with the number to expect, or use "
                      "one vector again after clear, which keeps its memory.",
        .evidence = "the stack names the function that grows vectors; all but the last size can be "
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
               "Parameters and captures by value and `auto x = …` do that unseen.",
        .what_to_do = "Take it by const reference or as a span; return by value (moved, not "
                      "copied); std::move what is not needed afterwards; write `const auto &`.",
        .evidence = "the stack names the copy constructor or assignment",
        .filter = "fn:/vector<.*::(vector|operator=)\\(/",
    },
    {
        .name = "string-plus",
        .family = ADVISE_NATIVE,
        .within = NAMES(STRING_PLUS),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "std::string + makes strings in between",
        .why = "`a + b` makes a new string, and appends to it.",
        .what_to_do = "reserve one string and append (+=) the pieces to it; build into a buffer "
                      "that is used again; take std::string_view where the text is only read.",
        .evidence = "the stack names operator+ of std::string",
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
        .title = "a std::string grows again and again",
        .why = "A string that is full moves to a block of at least double the size.",
        .what_to_do = "reserve the length to expect, or use one string again after clear, which "
                      "keeps its memory.",
        .evidence = "the stack names the function that grows strings; all but the last size can be "
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
               "value, substr, and `auto x = …` do that unseen.",
        .what_to_do = "Take std::string_view or a const reference; std::move what is not needed "
                      "afterwards; write `const auto &` in loops.",
        .evidence = "the stack names the copying constructor or assignment",
        .filter = "fn:/basic_string<.*::(_M_construct|basic_string|_M_assign|__init_copy)/",
    },
    {
        .name = "std-string-made",
        .family = ADVISE_NATIVE,
        .within = NAMES(STD_STRING_MADE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a std::string is made from characters each time",
        .why = "A literal, a char pointer or a substr that is passed as a std::string is copied "
               "into a new one, which allocates from 16 bytes on.",
        .what_to_do = "Take std::string_view; make constants once (static const std::string); look "
                      "up in maps with std::less<> and views as keys.",
        .evidence = "the stack names the constructor",
        .filter = "fn:/basic_string<.*::(_M_construct|basic_string)/",
    },
    {
        .name = "node-container",
        .family = ADVISE_NATIVE,
        .within = NAMES(NODE),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a container allocates each element by itself",
        .why = "std::map, set, list, unordered_map and unordered_set make a node for each element.",
        .what_to_do =
            "Use a sorted vector or a flat hash map; give the container a "
            "std::pmr::unsynchronized_pool_resource or monotonic_buffer_resource, so that "
            "nodes come from a pool.",
        .evidence = "the stack names the function that makes nodes",
    },
    {
        .name = "rust-copy",
        .family = ADVISE_NATIVE,
        .within = NAMES(RUST_COPY),
        .spreads = true,
        .certainty = ADVISE_DEFINITE,
        .most = 1,
        .title = "a Vec, String or the like is copied",
        .why = "clone, to_vec, to_owned, and to_string or String::from of a &str allocate and copy "
               "the value, with all that it owns.",
        .what_to_do = "Borrow it (&str, &[T]); move it where it is not needed afterwards; share it "
                      "(Rc, Arc), or copy it only where it changes (Cow); where a copy is needed "
                      "again and again, clone_from and clone_from_slice use the old one's memory.",
        .evidence = "the stack names clone, to_vec or to_owned",
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
        .why = "The same code resizes a block again and again. Each realloc counts with its whole "
               "new size, also where the allocator can extend the block in place.",
        .what_to_do = "Ask for the final size at once where it is known, or keep the block for the "
                      "next time. Where it grows by a step, let it grow by a factor: half as much "
                      "again, or double.",
        .evidence = "one block ends when a larger one begins, in realloc",
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
        .what_to_do = "Point into text that stays anyway; intern strings that occur often; copy "
                      "into one arena that is freed at once.",
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
        .title = "memory that is freed at once",
        .why = "Nearly all these blocks are freed within a millisecond: a buffer or an object that "
               "one call makes, uses and frees.",
        .what_to_do =
            "Keep one buffer or object and use it again from call to call (libraries often have "
            "a function that resets theirs); use an array on the stack where the size is "
            "bounded, with malloc for what is larger; let the caller hand in the memory.",
        .evidence = "lifetimes; the trace does not say who freed them",
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
        .why = "Each block costs the allocator a search and a header of its own, which for small "
               "ones is a good part of the memory, and they lie wherever there was room.",
        .what_to_do = "Take them from a pool or an arena in chunks of some pages; store them by "
                      "value in an array; free the arena at once where they die together. The "
                      "bytes stay the same; what goes is the calls and the headers.",
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
        .title = "methods are taken from objects as values",
        .why = "A method that is read but not called at once, as in `var m = object.method;`, is "
               "a new object that binds both.",
        .what_to_do = "Call it directly, object.method(…), which makes nothing; or take it once, "
                      "before the loop.",
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
        .title = "functions are made at run time",
        .why = "A function that is declared within another becomes a new object each time that "
               "place runs, with one more for each variable that it captures.",
        .what_to_do = "Declare it outside of the loop or at the top level, and pass what it "
                      "captures as arguments.",
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
        .why = "An array that is full moves to a larger store, each time it grows out of the last.",
        .what_to_do = "Write the last element first, so that the store has its final size at once; "
                      "or keep the array and fill it again.",
        .evidence = "the type of the objects, and that their stores have many sizes",
        .filter = "type:ArrayStorage",
    },
    {
        .name = "temporary-array",
        .family = ADVISE_GUEST,
        .type = NAMES(GUEST_ARRAY) | NAMES(GUEST_ARRAY_STORE),
        .min_young = 80,
        .certainty = ADVISE_LIKELY,
        .most = 1,
        .title = "arrays that live for a moment",
        .why = "Arrays are made here and die young, such as pairs that only carry two values from "
               "one place to another.",
        .what_to_do = "Make the array once, before the loop, and write its elements again; use "
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
        .why = "`s = s + piece` copies all of s each time: for n pieces that is n²/2. The strings "
               "in between die young.",
        .what_to_do = "Print or store the pieces instead of one long string; where one is needed, "
                      "join neighbours in pairs, which copies each character only log n times.",
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
        .title = "objects that live for a moment",
        .why = "Objects are made here and die young.",
        .what_to_do = "Keep one and set its fields again; or do without: pass the values as "
                      "arguments, return one value.",
        .evidence = "type and lifetime",
        .filter = "type:/Object|Instance/",
    },
};
const size_t advise_n_rules = sizeof advise_rules / sizeof *advise_rules;
