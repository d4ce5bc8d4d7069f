package nn

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// Source is a deterministic source of random numbers for initial weights: the
// i-th number of a stream depends on the seed and i alone (SplitMix64, Steele,
// Lea, Flood 2014). It is not shared and has no global state.
type Source struct{ state uint64 }

// NewSource returns the source of a seed.
func NewSource(seed uint64) *Source { return &Source{mix(seed + 0x9E3779B97F4A7C15)} }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Uint64 returns 64 random bits.
func (s *Source) Uint64() uint64 {
	s.state += 0x9E3779B97F4A7C15
	return mix(s.state)
}

// Float64 returns a number uniform in [0, 1).
func (s *Source) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Uniform fills x with numbers uniform in [lo, hi).
func (s *Source) Uniform(x *tensor.Tensor, lo, hi float64) {
	fill(x, func() float64 { return lo + float64((hi-lo)*s.Float64()) })
}

// Normal fills x with normally distributed numbers (Box-Muller transform).
func (s *Source) Normal(x *tensor.Tensor, mean, std float64) {
	fill(x, func() float64 {
		r := math.Sqrt(-2 * math.Log(1-s.Float64()))
		return mean + float64(std*r*math.Cos(2*math.Pi*s.Float64()))
	})
}

// KaimingUniform fills a weight as torch.nn.init.kaiming_uniform_ does with the
// slope a, by the number of inputs: He et al., arXiv:1502.01852.
func (s *Source) KaimingUniform(x *tensor.Tensor, a float64) {
	in, _ := fans(x)
	b := math.Sqrt(6 / (1 + float64(a*a)) / float64(max(in, 1)))
	s.Uniform(x, -b, b)
}

// XavierUniform fills a weight as torch.nn.init.xavier_uniform_ does: Glorot and
// Bengio, AISTATS 2010.
func (s *Source) XavierUniform(x *tensor.Tensor, gain float64) {
	in, out := fans(x)
	b := gain * math.Sqrt(6/float64(max(in+out, 1)))
	s.Uniform(x, -b, b)
}

// Constant fills x with one value.
func Constant(x *tensor.Tensor, v float64) { fill(x, func() float64 { return v }) }

// fans returns how many inputs and outputs a weight [out, in, kernel...] connects.
func fans(x *tensor.Tensor) (in, out int) {
	sh := x.Shape()
	if len(sh) < 2 {
		return 1, 1
	}
	field := 1
	for _, n := range sh[2:] {
		field *= n
	}
	return sh[1] * field, sh[0] * field
}

// fill writes numbers to x through an array of its own: the memory of x is handed to nobody, so that
// plans may pack it.
func fill(x *tensor.Tensor, next func() float64) {
	a := array.New(x.DType(), x.Shape()...)
	if a.DType() == array.F32 {
		d := array.Data[float32](a)
		for i := range d {
			d[i] = float32(next())
		}
	} else {
		for i := range a.Len() {
			array.SetFloat64At(a, i, next())
		}
	}
	x.AssignInPlace(tensor.Owned(a))
}

// Resetter is a module that fills its own parameters, not those of modules in
// it, with fresh initial values.
type Resetter interface{ ResetParameters(s *Source) }

// ResetParameters fills the parameters of all modules in m with PyTorch's
// default distributions, inner modules before those that hold them. Every module
// draws from a stream of its own, made of the seed and its place, so that equal
// layers start different.
func ResetParameters(m any, seed uint64) {
	var all []Resetter
	done := map[tensor.Key]bool{}
	tensor.Walk(m, func(it tensor.Item) bool {
		if it.Module == nil {
			return false
		}
		key := tensor.ModuleKey(it.Module)
		if done[key] {
			return false
		}
		done[key] = true
		if r, ok := it.Module.(Resetter); ok {
			all = append(all, r)
		}
		return true
	})
	for i, r := range slices.Backward(all) {
		r.ResetParameters(NewSource(mix(seed) + uint64(i)))
	}
}

// start fills a new module's parameters unless its options say otherwise.
func start(m Resetter, s *settings) {
	if !s.noInit {
		m.ResetParameters(NewSource(s.seed))
	}
}

// zeros returns a new f32 parameter, which has its memory for itself.
func zeros(shape ...int) *tensor.Tensor { return tensor.StateParam(array.New(array.F32, shape...)) }

// uniformBound fills the weight and, where there is one, the bias of a linear
// map as torch.nn.Linear does: both uniform within 1/sqrt(inputs).
func uniformBound(s *Source, weight, bias *tensor.Tensor) {
	s.KaimingUniform(weight, math.Sqrt(5))
	if bias != nil {
		in, _ := fans(weight)
		b := 1 / math.Sqrt(float64(max(in, 1)))
		s.Uniform(bias, -b, b)
	}
}
