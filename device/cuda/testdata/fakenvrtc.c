// A stand-in for libnvrtc.so: the image of a program is its source.
#include <stdlib.h>
#include <string.h>

typedef struct { char *source; const char *log; } program;

static long live;

// fake_live is the programs not yet destroyed.
long fake_live(int which) { return __atomic_load_n(&live, __ATOMIC_SEQ_CST); }

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 1; return 0; }
const char *nvrtcGetErrorString(int r) { return "an error"; }

int nvrtcCreateProgram(program **p, const char *source, const char *name, int n, const char **headers, const char **names) {
  *p = calloc(1, sizeof **p);
  (*p)->source = strdup(source);
  (*p)->log = "";
  __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
  return 0;
}

int nvrtcDestroyProgram(program **p) {
  free((*p)->source);
  free(*p);
  *p = 0;
  __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
  return 0;
}

int nvrtcCompileProgram(program *p, int n, const char **options) {
  int known = 0;
  for (int i = 0; i < n; i++) {
    if (strncmp(options[i], "--", 2)) return 5; // NVRTC_ERROR_INVALID_OPTION
    known |= !strcmp(options[i], "--gpu-architecture=compute_90");
#ifndef OLD
    known |= !strcmp(options[i], "--gpu-architecture=sm_90");
#endif
  }
  if (!known || options[n]) return 5;
  if (strstr(p->source, "FAKE_COMPILER_BREAKS")) return 11; // NVRTC_ERROR_INTERNAL_ERROR
  if (!strstr(p->source, "FAKE_COMPILE_ERROR")) return 0;
  p->log = "copy.cu(3): warning #177-D: variable \"i\" was declared but never referenced\n\n"
           "copy.cu(7): error: identifier \"nonsense\" is undefined\n    nonsense;\n    ^\n\n"
           "1 error detected in the compilation of \"copy.cu\".\n";
  return 6; // NVRTC_ERROR_COMPILATION
}

int nvrtcGetProgramLogSize(program *p, size_t *n) { *n = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(program *p, char *s) { strcpy(s, p->log); return 0; }
int nvrtcGetPTXSize(program *p, size_t *n) { *n = strlen(p->source) + 1; return 0; }
int nvrtcGetPTX(program *p, char *s) { strcpy(s, p->source); return 0; }
#ifndef OLD
int nvrtcGetCUBINSize(program *p, size_t *n) { *n = strlen(p->source); return 0; }
int nvrtcGetCUBIN(program *p, char *s) { memcpy(s, p->source, strlen(p->source)); return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 1; return 0; }
int nvrtcGetSupportedArchs(int *archs) { archs[0] = 90; return 0; }
#endif
