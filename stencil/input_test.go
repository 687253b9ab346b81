package stencil

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestInputHasKnownValues(t *testing.T) {
	// MurmurHash3's finaliser maps 0 to 0 and 1 to 0x514e28b7.
	if mix(0) != 0 || mix(1) != 0x514e28b7 {
		t.Fatalf("mix(0) = %#x, mix(1) = %#x", mix(0), mix(1))
	}
	for _, c := range []struct {
		seed uint32
		i    int64
		want float64
	}{
		{0, 0, -1},
		{0, 1, 0x514e28/8388608. - 1},
		{1, 0, float64(mix(0x514e28b7)>>8)/8388608 - 1},
		{1, 0x514e28b7, -1}, // cancels the mixed seed
		{0, 1 << 32, float64(mix(0x514e28b7)>>8)/8388608 - 1},
		{0, 1<<32 | 1, float64(mix(0x514e28b7^1)>>8)/8388608 - 1},
	} {
		if got := Input(c.seed, c.i); got != c.want {
			t.Errorf("Input(%d, %d) = %v, want %v", c.seed, c.i, got, c.want)
		}
	}
}

func TestInputIsExactInFloat32AndSpreadOverItsRange(t *testing.T) {
	sum, low, high := 0.0, 1.0, -1.0
	const n = 1 << 18
	for i := range int64(n) {
		v := Input(7, i)
		if float64(float32(v)) != v {
			t.Fatalf("Input(7, %d) = %v is not a float32", i, v)
		}
		if v < -1 || v >= 1 {
			t.Fatalf("Input(7, %d) = %v", i, v)
		}
		sum, low, high = sum+v, min(low, v), max(high, v)
	}
	// Standard error of the mean of n values uniform on [-1, 1): 1/sqrt(3 n) = 0.0011.
	if math.Abs(sum/n) > 0.006 || low > -0.999 || high < 0.999 {
		t.Errorf("mean %v, from %v to %v", sum/n, low, high)
	}
}

func TestInputDiffersFromSeedToSeedAndCellToCell(t *testing.T) {
	same, next := 0, 0
	const n = 10000
	for i := range int64(n) {
		if Input(1, i) == Input(2, i) {
			same++
		}
		if Input(1, i) == Input(1, i+1) {
			next++
		}
	}
	if same > 2 || next > 2 { // 2^24 values: a chance of 6e-4 each
		t.Errorf("%d equal across seeds, %d equal to the next cell", same, next)
	}
}

func TestASeedGivesAnElementItsBits(t *testing.T) {
	for i := range int64(1000) {
		at, bits := i*i*4099, uint32(i*15485863)>>8
		if seed := SeedFor(at, bits, uint32(i)); random(seed, at) != bits {
			t.Fatalf("element %d under seed %d has %#x, want %#x", at, seed, random(seed, at), bits)
		}
	}
}

func TestFillIsInputOfEveryCell(t *testing.T) {
	for i, v := range Fill(3, 100) {
		if v != Input(3, int64(i)) {
			t.Errorf("cell %d is %v", i, v)
		}
	}
	if len(Fill(3, 0)) != 0 {
		t.Error("Fill of nothing is something")
	}
}

func hostCompiler(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"c++", "g++", "clang++"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no C++ compiler (c++, g++, clang++) to compile the C text with")
	return ""
}

func TestInputSourceComputesInput(t *testing.T) {
	compiler := hostCompiler(t)
	indices := []int64{0, 1, 2, 63, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 40, 1<<62 + 12345}
	for i := range int64(500) {
		indices = append(indices, i*i*7919+i)
	}
	seeds := []uint32{0, 1, 7, 1 << 31, math.MaxUint32}

	var main strings.Builder
	main.WriteString("#include <cstdio>\n#define __host__\n#define __device__\n" + InputSource + "int main() {\n  static const unsigned long long at[] = {")
	for _, i := range indices {
		fmt.Fprintf(&main, "%dull, ", i)
	}
	main.WriteString("};\n  static const unsigned seeds[] = {")
	for _, s := range seeds {
		fmt.Fprintf(&main, "%du, ", s)
	}
	main.WriteString("};\n  for (unsigned s : seeds) for (unsigned long long i : at)\n    std::printf(\"%.17g %.17g\\n\", (double)input_value<float>(s, i, -1, 0x1p-23, 0), input_value<double>(s, i, -1, 0x1p-23, 0));\n}\n")

	dir := t.TempDir()
	source, program := filepath.Join(dir, "input.cpp"), filepath.Join(dir, "input")
	if err := os.WriteFile(source, []byte(main.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-std=c++17", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(out)
	for _, s := range seeds {
		for _, i := range indices {
			var single, double float64
			if _, err := fmt.Fscan(r, &single, &double); err != nil {
				t.Fatal(err)
			}
			if want := Input(s, i); single != want || double != want {
				t.Errorf("input_value(%d, %d) = %v as float, %v as double, want %v", s, i, single, double, want)
			}
		}
	}
}
