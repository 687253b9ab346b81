#!/usr/bin/env python3
"""Changes the program of a stream kernel (tune source --program) to try an idea on it.

    ideas.py IN.cu OUT.cu IDEA...

cl=N [reach=R]  clusters of N blocks on y that read each other's edge rows in distributed shared memory: one
                halo around the N of them. For a grid of 512 rows and a stencil of reach R (1).
sched=N         clusters of N blocks that do not know of each other
bulk            a row of a plane is one bulk copy (TMA) that a warp's first lane asks for, with an mbarrier a plane
hint=B          copies ahead fetch B bytes into L2
cs              stores that L2 gives up first

The program then takes the chunks a tile has as a second argument and prints a hash of all cells of the answer:
it is the same for all ideas on one kernel.
"""
import re
import sys

source = open(sys.argv[1]).read()
ideas = dict((a.split("=") + [""])[:2] for a in sys.argv[3:])


def change(a, b):
    global source
    assert a in source, a
    source = source.replace(a, b, 1)


def constant(name):
    return int(re.search(r"constexpr int %s = (\d+)" % name, source).group(1))


def dims(n):
    change("__global__ void __launch_bounds__", "__global__ void __cluster_dims__(1, %d, 1) __launch_bounds__" % n)


BARRIER = 'asm volatile("barrier.cluster.arrive.release.aligned;\\n barrier.cluster.wait.acquire.aligned;" ::: "memory");'


def clusters(n, reach):
    """Gives the blocks on y."""
    change("TILE_R = WARPS * ROWS;", "TILE_R = %d * WARPS * ROWS;" % n)
    change("const Window y = window(ty, ny", "const Window y = window(ty / %d, ny" % n)
    change("row = y.origin + warp * ROWS;", "row = y.origin + (ty %% %d * WARPS + warp) * ROWS;" % n)
    change("const int beside = boundary_index(warp * ROWS +", "const int beside = boundary_index((ty %% %d * WARPS + warp) * ROWS +" % n)
    change("const int of = beside / ROWS, j = beside - of * ROWS;",
           "const int in = beside / ROWS, j = beside - in * ROWS, of = in % WARPS; at.owner[r] = in / WARPS; at.away[r] = in / WARPS != ty % " + str(n) + ";")
    rows = "other[SHARED_ROWS > 0 ? SHARED_ROWS : 1];"
    change("int " + rows, "int %s bool %s int %s" % (rows.replace("other", "owner"), rows.replace("other", "away"), rows))
    change("const Shared row = edges[at.other[r]];", """Shared row;
    if (at.away[r]) { const Shared *p = edges + at.other[r], *q; asm volatile("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(at.owner[r])); row = *q; }
    else row = edges[at.other[r]];""")
    join = "\n#pragma unroll\n      for (int s = 0; s < PYRAMID; s++) join"
    change("      __syncthreads();" + join, "      " + BARRIER + join)
    end = source.index(";", source.index("walk_tile(grid, out, tile, blockIdx.y,")) + 1
    change(source[:end], source[:end] + BARRIER)  # its shared memory may still be read
    tile = n * constant("WARPS") * constant("ROWS")
    step = tile - 2 * constant("PYRAMID") * reach
    dims(n)
    return n * (1 if 512 <= tile else 1 + -(-(512 - tile) // step))


def bulk():
    change("Vector *own;         // the", "unsigned bar = 0, parity = 0; Vector *own;         // the")
    change("    shared = (unsigned)address;\n", """    shared = (unsigned)address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(edges + RING * PYRAMID * Edges::STAGE));
    bar = (unsigned)address + PREFETCH * PLANE * (int)sizeof(Vector) + threadIdx.y * PREFETCH * 8;
    if (threadIdx.x == 0) { for (int f = 0; f < PREFETCH; f++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar + f * 8) : "memory"); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
    __syncwarp();
""")
    load = source.index("  __device__ __forceinline__ void load(int f, int a, const T *from, const Place &at) {")
    change(source[load:source.index("  // Whatever was asked for since", load)], """  __device__ __forceinline__ void load(int f, int a, const T *from, const Place &at) {
    __syncwarp();
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar + f * 8), "r"(ROWS * 32 * (int)sizeof(Vector)) : "memory");
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
        const int i = f * PLANE + copied_slot(a) * ARRAY + j * 32;
        const T *row = (const T *)((unsigned long long)(from + row_offset(at, j)) & ~15ull);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared + i * (int)sizeof(Vector)), "l"(row), "r"(32 * (int)sizeof(Vector)), "r"(bar + f * 8) : "memory");
      }
    }
  }

""")
    change('asm volatile("cp.async.commit_group;" ::: "memory");', "")
    change('asm volatile("cp.async.wait_group %0;" ::"n"(PREFETCH - 1) : "memory");',
           '{ unsigned done; int spins = 0; do { if (++spins > 20000000) __trap(); asm volatile("{ .reg .pred P; mbarrier.try_wait.parity.shared.b64 P, [%1], %2; '
           'selp.u32 %0, 1, 0, P; }" : "=r"(done) : "r"(bar + first * 8), "r"(parity) : "memory"); } while (!done); }')
    change("first = first + 1 < PREFETCH ? first + 1 : 0;", "if (first + 1 < PREFETCH) first++; else { first = 0; parity ^= 1; }")
    n = int(re.search(r"MaxDynamicSharedMemorySize, (\d+)", source).group(1))
    change("MaxDynamicSharedMemorySize, %d" % n, "MaxDynamicSharedMemorySize, %d" % (n + 1024))
    change("arguments, %d, 0)" % n, "arguments, %d, 0)" % (n + 1024))
    change("cudaMalloc((void **)&array, n * sizeof(T))", "cudaMalloc((void **)&array, n * sizeof(T) + 65536)")


x, y, z = map(int, re.search(r"const dim3 grid\((\d+), (\d+), (\d+)\)", source).groups())
if "cl" in ideas:
    y = clusters(int(ideas["cl"]), int(ideas.get("reach", 1)))
if "sched" in ideas:
    dims(int(ideas["sched"]))
if "bulk" in ideas:
    bulk()
if "hint" in ideas:
    source = re.sub(r"(cp\.async\.c[ag]\.shared\.global) \[", r"\1.L2::%sB [" % ideas["hint"], source)
if "cs" in ideas:
    change("*reinterpret_cast<Vector *>(row) = vector;",
           "if (sizeof(Vector) == 8) __stcs(reinterpret_cast<float2 *>(row), *reinterpret_cast<float2 *>(&vector)); else "
           "for (int q = 0; q < (int)sizeof(Vector) / 16; q++) __stcs(reinterpret_cast<float4 *>(row) + q, reinterpret_cast<float4 *>(&vector)[q]);")

source = re.sub(r"const dim3 grid\([^)]*\)", "const dim3 grid(%d, %d, argc > 2 ? atoi(argv[2]) : %d)" % (x, y, z), source)
end = source.rindex('  printf("')
source = "#include <cstring>\n" + source[:end] + """  T *host = (T *)malloc(cells * sizeof(T)); check(cudaMemcpy(host, fields.now[0], cells * sizeof(T), cudaMemcpyDeviceToHost)); unsigned long long h = 0; for (long long i = 0; i < cells; i++) { unsigned w; memcpy(&w, (char *)(host + i) + sizeof(T) - 4, 4); h = h * 1099511628211ull + w; }
  printf("%016llx %dx%dx%d ", h, grid.x, grid.y, grid.z);
""" + source[end:]
open(sys.argv[2], "w").write(source)
