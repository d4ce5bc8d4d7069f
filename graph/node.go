package graph

import (
	"iter"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Opcode is one of the six kinds of node, as in torch.fx (paper, appendix A).
type Opcode uint8

// The opcodes.
const (
	Placeholder  Opcode = iota // an input; target is its name
	GetAttr                    // reads a parameter or buffer; target is its path
	CallFunction               // calls an operator or a wrapped Go function
	CallMethod                 // calls a Tensor method; the first operand is the receiver
	CallModule                 // calls a leaf module; target is its path, Bound says what it does
	Output                     // the results; Structure says how they are packed
)

var opcodeNames = [...]string{"placeholder", "get_attr", "call_function", "call_method", "call_module", "output"}

// String returns torch.fx's name of the opcode.
func (o Opcode) String() string { return opcodeNames[o] }

// IsCall reports whether the opcode is one of the three call opcodes.
func (o Opcode) IsCall() bool { return o >= CallFunction && o <= CallModule }

// Node is one value of a graph: one node, one value, one type. Nodes are made by
// a Cursor and changed through methods, which keep the use lists right. Identity
// is the pointer; names are for people.
type Node struct {
	g          *Graph
	prev, next *Node
	order      uint64 // position key for Before; gaps are renumbered when used up

	op     *op.Op
	attrs  any
	target string
	args   []edge
	uses   *edge // first use; the list keeps the order in which uses were made
	last   *edge
	typ    shape.Type
	extra  *extra

	base   string // name without the number
	num    uint32
	nuses  int32
	pos    PosID
	scope  ScopeID
	opcode Opcode
	erased bool
}

// edge is one operand slot: an element of the user's args and of the use list of
// the value it holds.
type edge struct {
	def, user  *Node
	prev, next *edge
}

// extra holds what few nodes have.
type extra struct {
	regions   []*Graph
	structure *Structure
	def       any // default value of a placeholder
	live      bool
	static    diag.Pos // position read from a text form
	keys      []keyed
}

func (n *Node) more() *extra {
	if n.extra == nil {
		n.extra = &extra{}
	}
	return n.extra
}

// Graph returns the graph that the node belongs to.
func (n *Node) Graph() *Graph { return n.g }

// Opcode returns the node's opcode.
func (n *Node) Opcode() Opcode { return n.opcode }

// Target returns the input name, parameter path, module path or method name; for
// call_function the operator's key, for output "output".
func (n *Node) Target() string {
	if n.opcode == CallFunction {
		return n.op.Key()
	}
	return n.target
}

// Op returns the operator of any call, however it is spelt; nil for the others
// and for modules that the graph module does not know.
func (n *Node) Op() *op.Op {
	if n.opcode == CallModule {
		if b := n.Bound(); b != nil {
			return b.Op
		}
		return nil
	}
	return n.op
}

// Attrs returns the operator's attributes struct, for any spelling of the call.
func (n *Node) Attrs() any {
	if n.opcode == CallModule {
		if b := n.Bound(); b != nil {
			return b.Attrs
		}
		return nil
	}
	return n.attrs
}

// Bound returns what the graph module knows of a call_module node's module.
func (n *Node) Bound() *Bound {
	if n.opcode != CallModule || n.g.mod == nil {
		return nil
	}
	return n.g.mod.Bound(n.target)
}

// Type returns what is known about the value.
func (n *Node) Type() shape.Type { return n.typ }

// SetType overrides the inferred type; the caller must know better.
func (n *Node) SetType(t shape.Type) {
	n.typ = t
	n.changed()
}

// Name returns the node's unique name, without the % of the text form.
func (n *Node) Name() string {
	if n.num == 0 {
		return n.base
	}
	return string(n.nameText(nil))
}

func (n *Node) nameText(b []byte) []byte {
	if b = append(b, n.base...); n.num == 0 {
		return b
	}
	return strconv.AppendUint(append(b, '_'), uint64(n.num), 10)
}

// String returns "%name".
func (n *Node) String() string {
	if n == nil {
		return "_"
	}
	return "%" + n.Name()
}

// Rename gives the node a name like hint, made unique.
func (n *Node) Rename(hint string) {
	n.g.names.free(n.base, n.num)
	n.base, n.num = n.g.names.unique(hint)
	n.changed()
}

// setName gives the node a name that no other node has.
func (n *Node) setName(name string) {
	n.g.names.free(n.base, n.num)
	n.base, n.num = n.g.names.take(name)
	n.changed()
}

// NumArgs returns the number of operand slots.
func (n *Node) NumArgs() int { return len(n.args) }

// Arg returns operand i, nil when it is absent.
func (n *Node) Arg(i int) *Node {
	if i < 0 || i >= len(n.args) {
		return nil
	}
	return n.args[i].def
}

// Args returns the operands; absent optional ones are nil.
func (n *Node) Args() []*Node {
	out := make([]*Node, len(n.args))
	for i := range n.args {
		out[i] = n.args[i].def
	}
	return out
}

// Inputs yields every distinct present operand, in order of first use.
func (n *Node) Inputs() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for i := range n.args {
			d := n.args[i].def
			if d == nil || n.usesBefore(i, d) {
				continue
			}
			if !yield(d) {
				return
			}
		}
	}
}

