package tuner

import "fmt"

// Rate prints cells a second in the unit that fits.
func Rate(cellsPerSecond float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GCells/s"}, {1e6, "MCells/s"}, {1e3, "kCells/s"}} {
		if cellsPerSecond >= 0.99995*u.size { // 999.96 prints as a thousand
			return fmt.Sprintf("%.1f %s", cellsPerSecond/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.1f Cells/s", cellsPerSecond)
}
