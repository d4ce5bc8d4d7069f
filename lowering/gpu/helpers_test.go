package gpu_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/shape"
)

var ctx = context.Background()

// target returns a target for the first device and a cache of the test's own, and skips where
// there is no device.
func target(t testing.TB) gpu.Target {
	t.Helper()
	d, err := gpu.Open("")
	if err != nil {
		require.ErrorIs(t, err, gpu.NoDevice)
		t.Skip(err)
	}
	return gpu.Target{Device: d, Cache: "-"}
}

func compile(t testing.TB, g gpu.Target, m *graph.Module) *gpu.Executable {
	t.Helper()
	e, err := g.Compile(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e.(*gpu.Executable)
}

// together is a module that calls an operator once for each sample, so that all kernels
// are built at once.
type together struct {
	m    *graph.Module
	c    *graph.Cursor
	in   []*array.Array
	outs []*graph.Node
	of   []int // the sample of each result
}

func newTogether(t testing.TB) *together {
	g := graph.New("samples")
	b := &together{m: graph.NewModule(g), c: g.At()}
	b.c.OnError = func(err error) { require.NoError(t, err) }
	return b
}

// operands makes inputs of the module; nil stays nil.
func (b *together) operands(in []*array.Array) []*graph.Node {
	args := make([]*graph.Node, len(in))
	for i, a := range in {
		if a == nil {
			continue
		}
		args[i] = b.c.Placeholder("x"+strconv.Itoa(len(b.in)), shape.TypeOf(a), nil)
		b.in = append(b.in, a)
	}
	return args
}

// result makes the results of a call results of the module.
func (b *together) result(n *graph.Node, sample int) {
	count, tuple := n.Op().NumResults(n.Attrs())
	if !tuple {
		b.outs, b.of = append(b.outs, n), append(b.of, sample)
		return
	}
	for i := range count {
		b.outs, b.of = append(b.outs, b.c.ItemNode(n, i)), append(b.of, sample)
	}
}

func (b *together) module() *graph.Module {
	s := &graph.Structure{Kind: graph.Results}
	for i := range b.outs {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	b.c.Output(s, b.outs...)
	return b.m
}
