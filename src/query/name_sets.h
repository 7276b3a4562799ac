/* name_sets.h: sets of names by which filters and rules of advice recognize functions, files and
 * types. A set is a list of patterns of fnmatch(3) with bars between them. Within a pattern,
 * alternatives are written `@(a|b)`, and other brackets and bars in []. Case does not matter.
 * Return types of C++ templates are ignored. This is the only list of such names. */
#ifndef QUERY_NAME_SETS_H
#define QUERY_NAME_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets of names; the first is of functions that belong to the language rather than to the program,
 * so that what they allocate is attributed to their callers. X(name, pattern) */
#define NAME_SETS(X)                                                                               \
    X(LIBRARY, "Stdlib|Std_exit|Stdlib.*|Stdlib__*|CamlinternalFormat*|CamlinternalLazy.*|"        \
               "CamlinternalOO.*|Str.*|Unix.*|UnixLabels.*|caml_*|Lwt.*|Lwt_*|Base.*|Base__*|"     \
               "Core.*|Core__*|$[0-9-]*|"                                                          \
               "std::*|__gnu_cxx::*|operator new*|alloc::*|core::*|<alloc::*|<core::*|"            \
               "hashbrown::*|[[]deeper than the recorder looks]")                                  \
    /* Functions that call the main function of a program or thread. They are not what allocates   \
     * if nothing else of the program is left because its functions were inlined. */               \
    X(START, "start_thread|clone|clone3|__clone|_start|__libc_start_*|std::rt::*|"                 \
             "execute_native_thread_routine|__thread_proxy|std::sys*::backtrace::*|"               \
             "<std::sys::*[tT]hread*::*|std::sys::*[tT]hread*::*|core::ops::function::Fn*|"        \
             "<alloc::boxed::Box<dyn core::ops::function::Fn*")                                    \
    /* ---- OCaml ------------------------------------------------------------------------- */     \
    X(READ_INT, "Stdlib__@(Bytes|String).get_int@(32|64)_*")                                       \
    X(BOXED_INT, "Stdlib__@(Int32|Int64|Nativeint).*|"                                             \
                 "Stdlib__Random.*@(int32|int64|nativeint|bits32|bits64|nativebits)*")             \
    X(BOXED_FLOAT, "Stdlib__Float.*|Stdlib.float_of_string*|Stdlib__Random.*float*")               \
    X(FORMATTING, "CamlinternalFormat*|Stdlib__@(Printf|Format|Scanf).*")                          \
    X(LIST_APPEND, "Stdlib.[(]@[)]|Stdlib.@|Stdlib__List.@(append|concat|flatten)")                \
    X(STRING_CONCAT, "Stdlib.[(]^[)]|Stdlib.^|Stdlib__Bytes.@(cat|extend)|Stdlib__String.cat")     \
    X(BUFFER_GROWTH, "Stdlib__Buffer.resize*")                                                     \
    X(HASHTBL_GROWTH, "Stdlib__Hashtbl.*@(resize|insert_all_buckets)*")                            \
    X(TREE_UPDATE, "Stdlib__@(Map|Set).Make.@(bal|create|add*|remove*|join|concat*|update|merge|"  \
                   "union)")                                                                       \
    X(LIST_PASS, "Stdlib__List.@(map*|rev*|filter*|find_all*|sort*|stable_sort*|fast_sort*|"       \
                 "split|combine|partition*|concat_map*|fold_left_map*)")                           \
    X(ARRAY_COPY, "Stdlib__Array.@(append|concat|sub|copy|map*|of_list|to_list)*")                 \
    X(STRING_COPY, "Stdlib__@(Bytes|String).@(sub*|copy|to_string|of_string|map*|trim|"            \
                   "split_on_char|uppercase*|lowercase*|capitalize*)|"                             \
                   "Stdlib__Buffer.@(contents|sub|to_bytes)")                                      \
    X(SEQ, "Stdlib__Seq.*|Stdlib__*.*to_seq*")                                                     \
    X(LOOKUP, "Stdlib__*.*_opt*")                                                                  \
    X(BUFFER_MADE, "Stdlib__Buffer.create")                                                        \
    X(PARTIAL, "caml_curry*|caml_tuplify*")                                                        \
    X(PROMISE, "Lwt.*|Lwt_*")                                                                      \
    X(BINDER, "*.let[*+]*|*.and[*+]*|*.[(]let[*+]*|*.[(]>>*|*.[(]>[|]=[)]*|*.>>*|*.bind|*.bind.*|" \
              "Stdlib__@(Option|Result).@(bind|map)|Lwt.*@(bind|map)*")                            \
    X(ITERATOR, "@(Stdlib__*|Base__*).@(iter*|map*|fold*|filter*|exists*|for_all*|find*|"          \
                "partition*|init*|concat_map*|rev_map*)")                                          \
    X(KEY_FUNCTION, "*.@(compare|equal|cmp)")                                                      \
    X(KEY_HASH, "*.@(hash|seeded_hash)")                                                           \
    X(COMPARING, "Stdlib__@(Map|Set).Make.@(add|mem|find|find_opt|remove|split)|"                  \
                 "Stdlib__List.*sort*|Stdlib__Array.*sort*|"                                       \
                 "Stdlib__Hashtbl.Make*.@(key_index|mem*|find*|add|replace*|remove*)")             \
    /* Functions of the runtime that get memory for the heap in which OCaml's blocks are. */       \
    X(OCAML_HEAP, "caml_@(alloc_for_heap|add_to_heap|init_major_heap|set_minor_heap_wsz|"          \
                  "page_table_*|realloc_*ref_table|alloc_*table|alloc_shr*|shared_try_alloc|"      \
                  "compact_heap*|init_gc|init_shared_heap|mem_map)")                               \
    /* ---- C++, Rust --------------------------------------------------------------------- */     \
    X(VECTOR_GROWTH, "std::*vector<*::@(_M_realloc_insert|_M_realloc_append|"                      \
                     "__push_back_slow_path|__emplace_back_slow_path)*|"                           \
                     "alloc::raw_vec::*@(grow|reserve)*|"                                          \
                     "alloc::vec::Vec<*>::@(push|insert|extend_desugared)")                        \
    X(VECTOR_COPY, "std::*vector<*::@(vector|operator=)[(]std::*vector<*const&*")                  \
    X(STRING_PLUS, "std::*operator+<*")                                                            \
    X(STRING_GROWTH, "std::*basic_string<*::@(_M_mutate|_M_append|_M_replace|__grow_by)*")         \
    X(STD_STRING_COPY, "std::*basic_string<*::_M_construct<char[*]>*|"                             \
                       "std::*basic_string<*::basic_string[(]std::*basic_string<*const&*|"         \
                       "std::*basic_string<*::@(_M_assign|__init_copy_ctor_external)*")            \
    X(STD_STRING_MADE, "std::*basic_string<*::_M_construct<char const[*]>*|"                       \
                       "std::*basic_string<*::basic_string*[(]char const[*]*")                     \
    X(NODE, "std::*::@(_M_allocate_node|_M_create_node|_M_get_node|__construct_node)*")            \
    X(RUST_COPY, "<@(alloc|std|hashbrown)::* as core::clone::Clone>::clone*|"                      \
                 "*alloc::slice::*::to_vec*|<[[]*]>::to_vec*|"                                     \
                 "<* as alloc::borrow::ToOwned>::to_owned*")                                       \
    /* ---- types: of native code, the function that handed out the memory ---------------- */     \
    X(REALLOC, "*realloc*")                                                                        \
    X(STRDUP, "*str@(|n)dup")                                                                      \
    X(GUEST_ARRAY, "*Array")                                                                       \
    X(GUEST_ARRAY_STORE, "*ArrayStorage")                                                          \
    X(GUEST_STRING, "*String")                                                                     \
    X(GUEST_BOUND_METHOD, "*BoundMethod")                                                          \
    X(GUEST_CLOSURE, "*Closure|*Function|*Upvalue")                                                \
    X(GUEST_OBJECT, "*Object|*Instance")

enum {
#define NAME_SET_NUMBER(name, pattern) NAME_SET_##name,
    NAME_SETS(NAME_SET_NUMBER)
#undef NAME_SET_NUMBER
        N_NAME_SETS
};

/* A bit set of the names above. */
typedef uint64_t name_sets;
#define NAMES(name) (UINT64_C(1) << NAME_SET_##name)

/* Returns all sets that a name is in. */
name_sets name_sets_of(const char *name);

/* Whether a function (by name) or a file belongs to a language's library. */
bool name_is_library(const char *name);
bool name_is_library_file(const char *file);

/* Whether a C++ function copies objects of its class: `A::A(A const&)` or its operator=. Mostly the
 * compiler wrote it, and its caller makes the copy. */
bool name_is_copy(const char *function);

/* Returns a demangled C++ name without its return type; any other name unchanged. */
const char *name_bare(const char *name);

#endif