func (n *Node) usesBefore(i int, d *Node) bool {
	for j := range i {
		if n.args[j].def == d {
			return true
		}
	}
	return false
}

// NumUses returns the number of operand slots that hold the node's value, in
// this graph; symbols defined by it are counted by Graph.SymbolsOf.
func (n *Node) NumUses() int { return int(n.nuses) }

// Users yields the nodes that use the value, each once, in order of first use.
func (n *Node) Users() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		seen := map[*Node]bool{}
		for e := n.uses; e != nil; {
			next := e.next
			if !seen[e.user] {
				seen[e.user] = true
				if !yield(e.user) {
					return
				}
			}
			e = next
		}
	}
}

// Next returns the node after n in execution order, nil for the last.
func (n *Node) Next() *Node { return n.next }

// Prev returns the node before n in execution order, nil for the first.
func (n *Node) Prev() *Node { return n.prev }

// Precedes reports whether n runs before o; both must be of the same graph.
func (n *Node) Precedes(o *Node) bool { return n.order < o.order }

// Regions returns the sub-graphs of cond, while and scan.
func (n *Node) Regions() []*Graph {
	if n.extra == nil {
		return nil
	}
	return n.extra.regions
}

// Structure returns how an output node packs its operands; nil means one plain value.
func (n *Node) Structure() *Structure {
	if n.extra == nil {
		return nil
	}
	return n.extra.structure
}

// Default returns the default value of a placeholder, nil when it has none.
func (n *Node) Default() any {
	if n.extra == nil {
		return nil
	}
	return n.extra.def
}

// Live reports whether a get_attr node reads its parameter at each run (live)
// rather than allowing it to be folded and prepacked (frozen, the default).
func (n *Node) Live() bool { return n.extra != nil && n.extra.live }

// SetLive sets whether a get_attr node reads its parameter at each run.
func (n *Node) SetLive(live bool) {
	if live || n.extra != nil {
		n.more().live = live
		n.changed()
	}
}

// Scope returns the path of the module in whose Forward the node was recorded.
func (n *Node) Scope() Scope { return n.g.scopes.get(n.scope) }

// Pos returns the first user frame at which the node was recorded.
func (n *Node) Pos() diag.Pos {
	if n.extra != nil && n.extra.static.File != "" {
		return n.extra.static
	}
	return n.g.pos.first(n.pos)
}

// Stack returns all recorded user frames, innermost first.
func (n *Node) Stack() []diag.Pos {
	if n.extra != nil && n.extra.static.File != "" {
		return []diag.Pos{n.extra.static}
	}
	return n.g.pos.stack(n.pos)
}

// Error starts a diagnostic about the node.
func (n *Node) Error(code diag.Code, msg string) *diag.Error {
	e := &diag.Error{Code: code, Pos: n.Pos(), Node: n.Name(), Msg: msg}
	if o := n.Op(); o != nil {
		e.Op = o.Name
	}
	return e
}

// SetArg makes v operand i; nil makes it absent. A value of a graph around is captured.
func (n *Node) SetArg(i int, v *Node) {
	v = n.g.Capture(v)
	e := &n.args[i]
	was := e.def
	e.unlink()
	e.link(v)
	n.relinked(was, v)
}

// SetArgs replaces all operands; their number may change. The type is not
// inferred again.
func (n *Node) SetArgs(args ...*Node) { n.setArgs(n.g.captured(n.String(), args)) }

