package viewfuzz_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/viewfuzz"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestLayouts holds the layouts of views for all sizes against those that arrays have for
// 20 sets of sizes: what is said to be a view lies where it is said to, and what is said to
// be a copy for all sizes is one.
func TestLayouts(t *testing.T) {
	var views, copies, open atomic.Int64
	eachChain(t, 1_000_000, 3000, func(seed uint64) string {
		m := viewfuzz.Build(seed)
		sets := viewfuzz.Sets(m, seed, viewfuzz.SetsPerChain)
		l := layouts{at: map[*graph.Node]op.Layout{}, views: &views, copies: &copies, open: &open}
		for _, env := range sets {
			if !allowed(m.Graph, env) {
				continue
			}
			l.laid = append(l.laid, laid{env, map[*graph.Node]*array.Array{}})
		}
		for n := range m.Graph.Nodes() {
			if why := l.node(n); why != "" {
				return fmt.Sprintf("%%%s: %s\n%s", n.Name(), why, m)
			}
		}
		return ""
	})
	t.Logf("%d views, %d copies, %d open", views.Load(), copies.Load(), open.Load())
	require.Greater(t, views.Load(), int64(5000))
	require.Greater(t, copies.Load(), int64(50))
	require.Less(t, 10*open.Load(), views.Load(), "little is left open")
}

// allowed reports whether the guards of a graph hold.
func allowed(g *graph.Graph, env map[string]int) bool {
	return !slices.ContainsFunc(g.Guards(), func(r graph.Guard) bool {
		_, _, ok, err := r.Eval(func(s string) (int, bool) { n, known := env[s]; return n, known })
		return err != nil || !ok
	})
}

// laid are the arrays of a chain, without memory, for one set of sizes.
type laid struct {
	env map[string]int
	of  map[*graph.Node]*array.Array
}

type layouts struct {
	at                  map[*graph.Node]op.Layout
	laid                []laid
	views, copies, open *atomic.Int64
}

func (l *layouts) node(n *graph.Node) string {
	o := n.Op()
	if n.Type().Kind() != shape.Tensor || n.Opcode() == graph.Output {
		return ""
	}
	var base *graph.Node
	if o != nil && o.ViewOf > 0 && !o.Structural() && n.NumArgs() > 0 {
		base = n.Arg(o.ViewOf - 1)
	}
	at, known := l.at[base]
	if base == nil || !known {
		l.start(n)
		return ""
	}
	out, truth := o.Layout(n.Attrs(), n.OperandTypes(), []shape.Dims{n.Type().Dims()}, at)
	switch truth {
	case shape.True:
		l.views.Add(1)
		l.at[n] = out[0]
	case shape.False:
		l.copies.Add(1)
	default:
		l.open.Add(1)
	}
	for i := range l.laid {
		s := &l.laid[i]
		a := s.of[base]
		if a == nil {
			continue
		}
		bind := func(name string) shape.Dim { return shape.Const(s.env[name]) }
		got, view, err := o.View(o.Codec().Bind(n.Attrs(), bind), []*array.Array{a})
		switch {
		case err != nil: // the sizes are refused
			continue
		case view && truth == shape.False && got[0].Len() > 0:
			return fmt.Sprintf("a copy for all sizes, but a view at %v", s.env)
		case !view && truth == shape.True:
			return fmt.Sprintf("a view for all sizes, but a copy at %v", s.env)
		case view && truth == shape.True:
			if why := agrees(out[0], got[0], bind); why != "" {
				return fmt.Sprintf("at %v %s", s.env, why)
			}
			s.of[n] = got[0]
		}
	}
	if truth != shape.True {
		l.start(n)
	}
	return ""
}

// start makes n a value of its own, whose elements lie in order.
func (l *layouts) start(n *graph.Node) {
	l.at[n] = op.InOrder(n.Type().Dims())
	for i := range l.laid {
		s := &l.laid[i]
		d, dims, ok := n.Type().Bind(func(name string) shape.Dim { return shape.Const(s.env[name]) }).Concrete()
		if _, fits := array.NumElems(dims); ok && fits {
			a := &array.Array{}
			a.Reset(d, dims)
			s.of[n] = a
		}
	}
}

// agrees says how a layout differs from that of an array.
func agrees(at op.Layout, a *array.Array, bind func(string) shape.Dim) string {
	text := fmt.Sprintf("%v by %v, moved %v; the array has %v by %v from %d", at.Sizes, at.Strides, at.Moved, a.Shape(), a.Strides(), a.Offset())
	if sizes, ok := shape.Of(at.Sizes...).Bind(bind).Known(); !ok || !slices.Equal(sizes, a.Shape()) {
		return "the sizes are " + text
	}
	if a.Len() > 0 && !at.Moved && a.Offset() != 0 {
		return "it begins elsewhere: " + text
	}
	for i, d := range at.Strides {
		n, known := d.Bind(bind).Int()
		if a.Len() > 0 && a.Dim(i) > 1 && known && n != a.Strides()[i] {
			return "the strides are " + text
		}
	}
	return ""
}
