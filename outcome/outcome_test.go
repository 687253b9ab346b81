package outcome

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFloat(t *testing.T) {
	for _, f := range []float64{0, 1e-7, math.NaN(), math.Inf(1), math.Inf(-1)} {
		b, err := json.Marshal(Float(f))
		if err != nil {
			t.Fatal(err)
		}
		var got Float
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if v := float64(got); v != f && v == v {
			t.Errorf("%v became %s became %v", f, b, got)
		}
	}
	if json.Unmarshal([]byte(`"much"`), new(Float)) == nil {
		t.Error("text was taken for a number")
	}
}
