package stencil

import (
	"strings"
	"testing"
)

// What branches is said once, with what is made of it; what a short text repeats besides stays as it is.
func TestWhatBranchesIsNamed(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) Fields (u, v) CellValue { float d = get(v, 0); return get(u, 1) / (1 + 3 / d) + get(u, 0) * get(u, 0), get(u, -1) / (1 + 3 / d); }")
	text := StageCode(s, 0)
	if n := strings.Count(text, "quotient(T(3.0)"); n != 1 {
		t.Errorf("the inner quotient is said %d times:\n%s", n, text)
	}
	if n := strings.Count(text, "get_0(0, 0, 0)"); n != 2 {
		t.Errorf("a point of a short text is said %d times, want 2:\n%s", n, text)
	}
}

// In a branch a name that was given before holds, and none that is given there afterwards; what is computed where a condition holds alone
// stays there; a local that a branch sets is another value after it.
func TestNamesHoldWhereTheyAreKnown(t *testing.T) {
	s := mustParse(t, `NumDimensions 1 StencilSize (1) Fields (u, v) CellValue {
  float a = sqrt(get(v, 0)) + get(u, 0), d = 2 + get(v, 1);
  if (x < 3) { a = sqrt(get(v, 0)) * sin(get(u, 1)) + sin(get(u, 1)); d = d + 1; }
  return a + sin(get(u, 1)) + 1 / d, x > 5 ? cos(get(u, 1)) : cos(get(u, 1)) / d;
}`)
	text := StageCode(s, 0)
	for what, want := range map[string]int{"square_root(get_1(0, 0, 0))": 1, "sin(get_0(1, 0, 0))": 2, "cos(get_0(1, 0, 0))": 2} {
		if n := strings.Count(text, what); n != want {
			t.Errorf("%s stands %d times, want %d:\n%s", what, n, want, text)
		}
	}
	body := s.straight(s.arranged(0))
	n := newNamer(body)
	n.long = true
	n.pass(body)
	n.naming = true
	renamed := *s
	renamed.Stages = []Stage{s.Stages[0]}
	renamed.Stages[0].Body = n.pass(body)
	sameAnswer(t, s, &renamed)
}

// A thousand equal reads, as functions in loops make, are one.
func TestALongTextIsNamed(t *testing.T) {
	s := mustParse(t, `NumDimensions 2 StencilSize (4, 4) Fields (u)
float slope(int i, int j) { return get(i + 1, j) - get(i - 1, j) + get(i, j + 1) - get(i, j - 1); }
CellValue { float a = 0; for (int j = -3; j <= 3; j++) for (int i = -3; i <= 3; i++) a += slope(i, j) * slope(i, j) * (slope(i, j) + 2 * slope(i, j)); return a; }`)
	text := StageCode(s, 0)
	if n := strings.Count(text, "get("); n > 81 {
		t.Errorf("%d reads of 81 points", n)
	}
}
