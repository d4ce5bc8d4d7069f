package gpu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
)

// place adds to each element where it lies.
var place = op.Unary("join_place", "join_place is x + 100*i + k for the first coordinate i and the last k.", func(b *expr.Builder, x expr.Value) expr.Value {
	i, k := b.Cast(b.Coord(0), x.DType()), b.Cast(b.Coord(-1), x.DType())
	return b.Add(x, b.Add(b.Mul(i, b.Like(x, 100)), k))
})

// joined is a graph and how many launches a run of it is.
type joined struct {
	name     string
	inputs   string
	body     string
	launches int
}

// silu are the two calls of a product with its own sigmoid, from a to b.
func silu(a, b string) string {
	return fmt.Sprintf("%%s%s = sigmoid(%%%s)\n%%%s = mul(%%%s, %%s%s)\n", b, a, b, a, b)
}

// chain takes the greater of a value and its negative n times.
func chain(n int) string {
	var b strings.Builder
	y := "x"
	for i := range n {
		fmt.Fprintf(&b, "%%n%d = neg(%%%s)\n%%y%d = maximum(%%n%d, %%%s)\n", i, y, i, i, y)
		y = fmt.Sprint("y", i)
	}
	return b.String() + "return %" + y + "\n"
}

// many adds n inputs, each to its own sine.
func many(n int) (inputs, body string) {
	var in []string
	var b strings.Builder
	sum := "%x0"
	for i := range n {
		in = append(in, fmt.Sprintf("%%x%d: f32[3,7]", i))
		if i > 0 {
			fmt.Fprintf(&b, "%%i%d = sin(%%x%d)\n%%t%d = add(%%x%d, %%i%d)\n%%a%d = add(%s, %%t%d)\n", i, i, i, i, i, i, sum, i)
			sum = fmt.Sprint("%a", i)
		}
	}
	return strings.Join(in, ", "), b.String() + "return " + sum + "\n"
}

func joinedGraphs() []joined {
	forty, sums := many(40)
	return []joined{
		{"a value used twice is computed once", "%x: f32[5,40]", "%a = exp(%x)\n%b = tanh(%a)\n%c = mul(%a, %b)\n%d = sub(%c, %a)\nreturn %d\n", 1},
		{"by one call", "%x: f32[5,40]", "%a = exp(%x)\n%b = mul(%a, %a)\nreturn %b\n", 1},
		{"behind a convolution", "%x: f32[2,3,8,9], %w: f32[5,3,3,3], %b: f32[5]", "%y = conv2d(%x, %w, %b)\n" + silu("y", "z") + "return %z\n", 1},
		{"behind a convolution of one image", "%x: f32[4,9,9], %w: f32[4,1,3,3]", "%y = conv2d(%x, %w) {groups=4}\n" + silu("y", "z") + "%p = join_place(%z)\n%q = add(%p, %y)\nreturn %q\n", 1},
		{"behind a layer", "%x: f32[3,4,5], %w: f32[6,5], %b: f32[6]", "%y = linear(%x, %w, %b)\n" + silu("y", "z") + "%l = tril(%z)\n%p = join_place(%l)\n%q = sub(%p, %y)\nreturn %q\n", 1},
		{"behind a product of halves", "%x: f16[2,17,20], %w: f16[2,20,24]", "%y = matmul(%x, %w)\n" + silu("y", "z") + "%q = cast(%z) {dtype=f32}\nreturn %q\n", 1},
		{"behind a product of bytes", "%x: u8[7,16], %w: i8[8,16], %a: f32[], %b: f32[8]",
			"%y = q_linear(%x, %a, _, %w, %b) {dtype=f32}\n" + silu("y", "z") + "return %z\n", 5}, // of words, their sums, and what these add
		{"behind two products", "%x: f32[9,8], %u: f32[8,12], %v: f32[8,12]", "%a = matmul(%x, %u)\n%b = matmul(%x, %v)\n" + silu("a", "c") + "%d = mul(%c, %b)\n%e = sub(%d, %b)\nreturn %e\n", 2},
		{"behind a norm of a convolution", "%x: f32[2,3,6,6], %w: f32[4,3,1,1], %m: f32[4], %v: f32[4]", "%k = abs(%v)\n%y = conv2d(%x, %w)\n%n = batch_norm_inference(%y, %m, %k)\n" + silu("n", "z") + "return %z\n", 3}, // of the variances, of the channels' factors
		{"of which a view is taken, too", "%x: f32[9,8], %u: f32[8,12]", "%y = matmul(%x, %u)\n" + silu("y", "z") + "%t = transpose(%y) {dim0=0, dim1=1}\n%c = clone(%t)\nreturn %z, %c\n", 3},
		{"a value that a sum reads, too", "%x: f32[5,40]", "%a = exp(%x)\n%b = tanh(%a)\n%c = mul(%a, %b)\n%s = sum(%a)\nreturn %c, %s\n", 3},
		{"a result in the middle", "%x: f32[5,40]", "%a = exp(%x)\n%b = tanh(%a)\n%c = mul(%a, %b)\n%d = add(%c, %b)\nreturn %b, %d\n", 3},
		{"the same result twice", "%x: f32[5,40]", silu("x", "y") + "return %y, %y\n", 2},
		{"operands that broadcast", "%x: f32[5,40], %r: f32[40], %c: f32[5,1], %o: f32[]", "%e = exp(%r)\n%a = add(%x, %e)\n%b = mul(%a, %c)\n%d = sub(%a, %o)\n%f = mul(%b, %d)\nreturn %f\n", 2},
		{"a value that becomes wider", "%r: f32[40], %c: f32[5,1]", silu("r", "a") + silu("c", "b") + "%f = mul(%a, %b)\n" + silu("f", "g") + "return %g\n", 3},
		{"of several types", "%x: f32[5,40], %i: i32[5,40], %b: bool[5,40]",
			"%h = cast(%x) {dtype=f16}\n%u = cast(%i) {dtype=u8}\n%k = add(%h, %h)\n%g = cast(%k) {dtype=f32}\n%w = where(%b, %g, %x)\n%p = gt(%w, %x)\n%n = logical_and(%p, %b)\n%m = cast(%n) {dtype=i64}\n%t = mul(%u, %u)\n%v = cast(%t) {dtype=i64}\n%y = add(%m, %v)\nreturn %y\n", 1},
		{"constants of other sizes", "%x: f32[5,40]", "%k = full() {size=[40], value=0.75}\n%a = add(%x, %k)\n%b = mul(%a, %k)\n%c = mul(%a, %b)\nreturn %c\n", 1},
		{"numbers drawn", "%x: f32[5,40], %k: i64[]", "%r = rand(%k) {size=[5,40]}\n%a = mul(%x, %r)\n%p = gt(%r, %a)\n%w = where(%p, %a, %r)\nreturn %w\n", 1},
		{"numbers drawn behind a layer", "%x: f32[2,3,5], %w: f32[6,5], %k: i64[]", "%y = linear(%x, %w)\n%d = dropout(%y, %k) {p=0.5, training=true}\n%z = add(%d, %y)\nreturn %z\n", 1},
		{"gates of several results", "%x: f32[3,8], %w: f32[8,8]", "%i = matmul(%x, %w)\n%f = exp(%x)\n%l = lstm_gates(%i, %f, %i, %f, %x)\n%h = getitem(%l) {index=0}\n%c = getitem(%l) {index=1}\n%y = mul(%h, %c)\nreturn %y\n", 3},
		{"300 calls", "%x: f32[3,7]", chain(150), 2},
		{"40 operands", forty, sums, 4},
		{"nothing", "%x: f32[0,40]", silu("x", "y") + silu("y", "z") + "return %z\n", 0},
		{"no images", "%x: f32[0,3,8,9], %w: f32[5,3,3,3]", "%y = conv2d(%x, %w)\n" + silu("y", "z") + "return %z\n", 0},
		{"one element", "%x: f32[]", silu("x", "y") + silu("y", "z") + "return %z\n", 1},
	}
}

