package conform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// guarded are calls that hold for some sizes only, sizes that do not fit, and
// every engine's message.
var guarded = []struct {
	name, body string
	dims       []int
	want       string
}{
	{"glu", `%x: f32[N,C]) { %y = call_function[glu](%x) {dim=1}`, []int{2, 7},
		`input "x" is f32[2,7]: glu needs C (axis 1, here 7) divisible by 2`},
	{"groupnorm", `%x: f32[N,C,L]) { %y = call_function[group_norm](%x) {num_groups=4, eps=1e-05}`, []int{1, 3, 2},
		`input "x" is f32[1,3,2]: group_norm needs C (axis 1, here 3) divisible by 4`},
	{"maxpool", `%x: f32[N,3,H,W]) { %y = call_function[max_pool2d](%x) {kernel_size=[3]}`, []int{1, 3, 5, 2},
		`input "x" is f32[1,3,5,2]: max_pool2d needs W (axis 3, here 2) at least 3`},
	{"adaptive", `%x: f32[N,3,L]) { %y = call_function[adaptive_avg_pool1d](%x) {output_size=[2]}`, []int{1, 3, 0},
		`input "x" is f32[1,3,0]: adaptive_avg_pool1d needs L (axis 2, here 0) at least 1`},
	{"reflect", `%x: f32[N,L]) { %y = call_function[pad](%x) {pad=[4,0], mode="reflect"}`, []int{2, 4},
		`input "x" is f32[2,4]: pad needs L (axis 1, here 4) at least 5`},
	{"circular", `%x: f32[N,L]) { %y = call_function[pad](%x) {pad=[0,4], mode="circular"}`, []int{2, 3},
		`input "x" is f32[2,3]: pad needs L (axis 1, here 3) at least 4`},
	{"narrow", `%x: f32[N,L]) { %y = call_function[narrow](%x) {dim=1, start=2, length=3}`, []int{2, 4},
		`input "x" is f32[2,4]: narrow needs L (axis 1, here 4) at least 5`},
	{"window", `%x: f32[N,L,4]) {
  %a = call_function[slice](%x) {dim=1, start=1, stop=9223372036854775807}
  %y = call_function[amax](%a) {dim=[1]}`, []int{2, 1, 4},
		`input "x" is f32[2,1,4]: amax needs L (axis 1, here 1) at least 2`},
	{"shuffle", `%x: f32[N,C,H,W]) { %y = call_function[pixel_shuffle](%x) {upscale_factor=2}`, []int{1, 6, 2, 2},
		`input "x" is f32[1,6,2,2]: pixel_shuffle needs C (axis 1, here 6) divisible by 4`},
	{"table", `%x: f32[S,4]) {
  %t = call_function[ones]() {size=[9,4]}
  %a = call_function[slice](%t) {dim=0, start=0, stop=S}
  %y = call_function[add](%x, %a)`, []int{10, 4},
		`input "x" is f32[10,4]: slice needs S (axis 0, here 10) at most 9`},
}

// TestGuardsSpeakAlike requires the interpreter and the plan to refuse sizes in the
// same words, which name the input, the axis, the size found and the size needed.
func TestGuardsSpeakAlike(t *testing.T) {
	for _, c := range guarded {
		t.Run(c.name, func(t *testing.T) {
			m := guardedModule(t, c.body)
			x := array.New(array.F32, c.dims...)
			_, err := fx.NewGraphModule(m).Run(ctx, tensor.New(x))
			require.ErrorIs(t, err, interp.GuardFailed)
			require.ErrorContains(t, err, c.want+" [")

			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			_, err = e.Run(ctx, []*array.Array{x})
			require.ErrorIs(t, err, interp.GuardFailed)
			require.ErrorContains(t, err, c.want+" [")
		})
	}
}

func guardedModule(t *testing.T, body string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\ngraph g("+splitStatements(body)+"\n  return %y\n}"), "in.fx")
	require.NoError(t, err)
	return m
}

// splitStatements puts the first statement on a line of its own.
func splitStatements(body string) string {
	for i := range len(body) - 3 {
		if body[i:i+3] == ") {" {
			return body[:i+3] + "\n" + body[i+3:]
		}
	}
	return body
}

