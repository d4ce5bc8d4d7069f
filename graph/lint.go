package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// The codes of broken graphs: the constraints C1 to C19 of docs/ir.md.
const (
	maxStructureSize = 1 << 16
)

// Lint checks the constraints that every graph between two passes satisfies
// (docs/ir.md) and returns all violations, those of regions included, in the
// order of the nodes. The list is empty for a sound graph.
//
// The sub-graphs of a module belong to its graph: Lint of that checks them too, and
// that none calls itself.
func Lint(g *Graph) diag.List { return lint(g).list }

func lint(g *Graph) *linter {
	l := &linter{}
	l.rules.Assume = func(shape.Relation) error {
		l.assumed = true
		return nil
	}
	l.graph(g, nil)
	if g.mod != nil && g == g.mod.Graph {
		l.subs(g.mod)
	}
	return l
}

// linter checks one graph; regions have their own, with outer set.
type linter struct {
	list  diag.List
	g     *Graph
	outer *linter
	at    *Node // being checked
	rules typing
	// assumed tells that a type rule has asked whether a relation of sizes holds.
	assumed bool
}

func (l *linter) add(n *Node, c diag.Code, msg string) *diag.Error {
	e := &diag.Error{Code: c, Pos: n.Pos(), Node: n.Name(), Msg: msg}
	if n.opcode == CallModule || n.op != nil {
		if o := n.Op(); o != nil {
			e.Op = o.Name
		}
	}
	l.list = append(l.list, e)
	return e
}

func (l *linter) graph(g *Graph, outer *linter) {
	l.g, l.outer = g, outer
	if !l.nodeList() {
		return
	}
	held := func(n *Node) int { return int(n.nuses) }
	if !l.linked() {
		uses := l.countUses()
		held = func(n *Node) int { return uses[n] }
	}
	l.nodes(func(n *Node) { l.node(n, held(n)) })
	l.output()
	l.facts()
	l.notes()
}

// nodes checks what is asked of all nodes together, and each by itself.
func (l *linter) nodes(check func(n *Node)) {
	names := map[string]*numbers{}
	started := false
	for n := range l.g.Nodes() {
		of := names[n.base]
		if of == nil {
			of = &numbers{}
			names[n.base] = of
		}
		if of.add(n.num, l.g.count) {
			l.add(n, DuplicateName, "two nodes have this name, expected names to be unique")
		}
		if n.opcode == Placeholder && started {
			l.add(n, LatePlaceholder, "placeholder after other nodes, expected placeholders first")
		}
		started = started || n.opcode != Placeholder
		check(n)
	}
}

// node checks what is asked of a node by itself; held is the number of operand slots
// that hold its value.
func (l *linter) node(n *Node, held int) {
	l.at = n
	l.operands(n)
	l.uses(n, held)
	l.kind(n)
	l.typeSymbols(n)
}

// nodeList checks the links; a list that cannot be walked ends the check.
func (l *linter) nodeList() bool {
	graph := l.g
	count := 0
	var prev *Node
	for node := graph.first; node != nil; node = node.next {
		switch {
		case node.prev != prev: // also where the list comes back to a node
			l.add(node, BrokenNodeList, "links to the neighbours disagree")
			return false
		case node.g != graph:
			l.add(node, ForeignNode, "node belongs to another graph")
			return false
		case node.erased:
			l.add(node, ForeignNode, "node has been erased and is still in the list")
			return false
		case prev != nil && prev.order >= node.order:
			l.add(node, BrokenNodeList, "order key is not greater than that of "+prev.String())
		}
		count++
		prev = node
	}
	if graph.last != prev || graph.count != count {
		e := diag.New(BrokenNodeList, "graph "+graph.Name+" counts "+strconv.Itoa(graph.count)+" nodes and has "+strconv.Itoa(count)+", or its end is wrong")
		l.list = append(l.list, e)
	}
	return true
}

