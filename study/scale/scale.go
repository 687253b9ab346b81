// Package scale predicts how tunes go on many GPUs: a discrete-event simulation over
// recordings, whose compilations and measurements take the seconds that they took when they
// were recorded.
//
// A worker is a GPU with a process of its own, as `tune` runs it: it claims schedules, has them
// compiled on its host, runs those that are compiled one after another, and records each. Claiming
// and recording are turns in the database, which workers of one problem take one after another.
// What is left out: the baseline and the finals of a tune, which one GPU does alone, the seconds
// that a strategy thinks, and everything that fails.
//
// A result depends on its input alone. Times are seconds.
package scale

import (
	"container/heap"
	"slices"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
)

// Site is what there is to work with.
type Site struct {
	GPUs      int
	PerHost   int // GPUs of a host; they share its compilers
	Compilers int // compilations that a host does at once
	Database  Database
}

// Database is what a turn takes.
type Database struct {
	Away       float64 // before and after it is the problem's turn
	Held       float64 // during which no other worker of the problem has its turn
	Work       float64 // of a processor of the database, within Held
	Processors int
}

// Source proposes the schedules of a problem, and hears what became of them.
type Source interface {
	// Ask proposes at most n schedules, and tells whether there may be more.
	Ask(n int) (list []space.Schedule, more bool)
	// Tell reports an outcome, at a time, and tells whether the search ends.
	Tell(o outcome.Outcome, now float64) (ends bool)
}

// Job is a problem, and what its schedules cost.
type Job struct {
	Source    Source
	Recording *replay.Landscape
	Costs     map[string]replay.Cost // the recording's
}

// Result is what became of a site's work.
type Result struct {
	Seconds   float64
	Evaluated int
	// Shares of Seconds in which GPUs, compilers and processors of the database were busy, in the
	// mean, and in which the problem that was busiest in the database had a turn.
	GPU, Compiler, Processor, Turn float64
}

// Run works on jobs, together or each worker on one of its own, in their order.
func Run(site Site, jobs []Job, together bool) Result {
	s := &simulation{site: site, processors: make([]float64, max(1, site.Database.Processors))}
	for _, j := range jobs {
		s.jobs = append(s.jobs, &job{Job: j})
	}
	if together {
		s.taken = len(jobs)
	}
	per := max(1, site.PerHost)
	for range (site.GPUs + per - 1) / per {
		s.hosts = append(s.hosts, &host{idle: site.Compilers, built: map[built]*build{}})
	}
	for i := range site.GPUs {
		// As a tune has them, two for each compiler; GPUs of a host share these too.
		w := &worker{host: s.hosts[i/per], depth: search.Ahead{Most: max(2, 2*site.Compilers/min(per, site.GPUs))}}
		s.workers = append(s.workers, w)
		if together {
			w.job = s.jobs[0]
			s.after(0, func() { s.step(w) })
		} else {
			s.after(0, func() { s.next(w) })
		}
	}
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.run()
	}
	return s.result()
}

