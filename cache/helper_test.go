package cache

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stenciltune/internal/dbtest"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMain lets the test binary play a process of its own: see child.
func TestMain(m *testing.M) {
	if role := os.Getenv("CACHE_TEST_ROLE"); role != "" {
		os.Exit(child(role, os.Getenv("CACHE_TEST_STORE")))
	}
	code := m.Run()
	dbtest.StopShared()
	os.Exit(code)
}

// onEach runs a test of what a store means on each kind of store; fresh makes an empty one.
func onEach(t *testing.T, test func(t *testing.T, fresh func() *Store)) {
	t.Run("file", func(t *testing.T) {
		dir, n := t.TempDir(), 0
		test(t, func() *Store {
			n++
			return reopen(t, filepath.Join(dir, fmt.Sprint(n), "store.db"))
		})
	})
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		test(t, func() *Store { return reopen(t, server.Fresh(t)) })
	})
}

// onServers runs a test with each kind of database server.
func onServers(t *testing.T, test func(t *testing.T, server *dbtest.Server)) {
	for name, shared := range map[string]func(testing.TB) *dbtest.Server{"postgres": dbtest.Shared, "mariadb": dbtest.SharedMariaDB} {
		t.Run(name, func(t *testing.T) { test(t, shared(t)) })
	}
}

// put writes a record as it is.
func put(t *testing.T, s *Store, at spot, raw []byte) {
	t.Helper()
	must(t, s.put(at, raw))
}

// stored is a record as it lies in a store.
func stored(t *testing.T, s *Store, at spot) []byte {
	t.Helper()
	records, err := s.engine.read(at)
	must(t, err)
	if len(records) != 1 {
		t.Fatalf("%d records at %v", len(records), at)
	}
	return records[0].value
}

// child is what a process started by a test does. It prints a line for every
// entry that Record acknowledged.
func child(role, path string) int {
	s, err := Open(path)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	from, _ := strconv.Atoi(os.Getenv("CACHE_TEST_FROM"))
	to, _ := strconv.Atoi(os.Getenv("CACHE_TEST_TO"))
	switch role {
	case "limited": // files of at most 128 KiB
		lim := unix.Rlimit{Cur: 128 << 10, Max: 128 << 10}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &lim); err != nil {
			fmt.Println("error", err)
			return 1
		}
	case "nobody": // gives up root first
		if os.Geteuid() == 0 {
			if err := syscall.Setuid(65534); err != nil {
				fmt.Println("error", err)
				return 1
			}
		}
		_, err := s.Entries(testKey(0))
		fmt.Println("read", errors.Is(err, ErrUnwritable), err)
		err = s.Writable()
		fmt.Println("write", errors.Is(err, ErrUnwritable), err)
		return 0
	}
	for i := from; i < to; i++ {
		e := testEntry(i)
		if err := s.Begin(testKey(0), e.Schedule); err != nil {
			return refused(err)
		}
		if err := s.Record(testKey(0), e); err != nil {
			return refused(err)
		}
		fmt.Println("stored", i)
	}
	return 0
}

func refused(err error) int {
	fmt.Println("refused", errors.Is(err, ErrUnwritable), err)
	return 3
}

// command starts this binary as a child.
func command(role, path string, from, to int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CACHE_TEST_ROLE="+role, "CACHE_TEST_STORE="+path,
		"CACHE_TEST_FROM="+strconv.Itoa(from), "CACHE_TEST_TO="+strconv.Itoa(to))
	return cmd
}

// acknowledged reads the numbers of the entries a child said it stored.
func acknowledged(out string) []int {
	var n []int
	for s := bufio.NewScanner(strings.NewReader(out)); s.Scan(); {
		var i int
		if _, err := fmt.Sscanf(s.Text(), "stored %d", &i); err == nil {
			n = append(n, i)
		}
	}
	return n
}

// testKey makes the i-th of some keys that differ in all fields sooner or later.
func testKey(i int) Key {
	m := machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", ComputeCapability: "9.0", MemoryBytes: 150_110_011_392, Driver: "580.159.04", Compiler: "NVRTC 13.0"}
	return Key{
		StencilHash: strings.Repeat("ab", 32), DType: "float32", Boundary: "clamp",
		Size: fmt.Sprintf("%dx512x512", 64*(i+1)), StepsClass: ManySteps, Regime: "warm",
	}.On(m)
}

func mustSchedule(text string) space.Schedule {
	s, err := space.ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	return s
}

// testEntry makes the i-th of some entries, each with its own schedule.
func testEntry(i int) Entry {
	e := Entry{
		Outcome: outcome.Outcome{
			Schedule:   mustSchedule(fmt.Sprintf("tile/gx=%d/gy=%d/ph=%d", i%32+1, i/32%32+1, i/1024+1)),
			SourceHash: strings.Repeat("c0ffee", 10),
			Status:     timing.OK,
			Registers:  32 + i%100,
			Compiler:   "NVRTC 13.0",
		},
		Tool:     "1.0.0",
		At:       time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC),
		Attempts: 1,
	}
	e.Series = timing.Series{Launches: 4, Steps: 8}
	for k := range 7 {
		e.Series.Samples = append(e.Series.Samples, 1e-4*(1+float64(i%17)/16)+1e-7*float64(k))
	}
	e.Series.Summary = timing.Summarise(e.Series.Samples)
	return e
}

