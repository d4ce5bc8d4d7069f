package std

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// countWindows counts windows one by one: those that fit the padded size, and
// with ceil one more where it starts inside the input or the padding before it.
func countWindows(size, extent, stride, pad int, ceil bool) int {
	n := 0
	for n*stride+extent <= size+2*pad {
		n++
	}
	if ceil && (n-1)*stride+extent < size+2*pad && n*stride < size+pad {
		n++
	}
	return n
}

// poolReference slides windows over the last n dimensions of x and reduces what
// they see: f gets the values and their positions in the plane, the number of
// positions within the padded input, and returns a value and a position.
func poolReference(x *wide, n int, p poolAttrs, f func(v []float64, at []int, padded int) (float64, int)) []*wide {
	kernelSize, pad, dilation := mustList(p.kernel, n, 1), mustList(p.pad, n, 0), mustList(p.dilation, n, 1)
	stride := kernelSize
	if p.stride.Len() > 0 {
		stride = mustList(p.stride, n, 1)
	}
	lead := len(x.dims) - n
	dims := append([]int(nil), x.dims[:lead]...)
	for i := range n {
		dims = append(dims, countWindows(x.dims[lead+i], (kernelSize[i]-1)*dilation[i]+1, stride[i], pad[i], p.ceil))
	}
	out, index := newWide(dims...), newWide(dims...)
	for i := range out.v {
		o := out.index(i)
		var v []float64
		var at []int
		padded := 0
		each(kernelSize, func(k []int) {
			pos, plane, inside := append([]int(nil), o[:lead]...), 0, true
			for d := range n {
				q := o[lead+d]*stride[d] - pad[d] + k[d]*dilation[d]
				if q >= x.dims[lead+d]+pad[d] {
					return
				}
				inside = inside && q >= 0 && q < x.dims[lead+d]
				plane = plane*x.dims[lead+d] + q
				pos = append(pos, q)
			}
			padded++
			if inside {
				v, at = append(v, x.v[x.exact(pos)]), append(at, plane)
			}
		})
		if len(v) == 0 { // of the first tap that is not before the input
			plane := 0
			for d := range n {
				q := o[lead+d]*stride[d] - pad[d]
				for q < 0 {
					q += dilation[d]
				}
				plane = plane*x.dims[lead+d] + q
			}
			at = []int{plane}
		}
		value, position := f(v, at, padded)
		out.v[i], index.v[i] = value, float64(position)
	}
	return []*wide{out, index}
}

func greatestOf(least float64, v []float64, at []int) (float64, int) {
	if len(v) == 0 {
		return least, at[0]
	}
	best := 0
	for i := range v {
		if v[i] > v[best] || math.IsNaN(v[i]) {
			best = i
		}
	}
	return v[best], at[best]
}

func TestMaxPool(t *testing.T) {
	plain := []*op.Op{MaxPool1d, MaxPool2d, MaxPool3d}
	both := []*op.Op{MaxPool1dWithIndices, MaxPool2dWithIndices, MaxPool3dWithIndices}
	for i := range plain {
		ref := func(attrs any, in []*wide) []*wide {
			a, least := attrs.(MaxPoolAttrs), float64(math.MinInt64)
			if slices.ContainsFunc(in[0].v, func(v float64) bool { return v != math.Trunc(v) }) {
				least = math.Inf(-1)
			}
			return poolReference(in[0], i+1, poolAttrs{a.KernelSize, a.Stride, a.Padding, a.Dilation, a.CeilMode},
				func(v []float64, at []int, _ int) (float64, int) { return greatestOf(least, v, at) })
		}
		checkAgainst(t, plain[i], func(attrs any, in []*wide) []*wide { return ref(attrs, in)[:1] })
		checkAgainst(t, both[i], ref)
	}
}

func TestAvgPool(t *testing.T) {
	for i, o := range []*op.Op{AvgPool1d, AvgPool2d, AvgPool3d} {
		checkAgainst(t, o, func(attrs any, in []*wide) []*wide {
			a := attrs.(AvgPoolAttrs)
			integers := len(in[0].v) > 0 && in[0].v[0] == math.Trunc(in[0].v[0]) && in[0].v[1] == math.Trunc(in[0].v[1])
			p := poolAttrs{a.KernelSize, a.Stride, a.Padding, op.Ints{}, a.CeilMode}
			return poolReference(in[0], i+1, p, func(v []float64, _ []int, padded int) (float64, int) {
				sum, n := 0.0, padded
				for _, x := range v {
					sum += x
				}
				if a.CountExcludePad {
					n = len(v)
				}
				if a.DivisorOverride != 0 {
					n = a.DivisorOverride
				}
				if integers {
					return math.Trunc(sum / float64(n)), 0
				}
				return sum / float64(n), 0
			})[:1]
		})
	}
}

