package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
)

func TestStatusesSayWhatTheyMean(t *testing.T) {
	for _, c := range []struct {
		status       Status
		text         string
		remedy       string
		sticky, gone bool
	}{
		{1, "CUDA_ERROR_INVALID_VALUE (1)", "", false, false},
		{2, "CUDA_ERROR_OUT_OF_MEMORY (2)", "choose a smaller grid", false, false},
		{46, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)", "another process", false, true},
		{100, "CUDA_ERROR_NO_DEVICE (100)", "CUDA_VISIBLE_DEVICES", false, true},
		{101, "CUDA_ERROR_INVALID_DEVICE (101)", "CUDA_VISIBLE_DEVICES", false, true},
		{200, "CUDA_ERROR_INVALID_IMAGE (200)", "", false, false},
		{201, "CUDA_ERROR_INVALID_CONTEXT (201)", "", false, true},
		{214, "CUDA_ERROR_ECC_UNCORRECTABLE (214)", "do not trust it", true, true},
		{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", "update the driver", false, false},
		{600, "CUDA_ERROR_NOT_READY (600)", "", false, false},
		{700, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "", true, false},
		{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)", "", false, false},
		{702, "CUDA_ERROR_LAUNCH_TIMEOUT (702)", "watchdog", true, false},
		{710, "CUDA_ERROR_ASSERT (710)", "", true, false},
		{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION (715)", "", true, false},
		{716, "CUDA_ERROR_MISALIGNED_ADDRESS (716)", "", true, false},
		{719, "CUDA_ERROR_LAUNCH_FAILED (719)", "", true, false},
		{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "reboot", false, false},
		{999, "CUDA_ERROR_UNKNOWN (999)", "", true, false},
		{12345, "CUDA_ERROR (12345)", "", false, false},
	} {
		err := &Error{"cuCall", c.status}
		want := "cuCall: " + c.text
		if c.status.String() != c.text || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.remedy) || (c.remedy == "") != (err.Error() == want) {
			t.Errorf("%d: %q, %q", c.status, c.status, err)
		}
		wrapped := fmt.Errorf("while running: %w", err)
		if c.status.Sticky() != c.sticky || err.Sticky() != c.sticky || errors.Is(wrapped, ErrSticky) != c.sticky {
			t.Errorf("%s: sticky %v", c.status, err.Sticky())
		}
		if c.status.gone() != c.gone {
			t.Errorf("%s: gone %v", c.status, c.status.gone())
		}
	}
	var sticky interface{ Sticky() bool }
	if !errors.As(ErrSticky, &sticky) || !sticky.Sticky() {
		t.Error("ErrSticky has no method that says so")
	}
}

func TestLibrariesAreNamedByAbsolutePathOnly(t *testing.T) {
	for _, file := range []string{"libcuda.so.1", "./libcuda.so.1", "lib/libcuda.so.1"} {
		t.Setenv("CUDA_TEST_LIBRARY", file)
		_, err := openLibrary("CUDA_TEST_LIBRARY", "a driver", "buy one", []string{"libc.so.6"}, nil, nil)
		if !errors.Is(err, device.ErrMissing) || !strings.Contains(err.Error(), "must be an absolute path") {
			t.Errorf("%s: %v", file, err)
		}
	}
	// The file is taken instead of the candidates, not before them.
	t.Setenv("CUDA_TEST_LIBRARY", filepath.Join(t.TempDir(), "libnone.so"))
	_, err := openLibrary("CUDA_TEST_LIBRARY", "a driver", "buy one", []string{"libc.so.6"}, nil, nil)
	if !errors.Is(err, device.ErrMissing) || !strings.Contains(err.Error(), "libnone.so: no such file") || strings.Contains(err.Error(), "libc.so.6") {
		t.Error(err)
	}
}

func TestErrorsNameLibrariesNotFolders(t *testing.T) {
	for _, c := range []struct{ candidates, want []string }{
		{[]string{"libx.so.2", "libx.so.1", "/opt/libx.so.2"}, []string{"libx.so.2", "libx.so.1"}},
		{[]string{"/opt/libx.so.2"}, []string{"/opt/libx.so.2"}},
	} {
		if got := sonames(c.candidates); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v", got, c.candidates)
		}
	}
}