// lettered are graphs of which one letter stands for several sizes, inputs that do not fit, and
// every engine's message.
var lettered = []struct {
	name, text string
	in         [][]int
	want       string
}{
	{"two inputs", `graph g(%x: f32[N,3], %y: f32[N,3]) {
  symbol N = dim(%x, 0)
  %z = call_function[slice](%y) {dim=0, start=0, stop=N, step=1}
  return %z
}`, [][]int{{2, 3}, {4, 3}}, `input "y" is f32[4,3], dimension 0 is expected to be N, which is 2 here`},
	{"square", `graph g(%x: f32[N,N]) {
  symbol N = dim(%x, 0)
  %y = call_function[sum](%x) {dim=[1]}
  return %y
}`, [][]int{{2, 3}}, `input "x" is f32[2,3], dimension 1 is expected to be N, which is 2 here`},
	{"expression", `graph g(%x: f32[N//2+1], %y: f32[N]) {
  symbol N = dim(%y, 0)
  return %x
}`, [][]int{{4}, {8}}, `input "x" is f32[4], dimension 0 is expected to be N//2+1, which is 5 here`},
	{"defined later", `graph g(%x: f32[N], %y: f32[N]) {
  symbol N = dim(%y, 0)
  return %x
}`, [][]int{{3}, {2}}, `input "x" is f32[3], dimension 0 is expected to be N, which is 2 here`},
	{"not used", `graph g(%x: f32[N], %y: i64[N]) {
  symbol N = dim(%x, 0)
  return %x
}`, [][]int{{3}, {2}}, `input "y" is i64[2], dimension 0 is expected to be N, which is 3 here`},
	{"default", `graph g(%x: f32[N], %y: f32[N] = array f32[2] "AADgQAAAAEE=") {
  symbol N = dim(%x, 0)
  return %x
}`, [][]int{{3}, nil}, `input "y" is f32[2], dimension 0 is expected to be N, which is 3 here`},
	{"guard first", `graph g(%x: f32[N], %y: f32[N]) {
  symbol N = dim(%x, 0)
  guard N % 4 == 0
  return %x
}`, [][]int{{3}, {2}}, `input "x" is f32[3]: the graph needs N (axis 0, here 3) divisible by 4`},
	{"other", `graph g(%x: f32[N], %y: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard N != 1
  guard M//2 != N
  return %x
}`, [][]int{{1}, {5}}, `input "x" is f32[1]: the graph needs N (axis 0, here 1) other than 1`},
	{"others", `graph g(%x: f32[N], %y: f32[M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  guard M//2 != N
  return %x
}`, [][]int{{2}, {5}}, `input "y" is f32[5]: the graph needs M//2 (here 2) other than N (axis 0 of "x", here 2), where M is axis 0, here 5`},
	{"no number", `graph g(%x: f32[M//N], %y: f32[M,N]) {
  symbol M = dim(%y, 0)
  symbol N = dim(%y, 1)
  return %x
}`, [][]int{{3}, {2, 0}}, `size M//N divides by N, which is zero`},
}

// TestLettersSpeakAlike requires that one letter is one size in every engine.
func TestLettersSpeakAlike(t *testing.T) {
	for _, c := range lettered {
		t.Run(c.name, func(t *testing.T) {
			m, err := graph.Parse([]byte("gofx 1\n"+c.text), "in.fx")
			require.NoError(t, err)
			in := make([]*array.Array, len(c.in))
			for i, dims := range c.in {
				if dims != nil {
					in[i] = array.New(m.Graph.Inputs()[i].Type().DType(), dims...)
				}
			}
			refused := func(err error) {
				t.Helper()
				require.ErrorContains(t, err, c.want+" [")
			}
			_, err = fx.NewGraphModule(m).RunArrays(ctx, in)
			refused(err)
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			_, err = e.Run(ctx, in)
			refused(err)
			ready, err := lowering.Prepare(m, lowering.Options{}) // of all other targets
			require.NoError(t, err)
			_, err = lowering.NewEntry(ready.Graph).Check(lowering.Hosts(in))
			refused(err)
		})
	}
}

// TestLettersOfPartsAreDemanded: who captures a graph as part of another one has its letters as guards.
func TestLettersOfPartsAreDemanded(t *testing.T) {
	m, err := graph.Parse([]byte("gofx 1\n"+lettered[0].text), "in.fx")
	require.NoError(t, err)
	inner := fx.NewGraphModule(m)
	whole := func(x, y *tensor.Tensor) *tensor.Tensor {
		out, err := inner.Run(ctx, x, y)
		if err != nil {
			panic(err)
		}
		return out[0].Neg()
	}
	for _, c := range []struct{ x, y, want string }{
		{"f32[A,3]", "f32[B,3]", "guard B == A"},
		{"f32[2,3]", "f32[B,3]", "guard B == 2"},
		{"f32[A,3]", "f32[4,3]", "guard 4 == A"},
		{"f32[A,3]", "f32[A,3]", "guard s0 == A"}, // of the capture itself
	} {
		gm, err := fx.Trace(ctx, whole, fx.Input("x", c.x), fx.Input("y", c.y))
		require.NoError(t, err)
		var list []string
		for _, d := range gm.Module.Graph.Guards() {
			list = append(list, "guard "+d.String())
		}
		require.Equal(t, c.want, strings.Join(list, "\n"), "%s %s", c.x, c.y)
	}
	m, err = graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,3], %y: f32[N,3]) {\n  %z = call_function[neg](%x)\n  return %z\n}\n"), "in.fx")
	require.NoError(t, err)
	other := fx.NewGraphModule(m)
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) (*tensor.Tensor, error) {
		out, err := other.Run(ctx, x, tensor.Ones(4, 3))
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}, fx.Input("x", "f32[A,3]"))
	require.NoError(t, err)
	require.Len(t, gm.Graph.Guards(), 1, "a tensor of the model's own gives its letter a number")
	require.Equal(t, "4 == A", gm.Graph.Guards()[0].String())
	_, err = fx.Trace(ctx, whole, fx.Input("x", "f32[2,3]"), fx.Input("y", "f32[4,3]"))
	require.ErrorIs(t, err, interp.GuardFailed)
}
