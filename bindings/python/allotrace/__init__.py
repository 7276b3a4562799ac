"""Marks and scopes in the trace that allotrace records of this program. They do nothing if nothing is recorded.

    with allotrace.mark("load"): ...
    @allotrace.mark("parse")
    allotrace.mark_here("ready")
    with allotrace.scope("GET /cart"): ...
    allotrace.scope_tasks()  # in a coroutine: tasks made from now on are scopes, if they are not already
"""
import contextlib
import os
import time

try:
    import ctypes
except ImportError:  # an interpreter without ctypes cannot reach the recorder
    ctypes = None

__all__ = ["mark", "mark_here", "scope", "scope_tasks"]

_LIBRARY = "liballotrace-preload.so"
_LOOK_AGAIN = 1.0  # seconds between searches for a recorder that may have been attached
_found = None
_next_look = 0.0


def _late_path():
    """The path of a recorder that `attach` has loaded; its symbols are not global."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(" ", 5)[-1].strip()
            if os.path.basename(path) == _LIBRARY:
                return path
    return None


def _find():
    for path in (None, _late_path):
        try:
            # PyDLL keeps the interpreter's lock during calls, which saves two switches for each mark.
            library = ctypes.PyDLL(path() if path else None)
            if path and library._name is None:
                return None
            library.allotrace_mark.argtypes = [ctypes.c_char_p]
            library.allotrace_mark.restype = None
            library.allotrace_scope.argtypes = [ctypes.c_char_p, ctypes.c_uint]
            library.allotrace_scope.restype = ctypes.c_uint
            return library
        except (OSError, AttributeError):
            continue
    return None


def _recorder():
    """Returns the recorder's library for ctypes; None if there is no recorder."""
    global _found, _next_look
    if _found is None and ctypes is not None and time.monotonic() >= _next_look:
        _next_look = time.monotonic() + _LOOK_AGAIN
        _found = _find()
    return _found


def mark_here(name):
    """Marks this moment."""
    recorder = _recorder()
    if recorder is not None:
        recorder.allotrace_mark(name.encode("utf-8", "replace"))


class mark(contextlib.ContextDecorator):
    """Marks the beginning and the end of a block, or of each call of a function, with `name`."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        mark_here(self.name)
        return self

    def __exit__(self, *exception):
        mark_here(self.name + ": end")
        return False


class scope(contextlib.ContextDecorator):
    """Puts what this thread allocates in a block, or in each call of a function, into the scope `name`: `allotrace
    hotspots --by scope` shows scopes separately. An inner scope hides the outer one. A task of asyncio has a scope of
    its own, which persists while the task waits."""

    def __init__(self, name):
        self.name = name.encode("utf-8", "replace")
        self.outer = []

    def __enter__(self):
        recorder = _recorder()
        self.outer.append(None if recorder is None else recorder.allotrace_scope(self.name, 0))
        return self

    def __exit__(self, *exception):
        outer = self.outer.pop()
        if outer is not None:
            _recorder().allotrace_scope(None, outer)
        return False


def scope_tasks(loop=None):
    """Makes scopes of the tasks that `loop`, or the running loop, creates from now on. A scope has the name of its task
    or, if that is only a number, of its coroutine. The call is not needed in CPython 3.11 to 3.14, where the recorder does
    this itself if it records Python's objects and tasks are asyncio's own, written in C. Elsewhere each step of a task
    enters its scope."""
    from allotrace import _tasks
    _tasks.install(loop, _recorder)
