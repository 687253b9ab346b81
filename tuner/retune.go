package tuner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stenciltune/cache"
	"stenciltune/machine"
)

// outdated tells why a stored config is no answer any more, or "": its kernel is not
// what would be generated now, or it is older than the user allows.
func (t *Tuner) outdated(p Problem, c Config, maxAge time.Duration, now time.Time) string {
	switch age := now.Sub(c.Time); {
	case !c.Search.Complete:
		return "the stored tune did not finish"
	case !t.Current(p, c):
		return fmt.Sprintf("the kernel or its launch has changed since %s", c.Time.Format(time.DateOnly))
	case maxAge > 0 && age > maxAge:
		return fmt.Sprintf("tuned %s ago, and --max-age is %v", age.Round(time.Minute), maxAge)
	}
	return ""
}

// changed says what is new against the nearest stored key.
func changed(now, was cache.Key) string {
	var list []string
	note := func(what, a, b string) {
		if a != b {
			list = append(list, fmt.Sprintf("%s %s (stored: %s)", what, orUnknown(b), orUnknown(a)))
		}
	}
	note("device", was.DeviceName, now.DeviceName)
	note("compute capability", was.ComputeCapability, now.ComputeCapability)
	note("driver", was.Driver, now.Driver)
	note("compiler", was.Compiler, now.Compiler)
	note("size", was.Size, now.Size)
	note("steps", was.StepsClass, now.StepsClass)
	if len(list) == 0 { // the memory alone differs
		return "another amount of device memory"
	}
	return "new " + strings.Join(list, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// nearest is the stored config that fits a key best, nil if there is none of use.
func (t *Tuner) nearest(key cache.Key) (*cache.Stored, error) {
	for c, err := range t.store.Fitting(key) {
		return &c, err
	}
	return nil, nil
}

// news tells what is different from the nearest stored config, "" if that still holds.
func (t *Tuner) news(p Problem, key cache.Key, nearest cache.Stored, maxAge time.Duration) string {
	if key.Match(nearest.Key) == cache.Exact {
		return t.outdated(p, nearest.Config, maxAge, time.Now())
	}
	return changed(key, nearest.Key)
}

// Outdated is what is stored for a device, by name and kind, and no longer holds on
// machine m - the same device after a driver's update, or the one that took its place - or
// is older than maxAge (0 = any age is fine). fresh counts what still holds; refused says
// of what cannot be tuned again why.
func (t *Tuner) Outdated(device string, m machine.Machine, maxAge time.Duration) (again []cache.Stored, fresh int, refused []error, err error) {
	stored, err := t.store.Bests()
	if err != nil {
		return nil, 0, nil, err
	}
	done := map[cache.Key]bool{}
	for _, s := range stored {
		if s.Key.DeviceName != device || s.Key.Kind != m.Kind {
			continue
		}
		p, err := ProblemOf(s.Config, "")
		if err != nil {
			refused = append(refused, fmt.Errorf("%s %s cannot be tuned again: %w", s.Config.Stencil.Name, s.Key.Size, err))
			continue
		}
		key := KeyOf(p, m, s.Config.Measured.Regime).For(s.Key.Objective)
		if done[key] {
			continue
		}
		done[key] = true
		nearest, err := t.nearest(key)
		if err != nil {
			return nil, 0, nil, err
		}
		if nearest != nil && t.news(p, key, *nearest, maxAge) == "" {
			fresh++
			continue
		}
		again = append(again, s)
	}
	return again, fresh, refused, nil
}

// Current tells whether a stored config's kernel and launch are still what would be generated now.
func (t *Tuner) Current(p Problem, c Config) bool {
	stale, err := t.Refresh(&c, p)
	return err == nil && !stale
}

// otherScalars says with which values of the scalars a stored config was tuned, "" if
// with the problem's. The key holds none that the best schedule may depend on.
func otherScalars(p Problem, c Config) string {
	asked := Scalars(p)
	var other []string
	for _, name := range slices.Sorted(maps.Keys(c.Scalars)) {
		if v, ok := asked[name]; ok && v != c.Scalars[name] {
			other = append(other, fmt.Sprintf("%s=%v", name, c.Scalars[name]))
		}
	}
	if len(other) == 0 {
		return ""
	}
	return " with " + strings.Join(other, ", ") + ", which decides no branch"
}