func (l *linter) operands(node *Node) {
	for i := range node.args {
		d := node.args[i].def
		which := func() string { return "operand " + strconv.Itoa(i) + " is " + d.String() }
		switch {
		case node.args[i].user != node:
			l.add(node, BrokenUses, "operand slot "+strconv.Itoa(i)+" belongs to "+node.args[i].user.String())
		case d == nil:
		case d.erased:
			l.add(node, ForeignNode, which()+", which has been erased")
		case d.g != l.g && l.enclosing(d.g):
			l.add(node, ForeignNode, which()+" of the enclosing graph, expected a value of the region").
				WithHint("pass it as an operand of the call that has the region")
		case d.g != l.g:
			l.add(node, ForeignNode, which()+", which belongs to another graph")
		case d.opcode == Output:
			l.add(node, BrokenOrder, which()+", which is the output and not a value")
		case !d.Precedes(node):
			l.add(node, BrokenOrder, which()+", which is made later, expected a value made before").
				WithHint("move one of the nodes (Node.Prepend), or let Graph.Sort do it")
		}
	}
}

func (l *linter) enclosing(g *Graph) bool {
	for o := l.outer; o != nil; o = o.outer {
		if o.g == g {
			return true
		}
	}
	return false
}

// uses checks node's use list against the number of slots that hold node.
func (l *linter) uses(node *Node, held int) {
	count := 0
	var prev *edge
	for e := node.uses; e != nil && count <= held; e = e.next {
		if e.def != node || e.prev != prev || e.user == nil {
			l.add(node, BrokenUses, "use list has an entry that does not hold the node")
			return
		}
		if e.user.erased || e.user.g != l.g {
			l.add(node, BrokenUses, "use list names "+e.user.String()+", which is not in the graph")
		}
		prev = e
		count++
	}
	if count != held || int(node.nuses) != held || node.last != prev {
		l.add(node, BrokenUses, "use list has "+strconv.Itoa(count)+" uses and counts "+strconv.Itoa(int(node.nuses))+", "+strconv.Itoa(held)+" operand slots hold the node")
	}
}

func (l *linter) kind(n *Node) {
	mod := l.g.mod
	switch n.opcode {
	case Placeholder, Output:
		if n.op != nil || n.opcode == Placeholder && len(n.args) > 0 {
			l.add(n, BadOperator, n.opcode.String()+" with an operator or operands, expected none")
		}
	case GetAttr:
		if mod != nil {
			l.read(n, mod.Param(n.target))
		}
	case CallModule:
		l.module(n)
	default:
		switch {
		case n.op == nil:
			l.add(n, BadOperator, "call without an operator")
			return
		case !n.attrsFit():
			l.add(n, BadOperator, "attributes are not of the operator's type")
			return
		}
	}
	if o := n.Op(); o != nil {
		extra := 0
		if b := n.Bound(); b != nil {
			extra = len(b.Params)
		}
		if l.count(n, o, extra) && l.control(n) {
			l.infer(n)
		}
	}
}

// read checks a get_attr node against the parameter that it reads: kernels are chosen, and
// memory is laid out, for the node's type.
func (l *linter) read(n *Node, p *Param) {
	if p == nil {
		l.add(n, MissingParam, "parameter "+strconv.Quote(n.target)+" is not in the module").WithHint("add it (Module.SetParam)")
		return
	}
	if n.typ.Describes(p.Value) { // as nearly all do
		return
	}
	if t := p.TypeOf(); t.Kind() != shape.None {
		if _, ok := agree(l.g, n.typ, t); !ok {
			l.add(n, TypeDisagrees, "type is "+n.typ.String()+", parameter "+strconv.Quote(n.target)+" is "+t.String()).
				WithHint("give the parameter a tensor of the type that is read (Module.SetParam), or infer the types of the reads and of what follows again (Node.Retype)")
		}
	}
}

func (l *linter) module(node *Node) {
	b := node.Bound()
	if b == nil {
		if l.g.mod != nil {
			l.add(node, MissingModule, "module "+strconv.Quote(node.target)+" is unknown").WithHint("say what it does (Module.SetBound)")
		}
		return
	}
	if b.Op == nil || b.Op.Codec() == nil || !b.Op.Codec().Accepts(b.Attrs) {
		l.add(node, BadOperator, "module "+strconv.Quote(node.target)+" has no operator or attributes of another")
	}
	if b.Op != nil && b.Op.Structural() && b.Op != op.Call {
		l.add(node, BadOperator, "module "+strconv.Quote(node.target)+" is "+b.Op.Name+", which no module can be")
	}
	for _, p := range b.Params {
		if p != "" && l.g.mod.Param(p) == nil {
			l.add(node, MissingParam, "parameter "+strconv.Quote(p)+" of module "+strconv.Quote(node.target)+" is not in the module")
		}
	}
}

