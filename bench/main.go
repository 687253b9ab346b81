// Command bench measures what the built program tune does on a device, and writes it as Go
// benchmark text, so that two revisions can be compared with benchstat:
//
//	go run ./bench families -tune bin/tune -device 0 -count 6 -o old.txt
//	go run ./bench families -tune bin/tune.new -device 0 -count 6 -o new.txt
//	go tool benchstat old.txt new.txt
//
// It may be built and carried to a machine that has no Go. What it can measure:
//
//	families    a cold tune of each stencil of the README's table; its winner and the naive kernel, interleaved
//	stencils    a cold tune of every textbook stencil of the catalogue, at the sizes that -sizes names
//	applications
//	            a cold tune of every application of the catalogue, against naive and the roof of a copy
//	variants    cold tunes of four stencils under every boundary rule, of wide stars, and of a peer's own problems
//	end2end     the wall time of cold tunes, and how far each winner is from the best of the whole space
//	model       the cost model's first schedule and the best of its first ten, against what a search finds
//	blind       the model's first and first ten, and a default tune, on programs that nothing was fitted to
//	landscapes  recordings of twelve spaces over all families: random samples, or with -whole all schedules
//	unseen      recordings that judge answers for sizes that were never tuned
//	sizes       recordings of other sizes, to fit the cost model to
//	emitted     the emitted source of one size, built with nvcc and run on others, beside tunes of those
//	random      random legal schedules against the reference
//	practice    the same of the examples' programs, family by family
//	sanitize    every stencil's winner under compute-sanitizer's tools
//
// Rules that hold for all of them: every tune begins with an empty store and an empty compile cache (those
// of unseen and sizes begin with a store that holds four sizes). Its seed is the number of the repeat.
// Repeats are interleaved: all rows once, then all rows again, so that drift falls on all rows alike. What
// is compared within a row is timed interleaved in one process.
//
// Results are appended to the file of -o as soon as they are known. A run that is started again with the
// same file does what is missing. With -time it begins no row that would end too late if it took as long as
// the longest before it, and says how many are left. A row that fails is told, and fails the run; the other
// rows are measured all the same. At the end stand the median and the worst of each kind of ratio, over all
// that the file holds. Only sanitize and practice, which time nothing, have several rows at work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// bench is what the flags say, and where temporary files go.
type bench struct {
	program
	out, folder, commit, test, sizes, nvcc, built, args string
	match                                               *regexp.Regexp
	sanitizer                                           string
	count, cases, processes, others                     int
	parallel                                            int // rows at work side by side; 0 = one
	time, limit                                         time.Duration
	whole                                               bool

	tuning sync.Mutex      // held by a row that tunes beside others
	stored map[string]bool // whether the sizes that unseen answers from are in the stencil's store
}

// row is one line of results, measured as often as there are repeats. Its name is the
// benchmark's, less "Benchmark": it must not depend on what was found.
type row struct {
	name    string
	measure func(ctx context.Context, repeat int) (result, error)
}

