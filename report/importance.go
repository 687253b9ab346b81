package report

import (
	"cmp"
	"maps"
	"slices"
)

// What importance needs and looks at: with fewer schedules the frequencies of values are
// chance, and a top of a tenth is what Watanabe et al. use for tuning.
const (
	leastPoints = 100
	topShare    = 0.1
)

// importance is how much each parameter decides whether a schedule is among the fastest
// tenth of its family's: PED-ANOVA (Watanabe, Bansal
// and Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
// Subspaces", IJCAI 2023, equation 16), the first-order functional ANOVA of being at the
// top: the Pearson divergence between the frequencies of a parameter's values at the top
// and everywhere. It needs no fitted forest, and does not drown in how slow the slow are.
// Families with too few timed schedules are left out.
func importance(families []Family, p Points) []Importance {
	list := []Importance{}
	for at, f := range families {
		var timed []int
		for i := range p.Seconds {
			if p.Family[i] == at && p.Seconds[i] > 0 {
				timed = append(timed, i)
			}
		}
		if len(timed) < leastPoints {
			continue
		}
		of := make([]Importance, len(f.Params))
		for k, param := range f.Params {
			of[k] = Importance{f.Name, param.Name, divergence(timed, p.Seconds, func(i int) int { return p.Values[i][k] })}
		}
		list = append(list, shares(of)...)
	}
	return list
}

// shares divides by the sum and sorts, the largest first.
func shares(list []Importance) []Importance {
	sum := 0.0
	for _, i := range list {
		sum += i.Share
	}
	if sum == 0 {
		return nil
	}
	for i := range list {
		list[i].Share = round(list[i].Share / sum)
	}
	slices.SortStableFunc(list, func(a, b Importance) int { return -cmp.Compare(a.Share, b.Share) })
	return list
}

// divergence is the Pearson divergence of a value's frequencies among the fastest from those
// among all schedules of a list: sum over values of p (q/p - 1)^2.
func divergence(list []int, seconds []float64, value func(int) int) float64 {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(seconds[a], seconds[b]) })
	top := max(1, int(topShare*float64(len(sorted))))
	everywhere, above := map[int]int{}, map[int]int{}
	for rank, i := range sorted {
		everywhere[value(i)]++
		if rank < top {
			above[value(i)]++
		}
	}
	sum := 0.0
	for _, v := range slices.Sorted(maps.Keys(everywhere)) { // sums of floats depend on their order
		d := float64(above[v]*len(sorted))/float64(everywhere[v]*top) - 1 // 0 of a value that all have
		sum += float64(everywhere[v]) / float64(len(sorted)) * d * d
	}
	return sum
}
