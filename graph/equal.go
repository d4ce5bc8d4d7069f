package graph

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Equal reports whether two graphs compute the same in the same way: the nodes
// correspond one to one, with the same opcodes, targets, attributes, types and
// regions, the sub-graphs that they call are equal and have the same names, and the
// symbols and guards are the same. Other names, positions, scopes and
// side data do not count, nor does the order of nodes that could be exchanged, used or
// not: only nodes with effects must come in the same order. When the graphs differ,
// diff says where, naming the nodes of both. Unused values that are the same except for
// what they share are paired by a bounded search; beyond it graphs count as different.
//
// Equal is for graphs alone; EqualModules compares the parameters too. Alike is for caches:
// it is faster than both, heeds names and order, and does not say where modules differ.
func Equal(a, b *Graph) (equal bool, diff string) {
	diff = newMatcher(map[[2]*Graph]bool{}).graphs(a, b)
	return diff == "", diff
}

// EqualModules reports whether two modules have equal graphs and equal state:
// the same parameters (by path; values count where both have them, by their
// bits) and the same leaf modules. The order of both does not count. Tests of what a pass
// or an importer made use it.
func EqualModules(a, b *Module) (equal bool, diff string) {
	if equal, diff = Equal(a.Graph, b.Graph); !equal {
		return equal, diff
	}
	if a.Type != b.Type {
		return false, "type is " + a.Type + " and " + b.Type
	}
	for _, check := range []func(a, b *Module) string{equalSubs, equalParams, equalBounds} {
		if diff == "" {
			diff = check(a, b)
		}
	}
	return diff == "", diff
}

// equalSubs compares all sub-graphs, called or not; their names count.
func equalSubs(first, second *Module) string {
	for _, g := range first.subs {
		h := second.Sub(g.Name)
		if h == nil {
			return "sub-graph " + g.Name + " is in the first module only"
		}
		if equal, diff := Equal(g, h); !equal {
			return "sub-graph " + g.Name + ": " + diff
		}
	}
	for _, h := range second.subs {
		if first.Sub(h.Name) == nil {
			return "sub-graph " + h.Name + " is in the second module only"
		}
	}
	return ""
}

func equalParams(first, second *Module) string {
	for _, p := range first.params {
		q := second.byPath[p.Path]
		switch {
		case q == nil:
			return "parameter " + p.Path + " is in the first module only"
		case !p.TypeOf().Same(q.TypeOf()):
			return "parameter " + p.Path + " is " + p.TypeOf().String() + " and " + q.TypeOf().String()
		case p.Buffer != q.Buffer || p.Selector != q.Selector:
			return "parameter " + p.Path + " differs in being a buffer or in its selector"
		case p.Value != nil && q.Value != nil && p.Value != q.Value &&
			!bytes.Equal(array.Bytes(array.Contiguous(p.Value)), array.Bytes(array.Contiguous(q.Value))):
			return "parameter " + p.Path + " has different values"
		}
	}
	for _, q := range second.params {
		if first.byPath[q.Path] == nil {
			return "parameter " + q.Path + " is in the second module only"
		}
	}
	return ""
}

func equalBounds(first, second *Module) string {
	for path, p := range first.Bounds() {
		q := second.Bound(path)
		switch {
		case q == nil:
			return "module " + path + " is in the first only"
		case p.Op != q.Op:
			return "module " + path + " calls different operators"
		case p.Op != nil && !p.Op.Codec().Equal(p.Attrs, q.Attrs):
			return "module " + path + " has attributes " + p.Op.Codec().Print(p.Attrs) + " and " + q.Op.Codec().Print(q.Attrs)
		case !slices.Equal(p.Params, q.Params):
			return "module " + path + " has parameters " + strings.Join(p.Params, ", ") + " and " + strings.Join(q.Params, ", ")
		case p.Type != q.Type || p.Selector != q.Selector || strings.Join(p.Names, ",") != strings.Join(q.Names, ","):
			return "module " + path + " differs in Go type, selector or local names"
		}
	}
	for path := range second.Bounds() {
		if first.Bound(path) == nil {
			return "module " + path + " is in the second only"
		}
	}
	return ""
}

// matcher pairs the nodes of two graphs, from the results backwards.
type matcher struct {
	to, from map[*Node]*Node
	todo     [][2]*Node
	called   map[[2]*Graph]bool // sub-graphs that have been compared, or are being
	trail    []*Node            // of the first graph, in the order in which they were paired
	tries    int                // of pairs of unused values that may still fail
}

func newMatcher(called map[[2]*Graph]bool) *matcher {
	return &matcher{to: map[*Node]*Node{}, from: map[*Node]*Node{}, called: called}
}

