package cardtest

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// suite is what the binary brings: kernels, and what jobs give.
type suite struct {
	Pack []byte // of gpu.Pack
	Jobs []expected
}

// expected are the results of a job.
type expected struct {
	Name    string
	Results []result
}

// result is what is known of one result: elements of it, evenly spread, and how far off they may be.
type result struct {
	Of       string
	DType    array.DType
	Shape    []int
	Want     []float64
	Rel, Abs float64 // of an element, see fxtest.Near
	L2       float64 // of all elements, in relation to theirs; 0 is any
}

// mostKept is how many elements of a network's result are kept.
const mostKept = 512

// Errors that kernels of f32 may make in a network, in relation to its largest element and to all.
const rounding = 1e-4

// whole keeps all elements.
func whole(of string, a *array.Array) result {
	r := result{Of: of, DType: a.DType(), Shape: slices.Clone(a.Shape())}
	r.Want = r.pick(a, a.Len())
	return r
}

// sampled keeps some.
func sampled(of string, a *array.Array) result {
	r := result{Of: of, DType: a.DType(), Shape: slices.Clone(a.Shape())}
	r.Want = r.pick(a, min(a.Len(), mostKept))
	return r
}

// pick returns n elements, as many as lie between two of them apart.
func (r *result) pick(a *array.Array, n int) []float64 {
	v := make([]float64, n)
	for k := range v {
		v[k] = array.Float64At(a, k*a.Len()/n)
	}
	return v
}

// near sets tolerances: those of f32, and a few times the distance to what rounds more.
func (r *result) near(rounded *array.Array) {
	most := 0.0
	for _, x := range r.Want {
		most = max(most, math.Abs(x))
	}
	r.Abs, r.L2 = rounding*most, rounding
	if rounded != nil {
		d := distance(r.pick(rounded, len(r.Want)), r.Want)
		r.Abs, r.L2 = r.Abs+4*d.MaxAbs, r.L2+2*d.L2Rel
	}
}

// check returns how far a result is off, 1 being as far as it may be, and what is wrong with it.
func (r *result) check(got *array.Array) (off float64, wrong string) {
	if got.DType() != r.DType || !slices.Equal(got.Shape(), r.Shape) {
		return 0, fmt.Sprintf("%s: %s%v, expected %s%v", r.Of, got.DType(), got.Shape(), r.DType, r.Shape)
	}
	have := r.pick(got, len(r.Want))
	for k, x := range r.Want {
		y := have[k]
		if !fxtest.Near(x, y, r.Rel, r.Abs) && wrong == "" {
			wrong = fmt.Sprintf("%s: element %d is %g, expected %g within %.3g", r.Of, k*got.Len()/len(r.Want), y, x, r.Abs+r.Rel*math.Abs(x))
		}
		if d := math.Abs(x - y); d > 0 && !math.IsInf(d, 0) {
			off = max(off, min(d/(r.Abs+r.Rel*math.Abs(x)), mostOff))
		}
	}
	if r.L2 > 0 {
		d := distance(have, r.Want)
		off = max(off, min(d.L2Rel/r.L2, mostOff))
		if !(d.L2Rel <= r.L2) && wrong == "" {
			wrong = fmt.Sprintf("%s: %s, expected l2_rel of at most %.3g", r.Of, d, r.L2)
		}
	}
	return off, wrong
}

// mostOff stands for whatever is farther off, where nothing may be, too.
const mostOff = 1e6

func distance(got, want []float64) fxtest.Difference {
	return fxtest.Compare(array.FromSlice(got, len(got)), array.FromSlice(want, len(want)))
}

// bytes returns the suite as read takes it.
func (s *suite) bytes() ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := gob.NewEncoder(w).Encode(s); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func readSuite(data []byte) (*suite, error) {
	s := &suite{}
	err := gob.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(data)), 1<<30)).Decode(s)
	if err != nil {
		return nil, fmt.Errorf("the suite cannot be read: %w", err)
	}
	return s, nil
}
