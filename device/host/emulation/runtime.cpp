// The emulation's runtime: launches, fibers, barriers, and the program that the
// host device talks to. Compiled once a device; units of kernels link with it.
#include "emulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#define EMULATED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_ASAN 1
#endif
#endif
#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h>
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

enum State { READY, AT_BARRIER, AT_WARP, AT_PHASE, DONE };

// A copy that a thread has asked for.
struct Copy {
  void *to;
  const void *from;
  unsigned bytes;
  int group;
};

struct Fiber {
  Context context;
  std::vector<Copy> copies; // not done yet
  int group = 0;            // that is asked for now
  int arrived, waited;      // the block's barriers at which it has arrived, and those it has waited for
  int syncs;                // __syncwarp that it has passed
  char *stack = nullptr;
  uint3 thread;
  State state;
};

// The block an OS thread is running.
struct Block {
  std::vector<Fiber> fibers;
  Context scheduler;
  int current = 0, count = 0, live = 0, waiting = 0;
  long long arrivals = 0; // at the barrier of which arriving and waiting are two steps
  std::vector<int> warp_live, warp_waiting;
  std::vector<unsigned char> exchange; // 16 bytes a thread
  const EmulatedKernel *kernel;
  const EmulatedArguments *arguments;
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
  b.kernel->run(*b.arguments);
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

#ifdef EMULATED_RACES
#include "races.h"
#endif

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
  b.fibers[b.current].arrived++, b.fibers[b.current].waited++;
  if (++b.waiting == b.live)
    release_block(b);
  yield();
}

// A barrier of which arriving and waiting are two steps (mbarrier): a block has one. A phase ends when all threads have arrived, and a thread waits
// for the end of a phase by whether its number is odd.
extern "C" void emulated_arrive() {
  Block &b = *running;
  b.fibers[b.current].arrived++;
  if (++b.arrivals % b.count != 0) return;
  for (int i = 0; i < b.count; i++)
    if (b.fibers[i].state == AT_PHASE) b.fibers[i].state = READY;
}
extern "C" void emulated_await(unsigned odd) {
  Block &b = *running;
  Fiber &f = b.fibers[b.current];
  while ((b.arrivals / b.count & 1) == odd) {
    f.state = AT_PHASE;
    yield();
  }
  f.waited++;
}

extern "C" void emulated_warp_barrier() {
  Block &b = *running;
  const int w = warp_of(b.current);
  b.fibers[b.current].state = AT_WARP;
  if (++b.warp_waiting[w] == b.warp_live[w]) release_warp(b, w);
  yield();
}

// A shuffle makes lanes wait for each other, too, but says nothing of memory.
extern "C" void emulated_sync_warp() {
  running->fibers[running->current].syncs++;
  emulated_warp_barrier();
}

extern "C" void *emulated_exchange(const void *mine, unsigned bytes) {
  Block &b = *running;
  if (bytes > 16) fatal("a shuffle of more than 16 bytes");
  memcpy(&b.exchange[16 * b.current], mine, bytes);
  emulated_warp_barrier();
  return &b.exchange[16 * (b.current / warpSize * warpSize)];
}

extern "C" void emulated_copy(void *to, const void *from, unsigned bytes) {
  if (bytes != 4 && bytes != 8 && bytes % 16 != 0) fatal("an asynchronous copy of other than 4, 8 or 16 bytes");
  if ((uintptr_t)to % (bytes < 16 ? bytes : 16) + (uintptr_t)from % (bytes < 16 ? bytes : 16)) fatal("an asynchronous copy is not aligned");
  Fiber &f = running->fibers[running->current];
  for (const Copy &c : f.copies) // nothing says which would come last
    if ((char *)to < (char *)c.to + c.bytes && (char *)c.to < (char *)to + bytes) fatal("two asynchronous copies to one place at once");
#ifdef EMULATED_RACES
  copy_begins(to, from, bytes);
#else
  if (running->current % 2) { // half of the threads copy as early as may be, the others as late
    memcpy(to, from, bytes);
    return;
  }
#endif
  f.copies.push_back({to, from, bytes, f.group});
}

extern "C" void emulated_commit() { running->fibers[running->current].group++; }

