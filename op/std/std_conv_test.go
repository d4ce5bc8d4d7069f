package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// asBatch gives x the batch dimension that it lacks.
func asBatch(x *wide, n int) (*wide, bool) {
	if len(x.dims) == n+2 {
		return x, false
	}
	return &wide{append([]int{1}, x.dims...), x.v}, true
}

func dropBatch(x *wide, drop bool) []*wide {
	if drop {
		x.dims = x.dims[1:]
	}
	return []*wide{x}
}

// each calls f with every multi-index of the box.
func each(dims []int, f func(x []int)) {
	box := newWide(dims...)
	for i := range box.v {
		f(box.index(i))
	}
}

func convReference(n int) reference {
	return func(attrs any, in []*wide) []*wide {
		a, w := attrs.(ConvAttrs), in[1]
		x, unbatched := asBatch(in[0], n)
		stride, pad, dilation, groups := mustList(a.Stride, n, 1), mustList(a.Padding, n, 0), mustList(a.Dilation, n, 1), max(a.Groups, 1)
		dims := []int{x.dims[0], w.dims[0]}
		for i := range n {
			size := (x.dims[2+i]+2*pad[i]-dilation[i]*(w.dims[2+i]-1)-1)/stride[i] + 1
			if a.PadMode == "same" {
				size, pad[i] = x.dims[2+i], dilation[i]*(w.dims[2+i]-1)/2
			}
			dims = append(dims, size)
		}
		out := newWide(dims...)
		perGroup := w.dims[0] / groups
		for i := range out.v {
			o := out.index(i)
			if in[2] != nil {
				out.v[i] = in[2].v[o[1]]
			}
			each(w.dims[1:], func(k []int) {
				at := []int{o[0], o[1]/perGroup*w.dims[1] + k[0]}
				for d := range n {
					p := o[2+d]*stride[d] - pad[d] + k[1+d]*dilation[d]
					if p < 0 || p >= x.dims[2+d] {
						return
					}
					at = append(at, p)
				}
				out.v[i] += x.v[x.exact(at)] * w.v[w.exact(append([]int{o[1]}, k...))]
			})
		}
		return dropBatch(out, unbatched)
	}
}

// exact is flat without broadcasting.
func (w *wide) exact(x []int) int {
	i := 0
	for d, v := range x {
		i = i*w.dims[d] + v
	}
	return i
}

func convTransposeReference(n int) reference {
	return func(attrs any, in []*wide) []*wide {
		a, w := attrs.(ConvTransposeAttrs), in[1]
		x, unbatched := asBatch(in[0], n)
		stride, pad, dilation, groups := mustList(a.Stride, n, 1), mustList(a.Padding, n, 0), mustList(a.Dilation, n, 1), max(a.Groups, 1)
		extra := mustList(a.OutputPadding, n, 0)
		dims := []int{x.dims[0], w.dims[1] * groups}
		for i := range n {
			dims = append(dims, (x.dims[2+i]-1)*stride[i]-2*pad[i]+dilation[i]*(w.dims[2+i]-1)+extra[i]+1)
		}
		out := newWide(dims...)
		if in[2] != nil {
			for i := range out.v {
				out.v[i] = in[2].v[out.index(i)[1]]
			}
		}
		perGroup := x.dims[1] / groups
		for i, v := range x.v {
			p := x.index(i)
			each(w.dims[1:], func(k []int) {
				at := []int{p[0], p[1]/perGroup*w.dims[1] + k[0]}
				for d := range n {
					q := p[2+d]*stride[d] - pad[d] + k[1+d]*dilation[d]
					if q < 0 || q >= dims[2+d] {
						return
					}
					at = append(at, q)
				}
				out.v[out.exact(at)] += v * w.v[w.exact(append([]int{p[1]}, k...))]
			})
		}
		return dropBatch(out, unbatched)
	}
}

