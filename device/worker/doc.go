// Package worker runs kernels in child processes: one owns the GPU, some compile.
//
// A bad kernel poisons the CUDA context of its process and a hung one never
// returns; a compiler may crash or never end. Here each costs one child. The
// parent gives the schedule its status, kills the child's process group, starts
// another, loads again what was loaded and goes on: see Open. A child is a
// program that calls Serve; which device and compiler stand behind it is the
// program's own choice, so this package knows neither CUDA nor a command line.
//
// Parent and child exchange frames, a length and JSON, over the child's stdin
// and stdout. The child's stderr is only ever quoted, in the reason of a death.
//
// Who is to blame: a child says when it starts an operation of the device, and
// does one at a time. So a child that dies names its culprit; operations that
// wait behind it are innocent and are sent again to the next child. A culprit is
// never sent again.
//
// Ownership: a Device owns its children, their pipes and a copy of the image of
// every binary not yet released, for loading it again. No child outlives its
// parent: each ends when its stdin does and, on Linux, with the thread that
// started it. Durations are time.Duration in Options, seconds on the wire.
package worker