// event is what happens at a time; those of one time happen in the order they were thought of.
type event struct {
	at  float64
	seq int
	run func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

type simulation struct {
	site    Site
	now     float64
	seq     int
	events  events
	jobs    []*job
	taken   int // jobs that a worker has begun
	hosts   []*host
	workers []*worker

	processors              []float64 // when each is idle again
	evaluated               int
	measuring, working, end float64 // seconds of GPUs, of the database's processors; the last outcome's time
}

// after lets something happen in some seconds.
func (s *simulation) after(seconds float64, run func()) {
	s.seq++
	heap.Push(&s.events, event{s.now + seconds, s.seq, run})
}

type job struct {
	Job
	free, turns float64 // when its next turn can be; seconds of all
	empty, ends bool    // nothing is left to ask for; the search has ended
}

// worker is a GPU with its process.
type worker struct {
	host  *host
	job   *job
	depth search.Ahead
	queue []*item
	waits bool // for a compilation
}

// item is a claimed schedule.
type item struct {
	worker   *worker
	schedule space.Schedule
	build    *build
	ready    bool
}

// turn is a transaction on a job's problem.
func (s *simulation) turn(j *job, then func()) {
	d := s.site.Database
	i := slices.Index(s.processors, slices.Min(s.processors))
	begin := max(s.now+d.Away/2, j.free, s.processors[i])
	j.free, s.processors[i] = begin+d.Held, begin+d.Work
	j.turns, s.working = j.turns+d.Held, s.working+d.Work
	s.after(begin+d.Held+d.Away/2-s.now, then)
}

// next gives a worker a job of its own.
func (s *simulation) next(w *worker) {
	if s.taken < len(s.jobs) {
		w.job = s.jobs[s.taken]
		s.taken++
		s.step(w)
	}
}

// step lets a worker claim what it has room for, and run what is compiled.
func (s *simulation) step(w *worker) {
	j := w.job
	if j.ends {
		s.leave(w)
		return
	}
	if room := w.depth.Depth() - len(w.queue); room > 0 && !j.empty {
		asked, more := j.Source.Ask(room)
		if j.empty = !more; len(asked) > 0 {
			s.turn(j, func() {
				for _, x := range asked {
					i := &item{worker: w, schedule: x}
					w.queue = append(w.queue, i)
					s.compile(w.host, i)
				}
				s.run(w)
			})
			return
		}
	}
	s.run(w)
}

// run runs the first schedule of the queue that is compiled, or waits for one.
func (s *simulation) run(w *worker) {
	w.waits = false
	if len(w.queue) == 0 || w.job.ends {
		s.leave(w)
		return
	}
	n := slices.IndexFunc(w.queue, func(i *item) bool { return i.ready })
	if w.waits = n < 0; w.waits {
		return
	}
	o := w.job.Recording.Records[w.queue[n].schedule]
	w.queue = slices.Delete(w.queue, n, n+1)
	j := w.job
	s.measuring += o.DeviceSeconds
	s.after(o.DeviceSeconds, func() {
		w.depth.Add(o.CompileSeconds, o.DeviceSeconds)
		s.turn(j, func() {
			if !j.ends {
				s.evaluated++
				s.end = s.now
				if j.ends = j.Source.Tell(o, s.now); j.ends {
					s.call(j)
				}
			}
			s.step(w)
		})
	})
}

// call tells workers that wait that their search has ended. Others hear of it in their next step.
func (s *simulation) call(j *job) {
	for _, w := range s.workers {
		if w.job == j && w.waits {
			s.leave(w)
		}
	}
}

// leave ends a worker's part in a job.
func (s *simulation) leave(w *worker) {
	for _, i := range w.queue {
		s.drop(w.host, i)
	}
	w.queue, w.waits = nil, false
	s.next(w)
}

func (s *simulation) result() Result {
	r := Result{Seconds: s.end, Evaluated: s.evaluated}
	if s.end == 0 {
		return r
	}
	r.GPU = s.measuring / s.end / float64(s.site.GPUs)
	r.Processor = s.working / s.end / float64(len(s.processors))
	for _, h := range s.hosts {
		r.Compiler += h.busy / s.end / float64(s.site.Compilers*len(s.hosts))
	}
	for _, j := range s.jobs {
		r.Turn = max(r.Turn, min(1, j.turns/s.end)) // some were asked for when the search ended
	}
	return r
}

// Then is the result of work that follows another.
func (r Result) Then(next Result) Result {
	sum := Result{Seconds: r.Seconds + next.Seconds, Evaluated: r.Evaluated + next.Evaluated}
	mean := func(a, b float64) float64 { return (a*r.Seconds + b*next.Seconds) / max(sum.Seconds, 1e-300) }
	sum.GPU, sum.Compiler = mean(r.GPU, next.GPU), mean(r.Compiler, next.Compiler)
	sum.Processor, sum.Turn = mean(r.Processor, next.Processor), mean(r.Turn, next.Turn)
	return sum
}

// most is the share from which on something that is busy holds the rest.
const most = 0.85

// HeldBy is what was busy nearly all the time, "waiting" if nothing was: then the last
// compilations or answers are waited for.
func (r Result) HeldBy() string {
	name, share := "waiting", most
	for _, x := range []struct {
		name  string
		share float64
	}{{"GPUs", r.GPU}, {"compilers", r.Compiler}, {"turns", r.Turn}, {"database", r.Processor}} {
		if x.share >= share {
			name, share = x.name, x.share
		}
	}
	return name
}
