package viewfuzz_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/viewfuzz"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestLayouts holds the layouts of views for all sizes against those that arrays have for
// 20 sets of sizes: a declared view lies where it is declared to, and a declared copy for
// all sizes is one.
func TestLayouts(t *testing.T) {
	var views, copies, open atomic.Int64
	eachChain(t, 1_000_000, 3000, func(seed uint64) string {
		m := viewfuzz.Build(seed)
		sets := viewfuzz.Sets(m, seed, viewfuzz.SetsPerChain)
		l := layouts{at: map[*graph.Node][]op.Layout{}, views: &views, copies: &copies, open: &open}
		for _, env := range sets {
			if !allowed(m.Graph, env) {
				continue
			}
			l.laid = append(l.laid, laid{env, map[*graph.Node][]*array.Array{}})
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

// laid are the arrays of a chain, without memory, for one set of sizes: as many of each
// node as it has results.
type laid struct {
	env map[string]int
	of  map[*graph.Node][]*array.Array
}

type layouts struct {
	at                  map[*graph.Node][]op.Layout
	laid                []laid
	views, copies, open *atomic.Int64
}

func (l *layouts) node(n *graph.Node) string {
	o := n.Op()
	if o == op.GetItem {
		l.item(n, n.Arg(0), n.Attrs().(op.GetItemAttrs).Index)
		return ""
	}
	if n.Type().Kind() == shape.None || n.Opcode() == graph.Output {
		return ""
	}
	var base *graph.Node
	if o != nil && o.ViewOf > 0 && n.NumArgs() > 0 {
		base = n.Arg(o.ViewOf - 1)
	}
	if base == nil || l.at[base] == nil {
		l.start(n)
		return ""
	}
	out, truth := o.Layout(n.Attrs(), n.OperandTypes(), dimsOf(n.Type()), l.at[base][0])
	switch truth {
	case shape.True:
		l.views.Add(1)
		l.at[n] = out
	case shape.False:
		l.copies.Add(1)
	default:
		l.open.Add(1)
	}
	for i := range l.laid {
		if why := l.laid[i].node(n, base, out, truth); why != "" {
			return why
		}
	}
	if truth != shape.True {
		l.start(n)
	}
	return ""
}

// node compares the decision about a node with its kernel's behaviour.
func (s *laid) node(n, base *graph.Node, out []op.Layout, truth shape.Truth) string {
	if s.of[base] == nil {
		return ""
	}
	bind := func(name string) shape.Dim { return shape.Const(s.env[name]) }
	got, view, err := n.Op().View(n.Op().Codec().Bind(n.Attrs(), bind), s.of[base][:1])
	switch {
	case err != nil: // the sizes are refused
		return ""
	case view && truth == shape.False && got[0].Len() > 0:
		return fmt.Sprintf("a copy for all sizes, but a view at %v", s.env)
	case !view && truth == shape.True:
		return fmt.Sprintf("a view for all sizes, but a copy at %v", s.env)
	case view && truth == shape.True:
		for k := range got {
			if why := agrees(out[k], got[k], bind); why != "" {
				return fmt.Sprintf("at %v %s", s.env, why)
			}
		}
		s.of[n] = got
	}
	return ""
}

// item takes a member of a tuple.
func (l *layouts) item(n, tuple *graph.Node, k int) {
	if at := l.at[tuple]; at != nil {
		l.at[n] = at[k : k+1]
	}
	for i := range l.laid {
		if a := l.laid[i].of[tuple]; a != nil {
			l.laid[i].of[n] = a[k : k+1]
		}
	}
}

// start makes n a value of its own, whose elements lie in order.
func (l *layouts) start(n *graph.Node) {
	if n.Type().Kind() != shape.Tensor {
		return
	}
	l.at[n] = []op.Layout{op.InOrder(n.Type().Dims())}
	for i := range l.laid {
		s := &l.laid[i]
		d, dims, ok := n.Type().Bind(func(name string) shape.Dim { return shape.Const(s.env[name]) }).Concrete()
		if _, fits := array.NumElems(dims); ok && fits {
			a := &array.Array{}
			a.Reset(d, dims)
			s.of[n] = []*array.Array{a}
		}
	}
}

func dimsOf(t shape.Type) (list []shape.Dims) {
	if t.Kind() == shape.Tensor {
		return []shape.Dims{t.Dims()}
	}
	for i := range t.Len() {
		list = append(list, t.Member(i).Dims())
	}
	return list
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