func (j joined) module(t testing.TB) *graph.Module {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "gofx 1\ngraph net(%s) {\n", j.inputs)
	for _, line := range strings.Split(strings.TrimSpace(j.body), "\n") {
		if name, call, ok := strings.Cut(line, " = "); ok {
			o, rest, _ := strings.Cut(call, "(")
			line = name + " = call_function[" + o + "](" + rest
		}
		b.WriteString("  " + line + "\n")
	}
	return parsed(t, strings.ReplaceAll(b.String()+"}\n", "[join_place]", "["+place.Key()+"]"))
}

// TestElementwiseCallsAreJoined: what one kernel can compute is one launch. No device is needed.
func TestElementwiseCallsAreJoined(t *testing.T) {
	for _, j := range joinedGraphs() {
		t.Run(j.name, func(t *testing.T) {
			text, err := gpu.Text(j.module(t), lowering.Options{}, gpu.OpenCL)
			require.NoError(t, err)
			list, _, _ := strings.Cut(text, "\n\n")
			require.Contains(t, list, fmt.Sprintf(": %d launches, 0 of them once", j.launches), "%s", list)
		})
	}
}

// TestJoinedCallsEqualTheInterpreter runs them on the device; nightly as a GPU would, and by CUDA.
func TestJoinedCallsEqualTheInterpreter(t *testing.T) {
	runJoined(t, target(t))
	t.Run("groups", func(t *testing.T) {
		fxtest.Nightly(t)
		runJoined(t, grouped(t))
	})
	t.Run("cuda", func(t *testing.T) {
		fxtest.Nightly(t)
		g, l := onCUDA(t)
		runJoined(t, g)
		ptx(t, l.sources)
	})
}

func runJoined(t *testing.T, g gpu.Target) {
	for i, j := range joinedGraphs() {
		t.Run(j.name, func(t *testing.T) {
			m := j.module(t)
			in, err := passes.Inputs(m.Graph, nil, uint64(i))
			require.NoError(t, err)
			e := compile(t, g, m)
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, j.name, interpreted(t, m, in...), got)
		})
	}
}
