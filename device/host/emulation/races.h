// Races: what one thread of a launch writes and another reads or writes without a barrier between, in whatever order the
// emulation has run them. The compiler calls the functions at the end at each access to memory, as it would those of ThreadSanitizer's
// library (-fsanitize=thread), which is not linked.
#include <algorithm>
#include <memory>
#include <unordered_map>

// Who did something to a byte, the block's barriers at which it had arrived and for which it had waited, and those of the warp that it had passed.
struct Deed {
  long long block = -1;
  int thread, arrived, waited, syncs;
};

struct Byte {
  Deed wrote, read;     // the last of each
  bool lanes = false;   // since the last barriers other threads of its warp have read, too,
  int apart = -1;       // at how many of the block's barriers those of other warps that have read had arrived,
  bool blocks = false;  // and in this launch those of another block
  bool copying = false; // an asynchronous copy is on its way that nobody has waited for
};

constexpr uintptr_t PAGE = 1 << 10;
static std::unordered_map<uintptr_t, std::unique_ptr<Byte[]>> pages; // what this launch has touched
static long long block_serial;
static char *stack_begin, *stack_end; // of the thread that runs

static Byte &byte_at(uintptr_t at) {
  static uintptr_t last = 0;
  static Byte *found = nullptr;
  if (pages.empty() || !found || last != at / PAGE) {
    std::unique_ptr<Byte[]> &page = pages[last = at / PAGE];
    if (!page) page.reset(new Byte[PAGE]);
    found = page.get();
  }
  return found[at % PAGE];
}

// What a block has to itself: its shared memory, declared with a size or without.
static bool of_block(uintptr_t at) {
  const uintptr_t shared = (uintptr_t)emulated.shared, own = (uintptr_t)&emulated;
  return at - shared < 256 << 10 || at - own < 64 << 10 || own - at < 64 << 10;
}

[[noreturn]] static void race(const Deed &me, const Deed &other, bool wrote, bool read, bool shared) {
  char text[256];
  snprintf(text, sizeof text, "race: thread %d of block %lld %s %s memory that thread %d of block %lld %s, without a barrier between", me.thread, me.block,
           wrote ? "writes" : "reads", shared ? "shared" : "global", other.thread, other.block, read ? "has read" : "has written");
  fatal(text);
}

static void touch(const void *address, size_t bytes, bool write) {
  if (!running || ((char *)address >= stack_begin && (char *)address < stack_end)) return;
  const Block &b = *running;
  Deed me;
  me.block = block_serial;
  me.thread = (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
  me.arrived = b.kernel->waits ? b.fibers[b.current].arrived : 0;
  me.waited = b.kernel->waits ? b.fibers[b.current].waited : 0;
  me.syncs = b.kernel->waits ? b.fibers[b.current].syncs : 0;
  const bool shared = of_block((uintptr_t)address);
  const auto ordered = [&](const Deed &d) {
    if (d.block < 0 || (d.block == me.block && d.thread == me.thread)) return true;
    if (d.block != me.block) return shared;
    return d.arrived < me.waited || (warp_of(d.thread) == warp_of(me.thread) && d.syncs != me.syncs);
  };
  for (uintptr_t at = (uintptr_t)address; at < (uintptr_t)address + bytes; at++) {
    Byte &byte = byte_at(at);
    if (shared && byte.wrote.block != me.block && byte.read.block != me.block) byte = Byte(); // another block's
    if (byte.copying) fatal("race: memory is used to which an asynchronous copy is on its way");
    if (!ordered(byte.wrote)) race(me, byte.wrote, write, false, shared);
    const bool before = byte.read.block == me.block && byte.read.arrived >= me.waited; // read, and no barrier of the block since
    if (write) {
      const bool lanes = before && byte.lanes && byte.read.syncs == me.syncs;
      if (!ordered(byte.read) || lanes || byte.apart >= me.waited || byte.blocks) race(me, byte.read, true, true, shared);
      byte.wrote = me;
      continue;
    }
    byte.blocks |= !shared && byte.read.block >= 0 && byte.read.block != me.block;
    const bool same = warp_of(byte.read.thread) == warp_of(me.thread);
    if (before && !same) byte.apart = std::max(byte.apart, byte.read.arrived);
    byte.lanes = before && byte.read.syncs == me.syncs && (byte.lanes || byte.read.thread != me.thread);
    const int arrived = before && same ? std::max(byte.read.arrived, me.arrived) : me.arrived; // of all lanes who have read since
    byte.read = me;
    byte.read.arrived = arrived;
  }
}

// An asynchronous copy may take place at any time between its call and the wait for it.
static void copy_begins(void *to, const void *from, unsigned bytes) {
  touch(from, bytes, false);
  touch(to, bytes, true);
  for (unsigned i = 0; i < bytes; i++) byte_at((uintptr_t)to + i).copying = true;
}

static void copy_ends(void *to, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) byte_at((uintptr_t)to + i).copying = false;
  touch(to, bytes, true);
}

#define TOUCHES(n)                                                                                                     \
  extern "C" void __tsan_read##n(void *at) { touch(at, n, false); }                                                    \
  extern "C" void __tsan_write##n(void *at) { touch(at, n, true); }                                                    \
  extern "C" void __tsan_unaligned_read##n(void *at) { touch(at, n, false); }                                          \
  extern "C" void __tsan_unaligned_write##n(void *at) { touch(at, n, true); }
TOUCHES(1)
TOUCHES(2)
TOUCHES(4)
TOUCHES(8)
TOUCHES(16)
extern "C" void __tsan_read_range(void *at, unsigned long bytes) { touch(at, bytes, false); }
extern "C" void __tsan_write_range(void *at, unsigned long bytes) { touch(at, bytes, true); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
