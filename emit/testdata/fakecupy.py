"""Runs the example of the emitted module, for no steps and 1000, with stand-ins for CuPy and the driver that compute nothing.

    python3 fakecupy.py FOLDER EXAMPLE
"""
import ctypes
import runpy
import sys
import types

import fakecuda

fake = fakecuda.Fake()
ctypes.CDLL = lambda name: fake if name.startswith(("libcuda.so", "libnvrtc.so")) else fakecuda.real(name)


class NDArray:
    pass


NDArray.__module__ = "cupy"


class Grid(NDArray):  # whose own module is another
    def __init__(self, values):
        self.values = values

    def reshape(self, shape):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (4096, False), "version": 3}
        return self

    def get(self):
        return self

    ravel = get

    def tolist(self):
        return self.values




def current():
    """CuPy's stream of the device that is current: the array's only where the module has made it so."""
    calls = [c for c in fake.log if c.startswith("cuCtxP")]
    return types.SimpleNamespace(ptr=5 if calls and calls[-1] == "cuCtxPushCurrent_v2" else 6, synchronize=lambda: None)


sys.modules["cupy"] = types.SimpleNamespace(asarray=lambda values, dtype: Grid(values), float32=None,
                                            cuda=types.SimpleNamespace(get_current_stream=current))
sys.path.insert(0, sys.argv[1])
import jacobi3d  # noqa: E402

fake.passes = {p["entry"]: p["arguments"] for k in jacobi3d.TABLE["kernels"] for p in k["passes"]}
fake.memory[4096] = "grid"
launch = fake.cuLaunchKernel


def launched(function, *rest):
    assert rest[7].value == 5, "on another stream than CuPy's"
    return launch(function, *rest)


fake.cuLaunchKernel = launched
sys.argv = [sys.argv[2], "cupy", "0", "70", "33", "9"]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print(len(fake.lines), "launches")
