package tracer

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// Record runs fn on tensors that stand for args, values of a finished graph, and puts
// what it records to the cursor's place: tensor code as an edit. It returns a node for
// each tensor that fn returns, in the order of the operands of an output. fn may be a
// module as well. The rules are those of Trace; when there are mistakes, the graph is as
// it was.
//
// Tensors and leaf modules of Root keep their paths where the graph's module has them
// under these; others are entered below the name of the function, or Name, or where
// Below says. What is
// recorded carries fn's lines, and the cursor's scope where it has none of its own. fn
// sees values: what it writes in place changes what it returns and no other user of args.
func (p *Tracer) Record(ctx context.Context, c *graph.Cursor, fn any, args ...*graph.Node) (out []*graph.Node, err error) {
	defer diag.Catch(&err)
	r := *p
	if r.Inputs, err = recordInputs(c.Graph(), args); err != nil {
		return nil, err
	}
	for _, a := range args {
		if next := c.Next(); next != nil && !a.Precedes(next) {
			return nil, badRecord(a.String() + " is made behind the cursor").WithHint("take a cursor behind it (Graph.After)")
		}
	}
	if r.Args == nil {
		r.Args = r.spreadOver(fn, len(args))
	}
	m, err := r.TraceSteady(ctx, fn, Steadiness{})
	if err != nil {
		return nil, err
	}
	if takes := len(m.Graph.Inputs()); takes != len(args) {
		return nil, badRecord("the function takes " + strconv.Itoa(takes) + " tensors, " + strconv.Itoa(len(args)) + " nodes are given")
	}
	if p.Below != "" {
		m.Graph.Name = "" // paths are what they are to be
	}
	out = c.Inline(m.Graph, args)
	if home := c.Graph().Module(); home != nil {
		keepState(home)
	}
	return out, nil
}

// keepState says of tensors that the graph writes now that they are state, wherever they
// are read.
func keepState(m *graph.Module) {
	effects := graph.EffectsOf(m.Graph)
	if !effects.Writes() {
		return
	}
	for n := range m.Graph.All() {
		if n.Opcode() == graph.GetAttr && effects.WrittenState(n.Target()) {
			n.SetLive(true)
		}
	}
	for _, path := range effects.Paths() {
		if p := m.Param(path); p != nil && !p.Buffer {
			q := *p
			q.Buffer = true
			m.SetParam(q)
		}
	}
}

func badRecord(msg string) *diag.Error {
	return (&diag.Error{Code: BadArgument, Msg: msg, Phase: "record"}).At(diag.Here())
}

// recordInputs describes nodes as inputs of a graph of their own. A size that is an
// expression of symbols which are no size by themselves is a symbol there.
func recordInputs(g *graph.Graph, args []*graph.Node) ([]Input, error) {
	var in []Input
	used := map[string]bool{}
	for i, a := range args {
		switch {
		case a == nil:
			return nil, badRecord("argument " + strconv.Itoa(i) + " is no node")
		case a.Graph() != g || a.Erased() || a.Opcode() == graph.Output:
			return nil, badRecord(a.String() + " is no value of the graph " + g.Name)
		case a.Type().Kind() == shape.Tuple:
			return nil, badRecord(a.String() + " is a tuple, expected a tensor").WithHint("give its getitem nodes")
		}
		for _, d := range a.Type().Dims().Slice() {
			for _, s := range d.Symbols() {
				used[s] = true
			}
		}
		in = append(in, Input{Name: a.Name(), Type: a.Type()})
	}
	known := map[string]bool{} // symbols that are sizes of inputs
	stands := map[string]shape.Dim{}
	for i := range in {
		t := in[i].Type
		if !t.Ranked() {
			continue
		}
		dims := t.Dims()
		for axis, d := range dims.Slice() {
			if s, is := d.IsSymbol(); is {
				known[s] = true
				continue
			}
			free := false
			for _, s := range d.Symbols() {
				free = free || !known[s]
			}
			if !free {
				continue
			}
			now, seen := stands[d.String()]
			for k := 0; !seen; k++ {
				if name := "r" + strconv.Itoa(k); !used[name] {
					now, seen, used[name] = shape.Sym(name), true, true
				}
			}
			stands[d.String()] = now
			dims = dims.With(axis, now)
		}
		in[i].Type = t.WithDims(dims)
	}
	return in, nil
}

