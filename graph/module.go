package graph

import (
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Bound is what a leaf module does, so that a call of it needs no Go value: the
// operator, its attributes and which of the module's tensors are its operands. With
// op.Call as its operator it runs a sub-graph of the module.
type Bound struct {
	Op    *op.Op
	Attrs any
	// Params are the paths of the tensors that follow the call's operands, ""
	// for an absent optional one.
	Params []string
	// Names are the local names of Params ("weight", "bias"), for printers.
	Names []string
	// Type is the Go type, "import/path.Name"; Selector the Go expression that
	// reaches the module from the root ("m.Layer1[0].Conv1"). Both may be empty.
	Type     string
	Selector string
}

// Param is a tensor of the model's state.
type Param struct {
	Path string
	// Value is nil while only the text form has been read.
	Value *array.Array
	// Type is what is declared about a parameter without a value; see TypeOf.
	Type   shape.Type
	Buffer bool // not trained: running statistics, masks
	// Selector is the Go expression that reaches the tensor from the root, or "".
	Selector string
}

// TypeOf returns the value's type, the declared type when there is no value.
func (p *Param) TypeOf() shape.Type {
	if p.Value != nil {
		return shape.TypeOf(p.Value)
	}
	return p.Type
}

// Module is a graph with its state, and with the sub-graphs that it calls: what
// torch.fx calls a GraphModule, as plain data. fx.GraphModule makes it callable.
type Module struct {
	Graph *Graph
	// Type is the Go type or function that was captured, "import/path.Name".
	Type string

	subs    []*Graph
	params  []*Param
	byPath  map[string]*Param
	bounds  []boundEntry
	byMod   map[string]int
	types   *typeCache
	answers *answers

	version uint32 // counts the changes of params, bounds and sub-graphs
}

type boundEntry struct {
	path  string
	bound *Bound
}

// NewModule makes g's module; g must not have one.
func NewModule(g *Graph) *Module {
	m := &Module{Graph: g, byPath: map[string]*Param{}, byMod: map[string]int{}, types: &typeCache{}, answers: &answers{}}
	m.adopt(g)
	return m
}

// adopt makes m the module of g and its regions.
func (m *Module) adopt(g *Graph) {
	g.mod = m
	edited(g)
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			m.adopt(r)
		}
	}
}

// Param returns the tensor at path, nil when there is none.
func (m *Module) Param(path string) *Param { return m.byPath[path] }

// Params returns the state in the order in which it was added.
func (m *Module) Params() []*Param { return m.params }

// Version is another number after each change of the state, of what leaf modules do
// and of the sub-graphs. It says nothing of nodes.
func (m *Module) Version() uint32 { return m.version }

// Touch ends what is kept about the module (see Analysis), as an edit does. It is for a change
// that no method makes: of a field of a Param, of the elements of an array.
func (m *Module) Touch() { m.version++ }

// Values returns the arrays of the state by path, nil for tensors without one.
func (m *Module) Values() map[string]*array.Array {
	values := make(map[string]*array.Array, len(m.params))
	for _, p := range m.params {
		values[p.Path] = p.Value
	}
	return values
}

// SetParam adds or replaces a tensor of the state. Lint refuses one whose type is not that
// of the get_attr nodes which read it; for a tensor of another type they, and what follows
// from them, are to be given theirs (Node.Retype).
func (m *Module) SetParam(p Param) {
	m.types.forget()
	m.version++
	if old := m.byPath[p.Path]; old != nil {
		*old = p
		return
	}
	q := &p
	m.params = append(m.params, q)
	m.byPath[p.Path] = q
}

// FreshPath returns a path like hint that no tensor of the state has.
func (m *Module) FreshPath(hint string) string {
	path := hint
	for i := 1; m.byPath[path] != nil; i++ {
		path = hint + "_" + itoa(i)
	}
	return path
}

// DropUnused removes sub-graphs and modules that are not called, and tensors that
// neither a get_attr node nor a called module reads. It returns the number of tensors
// removed.
func (m *Module) DropUnused() int {
	m.DropSubs()
	used, called := make(map[string]bool, len(m.params)), map[string]bool{}
	for n := range m.All() {
		switch n.opcode {
		case GetAttr:
			used[n.target] = true
		case CallModule:
			called[n.target] = true
			if b := m.Bound(n.target); b != nil {
				for _, p := range b.Params {
					used[p] = true
				}
			}
		}
	}
	before := len(m.params)
	m.params = slices.DeleteFunc(m.params, func(p *Param) bool {
		if used[p.Path] {
			return false
		}
		delete(m.byPath, p.Path)
		return true
	})
	m.bounds = slices.DeleteFunc(m.bounds, func(b boundEntry) bool { return !called[b.path] })
	clear(m.byMod)
	for i, b := range m.bounds {
		m.byMod[b.path] = i
	}
	m.types.forget()
	m.version++
	return before - len(m.params)
}

