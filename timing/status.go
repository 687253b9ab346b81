// Package timing turns elapsed times into numbers that can be trusted: how many
// samples to take, when to stop, what the median and its interval are, and
// whether two schedules differ.
//
// It is pure: it never reads a clock. All times are seconds.
package timing

// Status says what became of a schedule. A failed schedule is data, never an error.
type Status string

// Every way a schedule can end.
const (
	OK             Status = "ok"
	Rejected       Status = "rejected"        // broke a constraint, before compile or once its registers were known
	CompileError   Status = "compile_error"   // the compiler refused the source
	CompileTimeout Status = "compile_timeout" // the compiler passed its deadline
	LaunchError    Status = "launch_error"    // the launch or the kernel failed
	Timeout        Status = "timeout"         // the kernel passed its deadline
	WrongAnswer    Status = "wrong_answer"    // a cell differs from the reference, or memory outside the output changed
	WorkerLost     Status = "worker_lost"     // the process that ran it died
	CutSlow        Status = "cut_slow"        // stopped early, cannot win; its time is known roughly
	Skipped        Status = "skipped"         // never run: the tune ended first
)

// Valid tells whether the status is one of these.
func (s Status) Valid() bool {
	switch s {
	case OK, Rejected, CompileError, CompileTimeout, LaunchError, Timeout, WrongAnswer, WorkerLost, CutSlow, Skipped:
		return true
	}
	return false
}

// Timed tells whether the status comes with a usable time.
func (s Status) Timed() bool { return s == OK || s == CutSlow }

// Failed tells whether the schedule was tried and cannot be used.
func (s Status) Failed() bool { return s != OK && s != CutSlow && s != Skipped && s != "" }