func (m *matcher) graphs(first, second *Graph) string {
	if first.count != second.count {
		return "graphs have " + strconv.Itoa(first.count) + " and " + strconv.Itoa(second.count) + " nodes" + lonely(first, second)
	}
	x, y := looseValues(first), looseValues(second)
	for _, roots := range [][2][]*Node{{first.Inputs(), second.Inputs()}, {orderedAlone(first), orderedAlone(second)}, {x.nodes, y.nodes}} {
		if a, b := roots[0], roots[1]; len(a) != len(b) {
			return "graphs have " + strconv.Itoa(len(a)) + " and " + strconv.Itoa(len(b)) + " inputs, effects or unused values: " + names(a) + " and " + names(b)
		}
	}
	for _, roots := range [][2][]*Node{{first.Inputs(), second.Inputs()}, {orderedAlone(first), orderedAlone(second)}} {
		for i, n := range roots[0] {
			if d := m.pair(n, roots[1][i]); d != "" {
				return d
			}
		}
	}
	if d := m.rest(); d != "" {
		return d
	}
	m.tries = maxTries
	if d := m.unused(x, y, make([]bool, len(y.nodes)), 0); d != "" {
		return d
	}
	return m.symbols(first, second)
}

// rest compares what has been paired, and all that it is computed from.
func (m *matcher) rest() string {
	for len(m.todo) > 0 {
		p := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if d := m.compare(p[0], p[1]); d != "" {
			m.todo = m.todo[:0]
			return d
		}
	}
	return ""
}

// lonely names the first call that only one of the graphs has as many of.
func lonely(a, b *Graph) string {
	count := map[string]int{}
	for n := range a.Nodes() {
		count[n.opcode.String()+"["+n.targetText()+"]"]++
	}
	for n := range b.Nodes() {
		count[n.opcode.String()+"["+n.targetText()+"]"]--
	}
	for _, g := range []*Graph{a, b} {
		for n := range g.Nodes() {
			if c := count[n.opcode.String()+"["+n.targetText()+"]"]; c != 0 {
				which := "first"
				if c < 0 {
					which = "second"
				}
				return "; the " + which + " has more " + n.opcode.String() + "[" + n.targetText() + "]"
			}
		}
	}
	return ""
}

func names(list []*Node) string {
	s := make([]string, len(list))
	for i, n := range list {
		s[i] = n.String()
	}
	return "(" + strings.Join(s, ", ") + ")"
}

// pair notes that left corresponds to right and leaves the comparison for later.
func (m *matcher) pair(left, right *Node) string {
	if left == nil && right == nil {
		return ""
	}
	if left == nil || right == nil {
		return left.String() + " stands where the other graph has " + right.String()
	}
	px, hasX := m.to[left]
	py, hasY := m.from[right]
	if hasX || hasY {
		if px == right && py == left {
			return ""
		}
		return left.String() + " stands where the other graph has " + right.String()
	}
	m.to[left], m.from[right] = right, left
	m.trail = append(m.trail, left)
	m.todo = append(m.todo, [2]*Node{left, right})
	return ""
}

// compare compares all of two nodes but their operands, which it pairs.
func (m *matcher) compare(left, right *Node) string {
	what := left.String() + " and " + right.String() + ": "
	if d := differ(left, right); d != "" {
		return what + d
	}
	if left.opcode == Output {
		if d := m.structures(left, left.packing(), right, right.packing()); d != "" {
			return what + d
		}
		return ""
	}
	if len(left.args) != len(right.args) {
		return what + strconv.Itoa(len(left.args)) + " and " + strconv.Itoa(len(right.args)) + " operands"
	}
	for i := range left.args {
		if d := m.pair(left.args[i].def, right.args[i].def); d != "" {
			return what + "operand " + strconv.Itoa(i) + ": " + d
		}
	}
	rx, ry := left.Regions(), right.Regions()
	if len(rx) != len(ry) {
		return what + strconv.Itoa(len(rx)) + " and " + strconv.Itoa(len(ry)) + " regions"
	}
	for i := range rx {
		if d := newMatcher(m.called).graphs(rx[i], ry[i]); d != "" {
			return what + "region " + strconv.Itoa(i) + ": " + d
		}
	}
	return m.callees(left, right, what)
}

// callees compares the sub-graphs that two nodes call, each pair once.
func (m *matcher) callees(left, right *Node, what string) string {
	f, g := left.Callee(), right.Callee()
	switch {
	case f == g || m.called[[2]*Graph{f, g}]:
		return ""
	case f == nil || g == nil:
		return what + "only one of the modules has the sub-graph"
	}
	m.called[[2]*Graph{f, g}] = true
	if d := newMatcher(m.called).graphs(f, g); d != "" {
		delete(m.called, [2]*Graph{f, g})
		return what + "sub-graph " + f.Name + ": " + d
	}
	return ""
}

