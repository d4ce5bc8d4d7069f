package conform

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestLift calls every operator that has lifted calls with its samples, in every element
// type that it takes: lifted, interpreted and as an exact plan, the bits are the same.
func TestLift(t *testing.T) {
	lifted := map[string]int{}
	for _, o := range op.All() {
		if !o.Lifts() {
			continue
		}
		for _, s := range o.Samples() {
			lifted[o.Name] += sameLifted(t, o, s.Attrs, s.In, o.Name+" "+s.Name) // types that differ, such as a key's
			for _, d := range array.DTypes() {
				in := make([]*array.Array, len(s.In))
				for i, a := range s.In {
					if in[i] = a; a != nil && a.DType() != array.Bool && !a.DType().IsNarrow() {
						in[i] = array.Cast(a, d)
					}
				}
				lifted[o.Name] += sameLifted(t, o, s.Attrs, in, o.Name+" "+s.Name+" "+d.String())
			}
		}
		require.NotZero(t, lifted[o.Name], o.Name)
	}
	require.Contains(t, lifted, "select_scatter")
	require.Contains(t, lifted, "mul")
	for _, name := range []string{"arange", "roll", "diagonal", "diagonal_scatter", "fold_in", "randint", "linspace", "dropout"} {
		require.Contains(t, lifted, name)
	}
}

// sameLifted compares a call with its lifted form; it returns 0 for a call that has none.
func sameLifted(t *testing.T, o *op.Op, attrs any, in []*array.Array, name string) int {
	want, err := o.Eval(&kernel.Workspace{}, attrs, in)
	if err != nil {
		return 0 // operands that it does not take
	}
	types := make([]shape.Type, len(in))
	for i, a := range in {
		if a != nil {
			types[i] = shape.TypeOf(a)
		}
	}
	l, ok := o.Lift(attrs, types)
	if !ok {
		return 0
	}
	if rest, ok := l.Join(l.Attrs); ok {
		got, err := o.Eval(&kernel.Workspace{}, rest, in)
		require.NoError(t, err, name)
		require.True(t, array.Equal(want[0], got[0]), name)
	}
	m, operands := liftedGraph(l, in)
	got, err := fx.NewGraphModule(m).RunArrays(ctx, operands)
	require.NoError(t, err, name)
	require.True(t, array.Equal(want[0], got[0]), name)
	run, err := cpu.Compile(m, lowering.Options{Exact: true, Threads: 1})
	require.NoError(t, err, name)
	defer run.Close()
	got, err = run.Run(ctx, contiguous(operands))
	require.NoError(t, err, name)
	require.True(t, array.Equal(want[0], got[0]), name)
	return 1
}

// liftedGraph is the graph of a lifted call, and what it is run on.
func liftedGraph(l op.Lifted, in []*array.Array) (*graph.Module, []*array.Array) {
	g := graph.New("lifted")
	c := g.At()
	var operands []*array.Array
	enter := func(list []*array.Array) []op.Value {
		values := make([]op.Value, len(list))
		for i, a := range list {
			if a != nil {
				values[i] = c.Placeholder("x"+strconv.Itoa(len(operands)), shape.TypeOf(a), nil)
				operands = append(operands, a)
			}
		}
		return values
	}
	args := enter(in)
	c.Output(nil, l.Call(c, args, enter(l.Values)).(*graph.Node))
	return graph.NewModule(g), operands
}

func contiguous(list []*array.Array) []*array.Array {
	out := make([]*array.Array, len(list))
	for i, a := range list {
		out[i] = array.Contiguous(a)
	}
	return out
}
