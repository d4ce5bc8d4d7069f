package passes

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// kind tells what a part of a pattern stands for; those after rest are no parts of
// their own, but say something about the part that they are given.
type kind uint8

const (
	input    kind = iota // a parameter: any value
	anything             // Any
	constant             // a tensor, by value
	filled               // Constant
	call
	choice // AnyOf
	repeat // Repeat: what it begins with, a hole, and the body
	hole   // the operand of a body
	rest   // Rest
	commute
	loose
	named
	checked
)

var markerNames = map[kind]string{anything: "Any", filled: "Constant", choice: "AnyOf", repeat: "Repeat", hole: "Repeat.body",
	rest: "Rest", commute: "Commute", loose: "Loose", named: "Named", checked: "If"}

// part is one node of a pattern, with all that markers say about it.
type part struct {
	id   int
	kind kind
	node *graph.Node // in the trace
	op   *op.Op      // of a call
	args []*part     // nil for absent operands

	attrs   any
	loose   bool     // the attributes do not matter
	free    []string // attributes that do not matter
	open    bool     // compared one by one, because some do not matter or are numbers
	dynamic bool     // mentions sizes of the pattern's values
	swaps   bool     // the operands may be exchanged

	array    *array.Array // the constant
	value    float64      // of a Constant
	index    int          // of a Rest
	min, max int          // of a Repeat
	inner    []*part      // what a Repeat repeats
	of       *part        // the Repeat that a hole belongs to
	checks   []Check
}

// leaves reports whether an attribute does not matter.
func (p *part) leaves(attr string) bool { return slices.Contains(p.free, attr) }

// String names the part in messages.
func (p *part) String() string {
	if p.kind == call {
		return p.op.Name
	}
	if name := markerNames[p.kind]; name != "" {
		return name
	}
	return p.node.Opcode().String()
}

// pattern is a traced pattern.
type pattern struct {
	graph  *graph.Graph
	inputs []*part
	roots  []*part
	parts  []*part // in the order of the trace
	of     map[*graph.Node]*part

	named   map[string]*part
	numbers int // one more than the greatest i of a Number(i)
	rests   int // one more than the greatest i of a Rest(i)
	total   int // of calls and constants along the first spellings
	starts  map[*op.Op]bool
	grows   bool // what it begins with is a repetition: larger matches are found from the end
}

func newPattern(m *graph.Module) (*pattern, error) {
	p := &pattern{graph: m.Graph, of: map[*graph.Node]*part{}, named: map[string]*part{}, starts: map[*op.Op]bool{}}
	for n := range m.Graph.Nodes() {
		if err := p.check(n); err != nil {
			return nil, err
		}
		if err := p.add(m, n); err != nil {
			return nil, err
		}
	}
	seen := map[*part]bool{}
	for i, n := range m.Graph.Output().Args() {
		r := p.of[n]
		starts := p.starts
		if i > 0 { // found through common operands
			starts = map[*op.Op]bool{}
		}
		if r == nil || !r.begins(starts) {
			return nil, diag.New(BadRule, "a result of the pattern is a parameter or constant, which would match everything")
		}
		p.roots = append(p.roots, r)
		p.total += r.count(seen)
		p.grows = p.grows || r.grows()
	}
	if len(p.roots) > 1 {
		for _, x := range p.parts {
			if x.kind == choice || x.kind == repeat {
				return nil, x.node.Error(BadRule, "the pattern has several spellings and several results, expected one result")
			}
		}
	}
	return p, p.closed()
}

// check refuses what no pattern has.
func (p *pattern) check(n *graph.Node) error {
	switch {
	case n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output:
		return nil
	case len(n.Regions()) > 0 || n.Effect() == op.Effectful:
		return n.Error(BadRule, "the pattern has control flow or effects, expected pure calls")
	case n.Opcode() == graph.CallModule:
		return n.Error(BadRule, "the pattern calls a module, expected functions of tensors")
	case n.NumUses() == 0:
		return n.Error(BadRule, "no result of the pattern is made of "+n.String())
	}
	return nil
}

// add enters a node of the trace.
func (p *pattern) add(m *graph.Module, n *graph.Node) error {
	x := &part{id: len(p.parts), node: n}
	for _, a := range n.Args() {
		x.args = append(x.args, p.of[a])
	}
	mark := markerOf(n.Op())
	switch {
	case n.Opcode() == graph.Output:
		return nil
	case n.Opcode() == graph.Placeholder:
		p.inputs = append(p.inputs, x)
	case n.Opcode() == graph.GetAttr:
		x.kind, x.array = constant, m.Param(n.Target()).Value
	case mark == nil:
		x.kind, x.op, x.attrs = call, n.Op(), n.Attrs()
		p.call(x)
	case mark.kind > rest:
		p.of[n] = x.args[0]
		return p.about(x.args[0], mark, n)
	default:
		x.kind, x.value, x.index, x.min, x.max = mark.kind, mark.value, mark.index, mark.min, mark.max
		if x.kind == rest {
			p.rests = max(p.rests, x.index+1)
		}
		if err := p.repetition(x); err != nil {
			return err
		}
	}
	p.parts = append(p.parts, x)
	p.of[n] = x
	return nil
}

