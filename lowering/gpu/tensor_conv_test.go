package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// sized is a device that says how many processors it has, which the sizes of groups follow.
type sized struct {
	device.Device
	units int
}

func (s sized) Info() device.Info {
	i := s.Device.Info()
	i.Units = s.units
	return i
}

// randomConv makes a convolution that tensor cores take, of any spatial rank.
func randomConv(r *rand.Rand, d array.DType) contraction {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	groups := pick(1, 1, 1, 2, 3)
	o := []*op.Op{std.Conv1d, std.Conv2d, std.Conv2d, std.Conv3d}[r.IntN(4)]
	dims := map[*op.Op][]int{std.Conv1d: {67}, std.Conv2d: {11, pick(7, 12)}, std.Conv3d: {4, 5, 6}}[o]
	a := std.ConvAttrs{Stride: op.IntList(pick(1, 2)), Padding: op.IntList(pick(0, 1, 2)), Dilation: op.IntList(pick(1, 1, 2)), Groups: groups}
	channels, filters := pick(3, 8, 16, 17), pick(16, 20, 37, 70)*groups
	window := make([]int, len(dims))
	for i := range window {
		window[i] = pick(1, 2, 3)
	}
	if channels < 16 {
		window[0] = 3
		if len(window) > 1 {
			window[1] = 3
		}
	}
	if channels*window[0] < 16 {
		channels = 8
	}
	x := spreadOver(d, r.Float64(), append([]int{pick(1, 2), channels * groups}, dims...)...)
	return contraction{o, a, []*array.Array{x, spreadOver(d, r.Float64(), append([]int{filters, channels}, window...)...), spreadOver(d, 3, filters)}}
}

// reference computes a call with 64 bits, of operands that round gives, a bias as it is.
func reference(t *testing.T, c contraction, round func(float64) float64) *array.Array {
	wide := make([]*array.Array, len(c.in))
	for k, a := range c.in {
		wide[k] = array.New(array.F64, a.Shape()...)
		for i := range a.Len() {
			x := array.Float64At(a, i)
			if k < 2 {
				x = round(x)
			}
			array.SetFloat64At(wide[k], i, x)
		}
	}
	y, err := c.op.Eval(&kernel.Workspace{}, c.attrs, wide)
	require.NoError(t, err)
	return y[0]
}

// TestConvolutionsByTensorCores: random convolutions with an activation after them agree with
// those in 64 bits of the same operands, in groups of all sizes.
func TestConvolutionsByTensorCores(t *testing.T) {
	_, l := onCUDA(t)
	for i, v := range []struct {
		dtype array.DType
		round func(float64) float64
		near  float64 // for each that is summed
	}{{array.F16, same, 0x1p-11}, {array.BF16, same, 0x1p-8}, {array.F32, tf32, 1e-6}} {
		for _, units := range []int{1, 6, 1 << 20} {
			g := gpu.Target{Device: run.NewDevice(sized{l, units}), Cache: "-", TF32: true}
			r := rand.New(rand.NewPCG(uint64(units), uint64(i)))
			b := newTogether(t)
			var calls []contraction
			for len(calls) < 4 {
				c := randomConv(r, v.dtype)
				if y, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in); err != nil || y[0].Len()/y[0].Shape()[1] < 16 {
					continue
				}
				calls = append(calls, c)
				b.operands(c.in)
			}
			in := b.m.Graph.Inputs()
			for k, c := range calls {
				b.result(b.c.Function(std.Relu, op.None{}, b.c.Function(c.op, c.attrs, in[3*k:3*k+3]...)), k)
			}
			e := compile(t, g, b.module())
			require.Equal(t, len(calls), e.Stats().Tensor)
			got, err := e.Run(ctx, b.in)
			require.NoError(t, err)
			for k, c := range calls {
				want := reference(t, c, v.round)
				what := fmt.Sprintf("%s %+v %s %v by %v, %d processors", c.op.Name, c.attrs, v.dtype, c.in[0].Shape(), c.in[1].Shape(), units)
				require.Equal(t, want.Shape(), got[k].Shape(), what)
				deep := float64(c.in[1].Len() / c.in[1].Shape()[0])
				for j := range want.Len() {
					w := math.Max(array.Float64At(want, j), 0)
					require.InDelta(t, w, array.Float64At(got[k], j), v.near*math.Max(math.Sqrt(deep), math.Abs(w)), "%s: %d", what, j)
				}
			}
		}
	}
	t.Run("ptx", func(t *testing.T) { ptx(t, l.sources) })
}

// forTensorCores reports whether bytes of a call, with the result y, are multiplied by tensor cores.
func forTensorCores(c contraction, y *array.Array) bool {
	w := c.in[3].Shape()
	least := func(n ...int) bool { return min(n[0], n[1], n[2]) >= 16 }
	switch c.op {
	case std.QLinear:
		return least(y.Len()/w[0], w[0], w[1])
	case std.QMatmul:
		return least(y.Shape()[len(y.Shape())-2], w[len(w)-1], w[len(w)-2])
	}
	groups := c.attrs.(std.QConvAttrs).Groups
	zero := c.in[5] != nil || c.in[3].DType() == array.U8
	return w[1] > 1 && (groups == 1 || !zero) && least(y.Len()/w[0], w[0]/groups, c.in[3].Len()/w[0])
}

// TestBytesByTensorCores: products and convolutions of bytes are those of the processor bit by
// bit, sums that wrap around included, in groups of all sizes; cards before sm_80 multiply by dp4a.
func TestBytesByTensorCores(t *testing.T) {
	_, l := onCUDA(t)
	n := 4
	if fxtest.IsNightly() {
		n = 80
	}
	for _, units := range []int{1, 5, 1 << 20} {
		r := rand.New(rand.NewPCG(uint64(units), 69))
		var calls []contraction
		for kinds := map[*op.Op]int{}; len(calls) < n; {
			c := randomQuant(r)
			if w := c.in[3]; kinds[c.op] == n/4 || w.Len() < 16*16 || c.in[0].Len() < 16*16 {
				continue
			}
			y, err := c.op.Eval(&kernel.Workspace{}, c.attrs, c.in)
			if err == nil && forTensorCores(c, y[0]) {
				calls, kinds[c.op] = append(calls, withResidual(r, c, y[0])), kinds[c.op]+1
			}
		}
		if units == 1 && fxtest.IsNightly() {
			calls = append(calls, wrapped())
		}
		s := sameBytes(t, gpu.Target{Device: run.NewDevice(sized{l, units}), Cache: "-"}, calls)
		require.Equal(t, len(calls), s.Tensor)
		if units == 5 {
			s := sameBytes(t, gpu.Target{Device: run.NewDevice(older{l, "sm_75"}), Cache: "-"}, calls[:2])
			require.Zero(t, s.Tensor)
		}
	}
	t.Run("ptx", func(t *testing.T) { ptx(t, l.sources) })
}

// wrapped is a product whose sums do not fit 32 bits.
func wrapped() contraction {
	many := array.Contiguous(array.Expand(array.FromSlice([]int8{-128}, 1, 1), 16, 140000))
	in := append([]*array.Array{many, nil, nil, many}, make([]*array.Array, 9)...)
	return contraction{std.QLinear, std.QLinearAttrs{DType: array.I32}, in}
}