// count checks the number of operands against the operator's record.
func (l *linter) count(n *Node, o *op.Op, extra int) bool {
	if o.AdHoc && len(o.In) == 0 {
		return true
	}
	have := len(n.args) + extra
	if have > len(o.In) && !o.Variadic() {
		l.add(n, BadOperandCount, strconv.Itoa(have)+" operands, expected at most "+strconv.Itoa(len(o.In)))
		return false
	}
	if err := present(n, o, have); err != nil {
		l.add(n, BadOperandCount, err.(*diag.Error).Msg)
		return false
	}
	return true
}

// infer compares the type with what the rule gives; a type that is unknown to
// either says nothing.
func (l *linter) infer(node *Node) {
	if b := node.Bound(); b != nil && (b.Op.Codec() == nil || !b.Op.Codec().Accepts(b.Attrs)) {
		return
	}
	t, err := l.rules.safely(node)
	if err != nil {
		var list diag.List
		list.Add(err)
		for _, e := range list {
			l.add(node, e.Code, e.Msg).Hint = e.Hint
		}
		return
	}
	if _, ok := agree(l.g, node.typ, t); !ok {
		l.add(node, TypeDisagrees, "type is "+node.typ.String()+", its operands give "+t.String()).
			WithHint("infer it again (Node.Infer)")
	}
}

func (l *linter) output() {
	var out *Node
	for n := range l.g.Nodes() {
		switch {
		case out != nil && n.opcode == Output:
			l.add(n, OutputPlace, "second output, expected one")
		case out != nil:
			l.add(n, OutputPlace, "node after the output, expected the output last")
		case n.opcode == Output:
			out = n
			l.structure(n)
		}
	}
	if out == nil {
		l.list = append(l.list, diag.New(NoOutput, "graph "+l.g.Name+" has no output node").WithHint("add one with Cursor.Output"))
	}
}

func (l *linter) structure(node *Node) {
	tree := node.Structure()
	if tree == nil {
		return
	}
	used := make([]bool, len(node.args))
	size := 0
	var walk func(s *Structure, depth int) string
	walk = func(s *Structure, depth int) string {
		size++
		switch {
		case s == nil || depth > maxNesting || size > maxStructureSize:
			return "structure is nil somewhere, or too deep or large"
		case s.Kind == LeafValue && (s.Index < 0 || s.Index >= len(node.args)):
			return "result " + strconv.Itoa(s.Index) + " of " + strconv.Itoa(len(node.args)) + " operands"
		case s.Kind == LeafValue:
			used[s.Index] = true
		case s.Kind > NoValue:
			return "structure of an unknown kind"
		case (s.Kind == StructOf || s.Kind == MapOf) && len(s.Keys) != len(s.Fields):
			return strconv.Itoa(len(s.Keys)) + " keys for " + strconv.Itoa(len(s.Fields)) + " fields"
		}
		keys := make(map[string]bool, len(s.Keys)) // gradients have a key for each parameter
		for _, k := range s.Keys {
			if keys[k] {
				return "two fields are called " + strconv.Quote(k)
			}
			keys[k] = true
		}
		for _, f := range s.Fields {
			if msg := walk(f, depth+1); msg != "" {
				return msg
			}
		}
		return ""
	}
	if msg := walk(tree, 0); msg != "" {
		l.add(node, BadStructure, msg)
		return
	}
	for i, u := range used {
		if !u {
			l.add(node, BadStructure, "operand "+strconv.Itoa(i)+" stands nowhere in the structure")
		}
	}
}

