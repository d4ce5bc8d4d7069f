package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// moments returns mean and biased variance of the elements that keep selects.
func moments(x *wide, keep func(x []int) bool) (mean, variance float64) {
	n := 0.0
	for i, v := range x.v {
		if keep(x.index(i)) {
			mean, n = mean+v, n+1
		}
	}
	mean /= n
	for i, v := range x.v {
		if keep(x.index(i)) {
			variance += (v - mean) * (v - mean)
		}
	}
	return mean, variance / n
}

// normalise applies to every element the moments that stats gives for its index,
// and the weight and bias at the position that param gives.
func normalise(x *wide, eps float64, weight, bias *wide, stats func(x []int) (mean, variance float64), param func(x []int) int) []*wide {
	out := newWide(x.dims...)
	for i, v := range x.v {
		at := x.index(i)
		mean, variance := stats(at)
		out.v[i] = (v - mean) / math.Sqrt(variance+eps)
		if weight != nil {
			out.v[i] *= weight.v[param(at)]
		}
		if bias != nil {
			out.v[i] += bias.v[param(at)]
		}
	}
	return []*wide{out}
}

func channelOf(x []int) int { return x[1] }

// givenOrOwn returns running statistics, or those over what same keeps.
func givenOrOwn(x, mean, variance *wide, own bool, same func(a, b []int) bool) func([]int) (float64, float64) {
	return func(at []int) (float64, float64) {
		if own || mean == nil || variance == nil {
			return moments(x, func(b []int) bool { return same(at, b) })
		}
		return mean.v[at[1]], variance.v[at[1]]
	}
}

func sameChannel(a, b []int) bool  { return a[1] == b[1] }
func sameInstance(a, b []int) bool { return a[0] == b[0] && a[1] == b[1] }

func TestBatchNorm(t *testing.T) {
	checkAgainst(t, BatchNorm, func(attrs any, in []*wide) []*wide {
		a := attrs.(BatchNormAttrs)
		return normalise(in[0], a.Eps, in[3], in[4], givenOrOwn(in[0], in[1], in[2], a.Training, sameChannel), channelOf)
	})
	checkAgainst(t, BatchNormInference, func(attrs any, in []*wide) []*wide {
		return normalise(in[0], attrs.(EpsAttrs).Eps, in[3], in[4], givenOrOwn(in[0], in[1], in[2], false, sameChannel), channelOf)
	})
	checkAgainst(t, BatchNormStats, func(_ any, in []*wide) []*wide {
		n := in[0].dims[1]
		mean, variance := newWide(n), newWide(n)
		for c := range n {
			mean.v[c], variance.v[c] = moments(in[0], func(x []int) bool { return x[1] == c })
		}
		return []*wide{mean, variance}
	})
	checkAgainst(t, InstanceNorm, func(attrs any, in []*wide) []*wide {
		a := attrs.(InstanceNormAttrs)
		return normalise(in[0], a.Eps, in[3], in[4], givenOrOwn(in[0], in[1], in[2], !a.UseRunningStats, sameInstance), channelOf)
	})
}

func TestGroupNorm(t *testing.T) {
	checkAgainst(t, GroupNorm, func(attrs any, in []*wide) []*wide {
		a, x := attrs.(GroupNormAttrs), in[0]
		size := x.dims[1] / a.NumGroups
		own := givenOrOwn(x, nil, nil, true, func(a, b []int) bool { return a[0] == b[0] && a[1]/size == b[1]/size })
		return normalise(x, a.Eps, in[1], in[2], own, channelOf)
	})
}

func TestLayerNorm(t *testing.T) {
	lead := func(x *wide, a LayerNormAttrs) int { return len(x.dims) - a.NormalizedShape.Len() }
	sameRow := func(n int) func(a, b []int) bool {
		return func(a, b []int) bool {
			for d := range n {
				if a[d] != b[d] {
					return false
				}
			}
			return true
		}
	}
	inRow := func(x *wide, n int) func(at []int) int {
		tail := newWide(x.dims[n:]...)
		return func(at []int) int { return tail.exact(at[n:]) }
	}
	checkAgainst(t, LayerNorm, func(attrs any, in []*wide) []*wide {
		a, x := attrs.(LayerNormAttrs), in[0]
		n := lead(x, a)
		return normalise(x, a.Eps, in[1], in[2], givenOrOwn(x, nil, nil, true, sameRow(n)), inRow(x, n))
	})
	checkAgainst(t, RmsNorm, func(attrs any, in []*wide) []*wide {
		a, x := attrs.(LayerNormAttrs), in[0]
		n := lead(x, a)
		square := newWide(x.dims...)
		for i, v := range x.v {
			square.v[i] = v * v
		}
		stats := func(at []int) (float64, float64) {
			mean, _ := moments(square, func(b []int) bool { return sameRow(n)(at, b) })
			return 0, mean
		}
		return normalise(x, a.Eps, in[1], nil, stats, inRow(x, n))
	})
}

