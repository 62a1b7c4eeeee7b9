// The host half: records the GPU code that is registered when the library is loaded, and tells Python about it.
// It stands in for the HIP runtime, so that the library loads on a machine without one.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstring>

#include "hip_launch.h"

namespace {

struct FatBinary {
    std::uint32_t magic;
    std::uint32_t version;
    const unsigned char *bundle;
    void *unused;
};

constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr int kNoRuntime = 100;  // hipErrorNoDevice
const FatBinary *registered = nullptr;
const char *kernel_names[16];
int kernel_count = 0;
int launch_error = 0;

#ifdef __clang__
constexpr char kHostCompiler[] = __VERSION__;  // names itself: "Clang 19.1.7"
#else
constexpr char kHostCompiler[] = "GCC " __VERSION__;
#endif

std::uint64_t read64(const unsigned char *place) {
    std::uint64_t value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

PyObject *code_objects(PyObject *, PyObject *) {
    PyObject *found = PyList_New(0);
    if (found == nullptr || registered == nullptr) {
        return found;
    }
    const unsigned char *place = registered->bundle;
    if (std::memcmp(place, kMagic, sizeof kMagic - 1) != 0) {
        Py_DECREF(found);
        PyErr_SetString(PyExc_RuntimeError, "the GPU code is not in a plain bundle");
        return nullptr;
    }
    place += sizeof kMagic - 1;
    std::uint64_t count = read64(place);
    place += 8;
    for (std::uint64_t entry = 0; entry < count; ++entry) {
        std::uint64_t size = read64(place + 8), length = read64(place + 16);
        PyObject *row = Py_BuildValue("(s#K)", reinterpret_cast<const char *>(place + 24),
                                      static_cast<Py_ssize_t>(length), static_cast<unsigned long long>(size));
        if (row == nullptr || PyList_Append(found, row) < 0) {
            Py_XDECREF(row);
            Py_DECREF(found);
            return nullptr;
        }
        Py_DECREF(row);
        place += 24 + length;
    }
    return found;
}

PyObject *kernels(PyObject *, PyObject *) {
    PyObject *found = PyList_New(0);
    for (int index = 0; found != nullptr && index < kernel_count; ++index) {
        PyObject *name = PyUnicode_FromString(kernel_names[index]);
        if (name == nullptr || PyList_Append(found, name) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(name);
    }
    return found;
}

PyObject *launch(PyObject *, PyObject *) {
    launch_error = 0;
    probe_add(nullptr, nullptr, nullptr, 1);
    if (launch_error != 0) {
        PyErr_Format(PyExc_RuntimeError, "no kernel can run: this library has no HIP runtime (error %d)",
                     launch_error);
        return nullptr;
    }
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"code_objects", code_objects, METH_NOARGS, "[(ID of the entry, size in bytes)] of the library's fat binary."},
    {"kernels", kernels, METH_NOARGS, "Names of the kernels that the library registers."},
    {"launch", launch, METH_NOARGS, "Try to run a kernel. RuntimeError, as there is no HIP runtime."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_probe", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

extern "C" {

void **__hipRegisterFatBinary(const void *data) {
    registered = static_cast<const FatBinary *>(data);
    static void *handle;
    return &handle;
}

void __hipUnregisterFatBinary(void **) { registered = nullptr; }

void __hipRegisterFunction(void **, const void *, char *, const char *name, unsigned, void *, void *, void *, void *,
                           int *) {
    if (kernel_count < 16) {
        kernel_names[kernel_count++] = name;
    }
}

hipError_t __hipPushCallConfiguration(dim3, dim3, probe_size_t, hipStream_t) { return 0; }

hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, probe_size_t *, hipStream_t *) { return 0; }

hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, probe_size_t, hipStream_t) {
    return launch_error = kNoRuntime;
}

}  // extern "C"

PyMODINIT_FUNC PyInit__probe() {
    PyObject *made = PyModule_Create(&module);
    if (made != nullptr && PyModule_AddStringConstant(made, "host_compiler", kHostCompiler) < 0) {
        Py_CLEAR(made);
    }
    return made;
}
