package stencil

import (
	"strings"
	"testing"
)

// sameFormatted checks what Format promises, and gives it.
func sameFormatted(t testing.TB, src string) string {
	t.Helper()
	once, err := Format("s.sl", src)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Format("s.sl", once)
	if err != nil {
		t.Fatalf("%v\nin what Format gave of\n%s", err, src)
	}
	if twice != once {
		t.Errorf("formatted again:\n%s\nis not\n%s", twice, once)
	}
	before, after := mustParse(t, src), mustParse(t, once)
	if before.Hash != after.Hash {
		t.Errorf("%s\nmeans something else than\n%s", once, src)
	}
	return once
}

func TestFormatKeepsTheCatalogue(t *testing.T) {
	for _, name := range Names() {
		s := lookup(t, name)
		if got := sameFormatted(t, s.Text()); got != s.Text() {
			t.Errorf("%s is not formatted:\n%s", name, got)
		}
	}
}

func TestFormatHasOneLayout(t *testing.T) {
	src := "  # a note\n\n\n\nNumDimensions 2   StencilSize(1,1)\nDataType  float;;"
	src = strings.TrimSuffix(src, ";;") + "\t\r\nBoundary constant - 1 // outside\nInputRange{ 0,0,\t1 }\n" +
		"#define  W  (-0.5)   /* half */\nconst float k[2]={1,-2}; double f ( double a,double b ){return a<b?-a:+ b ;}\n" +
		"CellValue{\n\n\n// first\n\tfloat s=0 ,v[ 2 ] = { 1,2 };\nfor(int i=0;i<2;i ++ )\n\ts+=v[i]*get (i-1,- 0);\n  if(s>0&&!(s<1)){ s=f( s,W ) - -1; } else {\n s --;   # down\n}\n" +
		"return(float)x+s*k [1]\n    +input_size.x;\n}"
	want := `# a note

NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary constant -1 // outside
InputRange {0, 0, 1}
#define W (-0.5)   /* half */
const float k[2] = {1, -2};
double f(double a, double b) { return a < b ? -a : +b; }
CellValue {

  // first
  float s = 0, v[2] = {1, 2};
  for (int i = 0; i < 2; i++)
    s += v[i] * get(i - 1, -0);
  if (s > 0 && !(s < 1)) { s = f(s, W) - -1; } else {
    s--;   # down
  }
  return (float)x + s * k[1]
      + input_size.x;
}
`
	if got := sameFormatted(t, src); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	sameFormatted(t, line("float a; return\n     (get(0)\n +\n  1);"))
	if _, err := Format("s.sl", "NumDimensions 4"); err == nil {
		t.Error("a file with a fault was formatted")
	}
}

// TestFormatAlignsBlocks: a block closes beside the line that it belongs to, below loops and conditions without braces too, and where
// its brace has a line of its own; an else stands beside its if.
func TestFormatAlignsBlocks(t *testing.T) {
	want := `NumDimensions 1
StencilSize (1)
CellValue
{
  float s = 0;
  for (int i = -1; i <= 1; i++)
  {
    if (i != 0)
      s += get(i);
    else
    {
      s -= 2 *
          get(i);
    }
  }
  for (int j = 0; j < 2; j++)
    for (int k = 0; k < 2; k++) {
      if (s > 0 &&
          s < k) {
        s += j * k;
      } else if (s < -1)
        if (s < -2)
          # far below
          s = 1;
        else
          s = 2;
      else {
        s += 1;
      }
      s *= 2;
    }
  return s;
}
`
	deeper := strings.NewReplacer("    get(i)", "  get(i)", "    s < k", "  s < k").Replace(want) // further lines keep their places beside the first
	for _, src := range []string{want, strings.ReplaceAll(deeper, "  ", "    ")} {
		if got := sameFormatted(t, src); got != want {
			t.Errorf("got\n%s\nof\n%s", got, src)
		}
	}
}

// TestATypeEndsWithItsLine: a function may begin with a type's name right below a key that ends with one.
func TestATypeEndsWithItsLine(t *testing.T) {
	for _, types := range [][2]string{{"double", "double"}, {"unsigned", "int"}, {"long", "long long"}, {"unsigned int", "int8"}, {"float16 compute float16", "float"}} {
		src := "NumDimensions 1\nStencilSize (1)\nDataType " + types[0] + "\n" + types[1] + " same(" + types[1] + " a) { return a; }\nCellValue { return same(get(1)); }\n"
		if got := sameFormatted(t, src); got != src {
			t.Errorf("got\n%s\nwant\n%s", got, src)
		}
	}
}
