package quant

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Mode says which operands of an operator are quantised, and when their ranges are
// found out.
type Mode uint8

// The modes.
const (
	Float      Mode = iota // nothing
	Static                 // weights and values, whose ranges calibration finds
	Dynamic                // weights, and operands by the range that they have in each run
	WeightOnly             // weights alone
)

// Granularity says how many elements share a scale.
type Granularity uint8

// The granularities. The zero value leaves the choice to the backend.
const (
	AnyGranularity Granularity = iota
	PerTensor
	PerChannel // a scale for each index of the channel axis
	PerGroup   // a scale for Group elements along the inputs of a weight
)

// Symmetry says whether zero points may differ from the middle of the range.
type Symmetry uint8

// The symmetries. The zero value is affine for values and symmetric for weights.
const (
	AnySymmetry Symmetry = iota
	Symmetric
	Affine
)

// ObserverKind is a way to get a range from data.
type ObserverKind uint8

// The observers. The zero value is Histogram for values and MinMax for weights.
const (
	AnyObserver   ObserverKind = iota
	MinMax                     // the least and the greatest value
	MovingAverage              // extremes of batches, averaged exponentially
	Histogram                  // the range of the least mean squared error
	Percentile                 // the range that leaves out a share of the values on either side
	Entropy                    // the symmetric range whose values lose the least information
)

// Names of the choices, as files and plans spell them.
var (
	modeNames        = []string{"float", "static", "dynamic", "weight_only"}
	granularityNames = []string{"any", "tensor", "channel", "group"}
	symmetryNames    = []string{"any", "symmetric", "affine"}
	observerNames    = []string{"any", "min_max", "moving_average", "histogram", "percentile", "entropy"}
)

// String returns "static".
func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// String returns "channel".
func (g Granularity) String() string { return nameOf(granularityNames, int(g)) }

// String returns "affine".
func (s Symmetry) String() string { return nameOf(symmetryNames, int(s)) }

// String returns "moving_average".
func (k ObserverKind) String() string { return nameOf(observerNames, int(k)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// Scheme is how a value or a weight is asked to be quantised; zero fields leave
// the choice to the backend.
type Scheme struct {
	DType       array.DType // u8 or i8
	Bits        int         // 8, or 4 for weights; 0 stands for 8
	Granularity Granularity
	Group       int // elements of a group, with PerGroup; 0 stands for 32
	Symmetry    Symmetry
	Observer    Observer
}

// Observer is a way to get a range from data, with its parameters.
type Observer struct {
	Kind ObserverKind
	// Averaging is the weight of a new batch in a moving average; 0 stands for 0.01.
	Averaging float64
	// Percentile is the percentage of values within the range; 0 stands for 99.99.
	Percentile float64
}

// ask returns the scheme as it was asked for: what it leaves open is left out.
func (s Scheme) ask() string {
	out := ""
	add := func(t string) {
		if out != "" {
			out += " "
		}
		out += t
	}
	if s.DType != array.Invalid {
		add(s.DType.String())
	}
	if s.Bits == 4 {
		add("4 bits")
	}
	if s.Symmetry != AnySymmetry {
		add(s.Symmetry.String())
	}
	if s.Granularity != AnyGranularity {
		add(s.Granularity.String())
	}
	if s.Group != 0 {
		add("of " + strconv.Itoa(s.Group))
	}
	if s.Observer.Kind != AnyObserver {
		add(s.Observer.String())
	}
	if out == "" {
		return "any"
	}
	return out
}

// or fills in what an observer leaves open.
func (o Observer) or(k ObserverKind) Observer {
	if o.Kind == AnyObserver {
		o.Kind = k
	}
	switch {
	case o.Kind == MovingAverage && o.Averaging == 0:
		o.Averaging = 0.01
	case o.Kind == Percentile && o.Percentile == 0:
		o.Percentile = 99.99
	}
	if o.Kind != MovingAverage {
		o.Averaging = 0
	}
	if o.Kind != Percentile {
		o.Percentile = 0
	}
	return o
}

// String returns "percentile 99.9".
func (o Observer) String() string {
	s := o.Kind.String()
	if v := o.Averaging + o.Percentile; v != 0 {
		s += " " + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return s
}
