package codegen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// branchText has a cond in a while in a scan, views as operands, weights in bodies (as
// they are and packed), sizes that are symbols, and a value that a body returns as it
// is given.
const branchText = `
graph branches(%x: f32[N,S,4], %limit: f32[]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 1)
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[S,N,4]
  %zero = call_function[zeros]() {size=[N,4]} : f32[N,4]
  %scan = call_function[scan](%zero, %t, %limit) {carry=1, seqs=1} : (f32[N,4], f32[S,N,4], f32[S,4,N]) {
    region body(%acc: f32[N,4], %row: f32[N,4], %k: f32[]) {
      %w = get_attr[w] : f32[4,4]
      %p = call_function[matmul](%row, %w) : f32[N,4]
      %while = call_function[while](%p, %k, %row) {carry=2} : (f32[N,4], f32[]) {
        region cond(%a: f32[N,4], %c: f32[], %r: f32[N,4]) {
          %big = call_function[gt](%c) {other=0.5} : bool[]
          return %big
        }
        region body(%a: f32[N,4], %c: f32[], %r: f32[N,4]) {
          %s = call_function[sum](%a) : f32[]
          %positive = call_function[gt](%s) {other=0.0} : bool[]
          %turned = call_function[transpose](%r) {dim0=0, dim1=1} : f32[4,N]
          %cond = call_function[cond](%positive, %a, %turned) : (f32[N,4]) {
            region(%u: f32[N,4], %v: f32[4,N]) {
              %b = get_attr[bias] : f32[4]
              %y = call_function[sub](%u, %b) : f32[N,4]
              return (%y)
            }
            region(%u: f32[N,4], %v: f32[4,N]) {
              %f = call_function[reshape](%v) {shape=[2,2*N]} : f32[2,2*N]
              %m = call_function[mean](%f) : f32[]
              %y = call_function[add](%u, %m) : f32[N,4]
              return (%y)
            }
          }
          %y = call_function[getitem](%cond) {index=0} : f32[N,4]
          %half = call_function[mul](%c) {other=0.5} : f32[]
          return (%y, %half)
        }
      }
      %q = call_function[getitem](%while) {index=0} : f32[N,4]
      %sum = call_function[add](%acc, %q) : f32[N,4]
      %flat = call_function[transpose](%q) {dim0=0, dim1=1} : f32[4,N]
      return (%sum, %row, %flat)
    }
  }
  %last = call_function[getitem](%scan) {index=0} : f32[N,4]
  %rows = call_function[getitem](%scan) {index=1} : f32[S,N,4]
  %all = call_function[getitem](%scan) {index=2} : f32[S,4,N]
  return %last, %rows, %all
}
param w : f32[4,4]
param bias : f32[4]
`

// guardedText has a branch that only some sizes can enter.
const guardedText = `
graph guarded(%x: f32[N], %deep: bool[]) {
  symbol N = dim(%x, 0)
  %cond = call_function[cond](%deep, %x) : (f32[]) {
    region pairs(%a: f32[N]) {
      guard N % 2 == 0
      %r = call_function[reshape](%a) {shape=[N//2,2]} : f32[N//2,2]
      %m = call_function[amax](%r) {dim=[1]} : f32[N//2]
      %s = call_function[sum](%m) : f32[]
      return (%s)
    }
    region all(%a: f32[N]) {
      %s = call_function[sum](%a) : f32[]
      return (%s)
    }
  }
  %y = call_function[getitem](%cond) {index=0} : f32[]
  return %y
}
`

// recordText writes into a row of a buffer each trip, of which it makes five at most: the
// buffer is changed in its place.
const recordText = `
graph record(%x: f32[4], %trips: i64[]) {
  %zero = call_function[full]() {value=0, dtype=i64} : i64[]
  %rows = call_function[zeros]() {size=[5,4]} : f32[5,4]
  %while = call_function[while](%zero, %rows, %x, %trips) {carry=2, max_trips=5} : (i64[], f32[5,4]) {
    region cond(%i: i64[], %b: f32[5,4], %v: f32[4], %n: i64[]) {
      %more = call_function[lt](%i, %n) : bool[]
      return %more
    }
    region body(%i: i64[], %b: f32[5,4], %v: f32[4], %n: i64[]) {
      %at = call_function[reshape](%i) {shape=[1,1]} : i64[1,1]
      %row = call_function[expand](%at) {shape=[1,4]} : i64[1,4]
      %f = call_function[cast](%i) {dtype=f32} : f32[]
      %y = call_function[mul](%v, %f) : f32[4]
      %src = call_function[reshape](%y) {shape=[1,4]} : f32[1,4]
      %next = call_function[add](%i) {other=1} : i64[]
      %new = call_function[scatter](%b, %row, %src) : f32[5,4]
      return (%next, %new)
    }
  }
  %all = call_function[getitem](%while) {index=1} : f32[5,4]
  return %all
}
`

