// A stand-in for libcuda.so.1 and libnvidia-ml.so.1: GPUs whose memory is the
// host's and whose kernels are the C functions below. What a kernel does is told
// by words in its image, which is its source. Calls are checked as the driver
// checks them: handles, ranges, and that the calling thread has a context.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_IMAGE = 200, NO_CONTEXT = 201, BAD_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, OUT_OF_RESOURCES = 701 };

#define TOTAL ((size_t)512 << 20)

typedef struct { char *at; size_t bytes; } block;
typedef struct module { char *image; struct function *functions; struct module *next; } module;
typedef struct function { char name[64]; module *m; int used; struct function *next; } function;
typedef struct { int recorded; struct timespec at; } event;

static int initialised, dead, hanging;
static block blocks[64];
static size_t used;
static module *modules;
static long live[7]; // modules, blocks, events, contexts, calls, changes of kernel, launches that may begin early
static __thread void *current;
static function *last;

// fake_live reads a counter.
long fake_live(int which) { return live[which]; }

#define CALL live[4]++; if (!initialised) return NOT_INITIALIZED; if (dead) return dead
#define CONTEXT CALL; if (!current) return NO_CONTEXT

static int number(const char *variable, int otherwise) {
  const char *v = getenv(variable);
  return v ? atoi(v) : otherwise;
}

int cuInit(unsigned flags) {
  live[4]++;
  initialised = 1;
  sleep(number("FAKE_INIT_SLEEP", 0));
  if (number("FAKE_INIT_CRASH", 0)) abort();
  return number("FAKE_INIT", OK);
}
int cuDriverGetVersion(int *v) { *v = 13000; return OK; }

// shown finds the devices that CUDA_VISIBLE_DEVICES shows of FAKE_DEVICES: ordinals or beginnings of UUIDs, up to the
// first that is not there.
static int shown(int *at) {
  int n = 0, all = number("FAKE_DEVICES", 1);
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  for (int i = 0; !list && i < all; i++) at[n++] = i;
  while (list && *list && n < 16) {
    size_t length = strcspn(list, ",");
    int d = 0;
    for (; d < all; d++) {
      char ordinal[8], uuid[64];
      snprintf(ordinal, sizeof ordinal, "%d", d);
      snprintf(uuid, sizeof uuid, "GPU-%d0111213-1415-1617-1819-1a1b1c1d1e1f", d + 1);
      if (length == strlen(ordinal) && !strncmp(list, ordinal, length) || length > 4 && !strncmp(list, uuid, length)) break;
    }
    if (d == all) break;
    at[n++] = d;
    list += length + (list[length] == ',');
  }
  return n;
}
int cuDeviceGetCount(int *n) { CALL; int at[16]; *n = shown(at); return OK; }
int cuDeviceGet(int *d, int ordinal) { CALL; int at[16]; if (ordinal < 0 || ordinal >= shown(at)) return 101; *d = at[ordinal]; return OK; }
int cuDeviceGetName(char *s, int n, int d) { CALL; strncpy(s, d < number("FAKE_ALIKE", 16) ? "Fake GPU" : "Other GPU", n); return OK; }
int cuDeviceGetUuid_v2(unsigned char *u, int d) { CALL; for (int i = 0; i < 16; i++) u[i] = 0x10 + i; u[0] = 0x10 * (d + 1); return OK; }
int cuDeviceTotalMem_v2(size_t *n, int d) { CALL; *n = TOTAL; return OK; }
int cuDeviceGetPCIBusId(char *s, int n, int d) { CALL; strncpy(s, "0000:41:00.0", n); s[6] += d; return OK; }

int cuDeviceGetAttribute(int *v, int attribute, int d) {
  static const int values[][2] = {
    {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152}, {10, 32}, {12, 65536},
    {13, 1500000}, {16, 4}, {32, 1}, {36, 2000000}, {37, 512}, {38, 4 << 20}, {39, 2048}, {75, 9}, {76, 0}, {81, 233472},
    {82, 65536}, {87, 2}, {97, 232448}, {106, 32}, {111, 1024}};
  CALL;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i][0] == attribute) { *v = values[i][1]; return OK; }
  return INVALID;
}

int cuDevicePrimaryCtxRetain(void **c, int d) { CALL; live[3]++; *c = &initialised; return OK; }
int cuDevicePrimaryCtxRelease_v2(int d) { CALL; if (live[3] == 0) return NO_CONTEXT; live[3]--; return OK; }
int cuCtxSetCurrent(void *c) { CALL; current = c; return OK; }

