"""What emitted modules, jacobi3d of bfloat16 first, refuse and take, on the stand-in for the driver: python3 checks.py FOLDER."""
import ctypes
import gc
import os
import sys
import weakref

import fakecuda

fake = fakecuda.Fake()
ctypes.CDLL = lambda name: fake if name.startswith(("libcuda.so", "libnvrtc.so")) else fakecuda.real(name)
sys.path.insert(0, sys.argv[1])
import jacobi3d  # noqa: E402

fake.passes = {p["entry"]: p["arguments"] for k in jacobi3d.TABLE["kernels"] for p in k["passes"]}
fake.scalars = {}


class Array:
    def __init__(self, address, shape=(9, 40, 70), typestr="<u2", strides=None, constant=False):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, constant), "strides": strides, "version": 3}


class Tensor:
    """A bfloat16 array with DLPack alone."""

    def __init__(self, address, shape=(9, 40, 70), code=4, device=2, strides=None):
        self.shape, self.strides = [(ctypes.c_int64 * 3)(*s) if s else None for s in (shape, strides)]
        self.device = device
        at = ctypes.POINTER(ctypes.c_int64)
        self.head = jacobi3d._Tensor(address - 32, device, 0, 3, code, 16, 1, ctypes.cast(self.shape, at), ctypes.cast(self.strides, at), 32)

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.head), b"dltensor", None)


def refused(error, words, *arguments, of=jacobi3d, **named):
    try:
        of.advance(*arguments, **named)
    except error as e:
        assert words in str(e), "%r, want %r" % (str(e), words)
    else:
        raise AssertionError("taken, want: " + words)


class Stream:
    ptr = 11


grid, scratch = Array(4096), Array(1 << 20)
refused(TypeError, "not list", [[1, 2, 3]], scratch, 1)
refused(TypeError, "want elements of bfloat16 or uint16, not float32", Array(4096, typestr="<f4"), scratch, 1)
refused(ValueError, "want (9, 40, 70)", grid, Array(1 << 20, (9, 40, 71)), 1)
refused(ValueError, "want 3 extents", Array(4096, (9, 40)), Array(1 << 20, (9, 40)), 1)
refused(ValueError, "of 1 to 2130706432", Array(4096, (1, 2130706433, 1)), Array(1 << 20, (1, 2130706433, 1)), 1)
refused(ValueError, "of 1 to 2130706432", Array(4096, (9, 0, 70)), Array(1 << 20, (9, 0, 70)), 1)
refused(ValueError, "C-contiguous", Array(4096, strides=(2, 18, 720)), scratch, 1)
refused(ValueError, "C-contiguous", Tensor(4096, strides=(1, 9, 360)), scratch, 1)
refused(ValueError, "may only be read", Array(4096, constant=True), scratch, 1)
refused(ValueError, "now of field 0 and next of field 0: the same array twice", grid, grid, 1)
refused(ValueError, "now of field 0 and next of field 0: arrays that overlap", grid, Array(4096 + 50398), 1)  # by one element
refused(ValueError, "now of field 0 and next of field 0: arrays that overlap", Array(4098), grid, 1)
refused(ValueError, "next of field 0: begins within an element, at address 1048577", grid, Array((1 << 20) + 1), 1)
refused(TypeError, "want one array and as many scratch arrays, not 2 and 1", [grid, grid], scratch, 1)
refused(ValueError, "steps -1", grid, scratch, -1)
refused(TypeError, "integer", grid, scratch, 2.5)
refused(TypeError, "unknown: alpha", grid, scratch, 1, alpha=1)
refused(TypeError, "not on a CUDA device", Tensor(4096, device=1), scratch, 1)
refused(TypeError, "not float16", Tensor(4096, code=2), scratch, 1)
fake.cuPointerGetAttribute = lambda value, attribute, address: setattr(value._obj, "value", 3 if address.value == 1 << 20 else 0) or 0
refused(ValueError, "now of field 0 is on device 0 and next of field 0 on device 3", grid, scratch, 1)
del fake.cuPointerGetAttribute
half = Tensor(4096)  # of versions of PyTorch that say float16 of bfloat16
half.__cuda_array_interface__ = Array(4096, typestr="<f2").__cuda_array_interface__
assert jacobi3d._Array("half", half, True).dtype == "bfloat16"
assert not fake.lines, fake.lines