var experiments = map[string]func(context.Context, *bench) ([]row, error){
	"families": families, "stencils": stencils, "applications": applications, "end2end": end2end, "model": firstOfModel, "blind": blind,
	"variants": variants, "emitted": emitted, "landscapes": landscapes, "unseen": unseen, "sizes": fitted, "random": random, "practice": practice, "sanitize": sanitize,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the command: args begin with the name of an experiment.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	names := strings.Join(slices.Sorted(maps.Keys(experiments)), ", ")
	if len(args) == 0 || experiments[args[0]] == nil {
		return fmt.Errorf("name what to measure: %s; then flags, which -help lists", names)
	}
	b := &bench{args: args[0], stored: map[string]bool{}}
	f := flag.NewFlagSet("bench "+args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&b.path, "tune", "tune", "`path` of the built program tune")
	f.StringVar(&b.device, "device", "0", "`device` as for tune: 0, host, or replay:h200 to try a command")
	f.StringVar(&b.out, "o", "", "append results to this `file`, and do only what it lacks (default: print them)")
	f.StringVar(&b.folder, "folder", ".", "`folder` of the recordings that landscapes, unseen and sizes make; practice: of the sources")
	f.StringVar(&b.commit, "commit", "", "`revision` of tune, where it does not tell its own")
	f.StringVar(&b.test, "test", "", "random: `path` of the tests of device/cuda (go test -c), which know random programs too")
	f.StringVar(&b.sizes, "sizes", "default", "stencils, applications, blind: thesis, paper, default (the stencil's own) or a `size` like 64x48")
	f.StringVar(&b.nvcc, "nvcc", "nvcc", "emitted, sanitize: `path` of the compiler")
	f.StringVar(&b.built, "built", "", "emitted: keep the built programs in this `folder`, for runs that go on (default: build them anew)")
	f.StringVar(&b.sanitizer, "sanitizer", "compute-sanitizer", "sanitize: `path` of compute-sanitizer")
	match := f.String("match", "", "only rows whose name matches this regular `expression`")
	f.IntVar(&b.count, "count", 1, "measure each row `n` times")
	f.IntVar(&b.cases, "cases", 40, "random: `n` schedules of each stencil; practice: of each program and family")
	f.IntVar(&b.processes, "processes", runtime.NumCPU(), "random: `n` processes of -test side by side; sanitize: n kernels; practice: n proofs")
	f.IntVar(&b.others, "others", 1, "sanitize: random schedules of `n` other families beside each winner")
	f.DurationVar(&b.time, "time", 0, "begin no row that would not end within this `time` (0 = no limit)")
	f.DurationVar(&b.limit, "limit", 0, "end each search after this `time` (default: tune's own; landscapes 36s, unseen and sizes 1.5s; sanitize tunes only with one; blind searches twice as long beside it)")
	f.BoolVar(&b.whole, "whole", false, "landscapes: all schedules of a space, not a sample")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	f.Visit(func(g *flag.Flag) {
		if !slices.Contains([]string{"tune", "o", "folder", "commit", "test", "nvcc", "built", "sanitizer"}, g.Name) { // what no result depends on
			b.args += " -" + g.Name + " " + g.Value.String()
		}
	})
	var err error
	if b.match, err = regexp.Compile(*match); err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	if b.work, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	rows, err := experiments[args[0]](ctx, b)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !b.match.MatchString(r.name) })
	if len(rows) == 0 {
		return fmt.Errorf("no row of %s matches %q", args[0], *match)
	}
	return b.all(ctx, rows, stdout, stderr)
}

// search are the flags of a search as long as -limit asks for.
func (b *bench) search() []string {
	if b.limit == 0 {
		return nil
	}
	return []string{"--time-limit", b.limit.String()}
}

// all measures rows, repeat by repeat. A row that fails is told and, unless it has a result all the same, left out;
// a later run tries it again.
func (b *bench) all(ctx context.Context, rows []row, stdout, stderr io.Writer) error {
	r, err := b.results(ctx, stdout)
	if err != nil {
		return err
	}
	defer r.close()
	var mu sync.Mutex // guards what follows, and r
	begin, longest, left, failed := time.Now(), time.Duration(0), 0, 0
	var broken error // of the results' file
	measure := func(i, repeat int) {
		from := time.Now()
		got, err := rows[i].measure(ctx, repeat)
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, time.Since(from))
		if ctx.Err() != nil || broken != nil {
			return
		}
		if err != nil {
			failed++
			fmt.Fprintf(stderr, "bench: %s: %v\n", rows[i].name, err)
		}
		if err != nil && got.values == nil {
			return
		}
		if broken = r.add(rows[i].name, got); broken == nil {
			fmt.Fprintf(stderr, "bench: repeat %d, row %d of %d: %s, %.1f s\n", repeat, i+1, len(rows), rows[i].name, time.Since(from).Seconds())
		}
	}
	slots := make(chan struct{}, max(1, b.parallel))
	var wait sync.WaitGroup
	for repeat := 1; repeat <= b.count; repeat++ {
		for i, row := range rows {
			if r.done[row.name] >= repeat {
				continue
			}
			slots <- struct{}{}
			mu.Lock()
			end, late := ctx.Err() != nil || broken != nil, b.time > 0 && time.Since(begin)+longest > b.time
			mu.Unlock()
			if end || late {
				left++
				<-slots
				continue
			}
			wait.Go(func() {
				measure(i, repeat)
				<-slots
			})
		}
	}
	wait.Wait()
	if err := errors.Join(ctx.Err(), broken); err != nil {
		return err
	}
	fmt.Fprint(stderr, r.summary())
	if left > 0 {
		fmt.Fprintf(stderr, "bench: the time is over with %d measurements left; run it again with the same -o\n", left)
	}
	if failed > 0 {
		return fmt.Errorf("%d measurements failed", failed)
	}
	return nil
}
