"""Runs the kernels of an image (tune emit --format cubin) by what FILE.json says of them, with the driver alone.

    tune emit --config ../shipped/jacobi3d.json --format cubin -o jacobi3d.cubin
    python3 heat.py jacobi3d.cubin [STEPS]

For stencils of one float32 field and nothing else, on the grid that was tuned for. The sum of all cells must stay.
"""
import ctypes
import json
import sys

TYPES = {"int": ctypes.c_int}


def cuda(function, *arguments):
    code = getattr(DRIVER, function)(*arguments)
    if code:
        sys.exit("heat: %s: error %d" % (function, code))


def arguments(parameters, now, new, size):
    """What a stage's parameters hold, in their order."""
    values = []
    for p in parameters:
        if p["holds"] == "field":
            values.append(now[p["index"]])
        elif p["holds"] == "new_field":
            values.append(new[p["index"]])
        elif p["holds"] == "extent":
            values.append(TYPES[p["type"]](size[p["index"]]))
        else:
            sys.exit("heat: no value for a parameter that holds %s" % p["holds"])
    return values


def step(kernel, functions, now, new, size):
    """One launch of every stage; what it wrote is the field from then on."""
    for stage in kernel["stages"]:
        values = arguments(stage["parameters"], now, new, size)
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        cuda("cuLaunchKernel", functions[stage["entry"]], *kernel["grid"], *kernel["block"], kernel["shared_bytes"], None, pointers, None)
        now[0], new[0] = new[0], now[0]


def main(file, steps="10"):
    with open(file + ".json") as f:
        doc = json.load(f)
    with open(file, "rb") as f:
        image = f.read()
    if doc["format"] != "stenciltune.geometry/v1" or doc["dtype"] != "float32" or len(doc["fields"]) != 1:
        sys.exit("heat: want a stenciltune.geometry/v1 of one float32 field")
    size, steps = (doc["size"] + [1, 1])[:3], int(steps)
    cells = size[0] * size[1] * size[2]
    device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    cuda("cuInit", 0)
    cuda("cuDeviceGet", ctypes.byref(device), 0)
    cuda("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    cuda("cuCtxSetCurrent", context)
    cuda("cuModuleLoadData", ctypes.byref(module), image)
    functions = {}
    for kernel in doc["kernels"]:
        for stage in kernel["stages"]:
            functions[stage["entry"]] = ctypes.c_void_p()
            cuda("cuModuleGetFunction", ctypes.byref(functions[stage["entry"]]), module, stage["entry"].encode())
            cuda("cuFuncSetAttribute", functions[stage["entry"]], 8, kernel["shared_bytes"])
    # The tuned kernel, and those for the steps left over: of fewer steps, the last one of any grid's.
    kernels = sorted(doc["kernels"][:-1], key=lambda k: -k["steps_per_launch"])
    start = (ctypes.c_float * cells)()
    start[cells // 2] = 1
    now, new = [ctypes.c_uint64()], [ctypes.c_uint64()]
    for p in now + new:
        cuda("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(4 * cells))
    for p in now:
        cuda("cuMemcpyHtoD_v2", p, start, ctypes.c_size_t(4 * cells))
    while steps > 0:
        kernel = next(k for k in kernels if k["steps_per_launch"] <= steps)
        step(kernel, functions, now, new, size)
        steps -= kernel["steps_per_launch"]
    cuda("cuMemcpyDtoH_v2", start, now[0], ctypes.c_size_t(4 * cells))
    total = sum(start)
    print("%s: the sum of all cells is %.6f" % (kernels[0]["schedule"], total))
    return abs(total - 1) > 1e-4


if __name__ == "__main__":
    DRIVER = ctypes.CDLL("libcuda.so.1")
    sys.exit(main(*sys.argv[1:]))
