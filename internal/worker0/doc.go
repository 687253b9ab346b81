// Package worker keeps a GPU in a child process. A bad kernel poisons its CUDA
// context and a hung one never returns; only the end of the process cures both.
// So the parent searches and stores, a child owns the GPU, other children
// compile, and any of them can be killed and started again.
//
// Parent and child speak length-prefixed JSON over the child's stdin and stdout.
// What a child prints elsewhere is never parsed; the end of its stderr goes into
// the reason when it dies. A child ends by itself when its parent does.
package worker