// lookupText indexes a table in a loop, which may fail in any round.
const lookupText = `
graph lookup(%first: i64[1], %ids: i64[S]) {
  symbol S = dim(%ids, 0)
  %scan = call_function[scan](%first, %ids) {carry=1, seqs=1} : (i64[1], f32[S,1,3]) {
    region step(%last: i64[1], %id: i64[]) {
      %table = get_attr[table] : f32[5,3]
      %both = call_function[add](%last, %id) : i64[1]
      %row = call_function[embedding](%both, %table) : f32[1,3]
      return (%both, %row)
    }
  }
  %all = call_function[getitem](%scan) {index=1} : f32[S,1,3]
  return %all
}
param table : f32[5,3]
`

// looped runs equal layers in the body of a loop.
type looped struct{ *encoder }

func (m *looped) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[1].GtScalar(0) },
		func(in []*tensor.Tensor) []*tensor.Tensor {
			h := in[0]
			for _, l := range m.Layers {
				h = l.Forward(h)
			}
			return []*tensor.Tensor{h, in[1].SubScalar(1)}
		}, x, tensor.Scalar(int64(3)))
	return m.Head.Forward(m.Layers[0].Norm.Forward(out[0]))
}

// TestKernelControlFlow generates, runs and compares with the executor.
func TestKernelControlFlow(t *testing.T) {
	var g op.Gen
	branches := &kernelCase{name: "branches", module: kernelModule(t, branchText), flat: true, flow: true, symbols: []string{"N", "S"}}
	for _, c := range [][]int{{3, 5}, {1, 1}, {2, 0}, {4, 2}} {
		for _, limit := range []float32{7, 0} {
			branches.inputs = append(branches.inputs, []*array.Array{g.Normal(c[0], c[1], 4), array.Scalar(limit)})
			branches.sizes = append(branches.sizes, c)
		}
	}
	guarded := &kernelCase{name: "guarded", module: kernelModule(t, guardedText), flat: true, flow: true, symbols: []string{"N"},
		inputs: [][]*array.Array{{g.Normal(6), array.Scalar(true)}, {g.Normal(5), array.Scalar(false)}, {g.Normal(6), array.Scalar(false)}}, sizes: [][]int{{6}, {5}, {6}},
		extra: `
		deep, five := array.Dense[bool]{array.Scalar(true)}, array.NewDense[float32](5)
		_, err = m.Forward(ctx, five, deep)
		failure(err)
		_, err = m.Forward(ctx, array.NewDense[float32](4), deep)
		check(err)
		_, err = m.Forward(ctx, five, array.NewDense[bool]())
		check(err)
`}
	lookup := &kernelCase{name: "lookup", module: kernelModule(t, lookupText), flat: true, flow: true, symbols: []string{"S"},
		inputs: [][]*array.Array{{array.FromSlice([]int64{0}), array.FromSlice([]int64{1, 2, 1, -3})}, {array.FromSlice([]int64{0}), array.New(array.I64, 0)}}, sizes: [][]int{{4}, {0}},
		extra: `
		ids := func(n ...int64) array.Dense[int64] { return array.DenseOf(n, len(n)) }
		_, err = m.Forward(ctx, ids(0), ids(1, 2, 7, 0))
		failure(err)
		_, err = m.Forward(ctx, ids(0), ids(1, 2, 1, 0))
		check(err)
		stopped, stop := context.WithCancel(ctx)
		stop()
		_, err = m.Forward(stopped, ids(0), ids(1))
		failure(err)
`}
	layers := &kernelCase{name: "layers", module: traced(t, &looped{newEncoder(3, 3)}, encoderSpec("f32[N,S,16]")), flat: true, flow: true, symbols: []string{"N", "S"},
		inputs: [][]*array.Array{{g.Normal(2, 6, 16)}, {g.Normal(1, 3, 16)}}, sizes: [][]int{{2, 6}, {1, 3}}}
	fixed := &kernelCase{name: "fixed", module: traced(t, &looped{newEncoder(2, 2)}, encoderSpec("f32[2,7,16]")), flat: true, flow: true,
		opts: codegen.KernelOptions{Type: "Net", Package: "fixed", Weights: codegen.WeightsEmbed}, inputs: [][]*array.Array{{g.Normal(2, 7, 16)}}}
	talks := talking(t, &g)
	record := &kernelCase{name: "record", module: kernelModule(t, recordText), flat: true, flow: true, extra: `
		_, err = m.Forward(ctx, array.NewDense[float32](4), array.Dense[int64]{array.Scalar(int64(6))})
		failure(err)
`}
	for _, trips := range []int64{3, 0, 5, 1} {
		record.inputs = append(record.inputs, []*array.Array{g.Normal(4), array.Scalar(trips)})
	}
	cases := []*kernelCase{branches, guarded, lookup, record, layers, fixed, talks}
	dir, failures := runCases(t, cases)
	want := []string{
		`^node %cond: input "a" is f32\[5\]: .*N \(axis 0, here 5\) divisible by 2 .*FX1022`,
		`^node %row: .*FX`,
		`^node %scan: stopped: context canceled \[FX1026\]`,
		`^node %while: the loop goes on after 5 trips.*FX2029`,
		`^node %Say: the hook panicked: no \[FX2033\]`,
	}
	require.Len(t, failures, len(want), strings.Join(failures, "\n"))
	for i, w := range want {
		require.Regexp(t, w, failures[i])
	}
	for _, c := range cases {
		checkStyle(t, c.files)
		checkFunctions(t, c.files)
	}
	require.Equal(t, 1, strings.Count(text(layers.files), "Layers(s *"), "layers of a body are one function")
	require.Equal(t, 1, strings.Count(text(talks.files), "s.Tell(\"Say\", \"github.com/gofx-dev/gofx/codegen_test.Say\", s.Ins(&b.up, x))"), "equal calls are one function")
	goTool(t, dir, nil, "vet", "./branches", "./guarded", "./lookup", "./record", "./layers", "./fixed", "./talking")
}