int cuMemGetInfo_v2(size_t *available, size_t *total) { CONTEXT; *available = TOTAL - used; *total = TOTAL; return OK; }

int cuMemAlloc_v2(uint64_t *p, size_t bytes) {
  CONTEXT;
  if (bytes == 0) return INVALID;
  if (bytes > TOTAL - used) return NO_MEMORY;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    if (!blocks[i].at) {
      if (!(blocks[i].at = malloc(bytes))) return NO_MEMORY;
      blocks[i].bytes = bytes;
      used += bytes;
      live[1]++;
      *p = (uintptr_t)blocks[i].at;
      return OK;
    }
  return NO_MEMORY;
}

int cuMemFree_v2(uint64_t p) {
  CONTEXT;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    if (p && (uintptr_t)blocks[i].at == p) {
      free(blocks[i].at);
      used -= blocks[i].bytes;
      blocks[i].at = 0;
      live[1]--;
      return OK;
    }
  return INVALID;
}

// within tells whether a range lies in one block.
static int within(uint64_t p, size_t bytes) {
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    uint64_t from = (uintptr_t)blocks[i].at;
    if (from && p >= from && p + bytes <= from + blocks[i].bytes) return 1;
  }
  return 0;
}

#ifndef OLD
int cuMemsetD32Async(uint64_t p, unsigned value, size_t words, void *stream) {
  CONTEXT;
  if (p % 4 || !within(p, 4 * words)) return INVALID;
  for (size_t i = 0; i < words; i++) ((unsigned *)(uintptr_t)p)[i] = value;
  return OK;
}
#endif
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { CONTEXT; if (!within(from, n)) return INVALID; memcpy(to, (void *)(uintptr_t)from, n); return OK; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { CONTEXT; if (!within(to, n)) return INVALID; memcpy((void *)(uintptr_t)to, from, n); return OK; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream) {
  CONTEXT;
  if (!within(to, n) || !within(from, n)) return INVALID;
  memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
  return OK;
}

int cuModuleLoadData(module **m, const char *image) {
  CONTEXT;
  if (!strstr(image, "__global__")) return INVALID_IMAGE;
  *m = calloc(1, sizeof **m);
  (*m)->image = strdup(image);
  (*m)->next = modules;
  modules = *m;
  live[0]++;
  return OK;
}

int cuModuleUnload(module *m) {
  CONTEXT;
  for (module **p = &modules; *p; p = &(*p)->next)
    if (*p == m) {
      *p = m->next;
      for (function *f = m->functions, *next; f; f = next) { next = f->next; free(f); }
      free(m->image);
      free(m);
      live[0]--;
      return OK;
    }
  return BAD_HANDLE;
}

int cuModuleGetFunction(function **f, module *m, const char *name) {
  char declaration[96] = "__global__ void ";
  CONTEXT;
  strncat(declaration, name, 60);
  strcat(declaration, "(");
  if (!strstr(m->image, declaration)) return NOT_FOUND;
  *f = calloc(1, sizeof **f);
  strncpy((*f)->name, name, sizeof (*f)->name - 1);
  (*f)->m = m;
  (*f)->next = m->functions;
  m->functions = *f;
  return OK;
}

int cuFuncGetAttribute(int *v, int attribute, function *f) {
  CONTEXT;
  *v = attribute == 4 ? 40 : attribute == 3 ? 8 : attribute == 1 ? 512 : 0;
  return OK;
}
int cuFuncSetAttribute(function *f, int attribute, int value) { CONTEXT; return attribute == 8 && value <= 232448 ? OK : INVALID; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, function *f, int threads, size_t shared) { CONTEXT; *n = 2048 / threads; return OK; }

int cuEventCreate(event **e, unsigned flags) { CONTEXT; *e = calloc(1, sizeof **e); live[2]++; return OK; }
int cuEventDestroy_v2(event *e) { CONTEXT; free(e); live[2]--; return OK; }
int cuEventRecord(event *e, void *stream) { CONTEXT; e->recorded = 1; clock_gettime(CLOCK_MONOTONIC, &e->at); return OK; }
int cuEventQuery(event *e) { CONTEXT; return hanging ? NOT_READY : OK; }
int cuEventElapsedTime(float *ms, event *a, event *b) {
  CONTEXT;
  if (!a->recorded || !b->recorded) return BAD_HANDLE;
  *ms = 1e3 * (b->at.tv_sec - a->at.tv_sec) + 1e-6 * (b->at.tv_nsec - a->at.tv_nsec);
  return OK;
}

static unsigned mix(unsigned h) {
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
  return h;
}

static uint64_t u64(void *p) { return *(uint64_t *)p; }

// The kernels of check.cu and the stencil kernels, for one element type.
#define KERNELS(T)                                                                              \
  static void fill_##T(void **a) {                                                              \
    T *out = *(T **)a[0];                                                                       \
    for (uint64_t n = 0; n < u64(a[1]); n++) {                                                  \
      const uint64_t i = n + u64(a[2]);                                                         \
      const double v = (mix((unsigned)i ^ mix((unsigned)(i >> 32) + *(unsigned *)a[3])) >> 8) * *(double *)a[5], quantum = *(double *)a[6]; \
      out[n] = (T)(*(double *)a[4] + (quantum ? quantum * (unsigned)v : v));                    \
    }                                                                                           \
  }                                                                                             \
  static void compare_##T(void **a) {                                                           \
    const T *got = *(T **)a[0], *want = *(T **)a[1];                                            \
    const double tolerance = *(double *)a[3];                                                   \
    uint64_t *report = *(uint64_t **)a[4];                                                      \
    double largest = 0;                                                                         \
    for (uint64_t i = 0; i < u64(a[2]); i++) {                                                  \
      const double g = got[i], w = want[i], d = g > w ? g - w : w - g;                          \
      if (!(d <= tolerance || g == w)) {                                                        \
        report[0]++;                                                                            \
        if (i < report[1]) report[1] = i;                                                       \
        if (!(d < 1e300)) continue;                                                             \
      }                                                                                         \
      if (d > largest) largest = d;                                                             \
    }                                                                                           \
    if (largest > 0) memcpy(&report[2], &largest, 8);                                           \
  }                                                                                             \
  static void stencil_##T(const char *image, void **a) {                                        \
    const T *in = *(T **)a[0];                                                                  \
    T *out = *(T **)a[1];                                                                       \
    const long n = (long)*(int *)a[2] * *(int *)a[3] * *(int *)a[4];                            \
    const long written = strstr(image, "FAKE_PARTIAL") ? n - 10 : n;                            \
    for (long i = 0; i < written; i++) out[i] = in[i];                                          \
    if (strstr(image, "FAKE_NAN")) for (long i = 0; i < n; i++) out[i] = (T)0 / (T)0;           \
    if (strstr(image, "FAKE_OOB")) out[n] = 1;                                                  \
    if (strstr(image, "FAKE_BEFORE")) out[-1] = 1;                                              \
    if (strstr(image, "FAKE_WRONG")) out[n / 2] += 1;                                           \
  }