// call finds out what of a call is left open.
func (p *pattern) call(x *part) {
	c := x.op.Codec()
	if c.HasDims() {
		c.Symbols(x.attrs, func(d shape.Dim) { x.dynamic = x.dynamic || len(d.Symbols()) > 0 })
	}
	k := numbersOf(x.node)
	p.numbers = max(p.numbers, k)
	last := len(x.args) - 1
	x.open = k > 0 || last >= 0 && x.args[last] != nil && x.args[last].kind == filled
}

// about enters what a marker says about x, the part that it is given.
func (p *pattern) about(x *part, mark *marker, n *graph.Node) error {
	switch mark.kind {
	case checked:
		x.checks = append(x.checks, mark.checks...)
	case named:
		if old := p.named[mark.name]; old != nil && old != x {
			return n.Error(BadRule, "the name "+strconv.Quote(mark.name)+" is given to "+old.node.String()+" and "+x.node.String())
		}
		p.named[mark.name] = x
	case commute:
		return commutes(x, n)
	case loose:
		if x.kind == call && x.op == op.GetItem {
			x = x.args[0]
		}
		if x.kind != call {
			return n.Error(BadRule, "the pattern leaves the attributes of "+x.node.String()+" open, which is no call")
		}
		x.loose = x.loose || len(mark.attrs) == 0
		x.open, x.free = true, append(x.free, mark.attrs...)
		for _, name := range mark.attrs {
			if !slices.ContainsFunc(x.op.Codec().Fields(x.attrs), func(f op.Field) bool { return f.Name == name }) {
				return n.Error(BadRule, x.op.Name+" has no attribute "+strconv.Quote(name))
			}
		}
	}
	return nil
}

// repetition finds the parts that x, if it is a Repeat, repeats: those made by its
// body.
func (p *pattern) repetition(x *part) error {
	if x.kind != repeat {
		return nil
	}
	from, body := x.args[1], x.args[2]
	from.of = x
	reached := map[*part]bool{}
	var reach func(y *part)
	reach = func(y *part) {
		if y == nil || reached[y] || y != from && y.id < from.id || y.kind == input {
			return
		}
		reached[y] = true
		if y == from {
			return
		}
		for _, a := range y.args {
			reach(a)
		}
		x.inner = append(x.inner, y)
	}
	reach(body)
	x.inner = append(x.inner, from)
	if !reached[from] || !body.begins(map[*op.Op]bool{}) {
		return x.node.Error(BadRule, "what the pattern repeats is no call on the operand of its body")
	}
	return nil
}

// closed demands that what a Repeat repeats is used by itself alone.
func (p *pattern) closed() error {
	for _, r := range p.parts {
		if r.kind != repeat {
			continue
		}
		inside := map[*part]bool{r: true}
		for _, x := range r.inner {
			inside[x] = true
		}
		for _, x := range p.parts {
			for _, a := range x.args {
				if a != nil && a != r && inside[a] && !inside[x] {
					return x.node.Error(BadRule, "the pattern uses "+a.node.String()+", which is repeated, outside of the repetition")
				}
			}
		}
		if slices.ContainsFunc(p.roots, func(x *part) bool { return x != r && inside[x] }) {
			return r.node.Error(BadRule, "a result of the pattern is within a repetition")
		}
		for _, name := range slices.Sorted(maps.Keys(p.named)) {
			if x := p.named[name]; x != r && inside[x] {
				return x.node.Error(BadRule, "the name "+strconv.Quote(name)+" is within a repetition, where it would stand for several nodes")
			}
		}
	}
	return nil
}

// begins adds the operators of all calls that x may stand for, and reports whether it
// stands for calls alone.
func (x *part) begins(ops map[*op.Op]bool) bool {
	switch x.kind {
	case call:
		ops[x.op] = true
		return true
	case choice:
		ok := true
		for _, a := range x.args {
			ok = a.begins(ops) && ok
		}
		return ok
	case repeat:
		return x.args[2].begins(ops) && (x.min > 0 || x.args[0].begins(ops))
	}
	return false
}

// grows reports whether x may be a repetition.
func (x *part) grows() bool {
	return x.kind == repeat || x.kind == choice && slices.ContainsFunc(x.args, (*part).grows)
}

// count returns the number of calls and constants below x along first spellings.
func (x *part) count(seen map[*part]bool) int {
	if x == nil || seen[x] {
		return 0
	}
	seen[x] = true
	args, total := x.args, 0
	switch x.kind {
	case call, constant, filled:
		total = 1
	case choice:
		args = args[:1]
	case repeat:
		return x.args[0].count(seen) + max(1, x.min)*x.args[2].count(seen)
	case hole:
		return 0
	}
	for _, a := range args {
		total += a.count(seen)
	}
	return total
}
