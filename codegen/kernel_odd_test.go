package codegen_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// oddFlows are bodies that return their operands, twice, in another order, or
// weights; loops without carried values, over slices with gaps; a branch in a branch.
var oddFlows = []string{`
graph a(%x: f32[N,3], %p: bool[]) {
  symbol N = dim(%x, 0)
  %c = call_function[cond](%p, %x, %x) : (f32[N,3], f32[N,3], f32[3,3]) {
    region(%a: f32[N,3], %b: f32[N,3]) {
      %w = get_attr[w] : f32[3,3]
      return (%b, %b, %w)
    }
    region(%a: f32[N,3], %b: f32[N,3]) {
      %w = get_attr[w] : f32[3,3]
      %t = call_function[transpose](%w) {dim0=0, dim1=1} : f32[3,3]
      %m = call_function[neg](%a) : f32[N,3]
      return (%m, %a, %t)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[N,3]
  %c1 = call_function[getitem](%c) {index=1} : f32[N,3]
  %c2 = call_function[getitem](%c) {index=2} : f32[3,3]
  %d = call_function[cat](%c0, %c1, %c0) {dim=0} : f32[3*N,3]
  return %d, %c2, %c0
}
param w : f32[3,3]
`, `
graph b(%x: f32[N,3], %p: bool[]) {
  symbol N = dim(%x, 0)
  %s = call_function[scan](%x, %p) {carry=0, seqs=1} : (f32[N,3], f32[N]) {
    region(%r: f32[3], %q: bool[]) {
      %m = call_function[sum](%r) : f32[]
      return (%r, %m)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[N,3]
  %s1 = call_function[getitem](%s) {index=1} : f32[N]
  return %s0, %s1
}
`, `
graph c(%x: f32[N,3], %p: bool[]) {
  symbol N = dim(%x, 0)
  %l = call_function[while](%p, %x, %x) {carry=3} : (bool[], f32[N,3], f32[N,3]) {
    region(%q: bool[], %a: f32[N,3], %b: f32[N,3]) {
      return %q
    }
    region(%q: bool[], %a: f32[N,3], %b: f32[N,3]) {
      %m = call_function[abs](%a) : f32[N,3]
      %n = call_function[sum](%m) : f32[]
      %t = call_function[gt](%n) {other=0.5} : bool[]
      %h = call_function[mul](%b) {other=0.25} : f32[N,3]
      return (%t, %h, %a)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : bool[]
  %l1 = call_function[getitem](%l) {index=1} : f32[N,3]
  return %l0, %l1
}
`, `
graph e(%x: f32[N,4], %p: bool[]) {
  symbol N = dim(%x, 0)
  %h = call_function[slice](%x) {dim=1, start=0, stop=9, step=2} : f32[N,2]
  %s = call_function[scan](%h, %h) {carry=0, seqs=2} : (f32[N], f32[N,2,1]) {
    region(%a: f32[2], %b: f32[2]) {
      %c = call_function[reshape](%b) {shape=[2,1]} : f32[2,1]
      %m = call_function[sum](%a) : f32[]
      return (%m, %c)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[N]
  %s1 = call_function[getitem](%s) {index=1} : f32[N,2,1]
  %c = call_function[cond](%p, %s1, %p) : (f32[N,2,1]) {
    region(%a: f32[N,2,1], %b: bool[]) {
      return (%a)
    }
    region(%a: f32[N,2,1], %b: bool[]) {
      %c = call_function[cond](%b, %a) : (f32[N,2,1]) {
        region(%g: f32[N,2,1]) {
          return (%g)
        }
        region(%g: f32[N,2,1]) {
          %k = call_function[neg](%g) : f32[N,2,1]
          return (%k)
        }
      }
      %d = call_function[getitem](%c) {index=0} : f32[N,2,1]
      return (%d)
    }
  }
  %z = call_function[getitem](%c) {index=0} : f32[N,2,1]
  return %s0, %z
}
`}