KERNELS(float)
KERNELS(double)

int cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **a, void **extra) {
  CONTEXT;
  if (gx * gy * gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024 || shared > 232448) return INVALID;
  const char *image = f->m->image;
  const int wide = strstr(image, "typedef double T") != 0;
  if (!strcmp(f->name, "fill_input")) { (wide ? fill_double : fill_float)(a); return OK; }
  if (!strcmp(f->name, "compare_cells")) { (wide ? compare_double : compare_float)(a); return OK; }
  if (!strcmp(f->name, "count_changed")) {
    const unsigned *words = *(unsigned **)a[0];
    if (!within((uintptr_t)words, 4 * u64(a[1]))) return dead = 700;
    for (uint64_t i = 0; i < u64(a[1]); i++)
      if (words[i] != *(unsigned *)a[2]) (**(uint64_t **)a[3])++;
    return OK;
  }
  if (strstr(f->name, "_list_")) return OK; // of places, of which none acts
  if (f != last) live[5]++;
  last = f;
  if (strstr(f->name, "_fold_") || strstr(f->name, "_last_")) return OK; // of a step scalar, which copies need not
  const char *status = strstr(image, "FAKE_STATUS_"); // what the launch returns: 701 once, others for ever
  if (status && !f->used++) {
    const int s = atoi(status + strlen("FAKE_STATUS_"));
    if (s != OUT_OF_RESOURCES) dead = s;
    return s;
  }
  if (strstr(image, "FAKE_HANG")) hanging = 1;
  if (strstr(image, "FAKE_SLOW")) { // a millisecond
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (1e9 * (now.tv_sec - from.tv_sec) + (now.tv_nsec - from.tv_nsec) < 1e6);
  }
  (wide ? stencil_double : stencil_float)(image, a);
  return OK;
}

