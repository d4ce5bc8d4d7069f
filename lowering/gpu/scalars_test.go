package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

// TestScalarsOnTheDevice runs operators that take tensors of rank 0 with such, all in one program: those
// that move elements and reduce on every change, nightly all.
func TestScalarsOnTheDevice(t *testing.T) {
	g := target(t)
	b := newTogether(t)
	type call struct {
		o    *op.Op
		s    op.Sample
		args []*graph.Node
	}
	var tried, calls []call
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		list := fxtest.Scalars(o)
		if !fxtest.IsNightly() { // what elementwise operators are joined to has no rank of its own
			if o.Class != op.Movement && o.Class != op.Reduction {
				continue
			}
			list = list[:min(len(list), 1)]
		}
		for _, s := range list {
			tried = append(tried, call{o, s, b.operands(s.In)})
		}
	}
	var want []*array.Array
	for i, c := range tried {
		n := b.c.Function(c.o, c.s.Attrs, c.args...)
		if ok, _ := g.Supports(n); !ok || !everyRun(n) {
			require.NoError(t, b.m.Graph.Erase(n))
			continue
		}
		w, err := c.o.Eval(&kernel.Workspace{}, c.s.Attrs, c.s.In)
		require.NoError(t, err)
		b.result(n, i)
		for _, a := range w {
			want, calls = append(want, a), append(calls, c)
		}
	}
	require.Greater(t, len(calls), 15)
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	got, err := e.Run(ctx, b.in)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range got {
		if d := fxtest.Beyond(calls[i].o, calls[i].s.Attrs, calls[i].s.In, want[i], got[i]); d != "" {
			t.Errorf("%s %s: %s", calls[i].o.Key(), calls[i].s.Name, d)
		}
	}
}
