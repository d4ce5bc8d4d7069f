package tracer

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// Steadiness says how often TraceSteady traces a function again. Its zero value is
// once, or 160 times when the module holds a map of two entries or more: a range
// over two entries comes in the rarer order once in eight times, and 160 traces
// miss that once in two thousand million times.
type Steadiness struct {
	// Times is how often at most; negative is never, 0 what is said above.
	Times int
	// For bounds the time, once eight traces have been made; 0 is no bound. It does
	// not count for a module that holds such a map.
	For time.Duration
}

const (
	manyTimes  = 160
	leastTimes = 8
)

// TraceSteady is Trace, run again and again to see that it always gives the same
// graph: a function that ranges over a map, draws random numbers, or reads a
// clock or a counter gives another one at each call, and what is captured of it is
// one call of many. The first difference is reported at its line. A module that
// fills fields at its first call, to use them later, is steady from its second
// call on; its first graph, which is returned, may differ in what it computes
// without its inputs.
func (p *Tracer) TraceSteady(ctx context.Context, fn any, s Steadiness) (*graph.Module, error) {
	first, err := p.once(ctx, fn)
	if err != nil || s.Times < 0 {
		if err != nil {
			return nil, err
		}
		return first.prog.mod, nil
	}
	maps := first.root != nil && holdsMaps(first.root)
	if s.Times == 0 {
		if s.Times = 1; maps {
			s.Times = manyTimes
		}
	}
	if first.grew {
		s.Times = max(s.Times, 2)
	}
	again := *p
	again.OnNode, again.OnState = nil, nil
	start := time.Now()
	last := first
	for i := range s.Times {
		if i >= leastTimes && !maps && s.For > 0 && time.Since(start) > s.For {
			break
		}
		next, err := again.once(ctx, fn)
		if err != nil {
			return nil, err
		}
		grew := last.grew && i < 2
		if !sameText(last.prog.mod, next.prog.mod) || changed(last.prog.mod, next.prog.mod, false) != "" {
			if e := differ(last.prog.mod, next.prog.mod, grew); e != nil {
				if e.Pos.File == "" {
					e = e.At(first.entry)
				}
				return nil, diag.List{e}
			}
		}
		last = next
	}
	return first.prog.mod, nil
}

// Compare reports the first difference between what two traces of one function, or
// of modules made by one constructor, recorded; nil when there is none. values
// tells that the tensors must have the same values.
func Compare(a, b *graph.Module, values bool) error {
	if sameText(a, b) && (!values || changed(a, b, false) == "") {
		return nil
	}
	return differ(a, b, false)
}

// sameText reports whether two modules have the same text.
func sameText(a, b *graph.Module) bool {
	return graph.Alike(a, b) || a.String() == b.String()
}

// changed returns the path of the first tensor that differs, "" when none does.
// named leaves out those that a trace names itself, by their number.
func changed(a, b *graph.Module, named bool) string {
	for _, q := range b.Params() {
		if p := a.Param(q.Path); p != nil && p.Value != q.Value && p.Value != nil && q.Value != nil && !array.Equal(p.Value, q.Value) &&
			!(named && strings.HasPrefix(q.Path, constantPath)) {
			return q.Path
		}
	}
	return ""
}

// differ reports the first difference between two traces. Where the model filled
// fields in between, only what depends on its inputs is compared, nil when that is
// the same.
func differ(a, b *graph.Module, grew bool) *diag.Error {
	x, y := lines(a.Graph, grew), lines(b.Graph, grew)
	for i := range max(len(x), len(y)) {
		switch {
		case i == len(x):
			return unsteady("here "+y[i].what+", where another trace ends", y[i].n, nil)
		case i == len(y):
			return unsteady("here "+x[i].what+", where another trace ends", x[i].n, nil)
		case x[i].text != y[i].text:
			return unsteady("here "+y[i].what+", in another trace "+x[i].what, y[i].n, x[i].n)
		}
	}
	if path := changed(a, b, grew); path != "" {
		for n := range b.Graph.All() {
			if n.Opcode() == graph.GetAttr && n.Target() == path {
				return unsteady("the tensor "+path+" has other values in another trace", user(n), nil)
			}
		}
		return unsteady("the tensor "+path+" has other values in another trace", nil, nil)
	}
	if grew {
		return nil
	}
	return unsteady("they differ in their state", nil, nil)
}

