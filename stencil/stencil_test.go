package stencil

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const plain = "NumDimensions 2\nStencilSize (1, 1)\nCellValue {\n  float a = get(0, 0) * 0.5;\n  return a + get(1, 0) - get(0, 1);\n}\n"

func TestHashIgnoresWhatDoesNotChangeTheAnswer(t *testing.T) {
	want := mustParse(t, plain).Hash
	if len(want) != 64 {
		t.Fatalf("hash %q is not SHA-256 in hexadecimal", want)
	}
	for name, src := range map[string]string{
		"comment":        "# note\n" + plain,
		"white space":    strings.ReplaceAll(plain, "\n", "\r\n\t "),
		"parentheses":    strings.Replace(plain, "a + get(1, 0)", "((a) + (get(1, 0)))", 1),
		"local's name":   strings.NewReplacer("float a", "float total", "return a", "return total").Replace(plain),
		"number's form":  strings.Replace(plain, "0.5", "5e-1f", 1),
		"clamp spelt":    "Boundary clamp\n" + plain,
		"element type":   "DataType double\n" + plain, // a problem names it
		"looser extents": strings.Replace(plain, "(1, 1)", "(3, 2)", 1),
	} {
		if got := mustParse(t, src).Hash; got != want {
			t.Errorf("%s changed the hash", name)
		}
	}
	other, err := Parse("other", "other.sl", plain)
	if err != nil || other.Hash != want {
		t.Errorf("another name changed the hash: %v", err)
	}
}

func TestHashChangesWithTheMeaning(t *testing.T) {
	want := mustParse(t, plain).Hash
	for name, src := range map[string]string{
		"operator": strings.Replace(plain, "a + get", "a - get", 1),
		"literal":  strings.Replace(plain, "0.5", "0.50000000000000011", 1),
		"offset":   strings.Replace(plain, "get(0, 1)", "get(0, -1)", 1),
		"axis":     strings.Replace(plain, "get(1, 0)", "get(0, 1)", 1),
		"grouping": strings.Replace(plain, "a + get(1, 0) - get(0, 1)", "a + (get(1, 0) - get(0, 1))", 1),
	} {
		if mustParse(t, src).Hash == want {
			t.Errorf("another %s left the hash as it was", name)
		}
	}
	one := mustParse(t, "NumDimensions 1 StencilSize (0) CellValue { return get(0); }")
	two := mustParse(t, "NumDimensions 2 StencilSize (0, 0) CellValue { return get(0, 0); }")
	if one.Hash == two.Hash {
		t.Error("another number of dimensions left the hash as it was")
	}
}

func TestStencilSurvivesJSON(t *testing.T) {
	for _, name := range Names() {
		s, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		want := Problem{Stencil: s, DType: Float64, Size: Size{5, 4, 3}, Steps: 9}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Problem
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v came back as %+v", name, want.Stencil, got.Stencil)
		}
	}
	for _, bad := range []string{`{"name":"a","text":"Speed 9"}`, `{}`, `[]`, `{"name":3}`} {
		var s Stencil
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s was read as a stencil", bad)
		}
	}
}

func TestProblemTextNamesStencilTypeAndSize(t *testing.T) {
	p := Problem{Stencil: mustParse(t, plain), DType: Float32, Size: Size{67, 45, 1}, Steps: 3}
	if p.Text() != "s/f32/67x45" {
		t.Errorf("text %q", p.Text())
	}
	if p.Bytes() != 67*45*4 {
		t.Errorf("%d bytes", p.Bytes())
	}
	if q := p.Resized(Size{8, 8, 1}); q.Size != (Size{8, 8, 1}) || p.Size != (Size{67, 45, 1}) || q.Steps != 3 {
		t.Errorf("resized to %v, from %v", q.Size, p.Size)
	}
}