extern "C" void emulated_wait(int groups) {
  Fiber &f = running->fibers[running->current];
  size_t left = 0;
  for (const Copy &c : f.copies) {
    if (c.group + groups >= f.group) {
      f.copies[left++] = c;
      continue;
    }
    memcpy(c.to, c.from, c.bytes);
#ifdef EMULATED_RACES
    copy_ends(c.to, c.bytes);
#endif
  }
  f.copies.resize(left);
}

// Runs the threads of one block as fibers until all have returned. A warp runs as far as
// it can before another does, of one block from the first warp on, of the next from the
// last: what is right in one order may be wrong in another.
static void run_fibers(Block &b) {
  static thread_local bool backwards = false;
  backwards = !backwards;
  b.live = b.count;
  b.waiting = 0;
  b.arrivals = 0;
  const int warps = (b.count + warpSize - 1) / warpSize;
  b.warp_live.assign(warps, 0);
  b.warp_waiting.assign(warps, 0);
  if ((int)b.fibers.size() < b.count) b.fibers.resize(b.count);
  b.exchange.resize(16 * warps * warpSize);
  for (int i = 0; i < b.count; i++) {
    prepare(b.fibers[i]);
    b.fibers[i].state = READY;
    b.fibers[i].copies.clear();
    b.fibers[i].group = b.fibers[i].arrived = b.fibers[i].waited = b.fibers[i].syncs = 0;
    b.warp_live[warp_of(i)]++;
  }
  while (b.live > 0) {
    bool moved = false;
    for (int k = 0; k < warps; k++) {
      const int w = backwards ? warps - 1 - k : k;
      const int first = w * warpSize, last = first + warpSize < b.count ? first + warpSize : b.count;
      for (bool ran = true; ran;) {
        ran = false;
        for (int i = first; i < last; i++) {
          Fiber &f = b.fibers[i];
          if (f.state != READY) continue;
          ran = moved = true;
          b.current = i;
          emulated.thread = f.thread;
#ifdef EMULATED_RACES
          stack_begin = f.stack, stack_end = f.stack + STACK;
#endif
          switch_to(b.scheduler, f.context, false);
          if (memcmp(f.stack, &CANARY, sizeof CANARY)) fatal("a thread's stack overflowed");
          if (f.state != DONE) continue;
          b.live--;
          if (--b.warp_live[w] > 0 && b.warp_waiting[w] == b.warp_live[w]) release_warp(b, w);
        }
      }
    }
    if (!moved) fatal("divergent barrier: some threads wait where others never come");
  }
}

// ---- launches ---------------------------------------------------------------

// A launch before each step, or after it.
struct Before {
  const EmulatedKernel *kernel;
  dim3 blocks, threads;
};

struct Pass {
  std::vector<Before> before, after; // before each step, and after it, for each list of places
  std::vector<const EmulatedKernel *> stages;
  dim3 grid, block;
  unsigned shared;
  int count, steps;
  int leaves; // whether it leaves parts of the next step's scalars: what the first of before would
};

static int cores() {
  const char *n = getenv("EMULATION_CORES");
  const int c = n ? atoi(n) : (int)std::thread::hardware_concurrency();
  return c < 1 ? 1 : c;
}

static std::function<void()> after_block; // set: blocks run one by one, and this after each

// Memory that ends, or where low begins, beside pages that nobody may touch: a read or a write there ends the process, as it may on a GPU. What
// lies between the memory and the pages on its other side is less than a page, and told apart by a pattern.
struct Guarded {
  static constexpr size_t AROUND = 64 << 10, ALIGNMENT = 32;
  static constexpr unsigned char PATTERN = 0xA5;
  unsigned char *all, *cells;
  size_t bytes, held;

  Guarded(size_t n, bool low) : bytes(n) {
    const size_t page = sysconf(_SC_PAGESIZE), aligned = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    held = (aligned + page - 1) / page * page;
    all = (unsigned char *)mmap(nullptr, held + 2 * AROUND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + AROUND, held, PROT_READ | PROT_WRITE)) fatal("out of memory");
    cells = all + AROUND + (low ? 0 : held - aligned);
    const size_t before = cells - (all + AROUND), after = held - before - n;
    memset(all + AROUND, PATTERN, before);
    memset(cells + n, PATTERN, after);
#ifdef EMULATED_ASAN
    __asan_poison_memory_region(all + AROUND, before);
    __asan_poison_memory_region(cells + n, after);
#endif
  }
  void release() {
#ifdef EMULATED_ASAN
    __asan_unpoison_memory_region(all + AROUND, held);
#endif
    munmap(all, held + 2 * AROUND);
  }

  // Words beside the memory that are no longer as they were.
  long changed() const {
    long n = 0;
#ifndef EMULATED_ASAN // which tells of them itself
    for (const unsigned char *c = all + AROUND; c < cells; c++) n += *c != PATTERN;
    for (const unsigned char *c = cells + bytes; c < all + AROUND + held; c++) n += *c != PATTERN;
#endif
    return (n + 3) / 4;
  }
};