// user returns the first use of a node: what reads a tensor was written there.
func user(n *graph.Node) *graph.Node {
	for u := range n.Users() {
		return u
	}
	return n
}

func unsteady(msg string, n, other *graph.Node) *diag.Error {
	e := &diag.Error{Code: Unsteady, Phase: "trace", Msg: "two traces of the function differ: " + msg,
		Hint: "range over the sorted keys of a map, slices.Sorted(maps.Keys(m)); take random numbers, times and counters from outside, as inputs; give generators of weights a seed"}
	if n != nil {
		e.Pos = n.Pos()
	}
	if other != nil && other.Pos() != e.Pos {
		e.Related = []diag.Related{{Pos: other.Pos(), Msg: "the other trace records this instead"}}
	}
	return e
}

// line is what two traces must agree on about a node.
type line struct {
	n    *graph.Node
	text string // of the node, with its operands by number
	what string // for people
}

// lines describes the nodes of a graph in order. With inputs, what does not depend
// on an input is left out, and stands as any operand does.
func lines(g *graph.Graph, inputs bool) []line {
	w := &lister{number: map[*graph.Node]int{}, inputs: inputs}
	w.graph(g)
	return w.list
}

type lister struct {
	number map[*graph.Node]int
	inputs bool
	list   []line
}

func (w *lister) graph(g *graph.Graph) {
	for node := range g.Nodes() {
		if w.inputs && !w.depends(node) {
			continue
		}
		w.number[node] = len(w.list)
		var out strings.Builder
		out.WriteString(node.Opcode().String() + " " + name(node) + " " + node.Type().String())
		for _, a := range node.Args() {
			i, ok := w.number[a]
			if a == nil || !ok {
				i = -1
			}
			out.WriteString(" " + strconv.Itoa(i))
		}
		what := node.Opcode().String() + " " + name(node)
		if o := node.Op(); o != nil && o.Codec() != nil && o.Codec().Accepts(node.Attrs()) {
			attrs := o.Codec().Print(node.Attrs())
			out.WriteString(" " + attrs)
			what += " " + attrs
		}
		w.list = append(w.list, line{node, out.String(), strings.TrimSpace(what)})
		for _, r := range node.Regions() {
			w.graph(r)
			w.list = append(w.list, line{node, "end", "the end of a region"})
		}
	}
}

// depends reports whether a node has to do with the inputs.
func (w *lister) depends(n *graph.Node) bool {
	if n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output || n.Op() == op.Assign {
		return true
	}
	for _, a := range n.Args() {
		if _, ok := w.number[a]; a != nil && ok {
			return true
		}
	}
	return len(n.Regions()) > 0
}

func name(n *graph.Node) string {
	if o := n.Op(); o != nil && n.Opcode() != graph.CallModule {
		return o.Key()
	}
	return n.Target()
}

// holdsMaps reports whether a module, or one in it, has a map with two entries or
// more in its fields, whose order a program may depend on.
func holdsMaps(root any) bool {
	found := false
	tensor.Walk(root, func(it tensor.Item) bool {
		if it.Module != nil {
			v := reflect.Indirect(reflect.ValueOf(it.Module))
			found = found || v.Kind() == reflect.Struct && mapIn(v, v.Type().PkgPath(), 0)
		}
		return it.Module != nil && !found
	})
	return found
}

func isModule(v reflect.Value) bool {
	_, ok := v.Type().MethodByName("Forward")
	return ok
}

// mapIn looks into a struct and what its package's own types keep below it.
func mapIn(value reflect.Value, pkg string, depth int) bool {
	switch value.Kind() {
	case reflect.Map:
		return value.Len() > 1
	case reflect.Pointer, reflect.Interface:
		if depth > 0 && isModule(value) {
			return false // visited on its own
		}
		return !value.IsNil() && depth < 4 && mapIn(value.Elem(), pkg, depth+1)
	case reflect.Slice, reflect.Array:
		switch value.Type().Elem().Kind() {
		case reflect.Map, reflect.Struct:
			for i := range min(value.Len(), 64) {
				if depth < 4 && mapIn(value.Index(i), pkg, depth+1) {
					return true
				}
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().PkgPath() == pkg && mapIn(value.Field(i), pkg, depth) {
				return true
			}
		}
	}
	return false
}