// adaptiveReference reduces the windows [⌊i·in/out⌋, ⌈(i+1)·in/out⌉).
func adaptiveReference(n int, greatest bool) reference {
	return func(attrs any, in []*wide) []*wide {
		x, size := in[0], mustList(attrs.(AdaptivePoolAttrs).OutputSize, n, 0)
		lead := len(x.dims) - n
		dims := append([]int(nil), x.dims...)
		for i, s := range size {
			if s > 0 {
				dims[lead+i] = s
			}
		}
		out, index := newWide(dims...), newWide(dims...)
		for i := range out.v {
			o := out.index(i)
			var v []float64
			var at []int
			for j := range x.v {
				p, plane, inside := x.index(j), 0, true
				for d := range p {
					if d < lead {
						inside = inside && p[d] == o[d]
						continue
					}
					lo := math.Floor(float64(o[d]*x.dims[d]) / float64(dims[d]))
					hi := math.Ceil(float64((o[d]+1)*x.dims[d]) / float64(dims[d]))
					inside = inside && float64(p[d]) >= lo && float64(p[d]) < hi
					plane = plane*x.dims[d] + p[d]
				}
				if inside {
					v, at = append(v, x.v[j]), append(at, plane)
				}
			}
			if greatest {
				value, position := greatestOf(math.Inf(-1), v, at)
				out.v[i], index.v[i] = value, float64(position)
				continue
			}
			for _, w := range v {
				out.v[i] += w / float64(len(v))
			}
		}
		return []*wide{out, index}
	}
}

func TestAdaptivePool(t *testing.T) {
	for i, o := range []*op.Op{AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d} {
		checkAgainst(t, o, func(attrs any, in []*wide) []*wide { return adaptiveReference(i+1, false)(attrs, in)[:1] })
	}
	for i, o := range []*op.Op{AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d} {
		checkAgainst(t, o, func(attrs any, in []*wide) []*wide { return adaptiveReference(i+1, true)(attrs, in)[:1] })
	}
	for i, o := range []*op.Op{AdaptiveMaxPool1dWithIndices, AdaptiveMaxPool2dWithIndices, AdaptiveMaxPool3dWithIndices} {
		checkAgainst(t, o, adaptiveReference(i+1, true))
	}
}

// A symbolic size in ceil mode agrees with every number it can stand for.
func TestCeilSymbols(t *testing.T) {
	for k := 1; k <= 4; k++ {
		for stride := 1; stride <= 5; stride++ {
			for pad := range k/2 + 1 {
				a := MaxPoolAttrs{KernelSize: op.IntList(k), Stride: op.IntList(stride), Padding: op.IntList(pad), CeilMode: true}
				y, err := MaxPool1d.Type(nil, a, []shape.Type{shape.TensorType(array.F32, shape.Of(shape.Const(1), shape.Sym("W")))})
				require.NoError(t, err)
				require.False(t, y.Dim(1).IsUnknown(), "kernel %d, stride %d, padding %d", k, stride, pad)
				for w := k; w < 12; w++ {
					z, err := MaxPool1d.Type(nil, a, []shape.Type{shape.TensorType(array.F32, shape.ConstDims(1, w))})
					require.NoError(t, err)
					require.True(t, z.Dim(1).Is(countWindows(w, k, stride, pad, true)), "%s for %d", z, w)
					require.Equal(t, z, y.Bind(func(string) shape.Dim { return shape.Const(w) }))
				}
			}
		}
	}
}

func TestPoolValues(t *testing.T) {
	x := array.FromSlice([]float32{1, 5, 2, 4, 3}, 1, 5)
	out, err := MaxPool1dWithIndices.Eval(&kernel.Workspace{}, MaxPoolAttrs{KernelSize: op.IntList(2), CeilMode: true}, []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, []float32{5, 4, 3}, array.Data[float32](out[0]))
	require.Equal(t, []int64{1, 3, 4}, array.Data[int64](out[1]))
	out, err = AvgPool1d.Eval(&kernel.Workspace{}, AvgPoolAttrs{KernelSize: op.IntList(2), Padding: op.IntList(1), CountExcludePad: true}, []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 3.5, 3.5}, array.Data[float32](out[0]))
}

func TestLpPool(t *testing.T) {
	for i, o := range []*op.Op{LpPool1d, LpPool2d} {
		checkAgainst(t, o, func(attrs any, in []*wide) []*wide {
			a := attrs.(LpPoolAttrs)
			size := 1.0
			for _, k := range mustList(a.KernelSize, i+1, 1) {
				size *= float64(k)
			}
			p := poolAttrs{kernel: a.KernelSize, stride: a.Stride, ceil: a.CeilMode}
			return poolReference(in[0], i+1, p, func(v []float64, _ []int, padded int) (float64, int) {
				sum := 0.0
				for _, x := range v {
					sum += math.Pow(x, a.NormType)
				}
				// PyTorch scales the mean over the elements of a window by the kernel's size.
				return math.Pow(sum/float64(padded)*size, 1/a.NormType), 0
			})[:1]
		})
	}
}