func text(f *codegen.Files) string {
	var all strings.Builder
	for _, x := range f.List {
		all.Write(x.Data)
	}
	return all.String()
}

// memory has state of several types that straight code, branches and loops write, read
// before and after the write, and through views.
type memory struct {
	Sum   *tensor.Tensor `fx:"sum,buffer"`
	Calls *tensor.Tensor `fx:"stats.calls,buffer"`
	Rows  *tensor.Tensor `fx:"rows,buffer"`
	Fixed *nn.Linear
}

func newMemory() *memory {
	m := &memory{Sum: tensor.FromSlice([]float32{1, 2, 3}), Calls: tensor.Scalar(int64(0)), Rows: tensor.Zeros(2, 3), Fixed: nn.NewLinear(3, 3)}
	copy(tensor.Data[float32](m.Fixed.Weight), []float32{1, 0.5, -0.25, 0, 2, 1, 0.25, -1, 0.5}) // sums are exact in any order
	copy(tensor.Data[float32](m.Fixed.Bias), []float32{1, 0, -0.5})
	return m
}

func (m *memory) Forward(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	before := m.Sum.MulScalar(2)
	m.Calls.AddScalarInPlace(1)
	column := m.Rows.T().Select(0, 1)
	out := tensor.Cond(x.Sum().GtScalar(0), func(in []*tensor.Tensor) []*tensor.Tensor {
		m.Sum.AddInPlace(in[0].Sum(0))
		return []*tensor.Tensor{in[0].Mul(m.Sum)}
	}, func(in []*tensor.Tensor) []*tensor.Tensor {
		last, _ := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, all []*tensor.Tensor) {
			m.Rows.Select(0, 0).AddInPlace(rows[0])
			return []*tensor.Tensor{carry[0].Add(m.Rows.Sum()).Add(m.Sum.Sum())}, nil
		}, []*tensor.Tensor{in[0].Sum()}, []*tensor.Tensor{in[0]})
		return []*tensor.Tensor{in[0].Add(last[0])}
	}, m.Fixed.Forward(x))
	m.Rows.Select(0, 1).AssignInPlace(m.Sum)
	return out[0].Add(before), column.Add(m.Calls.Cast(array.F32)).Add(m.Sum.Sum())
}