// oddStateText reads state before and after a write, in a body by its path and as an
// operand that is a view of it, and carries it through a loop.
const oddStateText = `
graph d(%x: f32[N,3], %p: bool[]) {
  symbol N = dim(%x, 0)
  %u = get_attr[u] : f32[3]
  %k = call_function[add](%u, %u) : f32[3]
  %w = call_function[assign](%u, %k) : f32[3]
  %r = call_function[reshape](%w) {shape=[3,1]} : f32[3,1]
  %s = call_function[scan](%u, %x, %r) {carry=1, seqs=1} : (f32[3], f32[N,3]) {
    region(%a: f32[3], %b: f32[3], %z: f32[3,1]) {
      %v = get_attr[u] : f32[3]
      %t = call_function[transpose](%z) {dim0=0, dim1=1} : f32[1,3]
      %f = call_function[reshape](%t) {shape=[3]} : f32[3]
      %m = call_function[mul](%a) {other=0.5} : f32[3]
      %y = call_function[add](%m, %b) : f32[3]
      %g = call_function[add](%v, %f) : f32[3]
      return (%y, %g)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[3]
  %s1 = call_function[getitem](%s) {index=1} : f32[N,3]
  %o = call_function[assign](%u, %s0) : f32[3]
  return %s1, %o, %u
}
param u : f32[3] buffer
`

// TestOddControlFlow holds generated code to the executor, and that to the
// interpreter, also for no rows at all.
func TestOddControlFlow(t *testing.T) {
	var g op.Gen
	var list []*kernelCase
	for i, text := range oddFlows {
		c := &kernelCase{name: "odd" + strconv.Itoa(i), module: kernelModule(t, text), flat: true, flow: true, symbols: []string{"N"}}
		columns, _ := c.module.Graph.Inputs()[0].Type().Dim(1).Int()
		for _, n := range []int{2, 5, 0, 1} {
			for _, p := range []bool{true, false} {
				c.inputs = append(c.inputs, []*array.Array{g.Normal(n, columns), array.Scalar(p)})
				c.sizes = append(c.sizes, []int{n})
			}
		}
		list = append(list, c)
	}
	runCases(t, list)
	for _, c := range list {
		for _, in := range c.inputs {
			got, err := c.exec.Run(background, in)
			require.NoError(t, err)
			want, err := (&interp.Interpreter{State: interp.NewState(c.module)}).Run(background, tensor.New(in[0]), tensor.New(in[1]))
			require.NoError(t, err)
			for i := range want {
				require.True(t, slices.Equal(want[i].Shape(), got[i].Shape()), c.name)
				for k := range got[i].Len() {
					require.InDelta(t, array.Float64At(want[i].Array(), k), array.Float64At(got[i], k), 1e-5, c.name)
				}
			}
		}
	}
}

// TestOddState compares three calls in each of the three, with no, one and two rows.
func TestOddState(t *testing.T) {
	c := &kernelCase{name: "odd", module: kernelModule(t, oddStateText), flow: true, opts: codegen.KernelOptions{Type: "Net", Package: "odd"}, extra: `
		s, err := m.NewState()
		check(err)
		for k := range 3 {
			x := array.NewDense[float32](k, 3)
			for i := range x.Data() {
				x.Data()[i] = float32(i + k)
			}
			a, b, d, err := m.Forward(ctx, s, x, array.NewDense[bool]())
			check(err)
			fmt.Println(a.Data(), b.Data(), d.Data(), s.U.Data(), odd.NetPeakBytes(k) > 0)
		}
		var _ *odd.NetState = s
		_, err = odd.LoadNetState(strings.NewReader(""), 0)
		failure(err)
`}
	_, lines, failures := runProgram(t, []*kernelCase{c})
	require.Len(t, failures, 1)
	s := interp.NewState(c.module)
	for k := range 3 {
		x := array.New(array.F32, k, 3)
		for i := range x.Len() {
			array.SetFloat64At(x, i, float64(i+k))
		}
		out, err := c.exec.Run(background, []*array.Array{x, array.Scalar(false)})
		require.NoError(t, err)
		text := func(a *array.Array) string { return fmt.Sprint(append([]float32{}, array.Data[float32](a)...)) }
		require.Equal(t, text(out[0])+" "+text(out[1])+" "+text(out[2])+" "+text(c.exec.State("u"))+" true", lines[k])
		want, err := (&interp.Interpreter{State: s}).Run(background, tensor.New(x), tensor.Scalar(false))
		require.NoError(t, err)
		for i := range want {
			require.InDeltaSlice(t, append([]float32{}, tensor.Data[float32](want[i])...), append([]float32{}, array.Data[float32](out[i])...), 1e-5)
		}
	}
}

