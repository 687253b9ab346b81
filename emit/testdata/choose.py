"""Asks an emitted module what it chooses on devices of a stand-in for CUDA.

    python3 choose.py FOLDER [TIMES]    # which has jacobi3d.py and cases, a device and a grid a line; with TIMES also what a step should take
"""
import ctypes
import importlib
import os
import sys

import fakecuda


def main():
    folder = sys.argv[1]
    fake = fakecuda.Fake()
    ctypes.CDLL = lambda name: fake if name.startswith(("libcuda.so", "libnvrtc.so")) else fakecuda.real(name)
    sys.path.insert(0, folder)
    module = importlib.import_module("jacobi3d")
    module._compile = lambda source, capability: setattr(fake, "source", source) or b"image"
    for ordinal, line in enumerate(open(os.path.join(folder, "cases"))):
        name, *numbers = line.split()
        capability, sms, shared, *n = map(int, numbers)
        facts = {75: capability // 10, 76: capability % 10, 16: sms}

        def named(text, size, _):
            text.value = name.replace("_", " ").encode()
            return 0

        def attribute(value, which, _):
            value._obj.value = facts.get(which, 0)
            return 0

        fake.cuDeviceGetName, fake.cuDeviceGetAttribute = named, attribute
        fake.cuFuncSetAttribute = lambda function, which, value: 0 if value <= shared else 1
        print(module.variant(*n, device=ordinal), *["%.6g" % module.expected(*n, device=ordinal)] * (len(sys.argv) > 2))


if __name__ == "__main__":
    main()
