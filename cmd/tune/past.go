package main

import (
	"cmp"
	"slices"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/search"
	"stenciltune/stencil"
)

// distance says how far another key's problem is from this one, least first; -1 if
// its records are of no use. Other sizes are nearest, then other element types and
// step counts, then other devices.
func distance(k, other cache.Key) int {
	if k == other || k.StencilHash != other.StencilHash || k.Boundary != other.Boundary || k.Regime != other.Regime || k.Kind != other.Kind {
		return -1
	}
	d := 0
	if k.DType != other.DType {
		d++
	}
	if k.StepsClass != other.StepsClass {
		d++
	}
	if k.DeviceName != other.DeviceName || k.ComputeCapability != other.ComputeCapability {
		d += 4
	}
	return d
}

// past is what the store knows of the most similar problem, with the prior's
// predictions for that problem on this machine.
func (a *app) past(s *cache.Store, key cache.Key, p stencil.Problem, m machine.Machine) ([]search.Past, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(k cache.Key) bool { return distance(key, k) < 0 })
	slices.SortStableFunc(keys, func(x, y cache.Key) int { return cmp.Compare(distance(key, x), distance(key, y)) })
	for _, k := range keys {
		q := p
		q.DType = stencil.DType(k.DType)
		if q.Size, err = stencil.ParseSize(k.Size, p.Stencil.Dims); err != nil {
			continue // written by another version
		}
		entries, err := s.Entries(k)
		if err != nil {
			return nil, err
		}
		predict := prior(q, m)
		var list []search.Past
		for _, e := range entries {
			if e.Status.Timed() && kernels.Find(all.Families(), e.Schedule.Family()) != nil {
				list = append(list, search.Past{Schedule: e.Schedule, Seconds: e.Series.Median, Predicted: predict(e.Schedule)})
			}
		}
		if len(list) > 0 {
			a.say("starts from %d schedules measured for %s on %s", len(list), q.Text(), k.DeviceName)
			return list, nil
		}
	}
	return nil, nil
}
