package simplify

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// samples are sizes that symbols are given to see where views show elements: primes,
// so that sizes which differ as expressions differ, and multiples of what is often asked for.
var samples = [][]int{{7, 11, 13, 17, 19, 23, 29, 31}, {5 * 48, 7 * 48, 11 * 48, 13 * 48, 17 * 48, 19 * 48, 23 * 48, 29 * 48}}

// Views returns the layouts, for some sizes of the symbols, in which n shows the
// elements of x when those lie in order. It is empty where n is not made of x by views
// alone, or shows none of these sizes.
func Views(x, n *graph.Node) (layouts []*array.Array) {
	for _, sizes := range samples {
		symbols := map[string]int{}
		env := func(name string) shape.Dim {
			if _, known := symbols[name]; !known {
				symbols[name] = sizes[len(symbols)%len(sizes)]
			}
			return shape.Const(symbols[name])
		}
		start := header(x.Type().Bind(env))
		if start == nil {
			return nil
		}
		if a := view(x, n, start, env); a != nil {
			layouts = append(layouts, a)
		}
	}
	return layouts
}

// header returns an array in order without memory, nil for a type whose sizes are not known.
func header(t shape.Type) *array.Array {
	d, dims, ok := t.Concrete()
	if _, fits := array.NumElems(dims); !ok || !fits {
		return nil
	}
	a := &array.Array{}
	a.Reset(d, dims)
	return a
}

// maxViews bounds the views between two values.
const maxViews = 16

// view returns the layout of n over x, whose layout is start.
func view(x, n *graph.Node, start *array.Array, env func(string) shape.Dim) *array.Array {
	var chain []*graph.Node
	for ; n != x; n = viewed(n) {
		if viewed(n) == nil || len(chain) == maxViews {
			return nil
		}
		chain = append(chain, n)
	}
	at := start
	for i := len(chain) - 1; i >= 0; i-- {
		n := chain[i]
		in := make([]*array.Array, n.NumArgs())
		for k, a := range n.Args() {
			if a != nil {
				in[k] = header(a.Type().Bind(env))
			}
		}
		in[n.Op().ViewOf-1] = at
		out, ok, err := n.Op().View(n.Op().Codec().Bind(n.Attrs(), env), in)
		if err != nil || !ok || len(out) != 1 {
			return nil
		}
		at = out[0]
	}
	return at
}

// viewed returns what a call of one result is a view of, nil where it is none.
func viewed(n *graph.Node) *graph.Node {
	o := n.Op()
	if o == nil || o.ViewOf == 0 || o.ViewOf > n.NumArgs() || n.Bound() != nil || n.Type().Kind() != shape.Tensor || passes.Effect(n) != op.Pure {
		return nil
	}
	return n.Arg(o.ViewOf - 1)
}

// Restores reports whether n, made of x by views, is x: of the same type, with the
// same elements in the same places.
func Restores(x, n *graph.Node) bool {
	if !x.Type().Same(n.Type()) || x == n || n.Type().Kind() != shape.Tensor || !n.Type().Ranked() {
		return false
	}
	for i := range n.Type().Rank() {
		if n.Type().Dim(i).IsUnknown() {
			return false // two sizes that are not known may differ
		}
	}
	layouts := Views(x, n)
	for _, a := range layouts {
		dense := &array.Array{}
		dense.Reset(a.DType(), a.Shape())
		if a.Offset() != 0 {
			return false
		}
		for i, s := range a.Strides() {
			if a.Dim(i) > 1 && s != dense.Strides()[i] {
				return false
			}
		}
	}
	return len(layouts) > 0
}

// Sharing answers whether one value may take the place of another that has the same
// elements, but may have memory of its own.
type Sharing struct {
	paths  map[string]bool
	memory map[*graph.Node]bool
}

// NewSharing looks at what the graph writes.
func NewSharing(g *graph.Graph) Sharing { return Sharing{passes.Written(g), passes.WrittenMemory(g)} }

// Refuse says why by must not take the place of old: memory of one of them is written,
// or old is a result that shares memory with no input, parameter or other result, and
// by does.
func (s Sharing) Refuse(old, by *graph.Node) string {
	if why := s.Written(old, by); why != "" {
		return why
	}
	from, to := passes.Memory(old), passes.Memory(by)
	if from != to && result(from) && (!to.Opcode().IsCall() || result(to)) {
		return "it is a result, which shares no memory with " + to.String()
	}
	return ""
}

// Written says whose memory the graph writes: reads of it are not moved, and a copy of
// it keeps what it was.
func (s Sharing) Written(nodes ...*graph.Node) string {
	for _, n := range nodes {
		if !passes.Overwritten(n, s.paths, s.memory) {
			continue
		}
		if n = passes.Memory(n); n.Opcode() == graph.GetAttr {
			return "parameter " + n.Target() + " is written by the graph, and a copy of it keeps what it was"
		}
		return n.String() + " may be memory that the graph writes, and a copy of it keeps what it was"
	}
	return ""
}

// result reports whether n, or a view of it, is a result of its graph.
func result(n *graph.Node) bool {
	for u := range n.Users() {
		if u.Opcode() == graph.Output || passes.Memory(u) != u && result(u) {
			return true
		}
	}
	return false
}