// SetBound says what the leaf module at path does. Attributes nil stand for the
// operator's zero value, as they do for cursors.
func (m *Module) SetBound(path string, b Bound) {
	if b.Attrs == nil && b.Op != nil && b.Op.Codec() != nil {
		b.Attrs = b.Op.Codec().Zero()
	}
	m.types.drop(path)
	m.version++
	if i, ok := m.byMod[path]; ok {
		m.bounds[i].bound = &b
		return
	}
	m.byMod[path] = len(m.bounds)
	m.bounds = append(m.bounds, boundEntry{path, &b})
}

// Bound returns what the leaf module at path does, nil when it is unknown.
func (m *Module) Bound(path string) *Bound {
	if i, ok := m.byMod[path]; ok {
		return m.bounds[i].bound
	}
	return nil
}

// Bounds yields the leaf modules in the order in which they were added.
func (m *Module) Bounds() func(yield func(path string, b *Bound) bool) {
	return func(yield func(string, *Bound) bool) {
		for _, b := range m.bounds {
			if !yield(b.path, b.bound) {
				return
			}
		}
	}
}

// paramTypes returns the types of a leaf's parameter operands.
func (m *Module) paramTypes(path string, b *Bound) []shape.Type {
	if t, ok := m.types.get(path); ok {
		return t
	}
	t := make([]shape.Type, len(b.Params))
	for i, p := range b.Params {
		if q := m.byPath[p]; q != nil {
			t[i] = q.TypeOf()
		}
	}
	m.types.put(path, t)
	return t
}

// typeCache has the types of the parameters of leaves by their paths. Readers of a graph,
// of which there may be many at once, fill it.
type typeCache struct {
	mu sync.RWMutex
	m  map[string][]shape.Type
}

func (c *typeCache) get(path string) (t []shape.Type, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok = c.m[path]
	return t, ok
}

func (c *typeCache) put(path string, t []shape.Type) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string][]shape.Type{}
	}
	c.m[path] = t
}

func (c *typeCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m = nil
}

func (c *typeCache) drop(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, path)
}

// Structure describes how an output node's operands are packed into a Go value:
// a leaf (one operand), or a list, struct or map of structures.
type Structure struct {
	Kind  StructureKind
	Index int // operand of a Leaf
	// Type is the Go type of a struct, "import/path.Name"; "" for several results.
	Type   string
	Keys   []string // field names or map keys
	Fields []*Structure
}

// NameLeaves sets the names of the leaves, as far as names has places for them: the keys
// that lead to them, joined by dots.
func (s *Structure) NameLeaves(names []string) { s.nameLeaves("", names) }

func (s *Structure) nameLeaves(prefix string, names []string) {
	if s.Kind == LeafValue {
		if s.Index < len(names) {
			names[s.Index] = prefix
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == SliceOf:
			key = strconv.Itoa(i)
		}
		if prefix != "" && key != "" {
			key = "." + key
		}
		f.nameLeaves(prefix+key, names)
	}
}

// StructureKind tells what a Structure is.
type StructureKind uint8

// The kinds of structure.
const (
	LeafValue StructureKind = iota // one tensor
	Results                        // several results of a function
	SliceOf
	StructOf
	MapOf
	NoValue // a nil tensor
)

// Leaf returns the structure of operand i.
func Leaf(i int) *Structure { return &Structure{Kind: LeafValue, Index: i} }

// All yields s and everything in it, outermost first; nothing for nil.
func (s *Structure) All() iter.Seq[*Structure] {
	return func(yield func(*Structure) bool) { s.visit(yield) }
}

func (s *Structure) visit(yield func(*Structure) bool) bool {
	if s == nil {
		return true
	}
	if !yield(s) {
		return false
	}
	for _, f := range s.Fields {
		if !f.visit(yield) {
			return false
		}
	}
	return true
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + string(rune('0'+i%10))
}