#ifdef NEW
typedef struct { unsigned id, pad; union { int allowed; char all[64]; } value; } attribute; // CUlaunchAttribute of cuda.h
typedef struct { unsigned gx, gy, gz, bx, by, bz, shared; void *stream; attribute *attributes; unsigned n; } config; // CUlaunchConfig

int cuLaunchKernelEx(const config *c, function *f, void **a, void **extra) {
  if (c->n != 1 || c->attributes->id != 6 || c->attributes->value.allowed != 1 || (uintptr_t)c->attributes % 8) return INVALID;
  if (!strstr(f->m->image, "await_launch(nx)")) return INVALID; // it would begin before what it reads is written
  live[6]++;
  return cuLaunchKernel(f, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream, a, extra);
}
#endif

// NVML.
typedef struct { unsigned pid, pad; uint64_t memory; unsigned gpu, compute; } process;

int nvmlInit_v2(void) { return number("FAKE_NVML_INIT", 0); }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **d) { *d = &initialised; return strcmp(id, "0000:41:00.0") ? 6 : 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = &initialised; return 0; }
int nvmlDeviceGetName(void *d, char *s, unsigned n) { strncpy(s, "Fake GPU", n); return 0; }
int nvmlDeviceGetUUID(void *d, char *s, unsigned n) { strncpy(s, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f", n); return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { strncpy(s, "580.1", n); return 0; }
int nvmlDeviceGetClockInfo(void *d, int clock, unsigned *mhz) { *mhz = clock == 1 ? 1400 : 2000; return 0; }
int nvmlDeviceGetMaxClockInfo(void *d, int clock, unsigned *mhz) { *mhz = clock == 1 ? 1500 : 2000; return 0; }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *c) { *c = 55; return 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) { *mw = 250000; return 0; }
int nvmlDeviceGetPowerManagementLimit(void *d, unsigned *mw) { *mw = 1000 * number("FAKE_POWER_LIMIT", 700); return 0; }
int nvmlDeviceGetPowerManagementDefaultLimit(void *d, unsigned *mw) { *mw = 700000; return 0; }
int nvmlDeviceGetCurrentClocksEventReasons(void *d, uint64_t *bits) { *bits = number("FAKE_THROTTLE", 0); return 0; }
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *pending) { *now = *pending = number("FAKE_MIG", 0); return 0; }
int nvmlDeviceGetEccMode(void *d, unsigned *now, unsigned *pending) { *now = 1; *pending = number("FAKE_ECC_PENDING", 1); return 0; }
int nvmlDeviceGetTotalEccErrors(void *d, int type, int counter, uint64_t *n) { *n = type == 1 && counter == 0 ? number("FAKE_ECC_ERRORS", 0) : 1000; return 0; }
int nvmlDeviceGetPersistenceMode(void *d, unsigned *on) { *on = number("FAKE_PERSISTENCE", 1); return 0; }
int nvmlDeviceGetComputeMode(void *d, unsigned *mode) { *mode = number("FAKE_COMPUTE_MODE", 0); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, uint64_t *m) { m[0] = TOTAL; m[1] = number("FAKE_FREE_MB", 500) * 1000000ull; m[2] = m[0] - m[1]; return 0; }
int nvmlSystemGetProcessName(unsigned pid, char *s, unsigned n) { strncpy(s, "/usr/bin/train", n); return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, process *list) {
  const int have = number("FAKE_PROCESSES", 0);
  if (*n < (unsigned)have) return 7;
  *n = have;
  for (int i = 0; i < have; i++) list[i] = (process){4711 + i, 0, 1 << 30, 0, 0};
  return 0;
}

// The energy counter moves every 10 ms, at 250 W or FAKE_POWER. One of FAKE_COUNTER_BITS runs over when it has counted 20 J.
int nvmlDeviceGetTotalEnergyConsumption(void *d, uint64_t *mj) {
  static uint64_t first;
  const uint64_t bits = number("FAKE_COUNTER_BITS", 0);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *mj = ((uint64_t)now.tv_sec * 100 + now.tv_nsec / 10000000) * 10 * number("FAKE_POWER", 250);
  if (bits) {
    if (!first) first = *mj;
    *mj = (*mj - first - 20000) & ((1ull << bits) - 1);
  }
  return number("FAKE_NO_ENERGY", 0) ? 3 : 0;
}