// Blocks run from the first on, in every other launch from the last: a cell that two of them write shows in one order or the other.
static void launch(dim3 grid, dim3 block, unsigned shared_bytes, const EmulatedKernel *kernel, const EmulatedArguments &arguments) {
  const long long blocks = (long long)grid.x * grid.y * grid.z;
  std::atomic<long long> next(0);
  static thread_local bool alternate = false;
  const bool backwards = alternate;
  alternate = !alternate;
  const long long chunk = blocks / (8 * cores()) + 1;
#ifdef EMULATED_RACES
  pages.clear();
  if (!after_block) after_block = [] {}; // one by one
#endif
  auto work = [&] {
    Guarded shared(shared_bytes, false);
    Block b;
    b.kernel = kernel;
    b.arguments = &arguments;
    b.count = block.x * block.y * block.z;
    running = &b;
    emulated.block_dim = block;
    emulated.grid_dim = grid;
    emulated.shared = shared.cells;
    if (kernel->waits) {
      b.fibers.resize(b.count);
      for (int i = 0; i < b.count; i++)
        b.fibers[i].thread = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    }
    for (;;) {
      const long long first = next.fetch_add(chunk);
      if (first >= blocks) break;
      for (long long k = first; k < first + chunk && k < blocks; k++) {
        const long long i = backwards ? blocks - 1 - k : k;
        emulated.block = {(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y), (unsigned)(i / grid.x / grid.y)};
#ifdef EMULATED_RACES
        block_serial++;
        stack_end = (char *)__builtin_frame_address(0), stack_begin = stack_end - (1 << 20); // of a block without fibers
#endif
        if (kernel->waits) {
          // Shared memory holds what the last block left; poison it instead.
          memset(emulated.shared, 0xff, shared_bytes);
          run_fibers(b);
        } else {
          for (emulated.thread.z = 0; emulated.thread.z < block.z; emulated.thread.z++)
            for (emulated.thread.y = 0; emulated.thread.y < block.y; emulated.thread.y++)
              for (emulated.thread.x = 0; emulated.thread.x < block.x; emulated.thread.x++)
                kernel->run(arguments);
        }
        if (after_block) after_block();
      }
    }
    for (Fiber &f : b.fibers) free(f.stack);
    shared.release();
  };
  const int n = after_block ? 1 : (int)(blocks < cores() ? blocks : cores());
  std::vector<std::thread> others;
  for (int i = 1; i < n; i++) others.emplace_back(work);
  work();
  for (std::thread &t : others) t.join();
}

#ifndef EMULATED_LIBRARY
// ---- the program ------------------------------------------------------------

constexpr double ONCE = 3e7; // blocks times bytes, up to which a proof looks whether two blocks write one cell

static bool low = false; // where the next array lies: arrays in turn, those of every other seed the other way round

struct Grid : Guarded {
  explicit Grid(size_t n) : Guarded(n, low = !low) {}
  void poison() { memset(cells, 0xff, bytes); }
};

#define __host__
#define __device__
#include "input.h"

// A list of places: sources of a field, or receivers (-1).
struct List {
  int field, rows;
  long long places;
  Grid place, table;
};

// What a run works on: fields twice, before a stage and after it, and read-only
// arrays.
struct Data {
  int n[3], iteration = 1;
  std::vector<Grid> now, next, fixed;
  std::vector<std::vector<int>> outputs; // by stage: the fields it sets; of several stages, then those of all of them fused
  std::vector<std::pair<int, int>> copies; // of them, those that are another field's old value, and whose
  std::vector<long long> lengths;        // of arrays read by index, then integer scalars
  std::vector<double> numbers;           // other scalars
  std::vector<double> step;              // step scalars, and what is folded to them
  size_t scalars;                        // how many they are
  bool left = false;                     // by the last launch, for the next step
  std::vector<List> lists;
};