// control checks the structural operators: regions, and what assign writes.
func (l *linter) control(node *Node) bool {
	ok := true
	for _, e := range []*diag.Error{node.CheckControl(), node.CheckCall()} {
		if e != nil {
			l.add(node, e.Code, e.Msg)
			ok = false
		}
	}
	for _, r := range node.Regions() {
		if r == nil || r.parent != node {
			continue
		}
		inner := &linter{}
		inner.graph(r, l)
		l.list = append(l.list, inner.list...)
		ok = ok && len(inner.list) == 0
	}
	if node.Op() == op.Assign {
		if _, e := node.Assigned(); e != nil {
			l.add(node, e.Code, e.Msg).Hint = e.Hint
		}
	}
	return ok
}

// typeSymbols checks that the symbols in a node's type and attributes are
// defined where the node stands.
func (l *linter) typeSymbols(n *Node) {
	if is, found := n.typ.Uncountable(); found {
		l.add(n, op.TooLarge, "type is "+is.String()+", whose elements cannot be counted").WithHint("check the sizes")
	}
	var missing string
	check := func(d shape.Dim) {
		if s, one := d.IsSymbol(); one { // as most are
			if missing == "" && !l.defined(s, l.at) {
				missing = s
			}
			return
		}
		for _, s := range d.Symbols() {
			if missing == "" && !l.defined(s, l.at) {
				missing = s
			}
		}
	}
	eachDim(n.typ, check)
	if n.attrsFit() {
		n.op.Codec().Symbols(n.attrs, check)
	}
	if missing != "" {
		l.add(n, UndefinedSymbol, "symbol "+missing+" is not defined here").
			WithHint("define it by a size of a value made before (Graph.DefineSymbol)")
	}
}

// eachDim calls f for every dimension of a type.
func eachDim(t shape.Type, f func(shape.Dim)) {
	for i := range t.Dims().Len() {
		f(t.Dim(i))
	}
	for i := range t.Len() {
		eachDim(t.Member(i), f)
	}
}

// defined reports whether a symbol is defined for a node: by an input, by a node not
// after it, or in the enclosing graph. A nil node stands for the end of the graph.
func (l *linter) defined(name string, at *Node) bool {
	s, ok := l.g.Symbol(name)
	if !ok {
		return l.outer != nil && l.outer.defined(name, l.outer.at)
	}
	return l.absent(s.Node) == "" && (at == nil || s.Node.opcode == Placeholder || !at.Precedes(s.Node))
}

// facts checks that symbols and guards speak of nodes that are there.
func (l *linter) facts() {
	for _, s := range l.g.Symbols() {
		if msg := l.absent(s.Node); msg != "" {
			l.fact(s.Node, "symbol "+s.Name+" is a size of "+s.Node.String()+", which "+msg)
		} else if r := s.Node.typ.Rank(); r >= 0 && (s.Axis >= r || s.Axis < -r) || s.Node.typ.Kind() == shape.Tuple {
			l.fact(s.Node, "symbol "+s.Name+" is axis "+strconv.Itoa(s.Axis)+" of "+s.Node.typ.String())
		}
	}
	for _, d := range l.g.Guards() {
		text := "guard " + d.String()
		if d.Node != nil {
			if msg := l.absent(d.Node); msg != "" {
				l.fact(d.Node, text+" comes from "+d.Node.String()+", which "+msg)
			}
		}
		l.unknown(d.Node, text, d.Symbols())
	}
}

// absent says why a node is not in the graph, "" when it is.
func (l *linter) absent(n *Node) string {
	switch {
	case n == nil:
		return "is not there"
	case n.erased:
		return "has been erased"
	}
	if n.g != l.g {
		return "belongs to another graph"
	}
	return ""
}

func (l *linter) fact(n *Node, msg string) {
	if n == nil {
		n = &Node{g: l.g}
	}
	l.add(n, DeadFact, msg)
}

// notes checks that the guards of specialisations speak of symbols that are there.
func (l *linter) notes() {
	for _, s := range l.g.Specialisations() {
		if s.Guard != nil {
			l.unknown(nil, "note "+strconv.Quote(s.What), s.Guard.Symbols())
		}
	}
}

// unknown reports symbols that nothing defines.
func (l *linter) unknown(n *Node, text string, symbols []string) {
	for _, s := range symbols {
		if !l.defined(s, nil) {
			l.fact(n, text+" needs the symbol "+s+", which is not defined")
		}
	}
}
