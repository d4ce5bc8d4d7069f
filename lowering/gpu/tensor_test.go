package gpu_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// products are graphs whose products have edges in each direction, operands of several layouts
// and what follows them; D stands for the element type.
var products = map[string]struct {
	text   string
	tensor int
}{
	"matmul": {`%y = call_function[matmul](%a, %b) : D[70,33]
  return %y`, 1},
	"layouts": {`%s = call_function[transpose](%a) {dim0=0, dim1=1} : D[50,70]
  %t = call_function[transpose](%b) {dim0=0, dim1=1} : D[33,50]
  %y = call_function[matmul](%t, %s) : D[33,70]
  return %y`, 1},
	"batches": {`%p = call_function[reshape](%a) {shape=[2,35,50]} : D[2,35,50]
  %q = call_function[reshape](%b) {shape=[1,50,33]} : D[1,50,33]
  %y = call_function[matmul](%p, %q) : D[2,35,33]
  return %y`, 1},
	"linear": {`%w = call_function[transpose](%b) {dim0=0, dim1=1} : D[33,50]
  %y = call_function[linear](%a, %w, %c) : D[70,33]
  %z = call_function[relu](%y) : D[70,33]
  return %z`, 1},
	"stacked": {`%p = call_function[reshape](%a) {shape=[2,35,50]} : D[2,35,50]
  %w = call_function[transpose](%b) {dim0=0, dim1=1} : D[33,50]
  %y = call_function[linear](%p, %w, %c) : D[2,35,33]
  %z = call_function[transpose](%y) {dim0=1, dim1=2} : D[2,33,35]
  return %z`, 1},
	"few": {`%p = call_function[slice](%a) {dim=0, start=3, stop=12} : D[9,50]
  %y = call_function[matmul](%p, %b) : D[9,33]
  return %y`, 0},
}

func product(t *testing.T, body, dtype string) *graph.Module {
	text := "gofx 1\n\ngraph f(%a: D[70,50], %b: D[50,33], %c: D[33]) {\n  " + body + "\n}\n"
	m, err := graph.Parse([]byte(replaced(text, dtype)), "f.fx")
	require.NoError(t, err)
	return m
}

// replaced puts the name of a type in the place of each D before a bracket.
func replaced(text, dtype string) string {
	var out []byte
	for i := range len(text) {
		if text[i] == 'D' && text[i+1] == '[' {
			out = append(out, dtype...)
		} else {
			out = append(out, text[i])
		}
	}
	return string(out)
}

// spreadOver fills an array with numbers between -1 and 1 whose products do not cancel alike.
func spreadOver(d array.DType, seed float64, dims ...int) *array.Array {
	a := array.New(d, dims...)
	for i := range a.Len() {
		array.SetFloat64At(a, i, math.Sin(seed+float64(i)*1.37))
	}
	return a
}

// operandsOf are inputs of the products.
func operandsOf(d array.DType) []*array.Array {
	return []*array.Array{spreadOver(d, 1, 70, 50), spreadOver(d, 2, 50, 33), spreadOver(d, 3, 33)}
}

// tf32 rounds a number to 11 significant bits, halves away from zero.
func tf32(x float64) float64 {
	f, e := math.Frexp(x)
	return math.Ldexp(math.Round(f*2048)/2048, e)
}

// asDoubles returns what the interpreter computes with 64 bits, of operands that round gives.
func asDoubles(t *testing.T, body string, in []*array.Array, round func(float64) float64) *array.Array {
	wide := make([]*array.Array, len(in))
	for k, a := range in {
		wide[k] = array.New(array.F64, a.Shape()...)
		for i := range a.Len() {
			x := array.Float64At(a, i)
			if k < 2 {
				x = round(x)
			}
			array.SetFloat64At(wide[k], i, x)
		}
	}
	m := product(t, body, "f64")
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, wide)
	require.NoError(t, err)
	return out[0]
}

func same(x float64) float64 { return x }

