package trace

import (
	"fmt"
	"strconv"
	"strings"

	"stenciltune/space"
	"stenciltune/stencil"
)

// ParseWalk gives the schedule of family global that walks a grid as named: rows,
// columns=8, zigzag=8 (columns whose every other row runs back) or tiles=8x8. Its
// numbers may be smaller than any GPU would want: it is for simulation only.
func ParseWalk(text string, dims int) (space.Schedule, error) {
	name, value, _ := strings.Cut(text, "=")
	group, column, zigzag, span := stencil.Size{warpLanes, 1, 1}, 0, 0, 1
	bad := fmt.Errorf("walk %.80q: write it as rows, columns=8, zigzag=8 or tiles=%s", text, strings.TrimSuffix(strings.Repeat("8x", dims), "x"))
	switch name {
	case "rows":
		if value != "" {
			return space.Schedule{}, bad
		}
	case "columns", "zigzag":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1<<24 {
			return space.Schedule{}, bad
		}
		column = n
		if name == "zigzag" {
			zigzag = 1
		}
	case "tiles":
		var err error
		if group, err = stencil.ParseSize(value, dims); err != nil || group.Cells() > 1<<24 {
			return space.Schedule{}, bad
		}
		span = 0
	default:
		return space.Schedule{}, bad
	}
	return space.ParseSchedule(fmt.Sprintf("global/gx=%d/gy=%d/gz=%d/wx=1/wy=1/wz=1/cw=%d/zz=%d/sp=%d",
		group[0], group[1], group[2], column, zigzag, span))
}