fake.memory = {4096: "field", 1 << 20: "scratch"}
tensor = Tensor(4096, strides=(2800, 70, 1))
assert jacobi3d.advance(tensor, scratch, 4, stream=Stream()) == [tensor]  # 3 steps and 1
fields = [line.split()[8:10] for line in fake.lines]
print(fake.lines[0].split()[0], fields[0], len(fake.lines))

# What begins beside a vector is computed as rows of any length are; there may be nothing between arrays.
odd = {p["entry"] for k in jacobi3d.TABLE["kernels"] if k["multiple"] == 1 for p in k["passes"]}
assert fake.lines[0].split()[0] not in odd
fake.memory.update({4098: "field", 4096 + 50402: "scratch"})
fake.lines = []
jacobi3d.advance(Array(4098), Array(4096 + 50402), 4)
assert len(fake.lines) == 2 and all(line.split()[0] in odd for line in fake.lines), fake.lines

# What is measured to be fastest does such a grid from then on, in as many stream tiles; other grids are left to the rule.
picks = jacobi3d._Device.known[0].all_picks([70, 40, 9, 16])
wanted = picks[len(picks) // 2]
entry, tiles = jacobi3d.TABLE["kernels"][wanted[0]["kernels"][0]]["passes"][0]["entry"], wanted[1][0]
fake.cost = lambda line: 0.001 if line.split()[0] == entry and line.split()[1:4] == [str(b) for b in tiles] else 1
fake.lines, fake.timed, before = [], 0, jacobi3d.variant(70, 40, 10)
assert len(picks) > 3 and jacobi3d.measure(tensor, scratch, stream=Stream()) == wanted[0]["text"]
fake.lines = []
jacobi3d.advance(tensor, scratch, 3, stream=Stream())
assert fake.lines[0].split()[:4] == [entry] + [str(b) for b in tiles], fake.lines
assert 0 < jacobi3d.expected(70, 40, 9) < 1e-5 and jacobi3d.variant(70, 40, 10) == before

# The grid that was tuned for is measured in the stream tiles of its tune, too.
device, tuned = jacobi3d._Device.known[0], [512, 512, 512, 16]
assert device.variant(tuned)[:2] in device.all_picks(tuned)
# It is so also when something else was found before.
before = device.picks[tuple(tuned)]
device.picks[tuple(tuned)] = device.all_picks(tuned)[-1] + (1.0,)
assert before[:2] in device.all_picks(tuned)
device.picks[tuple(tuned)] = before



# A choice that cannot be launched, or had, is left out. If none can be, or nothing works any more, the choice is the one that it was.
def measured(code, refused=lambda line: 0, found=True):
    """Measures a grid that was not, and answers what does it then."""
    fake.lines, fake.timed, fake.refused = [], 0, refused
    device.picks.pop((70, 40, 9, 16), None), device.measured.discard((70, 40, 9, 16))
    try:
        jacobi3d.measure(tensor, scratch, stream=Stream())
    except jacobi3d.Error as e:
        assert e.code == code, e
    else:
        assert code == 0
    fake.lines, fake.refused = [], lambda line: 0
    jacobi3d.advance(tensor, scratch, 3, stream=Stream())
    assert ((70, 40, 9, 16) in device.measured) == (code == 0)
    return fake.lines[0].split()[:4]


def launched(pick):
    return [jacobi3d.TABLE["kernels"][pick[0]["kernels"][0]]["passes"][0]["entry"]] + [str(b) for b in pick[1][0]]


device.picks.pop((70, 40, 9, 16), None)
device.measured.clear()
picks = device.all_picks([70, 40, 9, 16])
first, second, third = [launched(p) for p in picks[:3]]
fake.cost = lambda line: {tuple(first): 0.001, tuple(second): 0.002}.get(tuple(line.split()[:4]), 1)
assert measured(0) == first
assert measured(0, lambda line: 701 if line.split()[:4] == first else 0) == second
assert measured(9, lambda line: 9) == first
gc.disable()  # what failed does not hold the arrays
given = Array(1 << 20)
fake.refused, held = lambda line: 701 if line.split()[:4] == first else 0, weakref.ref(given)
jacobi3d.measure(tensor, given, stream=Stream())
del given
assert held() is None
gc.enable()
# It is timed first, when a device that was at rest is slow.
tries, cost = [], fake.cost
fake.cost = lambda line: 0.015 if line.split()[:4] != first else tries.append(line) or 0.02 if len(tries) < 50 else 0.01
assert measured(0) == first
fake.cost = cost
left = jacobi3d.TABLE["kernels"][picks[0][0]["kernels"][2]]["passes"][0]["entry"]
assert left != first[0] and measured(0, lambda line: 701 if line.split()[0] == left else 0)[0] not in (left, first[0])
faults = []


def fault(line):
    assert not faults, "a launch after a fault"
    if line.split()[:4] == third:
        faults.append(line)
    return 719 if faults else 0


fake.cuStreamSynchronize = lambda stream: 719
assert measured(719, fault) == first
del fake.cuStreamSynchronize
fake.cuStreamIsCapturing = lambda stream, status: setattr(status._obj, "value", 1) or 0
assert measured(900, lambda line: faults.append(line) or 0) == first and len(faults) == 1
del fake.cuStreamIsCapturing
number, load = next(p[0]["kernels"][0] for p in picks if p[0]["kernels"][0] not in picks[0][0]["kernels"]), device.functions
device.functions = lambda k: jacobi3d._cuda("cuModuleLoadData", None, b"") if k == number else load(k)
device.usable, device.slots, load_data, fake.cuModuleLoadData = {}, {}, fake.cuModuleLoadData, lambda *_: 2
assert measured(0) == first
device.functions, fake.cuModuleLoadData = load, load_data

# What was measured outlives what was only chosen, and the rest is forgotten.
found = jacobi3d.expected(70, 40, 9)
for planes in range(1000, 2100):
    device.variant([70, 40, planes, 16])
assert jacobi3d.expected(70, 40, 9) == found and len(device.picks) <= 1001

# An image beside the module is taken where it has the kernels; nothing is compiled then.
jacobi3d._Device.known.clear()
with open(os.path.join(sys.argv[1], "jacobi3d.cubin"), "wb") as f:
    f.write(b"image")
fake.source, fake.log = " ".join(fake.passes), []
jacobi3d.advance(Tensor(4096), scratch, 1)
assert not [name for name in fake.log if name == "nvrtcDestroyProgram"], fake.log
# One without them is not.
jacobi3d._Device.known.clear()
lookup = fake.cuModuleGetFunction
fake.cuModuleGetFunction = lambda f, module, name: 500 if module.value == 1 else lookup(f, module, name)
fake.log = []
jacobi3d.advance(Tensor(4096), scratch, 1)
assert "nvrtcDestroyProgram" in fake.log, fake.log

# Fields in types of their own.
import crust  # noqa: E402

types = ["<f2", "<f2", "<f4", "|u1"]
fields, scratch = [[Array(start + (i << 20), (40, 70), t) for i, t in enumerate(types)] for start in (1 << 24, 1 << 25)]
refused(TypeError, "now of field 3: want elements of uint8, not float32", fields[:3] + [Array(19 << 20, (40, 70), "<f4")], scratch, 1, of=crust)
refused(TypeError, "want a list of 4 arrays, the fields %s and as many scratch arrays, not 3 and 4" % ", ".join(f["name"] for f in crust.TABLE["fields"]), fields[:3], scratch, 1, of=crust)
refused(TypeError, "next of field 0: want elements of float16, not float32", fields, [Array(32 << 20, (40, 70), "<f4")] + scratch[1:], 1, of=crust)
refused(TypeError, "k: want elements of float16, not float32", fields, scratch, 1, k=Array(19 << 20, (40, 70), "<f4"), of=crust)

# A byte begins anywhere, and so does what is computed of rows of any length.
fields[3], k = Array((19 << 20) + 1, (40, 70), "|u1"), Array(1 << 26, (40, 70), "<f2")
fake.passes.update({p["entry"]: p["arguments"] for k in crust.TABLE["kernels"] for p in k["passes"]})
fake.memory.update({a.__cuda_array_interface__["data"][0]: "data" for a in fields + scratch})
fake.lines = []
crust.advance(fields, scratch, 3, k=k)
assert fake.lines and fake.lines[0].split()[0] in {p["entry"] for k in crust.TABLE["kernels"] if k["multiple"] == 1 for p in k["passes"]}, fake.lines

# Lists of places.
import survey  # noqa: E402

fields, scratch = [[Array(start + (i << 20), (40, 70), "<f4") for i in range(2)] for start in (1 << 24, 1 << 25)]
m, places, table = Array(12288, (40, 70), "<f4"), Array(16384, (5,), "<i8"), Array(20480, (7, 5), "<f4")


def refused_list(error, words, shot=(places, table), trace=None, **named):
    refused(error, words, fields, scratch, 1, m=m, shot=shot, trace=trace, of=survey, **named)


refused_list(TypeError, "shot: want (places, table), or None for no places, not Array", places)
refused_list(TypeError, "shot: want (places, table), or None for no places, not tuple", (places, table, 7))
refused_list(TypeError, "places of shot: want elements of int64, not int32", (Array(16384, (5,), "<i4"), table))
refused_list(TypeError, "table of trace: want elements of float32, not float64", trace=(places, Array(20480, (7, 5), "<f8")))
for shapes in ((5, 1), (7, 5)), ((5,), (5, 7)), ((5,), (35,)), ((5,), (7, 5, 1)):
    refused_list(ValueError, "shot: want places of shape (count,) and a table of shape (steps, count), not %s and %s" % shapes,
                 (Array(16384, shapes[0], "<i8"), Array(20480, shapes[1], "<f4")))
refused_list(ValueError, "table of trace: the array may only be read", trace=(places, Array(20480, (7, 5), "<f4", constant=True)))
apart = Array(40960, (5,), "<i8"), Array(45056, (7, 5), "<f4")
for at, with_what in ((40960, "table of trace and places of shot"), (45056 + 136, "table of trace and table of shot"), (12288, "table of trace and m"), (1 << 25, "next of field 0 and table of trace")):
    refused_list(ValueError, with_what, shot=apart, trace=(Array(32768, (5,), "<i8"), Array(at, (7, 5), "<f4")))
refused_list(ValueError, "now of field 1 and places of shot", shot=(Array((1 << 24) + (1 << 20), (5,), "<i8"), table))
refused_list(ValueError, "places of shot: begins within an element", shot=(Array(16388, (5,), "<i8"), table))
refused_list(TypeError, "missing: none; unknown: shots", shots=None)
refused(ValueError, "next of field 1 and m: arrays that overlap", fields, scratch, 1, m=Array((1 << 25) + (1 << 20) + 4, (40, 70), "<f4"), shot=None, trace=None, of=survey)
refused(TypeError, "missing: shot, trace; unknown: none", fields, scratch, 1, m=m, of=survey)
empty = Array(16384, (0,), "<i8"), Array(20480, (7, 0), "<f4", strides=(4, 4))
fake.passes.update({p["entry"]: p["arguments"] for k in survey.TABLE["kernels"] for p in k["passes"]})
fake.passes.update({l["entry"]: l["arguments"] for l in survey.TABLE["lists"]})
fake.memory.update({a.__cuda_array_interface__["data"][0]: "data" for a in fields + scratch})
fake.lines = []
survey.advance(fields, scratch, 2, m=m, shot=(places, Array(20480, (1, 5), "<f4", constant=True)), trace=empty)
assert ["_list_" in line.split()[0] for line in fake.lines] == [False, True, False], fake.lines
