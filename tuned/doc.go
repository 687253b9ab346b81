// Package tuned answers what schedule to use, from what is stored and without
// measuring: the problem's own config if there is one, else the schedule that the
// measurements of other sizes or devices and the cost model promise most of.
//
// Other Go programs may use it: see Best. Times are seconds per time step.
//
// # Compatibility
//
// Best, Open, Finder, Problem, Answer and Grade keep their meaning as long as the
// config's format is stenciltune.config/v1; they may gain fields and methods. The
// config itself keeps every field of v1: none is renamed, removed or given another
// meaning, and what is new comes as an optional field at the top level. A config that
// was written by a later version reads here, and its unknown fields are kept.
package tuned
