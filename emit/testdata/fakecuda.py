"""A stand-in for libcuda and NVRTC that writes down what an emitted module asks of them.

    python3 fakecuda.py FOLDER < CASES

Each line of CASES is JSON: the module's name, extents x y z, steps, lengths of read-only arrays, places and rows of lists, and values of scalars.
Printed are the launches of advance, as emit's record of the C++ launcher prints them. run must leave the same answers.
A library's call returns 0 = all is well. There are 132 multiprocessors, each with place for one block.
"""
import ctypes
import importlib
import json
import math
import struct
import sys

real = ctypes.CDLL
SIZES = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8", "uint16": "<u2", "int8": "|i1", "uint8": "|u1",
         "bfloat16": "<u2", "int16": "<i2", "uint32": "<u4", "uint64": "<u8"}


class Fake:
    def __init__(self, module=None):
        self.names, self.next, self.memory, self.lines, self.log, self.scalars = {}, 1 << 50, {}, [], [], {}
        self.lists = {}  # whether it is of sources, by its entry
        self.bytes, self.fields = {}, []  # of arrays by address; of fields, where they are known
        self.cost, self.timed = lambda line: 1, 0  # ms of a launch; the launches before the last question
        self.refused = lambda line: 0  # what a launch answers

    def __getattr__(self, function):  # of those without an answer but 0
        if not function.startswith(("cu", "nvrtc")):
            raise AttributeError(function)

        def call(*_):
            self.log.append(function)
            return 0
        return call

    def cuDeviceGetAttribute(self, value, attribute, _):
        value._obj.value = {75: 9, 76: 0, 16: 132, 38: 1 << 16}[attribute]
        return 0

    def cuDeviceGetName(self, name, size, _):
        name.value = b"NVIDIA H200"
        return 0

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, blocks, function, threads, shared):
        blocks._obj.value = 1
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        return 0 if value <= 227 << 10 else 1

    def nvrtcGetNumSupportedArchs(self, count):
        count._obj.value = 2
        return 0

    def nvrtcGetSupportedArchs(self, known):
        known[0], known[1] = 80, 90
        return 0

    def nvrtcCreateProgram(self, program, source, *_):
        self.source = source.decode()
        return 0

    def nvrtcCompileProgram(self, program, count, options):
        assert list(options) == [b"--gpu-architecture=sm_90", b"--std=c++17", b"--fmad=true"], list(options)
        return 0

    def nvrtcGetCUBINSize(self, program, size):
        size._obj.value = 3
        return 0

    def cuModuleLoadData(self, module, image):
        module._obj.value = 1 if bytes(image[:5]) == b"image" else 2
        return 0

    def cuModuleGetFunction(self, function, module, name):
        name = name.decode()
        assert name in self.source, name
        function._obj.value = len(self.names) + 1
        self.names[function._obj.value] = name
        return 0

    def cuPointerGetAttribute(self, value, attribute, address):
        value._obj.value = 0
        return 0

    def cuMemAllocAsync(self, address, size, stream):
        self.next += 1 << 36
        address._obj.value = self.next
        self.memory[self.next], self.bytes[self.next] = "nothing", size.value
        return 0

    def cuMemFreeAsync(self, address, stream):
        del self.memory[address.value]
        return 0

    def cuMemcpyDtoDAsync_v2(self, to, source, size, stream):
        assert self.bytes[to.value] == self.bytes[source.value] == size.value, "a copy of %d bytes" % size.value
        self.memory[to.value] = self.memory[source.value]
        return 0

    def cuEventElapsedTime(self, ms, *_):
        ms._obj.value, self.timed = sum(self.cost(line) for line in self.lines[self.timed:]), len(self.lines)
        return 0

    def cuDriverGetVersion(self, version):
        version._obj.value = 13000
        return 0

    def cuFuncGetAttribute(self, value, attribute, function):
        assert attribute == 5 and function.value in self.names  # PTX version
        value._obj.value = 90
        return 0

    def cuLaunchKernelEx(self, config, function, arguments, extra):
        c = config._obj
        early = c.attributes[0]
        assert c.count == 1 and early.id == 6 and early.value[0] == 1 and extra is None
        assert ctypes.sizeof(c) == 56 and ctypes.sizeof(early) == 72 and type(c).stream.offset == 32  # as in cuda.h
        return self.cuLaunchKernel(function, *c.grid, *c.block, c.shared, ctypes.c_void_p(c.stream), arguments, extra)

    def cuLaunchKernel(self, function, *rest):
        grid, block, shared, stream, arguments = rest[:3], rest[3:6], rest[6], rest[7], rest[8]
        name, text, read, written, held = self.names[function.value], [], [], [], {}
        for a, at in zip(self.passes[name], arguments):
            kind = a.split("[")[0].split("_")[0] if not a.startswith("read") else "read"
            form = {"now": "Q", "next": "Q", "read": "Q", "length": "q", "n": "i", "first": "i", "place": "Q", "places": "q", "table": "Q", "rows": "i",
                    "s": self.scalars.get(a)}[kind]
            raw = ctypes.string_at(at, struct.calcsize(form))
            held[kind] = value = struct.unpack(form, raw)[0]
            text.append(raw[::-1].hex() if form == "d" else "%x" % value if form == "Q" else "%d" % value)
            if kind in ("now", "next") and self.fields:
                assert self.bytes[value] == self.fields[int(a.split("[")[1][:-1])], a
            if kind == "now":
                read.append(self.memory[value])
            elif kind == "next":
                written.append(value)
        for i, to in enumerate(written):
            self.memory[to] = hash((name, i, tuple(read)))
        if name in self.lists:  # what it changes is the last field it takes
            to = held["now" if self.lists[name] else "table"]
            self.memory[to] = hash((name, held["first"], self.memory.get(to), tuple(read)))
        self.lines.append(" ".join([name, *map(str, grid + block), str(shared), *text]))
        return self.refused(self.lines[-1])