func TestNVRTCIsLookedForWhereToolkitsAndPipPutIt(t *testing.T) {
	root := t.TempDir()
	pip := filepath.Join(root, "venv", "lib", "python3.12", "site-packages", "nvidia", "cuda_nvrtc", "lib")
	if err := os.MkdirAll(pip, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUDA_HOME", filepath.Join(root, "toolkit"))
	t.Setenv("CUDA_PATH", "relative")
	t.Setenv("VIRTUAL_ENV", filepath.Join(root, "venv"))
	t.Setenv("HOME", root)
	dirs := toolkitFolders()
	home, installed, env := slices.Index(dirs, filepath.Join(root, "toolkit", "lib64")), slices.Index(dirs, "/usr/local/cuda/lib64"), slices.Index(dirs, pip)
	if home != 0 || installed < home || env < installed {
		t.Errorf("%v", dirs)
	}
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			t.Errorf("%s is looked for in the current folder", d)
		}
	}
}

func TestTargetIsTheDevicesOwnElseTheNewestBelowIt(t *testing.T) {
	cubin := map[string]uintptr{"nvrtcGetCUBIN": 1}
	for _, c := range []struct {
		cc     string
		archs  []int
		fns    map[string]uintptr
		option string
		ptx    bool
		err    string
	}{
		{"9.0", []int{75, 80, 90, 100}, cubin, "sm_90", false, ""},
		{"12.1", []int{90, 120, 121}, cubin, "sm_121", false, ""},
		{"8.9", []int{75, 80, 90}, cubin, "compute_80", true, ""},
		{"10.3", []int{80, 100, 90}, cubin, "compute_100", true, ""},
		{"9.0", []int{80, 90}, nil, "compute_90", true, ""},
		{"9.0", nil, cubin, "sm_90", false, ""},   // it cannot tell: let it try
		{"7.0", nil, nil, "compute_70", true, ""}, // nor make CUBINs
		{"6.1", []int{75, 80}, cubin, "", false, "NVRTC 13.0 cannot build for compute capability 6.1; it knows [75 80]"},
		{"", []int{75}, cubin, "", false, "is none"},
		{"new", []int{75}, cubin, "", false, "is none"},
	} {
		compiler := &Compiler{lib: &library{fns: c.fns}, version: "NVRTC 13.0", archs: c.archs}
		option, ptx, err := compiler.target(c.cc)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s of %v: %v", c.cc, c.archs, err)
			}
			continue
		}
		if err != nil || option != "--gpu-architecture="+c.option || ptx != c.ptx {
			t.Errorf("%s of %v: %s, PTX %v, %v", c.cc, c.archs, option, ptx, err)
		}
	}
}

func TestKernelsWaitForTheLaunchBeforeFromHopperOn(t *testing.T) {
	for arch, want := range map[string]bool{
		"--gpu-architecture=sm_90": true, "--gpu-architecture=compute_90": true, "--gpu-architecture=sm_120": true, "--gpu-architecture=sm_89": false, "--gpu-architecture=compute_80": false,
	} {
		if dependent(arch) != want {
			t.Errorf("%s: %v", arch, !want)
		}
	}
}

func TestFirstErrorIsTheLineThatSaysWhy(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct{ log, want string }{
		{"a.cu(1): warning: x\n\n  a.cu(2): error: y\n  a.cu(3): error: z\n", "a.cu(2): error: y"},
		{"a.cu(2): error: y", "a.cu(2): error: y"},
		{"nvrtc: error: invalid value for --gpu-architecture\n", "nvrtc: error: invalid value for --gpu-architecture"},
		{"a.cu(1): warning: x\n", "refused"},
		{"", "refused"},
		{"ptxas info : (C7600) Register allocation failed with register count of '255'\nptxas fatal   : Ptx assembly aborted due to errors\n",
			"ptxas info : (C7600) Register allocation failed with register count of '255'"},
		{"ptxas a, line 3; error : x\nptxas fatal   : Ptx assembly aborted due to errors\n", "ptxas a, line 3; error : x"},
		{"ptxas fatal   : Ptx assembly aborted due to errors\n", "ptxas fatal   : Ptx assembly aborted due to errors"},
	} {
		if got := firstError(c.log, refused); got != c.want {
			t.Errorf("%q of %q", got, c.log)
		}
	}
}

func TestCStrings(t *testing.T) {
	for text, want := range map[string]string{"": "", "\x00": "", "GPU\x00\x00junk": "GPU", "full": "full"} {
		if got := cString([]byte(text)); got != want {
			t.Errorf("%q of %q", got, text)
		}
	}
	c := newStrings(nil)
	defer c.free()
	if c.address() == 0 || c.table[0] != nil {
		t.Error("no list is not an empty one")
	}
}