// spreadOver returns examples for a variadic function of tensors that is to take count
// of them; nil when it is none.
func (p *Tracer) spreadOver(fn any, count int) []any {
	v := reflect.ValueOf(fn)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		method := p.Method
		if method == "" {
			method = "Forward"
		}
		v = v.MethodByName(method)
	}
	if v.Kind() != reflect.Func || !v.Type().IsVariadic() || v.Type().In(v.Type().NumIn()-1).Elem() != tensorType {
		return nil
	}
	args := make([]any, v.Type().NumIn()-1)
	for i := range args {
		if v.Type().In(i) == tensorType {
			count--
		}
	}
	for range count {
		args = append(args, Meta(shape.Type{}))
	}
	return args
}

// ReplaceLeaf puts a function, or a module, in the place of the leaf at path, wherever
// the graph calls it, regions included: fn is traced on the operands of each call, the
// tensors and leaves of Root are entered below path, and what the graph does not use any
// more is dropped. Types after it are inferred again. When something is wrong, m is as
// it was.
func (p *Tracer) ReplaceLeaf(ctx context.Context, m *graph.Module, path string, fn any) error {
	return graph.Edit(m, func(g *graph.Graph) error {
		var calls []*graph.Node
		for n := range g.All() {
			if n.Opcode() == graph.CallModule && n.Target() == path {
				calls = append(calls, n)
			}
		}
		if len(calls) == 0 {
			return diag.New(graph.MissingModule, "the graph calls no module "+strconv.Quote(path)).WithHint(leavesOf(m))
		}
		stepAside(m, path, calls)
		r := *p
		r.Below = path
		for _, n := range calls {
			if err := r.replace(ctx, n, fn); err != nil {
				return err
			}
		}
		m.DropUnused()
		return nil
	})
}

// replace records fn for a call and erases it.
func (p *Tracer) replace(ctx context.Context, n *graph.Node, fn any) error {
	name := n.Name()
	n.Rename("replaced")
	out, err := p.Record(ctx, n.Graph().Before(n), fn, n.Args()...)
	if err != nil {
		return err
	}
	if len(out) != 1 {
		return n.Error(BadResult, "the module has "+strconv.Itoa(len(out))+" results, the one that it replaces has one")
	}
	made := !slices.Contains(n.Args(), out[0])
	n.ReplaceUses(out[0], nil)
	if err := n.Graph().Erase(n); err != nil {
		return err
	}
	if made {
		graph.CopyMeta(out[0], n)
		out[0].Rename(name)
	}
	return retype(out[0])
}

// stepAside gives the leaf at path, and the tensors that only it uses, another path, so
// that path is free.
func stepAside(m *graph.Module, path string, calls []*graph.Node) {
	b := *m.Bound(path)
	b.Params = append([]string(nil), b.Params...)
	aside := path
	for m.Bound(aside) != nil {
		aside += "_"
	}
	for i, name := range b.Params {
		if q := m.Param(name); q != nil && strings.HasPrefix(name, path+".") {
			moved := *q
			moved.Path = m.FreshPath(aside + strings.TrimPrefix(name, path))
			m.SetParam(moved)
			b.Params[i] = moved.Path
		}
	}
	m.SetBound(aside, b)
	for _, n := range calls {
		n.SetModule(aside)
	}
	m.DropUnused()
}

// leavesOf lists the leaves for a hint.
func leavesOf(m *graph.Module) string {
	var list []string
	for path := range m.Bounds() {
		list = append(list, path)
	}
	return "leaves are " + strings.Join(list, ", ")
}

// retype infers the types of what is computed from n again, as far as they change, in
// the graphs around n as well.
func retype(n *graph.Node) error {
	other := map[*graph.Node]bool{n: true}
	for m := n.Next(); m != nil; m = m.Next() {
		again := false
		for a := range m.Inputs() {
			again = again || other[a]
		}
		if !again {
			continue
		}
		was := m.Type()
		if err := m.Retype(); err != nil {
			return err
		}
		other[m] = !was.Same(m.Type())
	}
	parent := n.Graph().Parent()
	if parent == nil || !other[n.Graph().Output()] {
		return nil
	}
	if err := parent.Retype(); err != nil {
		return err
	}
	return retype(parent)
}