class Array:
    """Fields are from address 1 << 44 on, scratch from 2 << 44, read-only arrays from 3 << 44, 1 << 36 apart."""

    def __init__(self, address, shape, dtype):
        self.address, self.bytes = address, math.prod(shape) * int(SIZES[dtype][2:])
        self.__cuda_array_interface__ = {"shape": shape, "typestr": SIZES[dtype], "data": (address, False), "strides": None, "version": 3}


def launches(fake, module, case):
    t = module.TABLE
    fake.passes = {p["entry"]: p["arguments"] for k in t["kernels"] for p in k["passes"]}
    fake.passes.update({l["entry"]: l["arguments"] for l in t.get("lists", [])})
    fake.lists = {l["entry"]: l["sources"] for l in t.get("lists", [])}
    fake.scalars = {"s_%d" % i: {"double": "d", "long long": "q"}[s["kernel"]] for i, s in enumerate(t["scalars"])}
    shape = tuple(reversed(case["n"][:t["dims"]]))
    of = lambda a: a.get("dtypes", t["dtypes"])[0]
    fields, scratch = [[Array(start + (i << 36), shape, of(f)) for i, f in enumerate(t["fields"])] for start in (1 << 44, 2 << 44)]
    fake.fields = [a.bytes for a in fields]
    fake.bytes = {a.address: a.bytes for a in fields + scratch}
    named = {a["name"]: Array((3 << 44) + (i << 36), (case["lengths"][i],), of(a)) for i, a in enumerate(t["arrays"])}
    named.update({s["name"]: v for s, v in zip(t["scalars"], case["scalars"])})
    for i, l in enumerate(t.get("lists", [])):
        (count, rows), at = case["lists"][i], (4 << 44) + (2 * i << 36)
        named[l["name"]] = (Array(at, (count,), "int64"), Array(at + (1 << 36), (rows, count), t["dtypes"][0])) if count else None
    start = {a.address: "field %d" % i for i, a in enumerate(fields)}
    fake.memory, fake.lines = {**start, **{a.address: "scratch" for a in scratch}}, []
    result = module.advance(fields, scratch, case["steps"], first=5, stream=7, **named)
    answers = {a.address: fake.memory[r.address] for a, r in zip(fields, result)}
    answers.update({a: v for a, v in fake.memory.items() if a >> 44 == 4})  # tables
    lines = fake.lines + ["result " + " ".join("%x" % r.address for r in result)]
    fake.memory, fake.lines = dict(start), []
    module.run(fields, case["steps"], first=5, stream=7, **named)
    assert fake.memory == answers, "run: %s, want %s" % (fake.memory, answers)
    return lines


def main():
    fake = Fake()
    ctypes.CDLL = lambda name: fake if name.startswith(("libcuda.so", "libnvrtc.so")) else real(name)
    sys.path.insert(0, sys.argv[1])
    for line in sys.stdin:
        case = json.loads(line)
        module = importlib.import_module(case["module"])
        print("%s %s %d: %s" % (case["module"], case["n"], case["steps"], module.variant(*case["n"][:module.TABLE["dims"]])))
        print("\n".join(launches(fake, module, case)))


if __name__ == "__main__":
    main()