// instance_norm is computed alike for a number of channels that is not known.
func TestInstanceNormSymbolicChannels(t *testing.T) {
	g := &op.Gen{}
	x, weight, bias := g.Normal(2, 3, 4, 5), g.Normal(3), g.Normal(3)
	want, err := InstanceNorm.Eval(&kernel.Workspace{}, InstanceNormAttrs{Eps: 1e-5}, []*array.Array{x, nil, nil, weight, bias})
	require.NoError(t, err)
	c := shape.Sym("C")
	dims := shape.Of(shape.Const(2), c, shape.Const(4), shape.Const(5))
	vector := shape.TensorType(array.F32, shape.Of(c))
	b := &recorder{types: map[*array.Array]shape.Type{x: shape.TensorType(array.F32, dims), weight: vector, bias: vector}}
	got := InstanceNorm.Expand(b, InstanceNormAttrs{Eps: 1e-5}, []op.Value{b.value(x), nil, nil, b.value(weight), b.value(bias)})
	require.Equal(t, []string{"group_norm"}, b.names)
	requireWide(t, widen(want[0]), got.(known).a, "instance_norm")
}

// recorder evaluates a decomposition while it shows it types with symbols, bound
// to 3 where a reshape needs numbers.
type recorder struct {
	types map[*array.Array]shape.Type
	names []string
}

type known struct {
	a *array.Array
	t shape.Type
}

func (k known) Type() shape.Type { return k.t }

func (r *recorder) value(a *array.Array) op.Value { return known{a, r.types[a]} }

func (r *recorder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	r.names = append(r.names, o.Name)
	arrays, types := make([]*array.Array, len(in)), make([]shape.Type, len(in))
	for i, v := range in {
		if v != nil {
			arrays[i], types[i] = v.(known).a, v.Type()
		}
	}
	t, err := o.Type(nil, attrs, types)
	if err != nil {
		panic(err)
	}
	if a, ok := attrs.(ReshapeAttrs); ok {
		attrs = ReshapeAttrs{Shape: a.Shape.Bind(func(string) shape.Dim { return shape.Const(3) })}
	}
	out, err := o.Eval(&kernel.Workspace{}, attrs, arrays)
	if err != nil {
		panic(err)
	}
	return known{out[0], t}
}

func (r *recorder) Item(op.Value, int) op.Value { panic("no tuple here") }

func TestLocalResponseNorm(t *testing.T) {
	checkAgainst(t, LocalResponseNorm, func(attrs any, in []*wide) []*wide {
		a, x := attrs.(LocalResponseNormAttrs), in[0]
		out := newWide(x.dims...)
		for i, v := range x.v {
			at := x.index(i)
			channel, sum := at[1], 0.0
			for c := channel - a.Size/2; c < channel-a.Size/2+a.Size; c++ {
				if at[1] = c; c >= 0 && c < x.dims[1] {
					w := x.v[x.exact(at)]
					sum += w * w
				}
			}
			out.v[i] = v / math.Pow(a.K+a.Alpha*sum/float64(a.Size), a.Beta)
		}
		return []*wide{out}
	})
}

func TestNormalize(t *testing.T) {
	checkAgainst(t, Normalize, func(attrs any, in []*wide) []*wide {
		a, x := attrs.(NormalizeAttrs), in[0]
		dim := (a.Dim + len(x.dims)) % len(x.dims)
		out := newWide(x.dims...)
		for i, v := range x.v {
			at, sum := x.index(i), 0.0
			for k := range x.dims[dim] {
				at[dim] = k
				sum += math.Pow(math.Abs(x.v[x.exact(at)]), a.P)
			}
			norm := math.Pow(sum, 1/a.P)
			if norm < a.Eps {
				norm = a.Eps
			}
			out.v[i] = v / norm
		}
		return []*wide{out}
	})
}

// An attribute of that name and the record say the same, for all operators.
func TestRecords_trainingAttributes(t *testing.T) {
	var found []string
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc {
			continue
		}
		for _, s := range o.Samples() {
			named := false
			for _, f := range o.Codec().Fields(s.Attrs) {
				on, isBool := f.Value.(bool)
				named = named || isBool && on && f.Name == "training"
			}
			require.Equal(t, named, o.Training(s.Attrs), "%s, sample %s", o.Name, s.Name)
			if named {
				found = append(found, o.Name)
			}
		}
	}
	require.Contains(t, found, "batch_norm")
	require.Contains(t, found, "dropout")
}
