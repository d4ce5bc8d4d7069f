package cpu_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// report is a step whose result is what its fields hold.
type report struct {
	A    int
	List []int
	Big  bool
}

func (r report) Run(_ *kernel.Workspace, out, _ []*array.Array) {
	v := array.Data[int64](out[0])
	v[0], v[1], v[2], v[3] = int64(r.A), int64(len(r.List)), 0, 0
	for _, n := range r.List {
		v[2] += int64(n)
	}
	if r.Big {
		v[3] = 1
	}
}

// reportAttrs are the attributes of operators whose step is a report.
type reportAttrs struct{ M shape.Dim }

// reporter defines an operator of a vector with n elements whose step kernel makes.
func reporter(name string, makeStep func(n, m shape.Dim) kernel.Step) *op.Op {
	return op.Define(name, op.Spec[reportAttrs]{
		Doc: name + " reports sizes.", In: op.Args("x"),
		Infer: func(*op.Infer, reportAttrs, []shape.Type) (shape.Type, error) {
			return shape.TensorType(array.I64, shape.ConstDims(4)), nil
		},
		Kernel: func(a reportAttrs, in []shape.Type) kernel.Step { return makeStep(in[0].Dim(0), a.M) },
	})
}

// reports is a graph that calls a reporter with N elements, m = N+1.
func reports(o *op.Op) string {
	return "graph r(%x: f32[N]) {\n symbol N = dim(%x, 0)\n %y = call_function[" + o.Key() + "](%x) {m=N+1} : i64[4]\n return %y\n}\n"
}

// TestDeclaredSizesFollowTheSymbols runs steps of a user's operators whose fields
// are sizes. Sizes that are equal for some symbols, as N and 24*(N//24) are for
// multiples of 24, stay apart.
func TestDeclaredSizesFollowTheSymbols(t *testing.T) {
	for i, makeStep := range []func(n, m shape.Dim) kernel.Step{
		func(n, _ shape.Dim) kernel.Step {
			r := &report{}
			return op.WithSizes(r, op.Size(&r.A, n.FloorDivInt(4)))
		},
		func(n, m shape.Dim) kernel.Step {
			r := &report{List: make([]int, 3), Big: true}
			return op.WithSizes(r, op.Size(&r.List[2], n.FloorDivInt(24).MulInt(24)), op.Size(&r.A, n),
				op.Size(&r.List[0], m.Mul(m).Sub(n)), op.Size(&r.List[1], shape.Const(-5)))
		},
		func(n, m shape.Dim) kernel.Step { // a size of the attributes alone
			r := &report{}
			return op.WithSizes(r, op.Size(&r.A, m.AddInt(-8).FloorDivInt(2)))
		},
	} {
		o := reporter("declared_"+strconv.Itoa(i), makeStep)
		m := module(t, reports(o))
		e := compile(t, m, lowering.Options{})
		require.NotEmpty(t, e.Plan().Steps[0].Sizes)
		for _, n := range []int{0, 1, 3, 7, 8, 24, 30, 48, 100, 9816, 0} {
			x := array.New(array.F32, n)
			got, err := e.Run(ctx, []*array.Array{x})
			require.NoError(t, err)
			same(t, interpret(t, m, x), got)
		}
		pinned := compile(t, m, lowering.Options{Shapes: map[string]int{"N": 6}})
		require.Empty(t, pinned.Plan().Steps[0].Sizes)
	}
}

// TestHiddenSizesAreRefused compiles steps that follow from sizes without saying so.
// Two large numbers for N would not tell the first three from a constant, from N
// itself and from a choice made once and for all.
func TestHiddenSizesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		step  func(n int) kernel.Step
	}{
		"min":     {"field A", func(n int) kernel.Step { return &report{A: min(n, 8)} }},
		"max":     {"field A", func(n int) kernel.Step { return &report{A: max(n, 8)} }},
		"big":     {"field Big", func(n int) kernel.Step { return &report{Big: n > 100} }},
		"quarter": {"field A", func(n int) kernel.Step { return report{A: n / 4} }},
		"itself":  {"field A", func(n int) kernel.Step { return &report{A: n} }},
		"element": {"field List", func(n int) kernel.Step { return &report{List: []int{1, n}} }},
		"length":  {"field List", func(n int) kernel.Step { return &report{List: make([]int, n&1)} }},
		"type": {"the type", func(n int) kernel.Step {
			if n == 0 {
				return &kernel.Copy{}
			}
			return &report{}
		}},
	} {
		o := reporter("hidden_"+name, func(n, _ shape.Dim) kernel.Step {
			size, _ := n.Int() // 0 for symbols
			return c.step(size)
		})
		_, err := cpu.Compile(module(t, reports(o)), lowering.Options{})
		require.ErrorIs(t, err, lowering.SymbolUse, name)
		require.ErrorContains(t, err, c.field+" of the kernel depends on sizes that are symbols", name)
		var l diag.List
		require.ErrorAs(t, err, &l)
		require.Equal(t, "y", l[0].Node)
		require.Contains(t, l[0].Hint, "op.WithSizes")
		compile(t, module(t, reports(o)), lowering.Options{Shapes: map[string]int{"N": 5}})
	}
}

// TestSizesOfStepsThatOnlyDataTells refuses a step whose result can be planned and
// whose field cannot.
func TestSizesOfStepsThatOnlyDataTells(t *testing.T) {
	o := reporter("unplanned", func(_, m shape.Dim) kernel.Step {
		r := &report{}
		return op.WithSizes(r, op.Size(&r.A, m))
	})
	m := module(t, "graph r(%x: f32[N]) {\n symbol N = dim(%x, 0)\n %h = call_function[relu](%x) : f32[N]\n symbol Q = dim(%h, 0)\n"+
		" %y = call_function["+o.Key()+"](%x) {m=Q} : i64[4]\n return %y\n}\n")
	err := compileError(m)
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.ErrorContains(t, err, "%y needs the size Q")
}

// TestSizesThatAgreeForMultiples slices between sizes that are equal for multiples
// of 24.
func TestSizesThatAgreeForMultiples(t *testing.T) {
	m := module(t, `
graph s(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %y = call_function[slice](%x) {dim=0, start=24*(N//24), stop=N} : f32[N-24*(N//24)]
  %z = call_function[neg](%y) : f32[N-24*(N//24)]
  return %z
}
`)
	e := compile(t, m, lowering.Options{})
	var g op.Gen
	for _, n := range []int{30, 24, 23, 9816} {
		x := g.Normal(n)
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		same(t, interpret(t, m, x), got)
	}
}

func TestSizesOfFold(t *testing.T) {
	m := module(t, `
graph f(%x: f32[1,4,L], %y: f32[H,W]) {
  symbol L = dim(%x, 2)
  symbol H = dim(%y, 0)
  symbol W = dim(%y, 1)
  %f = call_function[fold](%x) {output_size=[2*H,W+1], kernel_size=[2,2], stride=[2,2]} : f32[1,1,2*H,W+1]
  return %f
}
`)
	e := compile(t, m, lowering.Options{})
	require.Contains(t, e.Plan().String(), "with Output[0] = 2*H, Output[1] = W+1 (x)")
	var g op.Gen
	for _, c := range [][2]int{{1, 1}, {3, 5}, {2, 4}} {
		x := g.Normal(1, 4, c[0]*((c[1]+1)/2))
		in := []*array.Array{x, g.Normal(c[0], c[1])}
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		same(t, interpret(t, m, in...), got)
	}
}
