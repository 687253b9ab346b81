// The emulation's runtime: launches, fibers, barriers, and the program that the
// host device talks to. Compiled once a device; units of kernels link with it.
#include "emulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <thread>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#define EMULATED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_ASAN 1
#endif
#endif
#ifdef EMULATED_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__x86_64__) && !defined(EMULATED_ASAN)
#define EMULATED_FAST 1
#endif

__thread EmulatedThread emulated = {};

#ifndef EMULATED_LIBRARY // cuda_runtime.cpp wants the launches without the program
extern EmulatedKernel emulated_kernels[];
extern int emulated_kernel_count;
#endif

[[noreturn]] static void fatal(const char *what) {
  fprintf(stderr, "emulation: %s\n", what);
  _Exit(3);
}

// ---- fibers -----------------------------------------------------------------

#ifdef EMULATED_FAST
// Switches stacks: the callee-saved registers go onto the old one.
extern "C" void emulated_switch(void **save, void *load);
asm(R"(
.text
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_switch, .-emulated_switch
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

struct Context {
#ifdef EMULATED_FAST
  void *sp = nullptr;
#else
  ucontext_t uc;
#endif
  void *fake = nullptr;
  const void *bottom = nullptr;
  size_t size = 0;
};

#ifdef EMULATED_ASAN
constexpr size_t STACK = 256 << 10;
#else
constexpr size_t STACK = 64 << 10;
#endif
constexpr uint64_t CANARY = 0x5afe57ac5afe57acull;

enum State { READY, AT_BARRIER, AT_WARP, DONE };

struct Fiber {
  Context context;
  char *stack = nullptr;
  uint3 thread;
  State state;
};

// The block an OS thread is running.
struct Block {
  std::vector<Fiber> fibers;
  Context scheduler;
  int current = 0, count = 0, live = 0, waiting = 0;
  std::vector<int> warp_live, warp_waiting;
  std::vector<unsigned char> exchange; // 16 bytes a thread
  const EmulatedKernel *kernel;
  const void *in;
  void *out;
  int nx, ny, nz;
};
static thread_local Block *running;

static void switch_to(Context &from, Context &to, bool dying) {
#ifdef EMULATED_FAST
  (void)dying;
  emulated_switch(&from.sp, to.sp);
#else
#ifdef EMULATED_ASAN
  __sanitizer_start_switch_fiber(dying ? nullptr : &from.fake, to.bottom, to.size);
#endif
  swapcontext(&from.uc, &to.uc);
#ifdef EMULATED_ASAN
  __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
#endif
}

static void yield() {
  Block &b = *running;
  Fiber &f = b.fibers[b.current];
  switch_to(f.context, b.scheduler, f.state == DONE);
}

static void fiber_main() {
#ifdef EMULATED_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &running->scheduler.bottom, &running->scheduler.size);
#endif
  Block &b = *running;
  b.kernel->run(b.in, b.out, b.nx, b.ny, b.nz);
  b.fibers[b.current].state = DONE;
  yield();
  abort();
}

static void prepare(Fiber &f) {
  if (!f.stack && !(f.stack = (char *)aligned_alloc(64, STACK))) fatal("out of memory for stacks");
  memcpy(f.stack, &CANARY, sizeof CANARY);
  f.context.bottom = f.stack;
  f.context.size = STACK;
#ifdef EMULATED_FAST
  void **sp = (void **)(f.stack + STACK - 64);
  *--sp = nullptr; // keeps the stack aligned as after a call
  *--sp = (void *)fiber_main;
  for (int i = 0; i < 6; i++) *--sp = nullptr;
  f.context.sp = sp;
#else
  getcontext(&f.context.uc);
  f.context.uc.uc_stack.ss_sp = f.stack;
  f.context.uc.uc_stack.ss_size = STACK;
  f.context.uc.uc_link = nullptr;
  makecontext(&f.context.uc, fiber_main, 0);
#endif
}

static int warp_of(int thread) { return thread / warpSize; }

// Whoever completes a barrier wakes all who wait at it.
static void release_block(Block &b) {
  b.waiting = 0;
  for (int i = 0; i < b.count; i++)
    if (b.fibers[i].state == AT_BARRIER) b.fibers[i].state = READY;
}
static void release_warp(Block &b, int w) {
  b.warp_waiting[w] = 0;
  for (int i = w * warpSize; i < (w + 1) * warpSize && i < b.count; i++)
    if (b.fibers[i].state == AT_WARP) b.fibers[i].state = READY;
}

extern "C" void emulated_barrier() {
  Block &b = *running;
  if (b.live < b.count) fatal("divergent barrier: a thread of the block has returned");
  b.fibers[b.current].state = AT_BARRIER;
  if (++b.waiting == b.live)
    release_block(b);
  yield();
}

extern "C" void emulated_warp_barrier() {
  Block &b = *running;
  const int w = warp_of(b.current);
  b.fibers[b.current].state = AT_WARP;
  if (++b.warp_waiting[w] == b.warp_live[w]) release_warp(b, w);
  yield();
}

extern "C" void *emulated_exchange(const void *mine, unsigned bytes) {
  Block &b = *running;
  if (bytes > 16) fatal("a shuffle of more than 16 bytes");
  memcpy(&b.exchange[16 * b.current], mine, bytes);
  emulated_warp_barrier();
  return &b.exchange[16 * (b.current / warpSize * warpSize)];
}

// Runs the threads of one block as fibers until all have returned.
static void run_fibers(Block &b) {
  b.live = b.count;
  b.waiting = 0;
  const int warps = (b.count + warpSize - 1) / warpSize;
  b.warp_live.assign(warps, 0);
  b.warp_waiting.assign(warps, 0);
  if ((int)b.fibers.size() < b.count) b.fibers.resize(b.count);
  b.exchange.resize(16 * warps * warpSize);
  for (int i = 0; i < b.count; i++) {
    prepare(b.fibers[i]);
    b.fibers[i].state = READY;
    b.warp_live[warp_of(i)]++;
  }
  while (b.live > 0) {
    bool moved = false;
    for (int i = 0; i < b.count; i++) {
      Fiber &f = b.fibers[i];
      if (f.state != READY) continue;
      moved = true;
      b.current = i;
      emulated.thread = f.thread;
      switch_to(b.scheduler, f.context, false);
      if (memcmp(f.stack, &CANARY, sizeof CANARY)) fatal("a thread's stack overflowed");
      if (f.state != DONE) continue;
      b.live--;
      const int w = warp_of(i);
      if (--b.warp_live[w] > 0 && b.warp_waiting[w] == b.warp_live[w]) release_warp(b, w);
    }
    if (!moved) fatal("divergent barrier: some threads wait where others never come");
  }
}

// ---- launches ---------------------------------------------------------------

struct Pass {
  const EmulatedKernel *kernel;
  dim3 grid, block;
  unsigned shared;
  int count;
};

static int cores() {
  const char *n = getenv("EMULATION_CORES");
  const int c = n ? atoi(n) : (int)std::thread::hardware_concurrency();
  return c < 1 ? 1 : c;
}

static void launch(const Pass &p, const void *in, void *out, int nx, int ny, int nz) {
  const long long blocks = (long long)p.grid.x * p.grid.y * p.grid.z;
  std::atomic<long long> next(0);
  const long long chunk = blocks / (8 * cores()) + 1;
  auto work = [&] {
    std::vector<unsigned char> shared(p.shared + 64);
    Block b;
    b.kernel = p.kernel;
    b.in = in, b.out = out, b.nx = nx, b.ny = ny, b.nz = nz;
    b.count = p.block.x * p.block.y * p.block.z;
    running = &b;
    emulated.block_dim = p.block;
    emulated.grid_dim = p.grid;
    emulated.shared = (unsigned char *)(((uintptr_t)shared.data() + 15) & ~(uintptr_t)15);
    if (p.kernel->waits) {
      b.fibers.resize(b.count);
      for (int i = 0; i < b.count; i++)
        b.fibers[i].thread = {i % p.block.x, i / p.block.x % p.block.y, i / p.block.x / p.block.y};
    }
    for (;;) {
      const long long first = next.fetch_add(chunk);
      if (first >= blocks) break;
      for (long long i = first; i < first + chunk && i < blocks; i++) {
        emulated.block = {(unsigned)(i % p.grid.x), (unsigned)(i / p.grid.x % p.grid.y), (unsigned)(i / p.grid.x / p.grid.y)};
        if (p.kernel->waits) {
          // Shared memory holds what the last block left; poison it instead.
          memset(emulated.shared, 0xff, p.shared);
          run_fibers(b);
          continue;
        }
        for (emulated.thread.z = 0; emulated.thread.z < p.block.z; emulated.thread.z++)
          for (emulated.thread.y = 0; emulated.thread.y < p.block.y; emulated.thread.y++)
            for (emulated.thread.x = 0; emulated.thread.x < p.block.x; emulated.thread.x++)
              p.kernel->run(in, out, nx, ny, nz);
      }
    }
    for (Fiber &f : b.fibers) free(f.stack);
  };
  const int n = (int)(blocks < cores() ? blocks : cores());
  std::vector<std::thread> others;
  for (int i = 1; i < n; i++) others.emplace_back(work);
  work();
  for (std::thread &t : others) t.join();
}

#ifndef EMULATED_LIBRARY
// ---- the program ------------------------------------------------------------

constexpr size_t GUARD = 64 << 10;
constexpr unsigned PATTERN = 0xA5C3A5C3u;

struct Grid {
  unsigned char *all, *cells;
  size_t bytes;
  explicit Grid(size_t n) : bytes(n) {
    all = (unsigned char *)malloc(n + 2 * GUARD);
    if (!all) fatal("out of memory");
    cells = all + GUARD;
    for (size_t i = 0; i < GUARD; i += 4) memcpy(all + i, &PATTERN, 4), memcpy(cells + n + i, &PATTERN, 4);
  }
  void poison() { memset(cells, 0xff, bytes); }
  long changed() const {
    long n = 0;
    for (size_t i = 0; i < GUARD; i += 4) n += memcmp(all + i, &PATTERN, 4) != 0, n += memcmp(cells + bytes + i, &PATTERN, 4) != 0;
    return n;
  }
};

#define __host__
#include "input.h"

static void fill(Grid &g, int element, unsigned seed) {
  const size_t n = g.bytes / element;
  if (element == 8)
    for (size_t i = 0; i < n; i++) ((double *)g.cells)[i] = input_value<double>(seed, i);
  else
    for (size_t i = 0; i < n; i++) ((float *)g.cells)[i] = input_value<float>(seed, i);
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static Pass parse(const char *text) {
  Pass p;
  char entry[128];
  unsigned g[3], b[3];
  if (sscanf(text, "%127[^:]:%u,%u,%u:%u,%u,%u:%u:%d", entry, g, g + 1, g + 2, b, b + 1, b + 2, &p.shared, &p.count) != 9) fatal("bad pass");
  p.grid = {g[0], g[1], g[2]};
  p.block = {b[0], b[1], b[2]};
  for (int i = 0; i < emulated_kernel_count; i++)
    if (!strcmp(emulated_kernels[i].entry, entry)) {
      p.kernel = &emulated_kernels[i];
      return p;
    }
  fatal("no such kernel");
}

// check nx ny nz seed|@input output pass...: runs passes from a start grid, writes
// the answer and prints the guard words that changed.
// time nx ny nz pass: for each number read, runs as many launches and prints the
// seconds they took.
int main(int argc, char **argv) {
  if (argc < 6) fatal("usage");
  const int nx = atoi(argv[2]), ny = atoi(argv[3]), nz = atoi(argv[4]);
  const bool check = !strcmp(argv[1], "check");
  std::vector<Pass> passes;
  for (int i = check ? 7 : 5; i < argc; i++) passes.push_back(parse(argv[i]));
  const int element = passes.at(0).kernel->element;
  Grid a((size_t)nx * ny * nz * element), b(a.bytes);
  Grid *src = &a, *dst = &b;
  if (check) {
    if (argv[5][0] == '@') {
      FILE *f = fopen(argv[5] + 1, "rb");
      if (!f || fread(a.cells, 1, a.bytes, f) != a.bytes) fatal("cannot read the input");
      fclose(f);
    } else {
      fill(a, element, (unsigned)strtoul(argv[5], nullptr, 10));
    }
    for (const Pass &p : passes)
      for (int i = 0; i < p.count; i++) {
        dst->poison();
        launch(p, src->cells, dst->cells, nx, ny, nz);
        Grid *t = src;
        src = dst, dst = t;
      }
    FILE *f = fopen(argv[6], "wb");
    if (!f || fwrite(src->cells, 1, src->bytes, f) != src->bytes || fclose(f)) fatal("cannot write the answer");
    printf("guard %ld\n", a.changed() + b.changed());
    return 0;
  }
  fill(a, element, 1);
  fill(b, element, 2);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    const int n = atoi(line);
    const double begin = now();
    for (int i = 0; i < n; i++) {
      launch(passes[0], src->cells, dst->cells, nx, ny, nz);
      Grid *t = src;
      src = dst, dst = t;
    }
    printf("%.9f\n", now() - begin);
    fflush(stdout);
  }
  return 0;
}
#endif