func TestConv(t *testing.T) {
	for i, o := range []*op.Op{Conv1d, Conv2d, Conv3d} {
		checkAgainst(t, o, convReference(i+1))
	}
	for i, o := range []*op.Op{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d} {
		checkAgainst(t, o, convTransposeReference(i+1))
	}
	for i, o := range []*op.Op{Conv1dWeightGrad, Conv2dWeightGrad, Conv3dWeightGrad} {
		checkAgainst(t, o, convWeightGradReference(i+1))
	}
}

func TestConvSymbols(t *testing.T) {
	dim := func(s string) shape.Dim {
		d, err := shape.ParseDim(s)
		require.NoError(t, err)
		return d
	}
	x := shape.TensorType(array.F32, shape.Of(dim("N"), dim("3"), dim("H"), dim("W")))
	w := shape.TensorType(array.F32, shape.ConstDims(64, 3, 7, 7))
	a := ConvAttrs{Stride: op.IntList(2), Padding: op.IntList(3)}
	y, err := Conv2d.Type(nil, a, []shape.Type{x, w})
	require.NoError(t, err)
	require.Equal(t, "f32[N,64,(H-1)//2+1,(W-1)//2+1]", y.String())
	z := y.Bind(func(s string) shape.Dim { return shape.Const(map[string]int{"N": 2, "H": 224, "W": 99}[s]) })
	require.Equal(t, "f32[2,64,112,50]", z.String())
	require.True(t, Conv2d.Flops(a, []shape.Type{x, w}, z).Is(2*2*64*112*50*3*49))

	y, err = Conv2d.Type(nil, ConvAttrs{PadMode: "same", Dilation: op.IntList(3)}, []shape.Type{x, w})
	require.NoError(t, err)
	require.Equal(t, "f32[N,64,H,W]", y.String())

	_, err = Conv2d.Type(nil, ConvAttrs{Groups: 3}, []shape.Type{x, shape.TensorType(array.F32, shape.ConstDims(63, 4, 7, 7))})
	require.ErrorContains(t, err, "x has 3 channels, weight expects 12 (3 groups of 4)")
}

func TestConvValues(t *testing.T) {
	out, err := Conv1d.Eval(&kernel.Workspace{}, ConvAttrs{PadMode: "same"}, []*array.Array{
		array.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 4), array.FromSlice([]float32{1, 10}, 1, 1, 2)})
	require.NoError(t, err)
	require.Equal(t, []float32{21, 32, 43, 4}, array.Data[float32](out[0]))

	out, err = ConvTranspose1d.Eval(&kernel.Workspace{}, ConvTransposeAttrs{Stride: op.IntList(2)}, []*array.Array{
		array.FromSlice([]float32{1, 2}, 1, 1, 2), array.FromSlice([]float32{1, 10, 100}, 1, 1, 3)})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 10, 102, 20, 200}, array.Data[float32](out[0]))
}

func convWeightGradReference(n int) reference {
	return func(attrs any, in []*wide) []*wide {
		a, x, grad := attrs.(ConvWeightGradAttrs), in[0], in[1]
		stride, pad, dilation, groups := mustList(a.Stride, n, 1), mustList(a.Padding, n, 0), mustList(a.Dilation, n, 1), max(a.Groups, 1)
		dims := []int{grad.dims[1], x.dims[1] / groups}
		for i, d := range kernelSize(a, n) {
			k, _ := d.Int()
			if dims = append(dims, k); a.PadMode == "same" {
				pad[i] = dilation[i] * (k - 1) / 2
			}
		}
		out := newWide(dims...)
		filters := grad.dims[1] / groups
		for i, v := range grad.v {
			p := grad.index(i)
			each(dims[1:], func(k []int) {
				at := []int{p[0], p[1]/filters*dims[1] + k[0]}
				for d := range n {
					q := p[2+d]*stride[d] - pad[d] + k[1+d]*dilation[d]
					if q < 0 || q >= x.dims[2+d] {
						return
					}
					at = append(at, q)
				}
				out.v[out.exact(append([]int{p[1]}, k...))] += v * x.v[x.exact(at)]
			})
		}
		return []*wide{out}
	}
}
