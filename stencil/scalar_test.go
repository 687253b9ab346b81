package stencil

import (
	"strings"
	"testing"
)

// TestAScalarIsTheNumberThatIsWritten: what double does not hold is refused, not rounded.
func TestAScalarIsTheNumberThatIsWritten(t *testing.T) {
	for text, held := range map[string]bool{"9007199254740993": false, "-9007199254740993": false, "9223372036854775807": false, "9223372036854775808": false,
		"9007199254740992": true, "-9223372036854775808": true, "-1152921504606846976": true, "0": true, "7": true, "1e3": true} {
		_, err := Parse("s", "s.sl", "NumDimensions 1\nStencilSize (1)\nDataType int64\nScalarVariables (int64 k = "+text+")\nCellValue { return get(0) + k; }\n")
		if (err == nil) != held || err != nil && !strings.Contains(err.Error(), "s.sl:4:28") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
