/* runtimes.h: the list of the language runtimes whose heaps can be recorded. The code for each of
 * them is in src/runtimes/, accessed through record/runtime.h. */
#ifndef CONTRACT_RUNTIMES_H
#define CONTRACT_RUNTIMES_H

/* X(identifier, name in C, frames of a stack kept by default, whose heap it is, whether the heap
 * can be recorded without malloc, a function that identifies programs whose heap `attach` does not
 * reach, or NULL). If a program has several runtimes, the first one whose heap can be recorded is
 * used. OCaml's default depth is smaller because its stacks cost more than malloc's. */
#define RUNTIMES(X)                                                                                \
    X(OCAML, ocaml, 128, "an OCaml", true, "caml_executable_name")                                 \
    X(PYTHON, python, 256, "a Python", false, NULL)                                                \
    X(LUA, lua, 256, "a Lua", false, NULL)                                                         \
    X(JVM, jvm, 256, "a Java", true, NULL)

/* Rows of SETTINGS, one for each runtime above, with the same identifier. */
#define RUNTIME_SETTINGS(X)                                                                        \
    X(OCAML, "MEMTRACE_OCAML", "heap", "one of heap, malloc, both",                                \
      "what to record in OCaml programs: the OCaml `heap`, `malloc`, or `both`")                   \
    X(PYTHON, "MEMTRACE_PYTHON", "both", "one of malloc, both",                                    \
      "what to record in Python programs: only `malloc`, without Python's frames, or `both` "      \
      "malloc and Python's objects")                                                               \
    X(LUA, "MEMTRACE_LUA", "both", "one of malloc, both",                                          \
      "what to record in Lua programs: `malloc` without Lua's frames, or `both`")                  \
    X(JVM, "MEMTRACE_JVM", "both", "one of heap, malloc, both",                                    \
      "what to record in Java programs: the Java `heap`, the JVM's `malloc`, or `both`")

/* Go, the runtime whose heap is read from outside its process: type and name (with its NUL and
 * padding) of the note that its linker puts into programs' files; and the part of a file name that
 * distinguishes its trace from one of malloc beside it: x.go.ctf and x.ctf. */
#define OUTSIDE_NOTE_TYPE 4
#define OUTSIDE_NOTE_NAME "Go\0"
#define OUTSIDE_TRACE     ".go"

enum runtime_id {
#define RUNTIME_ENUM(id, ...) RUNTIME_##id,
    RUNTIMES(RUNTIME_ENUM)
#undef RUNTIME_ENUM
        N_RUNTIMES
};

#endif
