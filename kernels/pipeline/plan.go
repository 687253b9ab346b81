package pipeline

import (
	"math/bits"
	"slices"
	"sync"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// plan is how a launch's time steps follow each other while a block streams: everything that
// does not depend on a schedule but for its time tile. Text, counts of work, constraints and
// tiling follow from it.
//
// A job is one stage of one time step. In plane step t it completes plane t - lag. What a job
// leaves of a field is a version of it, and so is what is loaded of an array.
type plan struct {
	st       *stencil.Stencil // with its hidden stages
	fields   int              // those that a launch is given
	dims     int
	versions []version // loads first
	loads    int
	jobs     []job
	stores   []store
	low      [3]int // halo of what is loaded beyond what is written: on x, rows, planes
	high     [3]int
	// Columns and rows of the halo that are computed, too, and so are a tile's; those beyond are in shared memory alone.
	lowHalo, highHalo [2]int
	extra             int // planes that a stream tile loads beyond its own: low[2] + high[2], or of all stages' plans the most
	// Columns beyond the tile's that shared memory holds of what is loaded.
	lowSide, highSide int
	lead              int // plane steps before the first written plane's own
	lastLag           int // plane steps by which the last written plane comes after its own
	// folds is the job whose cells are folded where they are stored, for the scalars of the next step; -1 = none.
	folds int
	acts  []act
	// alive is how many planes of each version registers keep while a job runs: those that it or a later one reads in this plane step, and
	// those that the next one reads.
	alive [][]int
	// arrival is the job after which a warp has given all that others read of it in the next plane step: there it arrives at the barrier that it waits
	// at as that step begins (a split barrier). -1 = all wait for all.
	arrival int
	// unlisted is why sources and receivers cannot act within a launch of several steps; "" if they can, or need not.
	unlisted string
}

// version is the planes of an array as a job leaves them, or as they are loaded.
type version struct {
	array  int
	job    int  // that leaves it; -1 = loaded
	output int  // which of the job's outputs it is
	lag    int  // in plane step t plane t - lag is the newest
	depth  int  // planes kept, the newest among them
	held   bool // its own cells are kept in registers: what stages leave, and what is loaded unless it is read from shared memory
	rows   bool
	direct bool // each thread loads its own cells to registers, a plane step ahead: nothing else is read of it
	// oldest is the age of the oldest plane of which rows of other warps are read, or of what is loaded columns.
	oldest int
	// spare says that shared memory holds a plane more, for other warps may still read rows of the oldest one as the newest of the next plane step is written.
	spare     bool
	hidden    bool   // what a hidden stage leaves: its cells beyond the own ones are computed, not handed over
	low, high [3]int // cells needed beyond those written, on x, rows, planes
}

// job is a stage of a time step.
type job struct {
	step, stage int
	lag         int
	reads       []read
	each        [][]read // what each output is computed from
	outputs     []int    // versions that it leaves, by the stage's outputs; copies are versions of others
	// Columns and rows beyond the own cells that a hidden stage computes as well, because others read it there.
	lowX, highX, lowR, highR int
	barrier                  bool // before it: rows that it reads were given by other warps since the last one
	endBarrier               bool // one only near the grid's first and last plane, where others stand for those beyond
}

// read is what a job needs of one array.
type read struct {
	array, version int
	planes         []plane
	low, high      int // of planes, own included
}

// plane is what is read of an array dz planes away: columns beyond the own cells in own rows
// and in other rows, and other rows.
type plane struct {
	dz                  int
	lowX, highX         int
	otherLow, otherHigh int // columns of other rows
	lowR, highR         int
}

// store is a field written, from a version.
type store struct{ field, version int }

// planKey is what a plan follows from.
type planKey struct {
	st     *stencil.Stencil
	steps  int            // a launch
	shared bool           // what is loaded is read from shared memory wherever it is read, and not kept in registers
	hidden stencil.Hidden // which of what neighbouring cells compute alike is a stage of its own
	direct bool           // arrays of which own cells alone are read need no shared memory
}

var plans sync.Map // planKey to *plan

// planOf is a stencil's plan.
func planOf(key planKey) *plan {
	if p, ok := plans.Load(key); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(key, makePlan(key))
	return p.(*plan)
}

var stagesPlans sync.Map // planKey to []*plan

// plansOfStages are the plans of launches of a stage each. They have the same tiles: the largest halo of any.
func plansOfStages(key planKey) []*plan {
	if ps, ok := stagesPlans.Load(key); ok {
		return ps.([]*plan)
	}
	ps := make([]*plan, len(key.st.Stages))
	var most plan
	for i := range ps {
		p := *planOf(planKey{key.st.Alone(i), 1, key.shared, key.hidden, key.direct})
		if i < len(ps)-1 {
			p.folds = -1 // the step is not done
		}
		for a := range 2 {
			most.lowHalo[a], most.highHalo[a] = max(most.lowHalo[a], p.lowHalo[a]), max(most.highHalo[a], p.highHalo[a])
		}
		most.extra = max(most.extra, p.extra)
		ps[i] = &p
	}
	for _, p := range ps {
		p.lowHalo, p.highHalo, p.extra = most.lowHalo, most.highHalo, most.extra
	}
	kept, _ := stagesPlans.LoadOrStore(key, ps)
	return kept.([]*plan)
}

// readOf is what a stage reads of an array.
func readOf(st *stencil.Stencil, array int, points []stencil.Offset) read {
	r := read{array: array}
	for _, o := range points {
		dx, dy, dz := kernels.StreamingAxes(st.Dims, o)
		i, found := slices.BinarySearchFunc(r.planes, dz, func(p plane, dz int) int { return p.dz - dz })
		if !found {
			r.planes = slices.Insert(r.planes, i, plane{dz: dz})
		}
		p := &r.planes[i]
		p.lowX, p.highX = max(p.lowX, -dx), max(p.highX, dx) // a row dy away may be an own one
		if dy != 0 {
			p.otherLow, p.otherHigh = max(p.otherLow, -dx), max(p.otherHigh, dx)
		}
		p.lowR, p.highR = max(p.lowR, -dy), max(p.highR, dy)
		r.low, r.high = max(r.low, -dz), max(r.high, dz)
	}
	if mirrored(st, array) { // a plane beyond the grid stands for one on the other side
		r.low = max(r.low, r.high)
		r.high = r.low
	}
	return r
}

// mirrored tells whether a plane beyond the grid stands for one on the other side, of an array. A hidden value that is like any other stage's
// has the rules of what it is computed from.
func mirrored(st *stencil.Stencil, array int) bool {
	if array >= len(st.Fields) {
		return st.ReadOnly[array-len(st.Fields)].Mirrors(st.Dims - 1)
	}
	return st.Fields[array].Mirrors(st.Dims-1) || st.Fields[array].Temporary && st.Mirrors(st.Dims-1)
}

// readsOfEach is what a stage reads for each of its outputs.
func readsOfEach(st *stencil.Stencil, stage int, current []int) (each [][]read) {
	for o := range st.Stages[stage].Outputs {
		var reads []read
		for a, points := range st.OutputPoints(stage, o) {
			if len(points) > 0 {
				r := readOf(st, a, points)
				r.version = current[a]
				reads = append(reads, r)
			}
		}
		each = append(each, reads)
	}
	return each
}

// reach is how far a read goes on x, rows and planes.
func (r read) reach() (low, high [3]int) {
	for _, p := range r.planes {
		low[0], high[0] = max(low[0], p.lowX), max(high[0], p.highX)
		low[1], high[1] = max(low[1], p.lowR), max(high[1], p.highR)
	}
	low[2], high[2] = r.low, r.high
	return low, high
}

// ownHidden tells whether a hidden stage's values beyond the own cells are computed, as those outside the grid
// must be. What reads own cells alone, and of hidden values such alone, is like any other stage where the boundary rule names a cell inside.
func ownHidden(st *stencil.Stencil, stage int) bool {
	s := &st.Stages[stage]
	if !s.Hidden {
		return false
	}
	if s.Low != [3]int{} || s.High != [3]int{} || readsAround(s) || st.Has(stencil.Constant) || st.Has(stencil.Edge) || st.MirrorsDiffer() {
		return true
	}
	for i := range stage {
		if slices.ContainsFunc(st.Stages[i].Outputs, func(f int) bool { return len(s.Points[f]) > 0 }) && ownHidden(st, i) {
			return true
		}
	}
	return false
}

// readsAround tells whether a stage reads anything, read-only arrays too, off its own cell.
func readsAround(s *stencil.Stage) bool {
	return slices.ContainsFunc(s.Points, offCell)
}

// hiddenPlanes is how many planes below and above its own cells' a hidden stage's values are read: they are computed
// outside the grid, too.
func hiddenPlanes(st *stencil.Stencil, stage int) (below, above int) {
	if !ownHidden(st, stage) {
		return 0, 0
	}
	for i := stage + 1; i < len(st.Stages); i++ {
		var read []stencil.Offset
		for _, f := range st.Stages[stage].Outputs {
			read = append(read, st.Stages[i].Points[f]...)
		}
		if len(read) == 0 { // to go on from stages that read nothing of this one would visit every path
			continue
		}
		b, a := hiddenPlanes(st, i)
		for _, o := range read {
			_, _, dz := kernels.StreamingAxes(st.Dims, o)
			below, above = max(below, b-dz), max(above, a+dz)
		}
	}
	return below, above
}

// beyond widens a read so that it covers the planes that stand for those beyond the grid, of a stage that
// is computed so many planes beyond it.
func (r *read) beyond(below, above int, mirror bool) {
	if below+above == 0 {
		return
	}
	if mirror {
		r.low, r.high = max(r.low, 2*above+r.high), max(r.high, 2*below+r.low)
		return
	}
	r.low, r.high = max(r.low, above), max(r.high, below)
}

// around is a plane of an array as a job sees it: with what it computes beyond its own cells.
func (j job) around(q plane) plane {
	q.lowX, q.highX, q.lowR, q.highR = q.lowX+j.lowX, q.highX+j.highX, q.lowR+j.lowR, q.highR+j.highR
	switch {
	case j.lowR+j.highR > 0: // rows that are a cell's own are others to cells beyond
		q.otherLow, q.otherHigh = q.lowX, q.highX
	case q.lowR+q.highR > 0:
		q.otherLow, q.otherHigh = q.otherLow+j.lowX, q.otherHigh+j.highX
	}
	return q
}

func makePlan(key planKey) *plan {
	st := key.st
	if h := st.Hoisted(key.hidden); h != nil {
		st = h
	}
	return planEarly(key, st).waiting(key)
}

// planStages is the plan of a stencil's stages as they are; late are those that wait for their readers, as hidden ones do.
func planStages(key planKey, st *stencil.Stencil, late []bool) *plan {
	steps := key.steps
	p := &plan{st: st, fields: len(key.st.Fields), dims: st.Dims}
	arrays := len(st.Fields) + len(st.ReadOnly)
	current := make([]int, arrays) // the version of each array that is read now
	for a := range current {
		current[a] = -1
	}
	// Loads come first: of whatever is read before it is set.
	set := make([]bool, arrays)
	for range min(2, steps) { // a field that a step hands on unread is read in the next one
		for i := range st.Stages {
			stage := &st.Stages[i]
			for a, points := range stage.Points {
				if len(points) > 0 && !set[a] && current[a] < 0 {
					current[a] = len(p.versions)
					p.versions = append(p.versions, version{array: a, job: -1})
				}
			}
			for _, f := range stage.Outputs {
				set[f] = true
			}
		}
	}
	p.loads = len(p.versions)
	for k := range steps {
		for i := range st.Stages {
			stage := &st.Stages[i]
			j := job{step: k, stage: i}
			below, above := hiddenPlanes(st, i)
			for a, points := range stage.Points {
				if len(points) == 0 {
					continue
				}
				r := readOf(st, a, points)
				r.version = current[a]
				if !p.versions[r.version].hidden {
					r.beyond(below, above, mirrored(st, a))
				}
				j.lag = max(j.lag, p.versions[r.version].lag+r.high)
				j.reads = append(j.reads, r)
			}
			j.each = readsOfEach(st, i, current)
			before := slices.Clone(current)
			for o, f := range stage.Outputs {
				if from := slices.IndexFunc(stage.Copies, func(c stencil.Copy) bool { return c.Field == f }); from >= 0 {
					current[f] = before[stage.Copies[from].From]
				} else {
					current[f] = len(p.versions)
					p.versions = append(p.versions, version{array: f, job: len(p.jobs), output: o, lag: j.lag, hidden: ownHidden(st, i)})
				}
				j.outputs = append(j.outputs, current[f])
			}
			p.jobs = append(p.jobs, j)
		}
		if kernels.DoesLists(key.st, steps) {
			p.list(key.st, k, current)
		}
	}
	p.delayJobs(late)
	p.delay()
	p.finish(key, current)
	return p
}

// delay makes loads as late as those who read them allow.
func (p *plan) delay() {
	for v := range p.loads {
		least := -1
		for _, j := range p.jobs {
			for _, r := range j.reads {
				if r.version == v && (least < 0 || j.lag-r.high < least) {
					least = j.lag - r.high
				}
			}
		}
		p.versions[v].lag = max(least, 0)
	}
}

// age is how many planes the plane dz away from a job's own is older than the newest of the version.
func (p *plan) age(j job, r read, dz int) int { return j.lag - p.versions[r.version].lag - dz }

// finish finds what is stored, how long planes are kept, and what lies beyond the cells written.
func (p *plan) finish(key planKey, current []int) {
	for _, f := range key.st.Merged().Stages[0].Writes(key.steps) {
		v := current[f]
		p.stores = append(p.stores, store{field: f, version: v})
		p.lastLag = max(p.lastLag, p.versions[v].lag)
	}
	p.folds = -1
	for i, f := range key.st.Merged().FoldsStored() {
		if job := p.versions[current[f]].job; i == 0 {
			p.folds = job
		} else if job != p.folds { // which has no cells of all at a time
			p.folds = -1
			break
		}
	}
	for i := range p.versions {
		p.versions[i].depth, p.versions[i].held = 1, p.versions[i].job >= 0 || !key.shared
	}
	for _, j := range slices.Backward(p.jobs) {
		i := slices.IndexFunc(p.jobs, func(q job) bool { return q.step == j.step && q.stage == j.stage })
		j = p.jobs[i] // with what its readers have added
		p.reachOfSources(i)
		low, high := 0, 0 // planes that its readers need beyond those written
		for _, v := range p.versions {
			if v.job == i {
				low, high = max(low, v.low[2]), max(high, v.high[2])
			}
		}
		// Each output has a reach of its own: on a staggered grid two stages reach a cell far, not two.
		for o, reads := range j.each {
			of := p.versions[j.outputs[o]]
			for _, r := range reads {
				v := &p.versions[r.version]
				l, h := r.reach()
				for a := range 3 {
					v.low[a], v.high[a] = max(v.low[a], of.low[a]+l[a]), max(v.high[a], of.high[a]+h[a])
				}
			}
		}
		for _, r := range j.reads {
			v := &p.versions[r.version]
			l, h := r.reach()
			if p.st.Stages[j.stage].Hidden { // its reads of planes are wider
				v.low[2], v.high[2] = max(v.low[2], low+l[2]), max(v.high[2], high+h[2])
			}
			v.depth = max(v.depth, p.age(j, r, -r.low)+1)
			if v.hidden {
				q := &p.jobs[v.job]
				q.lowX, q.highX = max(q.lowX, j.lowX+l[0]), max(q.highX, j.highX+h[0])
				q.lowR, q.highR = max(q.lowR, j.lowR+l[1]), max(q.highR, j.highR+h[1])
			} else {
				v.rows = v.rows || l[1]+h[1]+j.lowR+j.highR > 0
				v.oldest = max(v.oldest, p.oldestGiven(j, r))
			}
			if v.job < 0 {
				p.lowSide, p.highSide = max(p.lowSide, l[0]+j.lowX), max(p.highSide, h[0]+j.highX)
			}
		}
	}
	for i := range p.versions[:p.loads] {
		v := &p.versions[i]
		for a := range 3 {
			p.low[a], p.high[a] = max(p.low[a], v.low[a]), max(p.high[a], v.high[a])
		}
		v.direct = key.direct && p.ownAlone(i)
		v.held = v.held || v.direct
	}
	for _, v := range p.versions { // also of a stage that reads nothing
		p.lead = max(p.lead, v.low[2]-v.lag)
	}
	for _, v := range p.versions[p.loads:] {
		if !v.hidden { // else each thread computes what it needs beyond its rows
			for a := range 2 {
				p.lowHalo[a], p.highHalo[a] = max(p.lowHalo[a], v.low[a]), max(p.highHalo[a], v.high[a])
			}
		}
	}
	p.extra = p.low[2] + p.high[2]
	p.barriers()
	p.split()
	p.findAlive()
}

// findAlive sets alive.
func (p *plan) findAlive() {
	planes := make([]int, len(p.versions)) // read from here on in this plane step
	p.alive = make([][]int, len(p.jobs))
	for i, j := range slices.Backward(p.jobs) {
		for _, r := range j.reads {
			planes[r.version] = max(planes[r.version], p.age(j, r, -r.low)+1)
		}
		p.alive[i] = make([]int, len(p.versions))
		for v, of := range p.versions {
			switch {
			case !of.held:
			case i <= of.job: // the newest is not there yet
				p.alive[i][v] = of.depth - 1
			default:
				p.alive[i][v] = max(of.depth-1, planes[v])
			}
		}
	}
}

// direct is how many of what is loaded come straight to registers.
func (p *plan) direct() (n int) {
	for _, v := range p.versions {
		if v.direct {
			n++
		}
	}
	return n
}

// ownAlone tells whether of a version that is loaded one plane at a time is read, at the own cells alone. In 2D a plane step
// is too short to wait for memory in.
func (p *plan) ownAlone(version int) bool {
	if p.dims < 3 || p.versions[version].depth > 1 || slices.ContainsFunc(p.stores, func(s store) bool { return s.version == version }) {
		return false
	}
	return !slices.ContainsFunc(p.jobs, func(j job) bool {
		return slices.ContainsFunc(j.reads, func(r read) bool {
			return r.version == version && slices.ContainsFunc(r.planes, func(q plane) bool { return j.around(q) != plane{} })
		})
	})
}

// barriers puts barriers before jobs that read rows which other warps have given since the last
// one. A plane step begins with one.
func (p *plan) barriers() {
	for _, ends := range []bool{false, true} {
		given := map[int]bool{} // versions given since the last barrier in this plane step
		for i := range p.jobs {
			j := &p.jobs[i]
			if slices.ContainsFunc(j.reads, func(r read) bool { return given[r.version] && p.newestRows(*j, r, ends) }) {
				j.barrier, j.endBarrier = j.barrier || !ends, ends && !j.barrier
			}
			if j.barrier || j.endBarrier {
				clear(given)
			}
			for _, v := range j.outputs {
				given[v] = p.versions[v].rows
			}
		}
	}
}

// split sets arrival, where no barrier stands between jobs, and all that others read has been given before the last job: what that does,
// waits for nobody.
func (p *plan) split() {
	p.arrival = -1
	last := -1 // job that gives rows
	for i, j := range p.jobs {
		if j.barrier || j.endBarrier {
			return
		}
		for _, r := range j.reads {
			if p.versions[r.version].job < 0 && p.newestRows(j, r, true) {
				return // what is loaded is there only as the plane step begins
			}
		}
		if slices.ContainsFunc(j.outputs, func(v int) bool { return p.versions[v].rows }) {
			last = i
		}
	}
	if p.dims < 3 || last < 0 || last == len(p.jobs)-1 {
		return
	}
	p.arrival = last
	late := map[bool]bool{} // whether rows are read after it, of what is loaded and of what stages leave
	for _, j := range p.jobs[last+1:] {
		for _, r := range j.reads {
			v := p.versions[r.version]
			late[v.job < 0] = late[v.job < 0] || v.rows
		}
	}
	for i := range p.versions { // rings of one length take fewer registers
		v := &p.versions[i]
		v.spare = v.rows && late[v.job < 0]
	}
}

// oldestGiven is the age of the oldest plane of which a job reads what other threads give: rows, of what is loaded also columns.
func (p *plan) oldestGiven(j job, r read) (oldest int) {
	stands := 0 // what is read for a plane beyond the grid's last: that one, or before it
	if below, above := hiddenPlanes(p.st, j.stage); mirrored(p.st, r.array) || below+above > 0 {
		stands = -r.low
	}
	for _, q := range r.planes {
		if n := j.around(q); n.lowR+n.highR > 0 || p.versions[r.version].job < 0 && n.lowX+n.highX > 0 {
			oldest = max(oldest, p.age(j, r, min(q.dz, stands)))
		}
	}
	return oldest
}

// newestRows tells whether other rows of the newest plane are read; near the ends maybe in place of those of a plane
// beyond the grid.
func (p *plan) newestRows(j job, r read, ends bool) bool {
	below, _ := hiddenPlanes(p.st, j.stage) // the planes before the grid's first that it completes, too
	return slices.ContainsFunc(r.planes, func(q plane) bool {
		q = j.around(q)
		return q.lowR+q.highR > 0 && (p.age(j, r, q.dz) == 0 || ends && p.age(j, r, max(q.dz, below)) == 0)
	}) || ends && mirrored(p.st, r.array) && p.age(j, r, r.high) == 0
}

// extraRows is the rows of what is loaded that lie beyond a tile's, on either side. A tile may hold more than is read of what is loaded.
func (p *plan) extraRows() (low, high int) {
	return max(0, p.low[1]-p.lowHalo[1]), max(0, p.high[1]-p.highHalo[1])
}

// sharesRows tells whether a warp reads rows of others.
func (p *plan) sharesRows() bool {
	return slices.ContainsFunc(p.versions, func(v version) bool { return v.rows })
}

// ring is the planes of a version that shared memory has room for: those of which other rows
// are read; of loads those on their way, too. A power of two is found by less arithmetic: in 3D planes are too large
// for more of them.
func (v version) ring(dims, prefetch int) int {
	switch {
	case v.direct:
		return 0
	case v.job >= 0:
		return v.oldest + 1 + kernels.Flag(v.spare)
	case v.held:
		return v.oldest + 1 + prefetch + kernels.Flag(v.spare)
	case dims == 3:
		return max(v.depth, v.oldest+1+kernels.Flag(v.spare)) + prefetch
	}
	return 1 << bits.Len(uint(v.depth+prefetch-1))
}

// rowReach is the most rows of other warps that any job reads on either side.
func (p *plan) rowReach() (low, high int) {
	for _, j := range p.jobs {
		for _, r := range j.reads {
			if l, h := r.reach(); !p.versions[r.version].hidden {
				low, high = max(low, l[1]+j.lowR), max(high, h[1]+j.highR)
			}
		}
	}
	return low, high
}

// kept is the planes of cells that registers keep from plane step to plane step.
func (p *plan) kept() int {
	n := 0
	for _, v := range p.versions {
		if v.held {
			n += v.depth
		}
	}
	return n
}