// TestProductsByTensorCores: f16, bf16 and, where it is allowed, f32 agree with products in 64
// bits of the same operands, to the rounding of sums in f32 and of results.
func TestProductsByTensorCores(t *testing.T) {
	g, l := onCUDA(t)
	for name, c := range products {
		for _, v := range []struct {
			dtype array.DType
			tf32  bool
			round func(float64) float64
			near  float64 // of numbers up to 8
			on    int
		}{
			{array.F16, false, same, 0x1p-8, c.tensor},
			{array.BF16, false, same, 0x1p-5, c.tensor},
			{array.F32, true, tf32, 1e-5, c.tensor},
			{array.F32, false, same, 1e-5, 0},
		} {
			if name == "few" && v.tf32 {
				v.round = same // too few rows: f32 as such
			}
			g.TF32 = v.tf32
			in := operandsOf(v.dtype)
			e := compile(t, g, product(t, c.text, v.dtype.String()))
			require.Equal(t, v.on, e.Stats().Tensor, "%s %s", name, v.dtype)
			for range 2 {
				out, err := e.Run(ctx, in)
				require.NoError(t, err)
				want := asDoubles(t, c.text, in, v.round)
				require.Equal(t, want.Shape(), out[0].Shape())
				for i := range want.Len() {
					require.InDelta(t, array.Float64At(want, i), array.Float64At(out[0], i), v.near, "%s %s %d", name, v.dtype, i)
				}
			}
		}
	}
	t.Run("ptx", func(t *testing.T) { ptx(t, l.sources) })
}

// older is a device of an architecture before tensor cores have the instructions.
type older struct {
	device.Device
	arch string
}

func (o older) Info() device.Info {
	i := o.Device.Info()
	i.Arch = o.arch
	return i
}

// TestTensorCoresNeedTheirArchitecture: cards before sm_80, and devices that do not say what they
// are, get the other kernels.
func TestTensorCoresNeedTheirArchitecture(t *testing.T) {
	_, l := onCUDA(t)
	for arch, want := range map[string]int{"sm_75": 0, "sm_70": 0, "": 0, "sm_80": 1, "sm_120": 1} {
		g := gpu.Target{Device: run.NewDevice(older{l, arch}), Cache: "-", TF32: true}
		e := compile(t, g, product(t, products["matmul"].text, "f16"))
		require.Equal(t, want, e.Stats().Tensor, arch)
	}
}

// TestTF32IsAnOption: one device keeps programs of both kinds apart, and unset f32 is exact to f32.
func TestTF32IsAnOption(t *testing.T) {
	g, _ := onCUDA(t)
	one := array.New(array.F32, 70, 50)
	other := array.New(array.F32, 50, 33)
	const x = 1 + 0x1p-20 // which tf32 does not have
	array.SetFloat64At(one, 0, x)
	array.SetFloat64At(other, 0, 1)
	in := []*array.Array{one, other, array.New(array.F32, 33)}
	for _, rounded := range []bool{true, false, true} {
		g.TF32 = rounded
		e, err := g.Compile(product(t, products["matmul"].text, "f32"), lowering.Options{})
		require.NoError(t, err)
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		require.NoError(t, e.Close())
		want := x
		if rounded {
			want = 1
		}
		require.Equal(t, want, array.Float64At(out[0], 0))
	}
}

// TestIntegersAreNoBytes: products of integers, of whose words tensor cores would see the bytes, are not theirs.
func TestIntegersAreNoBytes(t *testing.T) {
	g, _ := onCUDA(t)
	for _, d := range []string{"i32", "i64"} {
		m := parsed(t, "gofx 1\ngraph g(%x: "+d+"[20,40], %y: "+d+"[40,24]) {\n  %z = call_function[matmul](%x, %y)\n  return %z\n}\n")
		var in []*array.Array
		for _, n := range m.Graph.Inputs() {
			_, dims, _ := n.Type().Concrete()
			a := array.New(n.Type().DType(), dims...)
			for i := range a.Len() {
				array.SetInt64At(a, i, int64(i*7919%100003)-50000)
			}
			in = append(in, a)
		}
		e := compile(t, g, m)
		require.Zero(t, e.Stats().Tensor)
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, d, interpreted(t, m, in...), got)
	}
}

// TestNotFiniteOnTensorCores: infinities and NaN stay what they are, zeros after the edges of
// tiles meet none of them.
func TestNotFiniteOnTensorCores(t *testing.T) {
	g, _ := onCUDA(t)
	g.TF32 = true
	for _, d := range []array.DType{array.F16, array.BF16, array.F32} {
		in := operandsOf(d)
		array.SetFloat64At(in[0], 69*50+49, math.Inf(1)) // the last of the last row
		array.SetFloat64At(in[0], 3, math.NaN())
		e := compile(t, g, product(t, products["matmul"].text, d.String()))
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		for r := range 70 {
			for c := range 33 {
				x := array.Float64At(out[0], r*33+c)
				switch r {
				case 0:
					require.True(t, math.IsNaN(x), "%s %d %d", d, r, c)
				case 69:
					require.True(t, math.IsInf(x, 0), "%s %d %d", d, r, c)
				default:
					require.False(t, math.IsNaN(x) || math.IsInf(x, 0), "%s %d %d", d, r, c)
				}
			}
		}
	}
}
