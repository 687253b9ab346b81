package emit

import (
	"fmt"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/space"
	"stenciltune/stencil"
)

// variable is one fact of a config as builds see it. A text holds letters, digits
// and "_/=." only, so that no build language needs quotes for it (ELEMENT: see word).
type variable struct {
	name   string // without the prefix
	value  string
	number bool
	doc    string
}

var axes = [3]string{"X", "Y", "Z"}

// launchVariables say how to launch a kernel; before begins their names.
func launchVariables(before string, l cache.LaunchInfo, entry string) []variable {
	var v []variable
	add := func(name string, value int, doc string) {
		v = append(v, variable{before + name, strconv.Itoa(value), true, doc})
	}
	for a, x := range axes {
		add("GRID_"+x, l.Grid[a], "blocks on "+strings.ToLower(x))
	}
	for a, x := range axes {
		add("BLOCK_"+x, l.Block[a], "threads of a block on "+strings.ToLower(x))
	}
	add("SHARED_BYTES", l.SharedBytes, "dynamic shared memory of a block")
	add("STEPS_PER_LAUNCH", l.StepsPerLaunch, "time steps of one launch")
	return append(v, variable{before + "ENTRY", entry, false, "name of the kernel"})
}

// variables are what builds can know of a config, in a fixed order.
func variables(c cache.Config) []variable {
	v := []variable{
		{"SCHEDULE", c.Schedule.Text, false, "the schedule"},
		{"FAMILY", c.Schedule.Family, false, "its kernel design"},
		{"ELEMENT", element(stencil.DType(c.Stencil.DType)), false, "C type of a cell"},
		{"ARCH", strconv.Itoa(arch(c)), true, "compute capability it was tuned on, times ten"},
		{"DIMS", strconv.Itoa(c.Stencil.Dims), true, "dimensions of the grid"},
	}
	for a, n := range size(c) {
		v = append(v, variable{"N" + axes[a], strconv.Itoa(n), true, "cells on " + strings.ToLower(axes[a])})
	}
	v = append(v, variable{"STEPS", strconv.Itoa(c.Problem.Steps), true, "time steps of a run"})
	v = append(v, launchVariables("", c.Launch, c.Kernel.Entry)...)
	rest := 0
	if c.Remainder != nil {
		rest = 1
	}
	v = append(v, variable{"REMAINDER", strconv.Itoa(rest), true, "1 if steps are left over, for which there is a launch of its own"})
	if c.Remainder != nil {
		v = append(v, launchVariables("REMAINDER_", c.Remainder.Launch, c.Remainder.Kernel.Entry)...)
	}
	s, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		panic("emit: a config that was not validated: " + err.Error())
	}
	for _, f := range s.Fields() {
		v = append(v, variable{"PARAM_" + strings.ToUpper(f.Name), strconv.Itoa(f.Value), true, "parameter " + f.Name + " of the schedule"})
	}
	return append(v, variable{"SECONDS_PER_STEP", number(secondsOf(c)), true, "time of a step, measured or expected"})
}

// secondsOf is the time that a config claims.
func secondsOf(c cache.Config) float64 {
	if c.Expected != nil {
		return c.Expected.SecondsPerStep
	}
	return c.Measured.SecondsPerStep
}

// word is a C type in one word, for builds that take no blanks: of stdint.h, if C's own
// name has several.
func word(element string) string {
	switch element {
	case "signed char":
		return "int8_t"
	case "unsigned char":
		return "uint8_t"
	case "unsigned short":
		return "uint16_t"
	case "long long":
		return "int64_t"
	case "unsigned long long":
		return "uint64_t"
	}
	return element
}

func eachVariable(s Source, head, format string) []byte {
	var b strings.Builder
	b.WriteString(head)
	for _, v := range variables(s.Configs[0]) {
		if v.name == "ELEMENT" {
			v.value = word(v.value)
		}
		fmt.Fprintf(&b, format, s.prefix()+v.name, v.value, v.doc)
	}
	return []byte(b.String())
}

// env can be read by a shell, by docker --env-file and by make.
func env(s Source) ([]byte, error) { return eachVariable(s, banner(s, "#"), "%[1]s=%[2]s\n"), nil }

// makefile is an include. := is GNU make's and BSD make's.
func makefile(s Source) ([]byte, error) {
	text := eachVariable(s, banner(s, "#"), "%[1]s := %[2]s\n")
	return fmt.Appendf(text, "%sNVCC_FLAGS := %s\n", s.prefix(), strings.Join(flags(s), " ")), nil
}

// cmake forces the cache: a value of an older tune must not stay.
func cmake(s Source) ([]byte, error) {
	text := eachVariable(s, banner(s, "#"), "set(%[1]s \"%[2]s\" CACHE STRING \"%[3]s\" FORCE)\n")
	return fmt.Appendf(text, "set(%sNVCC_FLAGS \"%s\" CACHE STRING \"flags for nvcc\" FORCE)\n", s.prefix(), strings.Join(flags(s), ";")), nil
}

// flags are a config's numbers as macros, and the architecture.
func flags(s Source) []string {
	list := []string{"-std=c++17"}
	c := s.Configs[0]
	if a := arch(c); a > 0 {
		list = append(list, fmt.Sprintf("-arch=sm_%d", a), fmt.Sprintf("-DTUNE_ARCH=%d", a))
	}
	for _, v := range variables(c) {
		if v.number {
			list = append(list, "-D"+s.prefix()+v.name+"="+v.value)
		}
	}
	return list
}

func nvccFlags(s Source) ([]byte, error) { return []byte(strings.Join(flags(s), " ") + "\n"), nil }
