

import ctypes as _c
import glob as _glob
import os as _os
import sys as _sys
from math import ceil as _ceil, inf as _inf, log as _log
from operator import index as _index

_NAMES = {"float": _c.c_float, "double": _c.c_double, "int": _c.c_int, "long long": _c.c_longlong, "signed char": _c.c_int8, "unsigned char": _c.c_uint8,
          "short": _c.c_int16, "unsigned short": _c.c_uint16, "unsigned": _c.c_uint32, "unsigned long long": _c.c_uint64}
_FIELDS, _AXES, _LISTS = len(TABLE["fields"]), TABLE["dims"], TABLE.get("lists", [])


class Error(RuntimeError):
    """What CUDA or NVRTC answered. code is its number."""

    def __init__(self, what, code, text=""):
        super().__init__("%s: error %d %s" % (what, code, text))
        self.code = code


_libraries = {}


def _library(name, files):
    if name not in _libraries:
        for file in files:
            try:
                _libraries[name] = _c.CDLL(file)
                break
            except OSError:
                continue
        else:
            raise OSError("none of %s can be loaded: install %s" % (", ".join(files), name))
    return _libraries[name]


def _cuda(function, *arguments, allow=()):
    """Calls the driver; answers its code where it is allowed, else only 0."""
    driver = _library("the NVIDIA driver", ["libcuda.so.1", "libcuda.so"])
    code = getattr(driver, function)(*arguments)
    if code and code not in allow:
        text = _c.c_char_p()
        driver.cuGetErrorString(code, _c.byref(text))
        raise Error(function, code, (text.value or b"").decode())
    return code