// trained are equal blocks in training mode, whose batch norms write running
// statistics; each also sums them in a loop.
type trained struct{ Blocks []*trainedBlock }

type trainedBlock struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
	Up   *nn.Conv2d
	Bn2  *nn.BatchNorm2d
	Seen *tensor.Tensor `fx:",buffer"`
}

func (m *trained) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, b := range m.Blocks {
		x = b.Bn2.Forward(b.Up.Forward(tensor.Relu(b.Bn.Forward(b.Conv.Forward(x))))).Add(x)
	}
	for _, b := range m.Blocks {
		last, _ := tensor.Scan(func(carry, image []*tensor.Tensor) (next, all []*tensor.Tensor) {
			return []*tensor.Tensor{carry[0].Add(image[0].Mean().Mul(b.Bn.RunningMean.Sum()))}, nil
		}, []*tensor.Tensor{b.Seen}, []*tensor.Tensor{x})
		b.Seen.AssignInPlace(last[0])
	}
	return x
}

// TestStateOfRepeatedBlocks compares three calls of other sizes with the executor.
func TestStateOfRepeatedBlocks(t *testing.T) {
	m := &trained{}
	for range 3 {
		m.Blocks = append(m.Blocks, &trainedBlock{nn.NewConv2d(4, 4, 3, nn.Padding(1)), nn.NewBatchNorm2d(4), nn.NewConv2d(4, 4, 1), nn.NewBatchNorm2d(4), tensor.Scalar(float32(0))})
	}
	nn.Train(m)
	c := &kernelCase{name: "trained", module: traceWith(t, m, fx.Input("x", "f32[N,4,6,6]")), extra: `
		s, err := m.NewState()
		check(err)
		for k := range 3 {
			x := array.NewDense[float32](k+1, 4, 6, 6)
			for i := range x.Data() {
				x.Data()[i] = float32(i*7%11+k)*0.25 - 1
			}
			y, err := m.Forward(ctx, s, x)
			check(err)
			fmt.Println(y.Data()[:9], s.Blocks0BnRunningMean.Data(), s.Blocks2Bn2RunningVar.Data(), s.Blocks1BnNumBatchesTracked.Data(), s.Blocks1Seen.Data())
		}
		fmt.Println(trained.PeakBytes(3) == m.Measure())
`}
	_, lines, _ := runProgram(t, []*kernelCase{c})
	for k := range 3 {
		x := array.NewDense[float32](k+1, 4, 6, 6)
		for i := range x.Data() {
			x.Data()[i] = float32(i*7%11+k)*0.25 - 1
		}
		out, err := c.exec.Run(background, []*array.Array{x.Array})
		require.NoError(t, err)
		f32 := func(path string) []float32 { return array.Data[float32](c.exec.State(path)) }
		require.Equal(t, strings.TrimSpace(fmt.Sprintln(array.Data[float32](out[0])[:9], f32("blocks.0.bn.running_mean"), f32("blocks.2.bn2.running_var"),
			array.Data[int64](c.exec.State("blocks.1.bn.num_batches_tracked")), f32("blocks.1.seen"))), lines[k])
	}
	require.Equal(t, "true", lines[3])
	require.Equal(t, 3, strings.Count(text(c.files), "\tmodelBlocks(s, "), "blocks with state are one function")
}