template <class T> static void fill_with(Grid &g, unsigned seed, unsigned long long first, const double *scale) {
  for (size_t i = 0; i < g.bytes / sizeof(T); i++) ((T *)g.cells)[i] = input_value<T>(seed, first + i, scale[0], scale[1], scale[2]);
}

// An element type: its bytes, and what fills an array of it from element `first` of a sequence on; scale is low, step and quantum.
struct Type {
  const char *name;
  size_t bytes;
  void (*fill)(Grid &g, unsigned seed, unsigned long long first, const double *scale);
};

static const Type &type_of(const std::string &name) {
#define TYPE(name, T) {name, sizeof(T), fill_with<T>}
  static const Type types[] = {TYPE("f32", float),   TYPE("f64", double),         TYPE("f16", float16),  TYPE("bf16", bfloat16),
                               TYPE("i8", signed char), TYPE("i16", short),         TYPE("i32", int),      TYPE("i64", long long),
                               TYPE("u8", unsigned char), TYPE("u16", unsigned short), TYPE("u32", unsigned), TYPE("u64", unsigned long long)};
  for (const Type &t : types)
    if (name == t.name) return t;
  fatal("no such element type");
}

// What a text has before each separator and after the last one, where that is anything. (A stream would do it, but its header
// takes the compiler a second.)
static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size(); at += parts.back().size() + 1) parts.push_back(text.substr(at, text.find(separator, at) - at));
  return parts;
}

// Numbers between separators.
static std::vector<double> numbers(const std::string &text, char separator) {
  std::vector<double> v;
  for (const std::string &one : split(text, separator)) v.push_back(strtod(one.c_str(), nullptr));
  return v;
}

// A run's data from element,type,...;fields;scale,...;elements,...;length,...;number,...;output.output/...;copy,from,...;doubles,scalars;list/...; of which types
// (but the first, the element type) and scales are of all arrays, fields first, and elements of read-only arrays. A list is field,places,
// rows of its table,rows that kernels are told of, and the scales of both arrays.
static Data parse_data(char **argv, unsigned seed) {
  Data d;
  for (int a = 0; a < 3; a++) d.n[a] = atoi(argv[a]);
  const size_t cells = (size_t)d.n[0] * d.n[1] * d.n[2];
  const std::vector<std::string> part = split(argv[3], ';');
  if (part.size() != 10) fatal("bad data");
  std::vector<Type> types;
  for (const std::string &name : split(part[0], ',')) types.push_back(type_of(name));
  if (types.empty()) fatal("bad data");
  const Type element = types[0];
  types.erase(types.begin());
  const size_t fields = strtoul(part[1].c_str(), nullptr, 10);
  low = seed & 1;
  const std::vector<double> scale = numbers(part[2], ','), elements = numbers(part[3], ',');
  if (types.size() != fields + elements.size() || scale.size() != 3 * types.size()) fatal("bad data");
  unsigned long long first = 0;
  for (size_t a = 0; a < types.size(); a++) {
    const size_t n = a < fields ? cells : (size_t)elements[a - fields];
    std::vector<Grid> &arrays = a < fields ? d.now : d.fixed;
    arrays.emplace_back(n * types[a].bytes);
    types[a].fill(arrays.back(), seed, first, &scale[3 * a]);
    if (a < fields) d.next.emplace_back(n * types[a].bytes);
    first += n;
  }
  for (double n : numbers(part[4], ',')) d.lengths.push_back((long long)n);
  d.numbers = numbers(part[5], ',');
  for (const std::string &one : split(part[6], '/')) {
    d.outputs.emplace_back();
    for (double f : numbers(one, '.')) d.outputs.back().push_back((int)f);
  }
  const std::vector<double> pairs = numbers(part[7], ',');
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) d.copies.emplace_back((int)pairs[i], (int)pairs[i + 1]);
  const std::vector<double> steps = numbers(part[8], ',');
  d.step.assign((size_t)steps[0], NAN), d.scalars = (size_t)steps[1];
  for (const std::string &one : split(part[9], '/')) {
    const std::vector<double> list = numbers(one, ',');
    if (list.size() != 10) fatal("bad data");
    const size_t places = (size_t)list[1], rows = (size_t)list[2];
    d.lists.push_back({(int)list[0], (int)list[3], (long long)places, Grid(8 * places), Grid(places * rows * element.bytes)});
    type_of("i64").fill(d.lists.back().place, seed, first, &list[4]);
    first += places;
    Grid &table = d.lists.back().table;
    if (list[0] < 0) {
      memset(table.cells, 0, table.bytes);
    } else {
      element.fill(table, seed, first, &list[7]);
      first += places * rows;
    }
  }
  return d;
}

