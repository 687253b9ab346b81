"""Spreads heat in a volume with the tuned jacobi3d, on an array of CuPy or PyTorch, and checks the answer plainly.

    tune emit --config ../shipped/jacobi3d.json --format python -o jacobi3d.py
    python3 heat.py [cupy | torch [STEPS [NX NY NZ]]]
"""
import sys
import time

import jacobi3d


def cupy(values, shape):
    """The values on the device, a function that gives them back, and one that waits."""
    import cupy as cp
    grid = cp.asarray(values, dtype=cp.float32).reshape(shape)
    return grid, lambda: grid.get().ravel().tolist(), cp.cuda.get_current_stream().synchronize


def torch(values, shape):
    import torch as to
    grid = to.tensor(values, dtype=to.float32, device="cuda").reshape(shape)
    return grid, lambda: grid.cpu().flatten().tolist(), to.cuda.synchronize


def plain(grid, nx, ny, nz):
    """One step as the textbook has it: the mean of a cell and its neighbours, edges going on."""
    def at(x, y, z):
        return grid[(min(max(z, 0), nz - 1) * ny + min(max(y, 0), ny - 1)) * nx + min(max(x, 0), nx - 1)]
    return [(at(x, y, z) + at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1)) / 7
            for z in range(nz) for y in range(ny) for x in range(nx)]


def main(library="cupy", steps="7", *size):
    steps = int(steps)
    nx, ny, nz = [int(n) for n in size] or (131, 70, 23)
    start = [(i * 2654435761 >> 8) % 1000 / 1000 for i in range(nx * ny * nz)]
    grid, back, wait = {"cupy": cupy, "torch": torch}[library](start, (nz, ny, nx))  # x last
    print(jacobi3d.variant(nx, ny, nz))
    jacobi3d.run(grid, steps)  # in place, on the library's stream
    wait()
    want = start
    for _ in range(steps):
        want = plain(want, nx, ny, nz)
    worst = max(abs(a - b) for a, b in zip(want, back()))
    print("largest error %g" % worst)
    begin = time.perf_counter()
    jacobi3d.run(grid, 1000)
    wait()
    print("seconds_per_step %.9g" % ((time.perf_counter() - begin) / 1000))
    return worst > 1e-4


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