// testConfig is a config with every field set.
func testConfig() Config {
	best := mustSchedule("tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=3")
	rest := mustSchedule("tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=1")
	kernel := func(entry, hash string) KernelInfo {
		return KernelInfo{Entry: entry, SourceHash: strings.Repeat(hash, 32), Options: []string{"--gpu-architecture=sm_90", "--fmad=true"}, Registers: 40, BlocksPerSM: 6}
	}
	return Config{
		Format:  ConfigFormat,
		Tool:    ToolInfo{Name: "tune", Version: "1.0.0", Revision: "0123456789abcdef"},
		Stencil: StencilInfo{Name: "jacobi3d", Hash: strings.Repeat("ab", 32), DType: "float32", Dims: 3, Points: 7, Radius: 1, Boundary: "clamp"},
		Problem: ProblemInfo{Size: []int{512, 512, 512}, Steps: 100},
		Device: DeviceOf(machine.Machine{
			Kind: machine.CUDA, Name: "NVIDIA H200", UUID: "GPU-00000000-1111-2222-3333-444444444444", PCI: "0000:18:00.0",
			ComputeCapability: "9.0", Driver: "580.159.04", CUDAVersion: "13.0", MemoryBytes: 150_110_011_392, L2Bytes: 62_914_560,
			SMs: 132, ClockHz: 1.98e9, MemoryClockHz: 3.201e9, MemoryBusBits: 6144, ECC: true, CopyBytesPerSecond: 4.2e12,
		}),
		Toolchain: ToolchainInfo{Compiler: "NVRTC 13.0", CUDA: "13.0", Options: []string{"--std=c++17"}},
		Schedule:  ScheduleOf(best),
		Launch:    LaunchInfo{Grid: [3]int{16, 32, 256}, Block: [3]int{32, 8, 1}, SharedBytes: 49152, StepsPerLaunch: 3},
		Kernel:    kernel("jacobi3d_tile_01234567", "cd"),
		Remainder: &RemainderInfo{
			Schedule: ScheduleOf(rest),
			Launch:   LaunchInfo{Grid: [3]int{16, 32, 256}, Block: [3]int{32, 8, 1}, SharedBytes: 20480, StepsPerLaunch: 1},
			Kernel:   kernel("jacobi3d_tile_89abcdef", "ef"),
		},
		Measured: MeasuredInfo{SecondsPerStep: 1.25e-4, Low: 1.24e-4, High: 1.26e-4, Samples: 50, CellsPerSecond: 1.073741824e12, BytesPerSecond: 8.589934592e12, Regime: timing.Warm},
		Baseline: &BaselineInfo{Schedule: "global/gx=32/gy=8/gz=1", SecondsPerStep: 2.75e-4, CopyBytesPerSecond: 4.2e12},
		Speedup:  2.2, RooflineShare: 2.045222521904762,
		Ties: []Tie{{Schedule: rest.String(), SecondsPerStep: 1.255e-4}},
		Verification: VerificationInfo{Checks: []CheckInfo{
			{Against: "reference", Size: []int{37, 29, 23}, Steps: 7, Cells: 24679, MaxError: 1.1920929e-07, Tolerance: 1e-5, Seed: 1},
			{Against: "global/gx=32/gy=8/gz=1", Size: []int{512, 512, 512}, Steps: 100, Cells: 134217728, Tolerance: 1e-5, Seed: 4294967295},
		}},
		Search:   SearchInfo{Strategy: "bayes", Evaluated: 200, Failed: 3, Space: 51840, RawSpace: 1_000_000, Stop: search.Stall, Seed: 18446744073709551615, Complete: true, Seconds: 61.5, Utilisation: 0.75},
		Match:    MatchInfo{Grade: Exact},
		Warnings: []string{"wide interval: +-1.2 %"},
		Time:     time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// configAt is a config of a key.
func configAt(k Key) Config {
	c := testConfig()
	c.Stencil.Hash, c.Stencil.DType, c.Stencil.Boundary = k.StencilHash, k.DType, k.Boundary
	c.Problem.Size = nil
	for n := range strings.SplitSeq(k.Size, "x") {
		cells, _ := strconv.Atoi(n)
		c.Problem.Size = append(c.Problem.Size, cells)
	}
	if k.StepsClass != ManySteps {
		c.Problem.Steps, _ = strconv.Atoi(k.StepsClass)
	}
	c.Device.Kind, c.Device.Name, c.Device.ComputeCapability, c.Device.MemoryBytes, c.Device.Driver = k.Kind, k.DeviceName, k.ComputeCapability, k.MemoryBytes, k.Driver
	if KeyOf(c) != k {
		panic(KeyOf(c).String() + " is not " + k.String())
	}
	return c
}

// openTemp opens a store in a new folder.
func openTemp(t testing.TB) *Store {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "deep", "store.db"))
}

// tester is what *testing.T, *testing.B and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func reopen(t tester, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