// One launch of a pass: all stages of its steps. A launch of one step does not write
// copies: they take over the array they copy, and what is free then is written next.
static void step(Data &d, const Pass &p, bool poison) {
  std::vector<int> ints = {d.n[0], d.n[1], d.n[2], d.iteration};
  for (const Before &b : p.before) {
    if (d.left && &b == &p.before[0]) continue;
    std::vector<const void *> in;
    for (const Grid &g : d.now) in.push_back(g.cells);
    for (const Grid &g : d.fixed) in.push_back(g.cells);
    void *out = d.step.data();
    launch(b.blocks, b.threads, 0, b.kernel, {in.data(), &out, ints.data(), d.lengths.data(), d.numbers.data()});
  }
  for (size_t s = 0; s < p.stages.size(); s++) {
    const std::vector<int> &outputs = p.stages.size() == 1 ? d.outputs.back() : d.outputs[s];
    std::vector<std::pair<int, int>> copies;
    if (p.steps == 1) copies = d.copies;
    std::vector<int> writes;
    for (int f : outputs) {
      bool copied = false;
      for (auto c : copies) copied |= c.first == f;
      if (!copied) writes.push_back(f);
    }
    std::vector<const void *> in;
    std::vector<void *> out;
    for (const Grid &g : d.now) in.push_back(g.cells);
    for (const Grid &g : d.fixed) in.push_back(g.cells);
    if (!d.step.empty()) in.push_back(d.step.data());
    for (int f : writes) {
      out.push_back(d.next[f].cells);
      if (poison) d.next[f].poison();
    }
    std::vector<long long> lengths = d.lengths;
    for (const List &l : d.lists) {
      if (p.steps == 1) break; // launches of their own follow
      in.push_back(l.place.cells), out.push_back(l.table.cells), lengths.push_back(l.places), ints.push_back(l.rows);
    }
    std::vector<std::vector<unsigned char>> wrote; // by the blocks that have run, to each field that is written
    size_t bytes = 0;
    for (int f : writes) bytes += d.next[f].bytes;
    if (poison && (double)bytes * p.grid.x * p.grid.y * p.grid.z <= ONCE) {
      for (int f : writes) wrote.emplace_back(d.next[f].bytes, 0xff);
      after_block = [&] {
        for (size_t o = 0; o < writes.size(); o++)
          for (size_t i = 0; i < wrote[o].size(); i++) {
            unsigned char &now = d.next[writes[o]].cells[i], &then = wrote[o][i];
            if (now == 0xff) continue;
            if (then != 0xff) fatal("two blocks write one cell: on a GPU the value of either may stay, and they may be rounded apart");
            std::swap(now, then);
          }
      };
    }
    launch(p.grid, p.block, p.shared, p.stages[s], {in.data(), out.data(), ints.data(), lengths.data(), d.numbers.data()});
    after_block = nullptr;
    for (size_t o = 0; o < wrote.size(); o++) memcpy(d.next[writes[o]].cells, wrote[o].data(), wrote[o].size());
    const std::vector<Grid> before = d.now;
    for (int f : writes) d.now[f] = d.next[f];
    for (auto c : copies) d.now[c.first] = before[c.second];
    for (const Grid &b : before) {
      bool used = false;
      for (const Grid &n : d.now) used |= n.cells == b.cells;
      if (used) continue;
      size_t w = 0; // fields in types of their own take arrays of their own size
      while (d.next[writes[w]].bytes != b.bytes) w++;
      d.next[writes[w]] = b;
      writes.erase(writes.begin() + w);
    }
  }
  for (size_t i = 0; i < p.after.size(); i++) {
    const List &l = d.lists[i];
    std::vector<const void *> in;
    for (const Grid &g : d.now) in.push_back(g.cells);
    for (const Grid &g : d.fixed) in.push_back(g.cells);
    if (!d.step.empty()) in.push_back(d.step.data());
    in.push_back(l.place.cells);
    if (l.field >= 0) in.push_back(l.table.cells);
    void *out = l.field < 0 ? l.table.cells : d.now[l.field].cells;
    const int more[5] = {d.n[0], d.n[1], d.n[2], d.iteration, l.rows};
    std::vector<long long> lengths = d.lengths;
    lengths.push_back(l.places);
    launch(p.after[i].blocks, p.after[i].threads, 0, p.after[i].kernel, {in.data(), &out, more, lengths.data(), d.numbers.data()});
  }
  d.iteration += p.steps;
  d.left = p.leaves;
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
  int end = 0;
  if (sscanf(text, "%127[^:]:%u,%u,%u:%u,%u,%u:%u:%d:%d:%d%n", entry, g, g + 1, g + 2, b, b + 1, b + 2, &p.shared, &p.count, &p.steps, &p.leaves, &end) != 11) fatal("bad pass");
  p.grid = {g[0], g[1], g[2]};
  p.block = {b[0], b[1], b[2]};
  const auto find = [](const std::string &name) -> const EmulatedKernel * {
    for (int i = 0; i < emulated_kernel_count; i++)
      if (name == emulated_kernels[i].entry) return &emulated_kernels[i];
    return nullptr;
  };
  for (std::string name = entry; const EmulatedKernel *k = find(name); name = std::string(entry) + "_" + std::to_string(p.stages.size())) p.stages.push_back(k);
  if (p.stages.empty()) fatal("no such kernel");
  for (const char *at = text + end; *at; at += end) {
    char name[128];
    unsigned blocks, threads;
    if (sscanf(at, ":%127[^,],%u,%u%n", name, &blocks, &threads, &end) != 3) fatal("bad pass");
    const bool after = name[0] == '+';
    const EmulatedKernel *kernel = find(name + after);
    if (!kernel) fatal("bad pass");
    (after ? p.after : p.before).push_back({kernel, dim3(blocks), dim3(threads)});
  }
  return p;
}

