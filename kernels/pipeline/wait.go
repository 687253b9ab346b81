package pipeline

import (
	"maps"
	"slices"

	"stenciltune/stencil"
)

// When outputs are computed: which of a stage's are a job of their own, and whether that comes as early as what it reads
// allows, or as late as those who read it do.

// planEarly has every output as early as what it reads allows, where that keeps fewer planes.
func planEarly(key planKey, st *stencil.Stencil) *plan {
	whole := planStages(key, st, nil)
	groups := lagGroups(st)
	if groups == nil {
		return whole
	}
	best := planStages(key, st.Parted(groups), nil)
	for i, parts := range groups { // stages that are as well whole
		if len(parts) > 1 {
			groups[i] = together(parts)
			if p := planStages(key, st.Parted(groups), nil); p.kept() <= best.kept() {
				best = p
			} else {
				groups[i] = parts
			}
		}
	}
	if !best.listed(whole) || best.lastLag >= whole.lastLag || best.kept() >= whole.kept() { // each stage more costs something
		return whole
	}
	return best
}

// listed tells whether sources and receivers can act within a launch by this plan if they can by another: parts of a stage leave apart what
// they read together.
func (p *plan) listed(another *plan) bool { return p.unlisted == "" || another.unlisted != "" }

// waiting has outputs wait as long as those who read them allow, where that keeps fewer planes: of a flux that is
// read at its own plane alone none is kept, while what it is computed from is kept for others.
func (p *plan) waiting(key planKey) *plan {
	best, late := p, make([]bool, len(p.st.Stages))
	for i := 0; i < len(best.st.Stages); i++ {
		early, wait := best.slack(i)
		if len(wait) == 0 {
			continue
		}
		parts, waits := [][]int{wait}, []bool{true}
		if len(early) > 0 {
			parts, waits = [][]int{early, wait}, []bool{false, true}
		}
		groups := make([][][]int, len(best.st.Stages))
		for k := range groups {
			groups[k] = [][]int{upTo(len(best.st.Stages[k].Outputs))}
		}
		groups[i] = parts
		if readsSet(best.st, i, parts) {
			continue
		}
		flags := slices.Concat(late[:i], waits, late[i+1:])
		if q := planStages(key, best.st.Parted(groups), flags); q.cost() < best.cost() && q.listed(best) {
			best, late = q, flags
			i += len(parts) - 1
		}
	}
	return best
}

// slack parts a stage's outputs by whether they may be computed later than they are.
func (p *plan) slack(stage int) (early, wait []int) {
	s := &p.st.Stages[stage]
	for o := range s.Outputs {
		may := !s.Hidden && len(s.Copies) == 0
		for i, j := range p.jobs {
			if j.stage == stage {
				latest, read := p.latest(i, o)
				may = may && read && latest > j.lag && !slices.ContainsFunc(p.stores, func(t store) bool { return t.version == j.outputs[o] })
			}
		}
		if may {
			wait = append(wait, o)
		} else {
			early = append(early, o)
		}
	}
	return early, wait
}

// latest is the lag that those who read an output of a job allow it; read tells whether any does.
func (p *plan) latest(job, output int) (lag int, read bool) {
	for _, j := range p.jobs[job+1:] {
		for _, r := range j.reads {
			if r.version == p.jobs[job].outputs[output] && (!read || j.lag-r.high < lag) {
				lag, read = j.lag-r.high, true
			}
		}
	}
	return lag, read
}

// upTo is 0 .. n - 1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// cost weighs plans of the same stages against each other, in planes that registers keep: one in shared memory takes
// half as much, a barrier as much as two.
func (p *plan) cost() int {
	n := 2 * p.kept()
	for _, v := range p.versions[:p.loads] {
		if !v.held {
			n += v.depth
		}
	}
	for _, j := range p.jobs {
		if j.barrier {
			n += 4
		}
	}
	return n
}

// together is a stage's outputs in one group.
func together(parts [][]int) [][]int {
	all := slices.Concat(parts...)
	slices.Sort(all)
	return [][]int{all}
}

// readsSet tells whether one of the parts of a stage reads what a part before it sets.
func readsSet(st *stencil.Stencil, stage int, parts [][]int) bool {
	set := map[int]bool{}
	for _, outputs := range parts {
		for _, o := range outputs {
			for a, points := range st.OutputPoints(stage, o) {
				if len(points) > 0 && set[a] {
					return true
				}
			}
		}
		for _, o := range outputs {
			set[st.Stages[stage].Outputs[o]] = true
		}
	}
	return false
}

// lagGroups are each stage's outputs, together where they can be computed in the same plane step; nil where all of each
// can. On a staggered grid what reads no later plane need not wait for what does.
func lagGroups(st *stencil.Stencil) (groups [][][]int) {
	lags := make([]int, len(st.Fields)+len(st.ReadOnly))
	split := false
	for range 3 { // time steps, until they are alike
		groups, split = nil, false
		for i := range st.Stages {
			stage := &st.Stages[i]
			own := make([]int, len(stage.Outputs))
			for o := range own {
				for a, points := range st.OutputPoints(i, o) {
					if len(points) > 0 {
						own[o] = max(own[o], lags[a]+readOf(st, a, points).high)
					}
				}
			}
			byLag := map[int][]int{}
			for o, lag := range own {
				byLag[lag] = append(byLag[lag], o)
			}
			var parts [][]int
			for _, lag := range slices.Sorted(maps.Keys(byLag)) {
				parts = append(parts, byLag[lag])
			}
			if stage.Hidden || len(stage.Copies) > 0 || readsSet(st, i, parts) {
				parts = together(parts)
				own = slices.Repeat([]int{slices.Max(own)}, len(own))
			}
			for o, f := range stage.Outputs {
				lags[f] = own[o]
			}
			groups, split = append(groups, parts), split || len(parts) > 1
		}
	}
	if !split {
		return nil
	}
	return groups
}

// delayJobs makes hidden stages, and those that are late, as late as their readers allow: what they read is kept for
// those in any case.
func (p *plan) delayJobs(late []bool) {
	for i := len(p.jobs) - 1; i >= 0; i-- {
		if s := p.jobs[i].stage; !p.st.Stages[s].Hidden && (late == nil || !late[s]) {
			continue
		}
		latest, any := 0, false
		for o := range p.jobs[i].outputs {
			if lag, read := p.latest(i, o); read && (!any || lag < latest) {
				latest, any = lag, true
			}
		}
		p.jobs[i].lag = max(p.jobs[i].lag, latest)
		for _, v := range p.jobs[i].outputs {
			p.versions[v].lag = p.jobs[i].lag
		}
	}
}
