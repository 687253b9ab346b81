package search

import "math"

// logEI is the logarithm of the expected improvement below target of a normal
// with this mean and standard deviation. It keeps its order where the expected
// improvement itself underflows (Ament et al., "Unexpected Improvements to
// Expected Improvement for Bayesian Optimization", NeurIPS 2023).
func logEI(target, mean, sd float64) float64 {
	z := (target - mean) / sd
	var h float64
	switch {
	case z > -5:
		h = math.Log(math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + z*0.5*math.Erfc(-z/math.Sqrt2))
	default:
		// phi(z) + z Phi(z) = phi(z)/z^2 (1 - 3/z^2 + 15/z^4 - ...)
		w := 1 / (z * z)
		h = -z*z/2 - 0.5*math.Log(2*math.Pi) + math.Log(w*(1-w*(3-w*(15-w*105))))
	}
	return h + math.Log(sd)
}

// validity estimates how probable it is that a schedule runs at all, from the
// schedules around it that did and did not. Failures are never given a time:
// that would teach a Gaussian process a cliff that is not there.
type validity struct {
	f       *features
	ok, bad []int32
}

// failureScale is the squared distance over which a failure's weight falls by e; and
// beyond seven of them it counts for nothing.
const failureScale = 0.05

func (v *validity) add(point int, ok bool) {
	if ok {
		v.ok = append(v.ok, int32(point))
	} else {
		v.bad = append(v.bad, int32(point))
	}
}

// logP is the log of the probability that a point is valid.
func (v *validity) logP(point int) float64 {
	bad := v.weight(point, v.bad)
	if bad == 0 {
		return 0
	}
	ok := v.weight(point, v.ok)
	return math.Log((ok + 1) / (ok + bad + 1))
}

func (v *validity) weight(point int, of []int32) float64 {
	w := 0.0
	for _, q := range of {
		if d := v.f.apart(point, int(q)); d < 7*failureScale {
			w += math.Exp(-d / failureScale)
		}
	}
	return w
}