func (n *Node) setArgs(args []*Node) {
	before := n.Args()
	for i := range n.args {
		n.args[i].unlink()
	}
	n.args = make([]edge, len(args))
	for i, a := range args {
		n.args[i].user = n
		n.args[i].link(a)
	}
	n.changed()
	for _, d := range before {
		if d != nil && d.g != n.g {
			d.changed()
		}
	}
}

// InsertArg makes v one more operand, in front of operand i; i may be the number of
// operands. The type is not inferred again.
func (n *Node) InsertArg(i int, v *Node) {
	if i < 0 || i > len(n.args) {
		panic(n.Error(BadOperandCount, "operand "+itoa(max(i, 0))+" is inserted into "+itoa(len(n.args))+" operands"))
	}
	n.SetArgs(slices.Insert(n.Args(), i, v)...)
}

// ReplaceInput makes every operand slot of n that holds old hold value, and returns
// their number. The type is not inferred again.
func (n *Node) ReplaceInput(old, value *Node) int {
	count := 0
	for i := range n.args {
		if n.args[i].def == old && old != nil {
			n.SetArg(i, value)
			count++
		}
	}
	return count
}

// Operand returns the operand that the operator's record calls name, nil when it is
// absent or no operand has that name; of a list of operands it is the first.
func (n *Node) Operand(name string) *Node {
	if o := n.Op(); o != nil {
		for i := range o.In {
			if o.In[i].Name == name {
				return n.Arg(i)
			}
		}
	}
	return nil
}

// ReplaceUses makes every use of n a use of value instead; with keep, only the uses
// by nodes for which keep returns true (where value is computed from n, it must be
// false for the nodes in between). Symbols defined by n move to value when keep is
// nil. It returns the number of uses replaced. Types of users are not inferred
// again.
func (n *Node) ReplaceUses(value *Node, keep func(user *Node) bool) int {
	if value == n {
		return 0
	}
	count := 0
	for e := n.uses; e != nil; {
		next := e.next
		if keep == nil || keep(e.user) {
			e.unlink()
			e.link(value)
			count++
			e.user.relinked(n, value)
		}
		e = next
	}
	if keep == nil {
		n.g.symbols.move(n, value)
	}
	n.replaced(value)
	return count
}

// SetAttrs replaces the attributes of a call_function or call_method node; they
// must be of the operator's type. The type is inferred again.
func (n *Node) SetAttrs(a any) error {
	attrs, err := n.op.Codec().Given(a)
	if err != nil {
		return n.Error(op.BadAttr, err.(*diag.Error).Msg)
	}
	n.attrs = attrs
	return n.Infer()
}

// hold makes values the operands of a node that has none yet; those of graphs around are captured.
func (n *Node) hold(args []*Node) {
	if slices.ContainsFunc(args, func(a *Node) bool { return a != nil && a.g != n.g }) {
		args = n.g.captured(n.String(), slices.Clone(args))
	}
	for i, a := range args {
		n.args[i].user = n
		n.args[i].link(a)
	}
}

func (e *edge) link(v *Node) {
	e.def = v
	if v == nil {
		return
	}
	e.prev, e.next = v.last, nil
	if v.last == nil {
		v.uses = e
	} else {
		v.last.next = e
	}
	v.last = e
	v.nuses++
}

func (e *edge) unlink() {
	d := e.def
	if d == nil {
		return
	}
	if e.prev == nil {
		d.uses = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		d.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	d.nuses--
	e.def, e.prev, e.next = nil, nil, nil
}

// Infer computes the node's type again from its operands. The type set on
// a call of an opaque function, which has no type rule, stays.
func (n *Node) Infer() error {
	err := n.g.infer(n)
	n.changed()
	return err
}

// OperandTypes returns the types of what a call computes from, in the order of its
// operator's operands: those of the node's operands, then those of the parameters
// that a called module has (see Bound). Absent ones have the zero Type.
func (n *Node) OperandTypes() []shape.Type { return n.operandTypes(nil) }

func (n *Node) operandTypes(types []shape.Type) []shape.Type {
	types = slices.Grow(types, len(n.args))
	for i := range n.args {
		var t shape.Type
		if d := n.args[i].def; d != nil {
			t = d.typ
		}
		types = append(types, t)
	}
	if b := n.Bound(); b != nil {
		types = append(types, n.g.mod.paramTypes(n.target, b)...)
	}
	return types
}