// check nx ny nz data seed input|- iteration output pass...: runs passes from the
// start data, or with fields and records from a file, writes those and the last step's scalars and prints the guard
// words that changed.
// time nx ny nz data seed iterations pass: for each number read, runs as many launches
// and prints the seconds they took; the iteration starts again after so many.
int main(int argc, char **argv) {
  if (argc < 8) fatal("usage");
  const bool check = !strcmp(argv[1], "check");
  Data d = parse_data(argv + 2, (unsigned)strtoul(argv[6], nullptr, 10));
  std::vector<Pass> passes;
  for (int i = check ? 10 : 8; i < argc; i++) passes.push_back(parse(argv[i]));
  if (check) {
    if (strcmp(argv[7], "-")) {
      FILE *f = fopen(argv[7], "rb");
      if (!f) fatal("cannot read the input");
      for (Grid &g : d.now)
        if (fread(g.cells, 1, g.bytes, f) != g.bytes) fatal("cannot read the input");
      for (List &l : d.lists)
        if (l.field < 0 && fread(l.table.cells, 1, l.table.bytes, f) != l.table.bytes) fatal("cannot read the input");
      fclose(f);
    }
    d.iteration = atoi(argv[8]);
    for (const Pass &p : passes)
      for (int i = 0; i < p.count; i++) step(d, p, true);
    FILE *f = fopen(argv[9], "wb");
    if (!f) fatal("cannot write the answer");
    long changed = 0;
    for (size_t i = 0; i < d.now.size(); i++) {
      if (fwrite(d.now[i].cells, 1, d.now[i].bytes, f) != d.now[i].bytes) fatal("cannot write the answer");
      changed += d.now[i].changed() + d.next[i].changed();
    }
    for (const Grid &g : d.fixed) changed += g.changed();
    for (const List &l : d.lists) {
      if (l.field < 0 && fwrite(l.table.cells, 1, l.table.bytes, f) != l.table.bytes) fatal("cannot write the answer");
      changed += l.place.changed() + l.table.changed();
    }
    if ((d.scalars > 0 && fwrite(d.step.data(), 8, d.scalars, f) != d.scalars) || fclose(f)) fatal("cannot write the answer");
    printf("guard %ld\n", changed);
    return 0;
  }
  for (size_t i = 0; i < d.now.size(); i++) memcpy(d.next[i].cells, d.now[i].cells, d.now[i].bytes);
  const int iterations = atoi(argv[7]);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    const int n = atoi(line);
    const double begin = now();
    for (int i = 0; i < n; i++) {
      if (d.iteration + passes[0].steps > iterations) d.iteration = 1;
      step(d, passes[0], false);
    }
    printf("%.9f\n", now() - begin);
    fflush(stdout);
  }
  return 0;
}
#endif