// stateText runs two goroutines with a State each, compares their results with
// those of sequential calls, and tries calls that must fail.
const stateText = `
		inputs := func(k int) array.Dense[float32] { return array.DenseOf([]float32{1, -2, float32(k%2*3) - 1, 0.5, float32(-k) / 4, 1}, 2, 3) }
		one, err := m.NewState()
		check(err)
		var want []string
		var halfway bytes.Buffer
		for k := range 6 {
			if k == 3 {
				check(one.Save(&halfway))
			}
			a, b, err := m.Forward(ctx, one, inputs(k))
			check(err)
			want = append(want, fmt.Sprint(a.Data(), b.Data(), one.Sum.Data(), one.StatsCalls.Data(), one.Rows.Data()))
		}
		again, err := memory.LoadState(bytes.NewReader(halfway.Bytes()), int64(halfway.Len()))
		check(err)
		together(func() {
			own, err := m.NewState()
			check(err)
			for k := range 6 {
				a, b, err := m.Forward(ctx, own, inputs(k))
				check(err)
				if got := fmt.Sprint(a.Data(), b.Data(), own.Sum.Data(), own.StatsCalls.Data(), own.Rows.Data()); got != want[k] {
					fmt.Println("error:", got, "expected", want[k])
					os.Exit(1)
				}
			}
		})
		for k := 3; k < 6; k++ {
			a, b, err := m.Forward(ctx, again, inputs(k))
			check(err)
			if got := fmt.Sprint(a.Data(), b.Data(), again.Sum.Data(), again.StatsCalls.Data(), again.Rows.Data()); got != want[k] {
				fmt.Println("error: a loaded state:", got, "expected", want[k])
				os.Exit(1)
			}
		}
		for _, line := range want {
			fmt.Println("STATE", line)
		}
		a, b, err := m.Forward(ctx, again, inputs(0))
		check(err)
		x := inputs(1)
		if n := testing.AllocsPerRun(5, func() { check(m.ForwardInto(ctx, again, x, a, b)) }); n != 0 {
			fmt.Println("error:", n, "allocations")
			os.Exit(1)
		}
		bad := func(s *memory.State) { _, _, err := m.Forward(ctx, s, inputs(0)); failure(err) }
		bad(nil)
		bad(&memory.State{})
		bad(&memory.State{Sum: again.Sum, StatsCalls: again.StatsCalls, Rows: array.NewDense[float32](3, 2)})
		bad(&memory.State{Sum: again.Sum, StatsCalls: again.StatsCalls, Rows: array.Dense[float32]{array.Permute(array.New(array.F32, 3, 2), 1, 0)}})
		bad(&memory.State{Sum: array.Dense[float32]{array.Select(again.Rows.Array, 0, 0)}, StatsCalls: again.StatsCalls, Rows: again.Rows})
		_, _, err = m.Forward(ctx, again, again.Rows)
		failure(err)
		failure(m.ForwardInto(ctx, again, inputs(0), again.Rows, b))
		failure((&memory.State{}).Save(&halfway))
		_, err = memory.LoadState(strings.NewReader("short"), 5)
		failure(err)
		_, err = (&memory.Model{}).NewState()
		failure(err)
		stopped, stop := context.WithCancel(ctx)
		stop()
		_, _, err = m.Forward(stopped, again, inputs(0))
		failure(err)
		_, _, err = m.Forward(ctx, again, inputs(0))
		check(err)
		var second error
		_, _, err = m.Forward(polled{ctx, func() { _, _, second = m.Forward(ctx, again, inputs(0)) }}, again, inputs(0))
		check(err)
		failure(second)
`

// TestKernelState holds the calls of a generated model with state to eager ones, call
// by call.
func TestKernelState(t *testing.T) {
	c := &kernelCase{name: "memory", module: traceWith(t, newMemory(), fx.Input("x", "f32[2,3]")), extra: stateText, flow: true}
	dir, lines, failures := runProgram(t, []*kernelCase{c})
	require.Len(t, lines, 6)
	eager := newMemory()
	for k := range lines {
		a, b := eager.Forward(tensor.FromSlice([]float32{1, -2, float32(k%2*3) - 1, 0.5, float32(-k) / 4, 1}, 2, 3))
		require.Equal(t, fmt.Sprint("STATE ", tensor.Data[float32](a), " ", tensor.Data[float32](b), " ", tensor.Data[float32](eager.Sum), " ",
			tensor.Data[int64](eager.Calls), " ", tensor.Data[float32](eager.Rows)), lines[k], "call %d", k)
	}
	want := []string{
		`^the state is nil, expected one that NewState or LoadState made \[FX1022\]`,
		`^state "rows" is nil, expected f32\[2,3\] \[FX1022\].*state "stats.calls" is nil.*state "sum" is nil`,
		`^state "rows" is f32\[3,2\], expected f32\[2,3\] \[FX1022\]`,
		`^state "rows" is f32\[2,3\] with gaps, expected f32\[2,3\] without gaps \[FX1022\]`,
		`^state "sum" is in the memory of an argument or of other state, expected memory of its own \[FX1022\]`,
		`^state "rows" is in the memory of an argument or of other state, expected memory of its own \[FX1022\]`,
		`^state "rows" is in the memory of an argument or of other state, expected memory of its own \[FX1022\]`,
		`^state "rows" is nil`,
		`FX800`,
		`no weights, expected one that New or Load made \[FX8020\]`,
		`^node %[^ ]+: stopped: context canceled \[FX1026\]`,
		`^another call works on the state, expected one call at a time \[FX1022\].*hint: give each goroutine a State of its own`,
	}
	require.Len(t, failures, len(want), strings.Join(failures, "\n"))
	for i, w := range want {
		require.Regexp(t, w, failures[i])
	}
	checkStyle(t, c.files)
	goTool(t, dir, nil, "vet", "./memory")
}