// differ compares what nodes have apart from operands and regions.
func differ(left, right *Node) string {
	switch {
	case left.opcode != right.opcode:
		return "opcodes " + left.opcode.String() + " and " + right.opcode.String()
	case left.opcode == CallFunction || left.opcode == CallMethod:
		if left.op != right.op {
			return "operators " + left.targetText() + " and " + right.targetText()
		}
		if ok := left.attrsFit(); ok != right.attrsFit() || ok && !left.op.Codec().Equal(left.attrs, right.attrs) {
			return "attributes " + left.attrsText() + " and " + right.attrsText()
		}
	case left.opcode == Placeholder:
		if a, b := defaultText(left), defaultText(right); a != b {
			return "default values " + a + " and " + b
		}
	case left.target != right.target:
		return "targets " + left.target + " and " + right.target
	}
	switch {
	case left.Live() != right.Live():
		return "only one is live"
	case left.opcode != Output && !left.typ.Same(right.typ):
		return "types " + left.typ.String() + " and " + right.typ.String()
	}
	return ""
}

// attrsFit reports whether the attributes are of the operator's type.
func (n *Node) attrsFit() bool {
	return n.op != nil && n.op.Codec() != nil && n.op.Codec().Accepts(n.attrs)
}

func (n *Node) attrsText() string {
	if !n.attrsFit() {
		return "{?}"
	}
	if s := n.op.Codec().Print(n.attrs); s != "" {
		return s
	}
	return "{}"
}

func defaultText(n *Node) string {
	if d := n.Default(); d != nil {
		return literal(d)
	}
	return "none"
}

// bareList is the kind of the structure that an output without one has.
const bareList StructureKind = 255

// packing returns an output's structure, made up where it has none.
func (n *Node) packing() *Structure {
	if s := n.Structure(); s != nil {
		return s
	}
	if len(n.args) == 1 {
		return Leaf(0)
	}
	s := &Structure{Kind: bareList}
	for i := range n.args {
		s.Fields = append(s.Fields, Leaf(i))
	}
	return s
}

func (m *matcher) structures(x *Node, s *Structure, y *Node, t *Structure) string {
	if s == nil || t == nil || s.Kind != t.Kind || s.Type != t.Type || len(s.Fields) != len(t.Fields) || !slices.Equal(s.Keys, t.Keys) {
		return "results are packed differently"
	}
	if s.Kind == LeafValue {
		return m.pair(x.Arg(s.Index), y.Arg(t.Index))
	}
	for i := range s.Fields {
		if d := m.structures(x, s.Fields[i], y, t.Fields[i]); d != "" {
			return d
		}
	}
	return ""
}

// symbols compares the symbol tables, once the nodes are paired.
func (m *matcher) symbols(a, b *Graph) string {
	if len(a.symbols.list) != len(b.symbols.list) {
		return "graphs have " + strconv.Itoa(len(a.symbols.list)) + " and " + strconv.Itoa(len(b.symbols.list)) + " symbols"
	}
	for _, s := range a.symbols.list {
		t, ok := b.Symbol(s.Name)
		if !ok {
			return "symbol " + s.Name + " is in the first graph only"
		}
		if s.Axis != t.Axis || m.to[s.Node] != t.Node {
			return "symbol " + s.Name + " is dim(" + s.Node.String() + ", " + strconv.Itoa(s.Axis) + ") and dim(" + t.Node.String() + ", " + strconv.Itoa(t.Axis) + ")"
		}
	}
	x, y := a.symbols.texts(), b.symbols.texts()
	for i := range max(len(x), len(y)) {
		switch {
		case i == len(y) || i < len(x) && x[i] < y[i]:
			return "guard " + x[i] + " is in the first graph only"
		case i == len(x) || y[i] < x[i]:
			return "guard " + y[i] + " is in the second graph only"
		}
	}
	return ""
}

// texts returns the guards, sorted, equalities with the smaller side first.
func (t *guardTable) texts() []string {
	list := make([]string, len(t.guards))
	for i, d := range t.guards {
		if list[i] = d.String(); d.Rel == shape.EQ {
			a, b := sorted(d.A, d.B)
			list[i] = a + " == " + b
		}
	}
	slices.Sort(list)
	return list
}

func sorted(a, b shape.Dim) (string, string) {
	x, y := a.String(), b.String()
	if y < x {
		return y, x
	}
	return x, y
}
