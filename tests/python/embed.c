/* A program that embeds Python, twice, and calls it from functions of its own. */
#include <Python.h>

static PyObject *back(PyObject *self, PyObject *function) {
    (void)self;
    return PyObject_CallNoArgs(function);
}

static PyMethodDef methods[] = {{"back", back, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "host", NULL, -1, methods, 0, 0, 0, 0};

static PyObject *module_init(void) {
    return PyModule_Create(&module);
}

__attribute__((noinline)) int inner(const char *code) {
    return PyRun_SimpleString(code) + 0 * getchar();
}

__attribute__((noinline)) int outer(const char *code) {
    return inner(code) + 0 * getchar();
}

int main(void) {
    PyImport_AppendInittab("host", module_init);
    for (int i = 0; i < 2; i++) {
        Py_Initialize();
        if (outer("import host\n"
                  "kept = []\n"
                  "def inside():\n"
                  "    kept.append(bytearray(9999))\n"
                  "def around():\n"
                  "    host.back(inside)\n"
                  "around()\n"))
            return 1;
        Py_Finalize();
    }
    puts("done");
    return 0;
}