def _compile(source, capability):
    """The CUBIN of a source, or PTX where NVRTC is older than the device. NVRTC comes with CUDA, CuPy's and PyTorch's wheels."""
    files = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"]
    for folder in _sys.path:
        for part in ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"):
            files += sorted(_glob.glob(_os.path.join(_glob.escape(folder or "."), part, "libnvrtc.so.*[0-9]")))
    nvrtc = _library("NVRTC (of CUDA, or pip's nvidia-cuda-nvrtc)", files)
    count = _c.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(_c.byref(count))
    known = (_c.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    exact = capability in known
    arch = capability if exact else max([a for a in known if a < capability], default=capability)
    options = [b"--gpu-architecture=%s_%d" % (b"sm" if exact else b"compute", arch), b"--std=c++17", b"--fmad=true"]
    program, size = _c.c_void_p(), _c.c_size_t()
    code = nvrtc.nvrtcCreateProgram(_c.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    if code:
        raise Error("nvrtcCreateProgram", code)
    try:
        code = nvrtc.nvrtcCompileProgram(program, len(options), (_c.c_char_p * len(options))(*options))
        if code:
            nvrtc.nvrtcGetProgramLogSize(program, _c.byref(size))
            log = _c.create_string_buffer(size.value + 1)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise Error("nvrtcCompileProgram", code, log.value.decode(errors="replace"))
        form = "CUBIN" if exact else "PTX"
        code = getattr(nvrtc, "nvrtcGet%sSize" % form)(program, _c.byref(size))
        image = _c.create_string_buffer(size.value + 1)
        code = code or getattr(nvrtc, "nvrtcGet" + form)(program, image)
        if code:
            raise Error("nvrtcGet" + form, code)
        return image
    finally:
        nvrtc.nvrtcDestroyProgram(_c.byref(program))


class _Device:
    """A device: its primary context, and the kernels that were loaded there."""

    known = {}

    def __init__(self, ordinal):
        self.context, handle = _c.c_void_p(), _c.c_int()
        _cuda("cuDeviceGet", _c.byref(handle), ordinal)
        _cuda("cuDevicePrimaryCtxRetain", _c.byref(self.context), handle)
        self.facts = []
        for attribute in (75, 76, 16, 38):  # compute capability, multiprocessors, bytes of L2
            value = _c.c_int()
            _cuda("cuDeviceGetAttribute", _c.byref(value), attribute, handle)
            self.facts.append(value.value)
        name = _c.create_string_buffer(256)
        _cuda("cuDeviceGetName", name, 256, handle)
        self.name = name.value.decode(errors="replace")
        self.entries, self.slots, self.usable, self.image, self.modules, self.picks, self.measured = {}, {}, {}, None, {}, {}, set()

    def shipped(self, entry):
        """An entry of the image beside this file (tune emit --format cubin -o NAME.cubin); None if it has none for this device."""
        if self.image is None:
            self.image, file = _c.c_void_p(), _os.path.splitext(__file__)[0] + ".cubin"
            if _os.path.exists(file):
                with open(file, "rb") as f:
                    code = _cuda("cuModuleLoadData", _c.byref(self.image), f.read(), allow=(200, 209, 218, 222))
                if code:  # no image, none for this device, PTX that the driver does not know
                    self.image = _c.c_void_p()
        function = _c.c_void_p()
        if self.image and _cuda("cuModuleGetFunction", _c.byref(function), self.image, entry.encode(), allow=(500,)) == 0:
            return function
        return None

    def module(self, source):
        if source not in self.modules:
            module = _c.c_void_p()
            _cuda("cuModuleLoadData", _c.byref(module), _compile(SOURCES[source], 10 * self.facts[0] + self.facts[1]))
            self.modules[source] = module
        return self.modules[source]

    def loaded(self, source, names):
        """Functions by their names, compiled with their source where the image lacks one."""
        found = [self.shipped(n) for n in names]
        if None in found:
            module, found = self.module(source), [_c.c_void_p() for _ in names]
            for name, function in zip(names, found):
                _cuda("cuModuleGetFunction", _c.byref(function), module, name.encode())
        return found

    def functions(self, number):
        """The stages' functions of a kernel, compiled when first asked for."""
        if number not in self.entries:
            k = TABLE["kernels"][number]
            self.entries[number] = self.loaded(k["source"], [p["entry"] for p in k["passes"]])
        return self.entries[number]

    def list_function(self, i):
        """The function of a list of places."""
        if ("list", i) not in self.entries:
            self.entries["list", i], = self.loaded(_LISTS[i]["source"], [_LISTS[i]["entry"]])
        return self.entries["list", i]

    def slots_of(self, number):
        """Blocks of a kernel that the device runs at once."""
        if number not in self.slots:
            self.prepare(number)  # else no block fits
            k, blocks = TABLE["kernels"][number], _c.c_int()
            threads = k["block"][0] * k["block"][1] * k["block"][2]
            code = _cuda("cuOccupancyMaxActiveBlocksPerMultiprocessor", _c.byref(blocks), self.functions(number)[0], threads, _c.c_size_t(k["shared"]), allow=(1,))
            self.slots[number] = max(1, 0 if code else self.facts[2] * blocks.value)
        return self.slots[number]

    def prepare(self, number):
        """Asks for shared memory beyond 48 KiB; False if the device has less."""
        k = TABLE["kernels"][number]
        if number not in self.usable:
            self.usable[number] = k["shared"] <= 48 << 10 or not any(_cuda("cuFuncSetAttribute", f, 8, k["shared"], allow=(1,)) for f in self.functions(number))
        return self.usable[number]

    def torn(self, k, tiles, nx):
        """Whether two tiles on x write to one sector of memory, each to a part."""
        return tiles > 1 and (k["early"] < 0 or nx % (32 // TABLE["bytes"]) != 0 or k["early"] > (tiles - 1) * k["step"][0] - (nx - k["hold"][0]))

    def least_tiles(self, number, n, planes):
        """The fewest stream tiles where sectors are torn: one is at most four times L2, or eight times the planes that it computes besides its own."""
        near, size = 4.0 * self.facts[3], float(TABLE["bytes"] * n[0] * n[1] * n[2])
        most = planes // (8 * TABLE["kernels"][number]["extra"])
        tiles = min(64, _ceil(size / near)) if near > 0 and size > near else 1
        return tiles if tiles < most else max(most, 1)

    def stream_tiles(self, k, slots, columns, planes, least):
        """Stream tiles that take the fewest plane steps one after the other, from least on, and those steps."""
        extra, best, fewest = k["extra"], least, 0
        for tiles in range(least, 65536):
            if tiles > least and (planes // tiles <= extra or tiles > 64 and columns * tiles > 4 * slots):
                break
            if tiles > least and columns * (planes + tiles * extra) >= fewest * slots:
                break  # nor would more tiles be faster
            steps = -(-columns * tiles // slots) * (-(-planes // tiles) + extra)
            if tiles == least or steps < fewest:
                fewest, best = steps, tiles
        return best, fewest

    def blocks(self, number, n, tuned, at_once=0):
        """The blocks of a launch, None if there are more than a launch can have, and their plane steps one after the other if these
        decide. tuned: the kernel was, for this grid and device. at_once: blocks that a multiprocessor runs, 0 = the driver is asked."""
        k, steps, slots = TABLE["kernels"][number], 0, 0
        if k["cells"] > 0:
            g = [-(-n[0] * n[1] * n[2] // k["cells"]), 1, 1]
        else:
            g = [1 + (-(-(n[a] - k["hold"][a]) // k["step"][a]) if n[a] > k["hold"][a] else 0) for a in range(3)]
            torn = self.torn(k, g[0], n[0])
            g[0] = -(-g[0] // k["pack"]) + k["spare"]
            g = [f or b for f, b in zip(k["fixed"], g)]
            if k["extra"] > 0 and not tuned:
                slots = at_once * self.facts[2] or self.slots_of(number)
                g[2], steps = self.stream_tiles(k, slots, g[0] * g[1], n[_AXES - 1], self.least_tiles(number, n, n[_AXES - 1]) if torn else 1)
            elif k["fill"] > 0:
                g[2] = max(1, k["fill"] // (g[0] * g[1]))
            if k["workers"] > 0:
                g = [g[0] * g[1] + (slots or k["workers"]), 1, 1]
            if k["line"]:
                g = [g[0] * g[1] * g[2], 1, 1]
        return None if g[0] > 2147483647 or g[1] > 65535 or g[2] > 65535 else g, steps

    def admits(self, number, n):
        """Whether a kernel is right for a grid."""
        k = TABLE["kernels"][number]
        if k["multiple"] > 1 and n[3] < 16 and n[3] < k["multiple"] * TABLE["bytes"]:
            return False
        return all(n[a] >= k["least"][a] for a in range(3)) and n[0] % max(1, k["multiple"]) == 0 and (not k["most"] or n[0] * n[1] * n[2] < k["most"])

    def suits(self, number, n, tuned):
        """The blocks of a kernel that can do the grid, else None."""
        if not self.admits(number, n):
            return None
        blocks, _ = self.blocks(number, n, tuned)
        return blocks if self.prepare(number) else None

    def away(self, winner, n):
        """How far a winner is from this device and a grid, what counts most first."""
        whole = [m[0] * TABLE["bytes"] % 16 == 0 for m in (n, winner["n"])]  # rows of what one instruction moves
        return [winner["device"] != self.name, abs(winner["capability"] - 10 * self.facts[0] - self.facts[1]),
                abs(_log((winner["multiprocessors"] + 1) / (self.facts[2] + 1))),
                (_log(8) if whole[0] != whole[1] else 0) + sum(abs(_log(a / b)) for a, b in zip(n, winner["n"]))]

    def choose(self, n):
        nearest = sorted(enumerate(TABLE["winners"]), key=lambda w: self.away(w[1], n))
        for i, w in nearest + [(-1, None)]:  # when all winners were tried, what is no winner's
            tuned = w is not None and w["multiprocessors"] == self.facts[2] and n[:3] == w["n"]
            best, least = None, 0
            here = w is not None and w["multiprocessors"] == self.facts[2] and w["device"] == self.name
            for v in TABLE["variants"]:
                if v["winner"] != i or not self.admits(v["kernels"][0], n):
                    continue
                first = v["kernels"][0]
                time = v["cost"] * self.blocks(first, n, tuned, v["at_once"])[1] / TABLE["kernels"][first]["steps"] if v["cost"] else 0  # ps of a time step, 0 = not known
                if best is None or TABLE["kernels"][first]["most"] and 0 < time < least:  # 64-bit indices: where there must be
                    grids = [self.suits(k, n, tuned) for k in v["kernels"]]
                    if None not in grids:
                        best, least = (v, grids), time
            if best:
                return best + ((w["seconds"] if tuned else 1e-12 * least) if here else 0.0,)
        v = TABLE["variants"][-1]
        return v, 3 * [self.blocks(v["kernels"][0], n, False)[0]], 0.0

    def all_picks(self, n):
        """The choices for a grid: the one that is made without measuring, and each variant that can do it, in as many stream tiles as the rule says and as fill the multiprocessors in part, once and several times."""
        picks = [self.choose(n)[:2]]
        for v in TABLE["variants"]:
            k = TABLE["kernels"][v["kernels"][0]]
            extra = 0 if k["workers"] > 0 else k["extra"]
            try:
                grids = [self.suits(k, n, False) for k in v["kernels"]]
                slots = self.slots_of(v["kernels"][0]) if extra > 0 and None not in grids else 0
            except Error:  # it cannot be compiled or loaded
                continue
            if None in grids:
                continue
            x, y, rule = grids[0]
            parts = [slots * part // 4 // (x * y) for part in (1, 2, 4, 8, 16)]  # of four times the blocks that run at once
            for tiles in [rule] + [t for t in parts if 1 <= t <= 65535 and n[_AXES - 1] // t > extra]:
                if not any(w["kernels"] == v["kernels"] and g[0][2] == tiles for w, g in picks):
                    picks.append((v, [[x, y, tiles]] + grids[1:]))
        return picks

    def variant(self, n):
        """What does a grid, the blocks of its kernels, and the seconds that a time step should take (0 = not known): of the nearest winner's that suit it and the device the one that should take the least time."""
        key = tuple(n)
        if key not in self.picks:
            if len(self.picks) >= 1000 + len(self.measured):
                self.picks = {m: self.picks[m] for m in self.measured}
            self.picks[key] = self.choose(n)
        return self.picks[key]


class _On:
    """Makes a device current, for as long as it is worked on."""

    def __init__(self, ordinal):
        _cuda("cuInit", 0)
        if ordinal not in _Device.known:
            _Device.known[ordinal] = _Device(ordinal)
        self.device = _Device.known[ordinal]

    def __enter__(self):
        _cuda("cuCtxPushCurrent_v2", self.device.context)
        return self.device

    def __exit__(self, *_):
        _cuda("cuCtxPopCurrent_v2", _c.byref(_c.c_void_p()))


class _Tensor(_c.Structure):
    """The head of a DLManagedTensor (dlpack.h, version 0 and 1 before its flags)."""

    _fields_ = [("data", _c.c_void_p), ("device_type", _c.c_int32), ("device", _c.c_int32), ("ndim", _c.c_int32), ("code", _c.c_uint8), ("bits", _c.c_uint8),
                ("lanes", _c.c_uint16), ("shape", _c.POINTER(_c.c_int64)), ("strides", _c.POINTER(_c.c_int64)), ("offset", _c.c_uint64)]


class _Array:
    """Where an array is on the device, and of what kind it is: by __cuda_array_interface__, or DLPack. of is its line of the table."""

    def __init__(self, name, array, written, of=TABLE):
        dtypes, self.name, self.grid = of.get("dtypes", TABLE["dtypes"]), name, not of.get("indexed")
        try:
            facts = array.__cuda_array_interface__
        except (AttributeError, TypeError, KeyError):
            facts = None
        if facts is not None and facts["typestr"][1:] == "f2" and hasattr(array, "__dlpack__"):
            facts = None  # some versions of PyTorch say so of bfloat16, too
        if facts is not None and facts["typestr"][1] in "fiu":  # which bfloat16 is not
            self.address, self.shape, size = facts["data"][0] or 0, tuple(facts["shape"]), int(facts["typestr"][2:])
            self.dtype = {"f": "float", "i": "int", "u": "uint"}[facts["typestr"][1]] + str(8 * size)
            if written and facts["data"][1]:
                raise ValueError("%s: the array may only be read" % name)
            strides = facts.get("strides")
            if strides is not None:
                strides = [s // size for s in strides]
        elif hasattr(array, "__dlpack__"):
            if array.__dlpack_device__()[0] not in (2, 13):  # kDLCUDA, kDLCUDAManaged
                raise TypeError("%s: the array is not on a CUDA device" % name)
            capsule = array.__dlpack__(stream=-1)  # which orders nothing: the stream does
            pointer = _c.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = _c.c_void_p, [_c.py_object, _c.c_char_p]
            t = _c.cast(pointer(capsule, b"dltensor"), _c.POINTER(_Tensor))[0]
            self.address, self.shape, size = (t.data or 0) + t.offset, tuple(t.shape[:t.ndim]), t.bits * t.lanes // 8
            self.dtype = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}.get(t.code, "") + str(t.bits * t.lanes)
            strides = t.strides[:t.ndim] if t.strides else None
        else:
            raise TypeError("%s: want an array on a CUDA device, with __cuda_array_interface__ or __dlpack__, not %s" % (name, type(array).__name__))
        whole = 1
        for extent, stride in reversed(list(zip(self.shape, strides or []))):
            if extent != 1 and stride != whole and 0 not in self.shape:
                raise ValueError("%s: want a C-contiguous array, x innermost" % name)
            whole *= extent
        self.cells = 1
        for extent in self.shape:
            self.cells *= extent
        self.size, self.bytes = size, self.cells * size
        if self.dtype not in dtypes:
            raise TypeError("%s: want elements of %s, not %s" % (name, " or ".join(dtypes), self.dtype or "another kind"))


def _stream(stream, array):
    """A stream's handle: a number, or CuPy's or PyTorch's stream; None is the one that the array's library uses now."""
    if stream is None:
        modules = [c.__module__.split(".")[0] for c in type(array).__mro__]
        if "torch" in modules:
            stream = _sys.modules["torch"].cuda.current_stream(array.device)
        elif "cupy" in modules:  # of the device that is current
            stream = _sys.modules["cupy"].cuda.get_current_stream()
        else:
            return 0
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)


def _extents(shape):
    """A shape's extents in the order x, y, z, or an error if it is no grid of the stencil. After them stands on multiples of how many bytes, 16 at most, its arrays begin."""
    n = [int(e) for e in reversed(shape)] + [1, 1, 1][len(shape):]
    cells = n[0] * n[1] * n[2] if len(n) == 3 else 0
    if len(shape) != _AXES or min(n) < 1 or max(n) > 2130706432 or cells > 1 << 56 or n[1] * n[2] > 2147483647:
        raise ValueError("shape %s: want %d extents of 1 to 2130706432, x last" % (tuple(shape), _AXES))
    least = TABLE.get("shortest", n)
    if any(e < m for e, m in zip(n, least)):
        raise ValueError("shape %s: want extents of %s and more, x last, since arrays are a cell shorter" % (tuple(shape), tuple(reversed(least[:_AXES]))))
    return n + [16]


def _begin(changed, data):
    """On multiples of how many bytes, 16 at most, all arrays of the grid begin. Refused are those that begin within an element, and such as overlap one that is changed; data are only read."""
    bits = 16
    for i, a in enumerate(changed + data):
        if a.address % a.size:
            raise ValueError("%s: begins within an element, at address %d" % (a.name, a.address))
        bits |= a.address if a.grid else 0
        for b in changed[:i]:
            if a.address < b.address + b.bytes and b.address < a.address + a.bytes:
                raise ValueError("%s and %s: %s" % (b.name, a.name, "the same array twice" if a.address == b.address else "arrays that overlap"))
    return bits & -bits


def _ordinal(address):
    """The device that an address is on."""
    _cuda("cuInit", 0)
    ordinal = _c.c_int()
    _cuda("cuPointerGetAttribute", _c.byref(ordinal), 9, _c.c_uint64(address))
    return ordinal.value


def _listed(state, i, of, pair):
    """Puts a list of places and its table into the state of a run. Answers both, or none if there is nothing to do."""
    name, address, count, rows, held = of["name"], [0, 0], 0, 0, []
    if pair is not None:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError("%s: want (places, table), or None for no places, not %s" % (name, type(pair).__name__))
        places, table = _Array("places of " + name, pair[0], False, {"dtypes": ["int64"], "indexed": True}), _Array("table of " + name, pair[1], not of["sources"], {"indexed": True})
        if len(places.shape) != 1 or len(table.shape) != 2 or table.shape[1] != places.cells:
            raise ValueError("%s: want places of shape (count,) and a table of shape (steps, count), not %s and %s" % (name, places.shape, table.shape))
        address, count, rows = [places.address, table.address], places.cells, min(table.shape[0], 2147483647)
        held = [places, table] if table.cells else []
    state["place[%d]" % i], state["table[%d]" % i] = [_c.c_uint64(a) for a in address]
    state["places[%d]" % i], state["rows[%d]" % i] = _c.c_longlong(count), _c.c_int(rows)
    return held


def _named(state, n, named):
    """Puts read-only arrays, lists of places and scalars into the state of a run, each by its name. Answers the arrays, first those that are written."""
    cells, missing, data, recorded = n[0] * n[1] * n[2], [], [], []
    for i, a in enumerate(TABLE["arrays"]):
        if a["name"] not in named:
            missing.append(a["name"])
            continue
        array = _Array(a["name"], named.pop(a["name"]), False, a)
        if array.cells < 1 or (not a["indexed"] and array.cells != cells):
            raise ValueError("%s: want %s elements, not %d" % (a["name"], "some" if a["indexed"] else cells, array.cells))
        data.append(array)
        state["read_only[%d]" % i], state["length[%d]" % i] = _c.c_uint64(array.address), _c.c_longlong(array.cells)
    for i, l in enumerate(_LISTS):
        if l["name"] not in named:
            missing.append(l["name"])
            continue
        held = _listed(state, i, l, named.pop(l["name"]))
        data += held[:1] + (held[1:] if l["sources"] else [])
        recorded += [] if l["sources"] else held[1:]
    for i, s in enumerate(TABLE["scalars"]):
        if s["name"] not in named:
            missing.append(s["name"])
            continue
        state["s_%d" % i] = _NAMES[s["kernel"]](_NAMES[s["type"]](named.pop(s["name"])).value)
    if missing or named:
        raise TypeError("%s; missing: %s; unknown: %s" % (TABLE["name"], ", ".join(missing) or "none", ", ".join(named) or "none"))
    return recorded, data


class _Attribute(_c.Structure):  # CUlaunchAttribute of cuda.h
    _fields_ = [("id", _c.c_uint64), ("value", _c.c_uint64 * 8)]


class _Config(_c.Structure):  # CUlaunchConfig
    _fields_ = [("grid", _c.c_uint * 3), ("block", _c.c_uint * 3), ("shared", _c.c_uint), ("stream", _c.c_void_p), ("attributes", _c.POINTER(_Attribute)), ("count", _c.c_uint)]


_EARLY = _Attribute(6, (1,))  # programmatic stream serialization
_waits = {}  # functions


def _early(function):
    """Whether a function waits for the launch before it itself, as those do that are compiled for compute capability 9.0 and later: it may begin before that has ended."""
    if function.value not in _waits:
        version, capability = _c.c_int(), _c.c_int()
        if hasattr(_library("the NVIDIA driver", []), "cuLaunchKernelEx"):
            _cuda("cuDriverGetVersion", _c.byref(version))
        if version.value >= 12030:  # before, it cannot be captured into a graph
            _cuda("cuFuncGetAttribute", _c.byref(capability), 5, function)
        _waits[function.value] = capability.value >= 90
    return _waits[function.value]


def _launch(function, grid, block, shared, state, names, stream):
    arguments = (_c.c_void_p * len(names))(*[_c.addressof(state[a]) for a in names])
    if _early(function):
        config = _Config((*grid,), (*block,), shared, stream, _c.pointer(_EARLY), 1)
        _cuda("cuLaunchKernelEx", _c.byref(config), function, arguments, None)
    else:
        _cuda("cuLaunchKernel", function, *grid, *block, shared, _c.c_void_p(stream), arguments, None)


def _advance(device, pick, state, n, steps, stream):
    """Puts the launches by a choice for the grid on the stream; afterwards the fields are where state's now[f] says."""
    v, grids = pick[:2]
    if None in grids:
        raise ValueError("extents %s: more blocks than a launch can have" % n[:3])
    while steps > 0:
        number, grid = next((k, g) for k, g in zip(v["kernels"], grids) if TABLE["kernels"][k]["steps"] <= steps)
        k = TABLE["kernels"][number]
        for p, function in zip(k["passes"], device.functions(number)):
            _launch(function, grid, k["block"], k["shared"], state, p["arguments"], stream)
            was = dict(state)
            for to, source in p["moves"]:
                state[to] = was[source]
        for i, l in enumerate(_LISTS if k["steps"] == 1 else []):  # what sources and receivers do after step first, but for launches of several
            count = state["places[%d]" % i].value
            if count > 0 and state["first"].value <= state["rows[%d]" % i].value:
                blocks = min(-(-count // l["threads"]), l["most"])
                _launch(device.list_function(i), [blocks, 1, 1], [l["threads"], 1, 1], 0, state, l["arguments"], stream)
        steps -= k["steps"]
        state["first"].value += k["steps"]


def _timed(device, pick, steps, state, n, stream):
    """Runs steps by a choice, and answers what one took in seconds."""
    events, ms = [_c.c_void_p(), _c.c_void_p()], _c.c_float()
    for e in events:
        _cuda("cuEventCreate", _c.byref(e), 0)
    try:
        _cuda("cuEventRecord", events[0], _c.c_void_p(stream))
        _advance(device, pick, dict(state, first=_c.c_int(1)), n, steps, stream)
        _cuda("cuEventRecord", events[1], _c.c_void_p(stream))
        _cuda("cuEventSynchronize", events[1])
        _cuda("cuEventElapsedTime", _c.byref(ms), *events)
    finally:
        for e in events:
            _cuda("cuEventDestroy_v2", e)
    return 1e-3 * ms.value / steps


def measure(fields, scratch, *, stream=None, **named):
    """Finds out what is fastest on grids of this shape on their device, whatever it is and whatever was tuned, and says what it is.

    It compiles every kernel that can do them and launches it many times; the fastest does such grids from then on. One that fails is left
    out; if all do, the first one's error is raised. It takes what advance takes, but steps and first. What is in arrays that are written is lost.
    """
    device, state, n, stream, _ = _prepared(fields, scratch, 1, stream, named)
    with device as d:
        capture = _c.c_int()
        _cuda("cuStreamIsCapturing", _c.c_void_p(stream), _c.byref(capture))
        if capture.value:  # which an event that is waited for would spoil
            raise Error("measure", 900, "the stream is being captured")
        picks, least, failed = d.all_picks(n), _inf, []
        seconds = [_inf] * len(picks)
        for turn in range(3):
            for i, p in enumerate(picks):
                if turn > 0 and (seconds[i] == _inf or i > 0 and seconds[i] > 1.1 * least):  # the first may have met a device at rest
                    continue
                once, steps = seconds[i], TABLE["kernels"][p[0]["kernels"][0]]["steps"]
                try:
                    for k in reversed(p[0]["kernels"]) if turn == 0 else ():  # first all are loaded, those for steps left over, too
                        once = _timed(d, p, steps + TABLE["kernels"][k]["steps"], state, n, stream)
                    launches = max(1, min(100, int(5e-4 / max(once, 1e-9) / steps)))  # half a millisecond
                    once = _timed(d, p, steps * launches, state, n, stream)
                    seconds[i], least = min(seconds[i], once), min(least, once)
                except Error as e:  # it is left out
                    _cuda("cuStreamSynchronize", _c.c_void_p(stream))  # unless none will run any more
                    seconds[i] = _inf
                    failed.append(e.with_traceback(None))  # which would hold the arrays
        best = seconds.index(min(seconds))
        if seconds[best] == _inf:
            raise failed[0]
        d.picks[tuple(n)] = picks[best] + (seconds[best],)
        d.measured.add(tuple(n))
        return picks[best][0]["text"]


def advance(fields, scratch, steps, *, first=1, stream=None, **named):
    """Advances fields on the device, and says which arrays hold the answers.

    fields and scratch are one array each, or a list of one for each field; scratch may hold None where the schedule
    writes nothing. Read-only arrays and scalars are given by name, and lists of places as (places, table): int64 of
    shape (count,), and elements of shape (steps, count), of which step t has row t - 1; None is a list without places. first is
    the first time step computed, which counts only where the stencil asks for it. The launches are put on the stream and not waited for. The arrays must live until
    they are done. Returns a list of arrays, one for each field, of those given.
    """
    steps, first = _index(steps), _index(first)
    if steps < 0 or first < 1 or first + steps > 2147483647:
        raise ValueError("steps %d, first %d: want at least 0 and 1" % (steps, first))
    device, state, n, stream, owner = _prepared(fields, scratch, first, stream, named)
    with device as d:
        _advance(d, d.variant(n), state, n, steps, stream)
    return [owner[state["now[%d]" % f].value] for f in range(_FIELDS)]


def _prepared(fields, scratch, first, stream, named):
    """A run's device, the state that its kernels are given, its extents, its stream and whose array lies at an address."""
    fields, scratch = [list(a) if isinstance(a, (list, tuple)) else [a] for a in (fields, scratch)]
    if len(fields) != _FIELDS or len(scratch) != _FIELDS:
        raise TypeError(_wanted() + " and as many scratch arrays, not %d and %d" % (len(fields), len(scratch)))
    state, shape, owner, held = {"first": _c.c_int(first)}, None, {}, []
    for key, arrays in (("now", fields), ("next", scratch)):
        for f, array in enumerate(arrays):
            if array is None and key == "next" and not TABLE["fields"][f]["written"]:
                state["next[%d]" % f] = _c.c_uint64(0)
                continue
            a = _Array("%s of field %d" % (key, f), array, True, TABLE["fields"][f])
            shape = a.shape if shape is None else shape
            if a.shape != shape:
                raise ValueError("%s of field %d: shape %s, want %s" % (key, f, a.shape, shape))
            held.append(a)
            owner[a.address], state["%s[%d]" % (key, f)] = array, _c.c_uint64(a.address)
    n = _extents(shape)
    state.update({"n[%d]" % a: _c.c_int(n[a]) for a in range(3)})
    recorded, data = _named(state, n, named)
    held += recorded
    n[3], ordinal = _begin(held, data), _ordinal(held[0].address)
    for a in held + data:
        if _ordinal(a.address) != ordinal:
            raise ValueError("%s is on device %d and %s on device %d" % (held[0].name, ordinal, a.name, _ordinal(a.address)))
    on = _On(ordinal)
    with on:  # CuPy's stream is of the device that is current
        return on, state, n, _stream(stream, fields[0]), owner


def _wanted():
    names = ", ".join(f["name"] for f in TABLE["fields"] if f["name"])
    return "want a list of %d arrays, the fields%s" % (_FIELDS, " " + names if names else "") if _FIELDS > 1 else "want one array"


def run(fields, steps, *, first=1, stream=None, **named):
    """Advances fields on the device in place; what it needs besides is taken from CUDA's memory pool on the stream.

    Takes what advance takes. An answer that ends in scratch is copied, which advance saves.
    """
    fields = list(fields) if isinstance(fields, (list, tuple)) else [fields]
    if len(fields) != _FIELDS:
        raise TypeError(_wanted() + ", not %d" % len(fields))
    at = [_Array("field %d" % f, a, True, TABLE["fields"][f]) for f, a in enumerate(fields)]
    held = []

    def taken(a):
        held.append(_Scratch(a, handle))
        return held[-1]

    with _On(_ordinal(at[0].address)):
        handle = _c.c_void_p(_stream(stream, fields[0]))
        try:
            scratch = [taken(a) if TABLE["fields"][f]["written"] else None for f, a in enumerate(at)]
            result = advance(fields, scratch, steps, first=first, stream=handle.value or 0, **named)
            moved = [f for f in range(_FIELDS) if result[f] is not fields[f]]
            # Fields may have changed places: what is in another one's array is first brought to safety.
            safe = {}
            for f in moved:
                safe[f] = result[f]
                if not isinstance(result[f], _Scratch):
                    safe[f] = taken(at[f])
                    _copy(safe[f], _Array("", result[f], False, TABLE["fields"][f]), handle)
            for f in moved:
                _copy(at[f], safe[f], handle)
        finally:
            for a in held:
                _cuda("cuMemFreeAsync", _c.c_uint64(a.address), handle)


def _copy(to, source, stream):
    _cuda("cuMemcpyDtoDAsync_v2", _c.c_uint64(to.address), _c.c_uint64(source.address), _c.c_size_t(to.bytes), stream)


class _Scratch:
    """Device memory of an array's kind."""

    def __init__(self, like, stream):
        address = _c.c_uint64()
        _cuda("cuMemAllocAsync", _c.byref(address), _c.c_size_t(max(1, like.bytes)), stream)
        self.address, self.bytes = address.value, like.bytes
        kind = {"f": "<f", "i": "<i", "u": "<u", "b": "<u"}[like.dtype[0]] + str(like.bytes // max(1, like.cells))
        self.__cuda_array_interface__ = {"shape": like.shape, "typestr": kind, "data": (self.address, False), "version": 3}


def variant(*extents, device=0):
    """What does a grid of these extents (x first) on a device: a schedule, and why."""
    with _On(device) as d:
        return d.variant(_extents(list(reversed(extents))))[0]["text"]


def expected(*extents, device=0):
    """Seconds that a time step on a grid of these extents (x first) should take on a device.

    Where it was tuned that is what was measured, on other grids as reckoned from that; 0 if that is not known.
    """
    with _On(device) as d:
        return d.variant(_extents(list(reversed(extents))))[2]


def ghost(steps, axis=0):
    """Layers along an axis of an array's shape that so many steps make wrong at an end that is cut off.

    A part of a grid may be advanced as a grid of its own, like grid[a:b]: what is so many layers away from its cut ends is right.
    """
    cut = TABLE["cuts"][::-1][axis]
    if cut["whole"]:
        raise ValueError("%s cannot be cut there: %s" % (TABLE["name"], cut["whole"]))
    return cut["reach"] * steps
