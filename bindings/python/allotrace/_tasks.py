"""Scopes of asyncio's tasks, for interpreters in which the recorder cannot find the running task itself. A thread runs
the steps of its tasks one after the other, and a task's scope holds during its steps. To see the steps, a wrapper is
placed between a task and its coroutine.
"""
import asyncio
import collections.abc
import re
import sys
import sysconfig

# Numbers say little, and the number of scopes is limited. Python 3.13 names some tasks `None`.
_NO_NAME = re.compile(r"Task-\d+|None|")


class Steps(collections.abc.Coroutine):
    """A coroutine whose steps are in the scope of its task, or in the scope in which the previous step ended."""

    def __init__(self, coroutine, recorder):
        self._coroutine = coroutine
        self._recorder = recorder
        self._inside = self._own = None  # ids of scopes: at the end of the last step; of the task
        self._has_name = False

    def __getattr__(self, name):  # attributes of a coroutine that asyncio shows, such as cr_frame
        return getattr(self._coroutine, name)

    def _name(self):
        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        self._has_name = not _NO_NAME.fullmatch(name)
        if not self._has_name:
            name = getattr(self._coroutine, "__qualname__", type(self._coroutine).__qualname__)
        return name.encode("utf-8", "replace")

    def _enter(self, recorder):
        """Enters the scope for a step. A task that starts eagerly may get its name after its first step."""
        if self._inside is not None and (self._has_name or self._inside != self._own):
            return recorder.allotrace_scope(None, self._inside)
        name = self._name()
        outer = recorder.allotrace_scope(name, 0)
        self._own = recorder.allotrace_scope(name, 0)
        return outer

    def _step(self, function, *arguments):
        recorder = self._recorder()
        if recorder is None:
            return function(*arguments)
        outer = self._enter(recorder)
        try:
            return function(*arguments)
        finally:
            self._inside = recorder.allotrace_scope(None, outer)

    def send(self, value):
        return self._step(self._coroutine.send, value)

    def throw(self, *exception):
        return self._step(self._coroutine.throw, *exception)

    def close(self):
        return self._coroutine.close()

    def __await__(self):
        return self._coroutine.__await__()


def _are_found(recorder):
    """Whether the recorder finds tasks; without a recorder, whether one that is attached later will."""
    if asyncio.Task.__module__ != "_asyncio":
        return False
    if recorder is None:
        return ((3, 11) <= sys.version_info < (3, 15) and not hasattr(sys, "gettotalrefcount")
                and not sysconfig.get_config_var("Py_GIL_DISABLED"))
    return hasattr(recorder, "allotrace_finds_tasks") and bool(recorder.allotrace_finds_tasks())


def install(loop, recorder):
    if _are_found(recorder()):
        return
    loop = loop or asyncio.get_running_loop()
    make = loop.get_task_factory() or (lambda loop, coroutine, **more: asyncio.Task(coroutine, loop=loop, **more))

    def factory(loop, coroutine, **more):
        return make(loop, Steps(coroutine, recorder), **more)
    loop.set_task_factory(factory)
