package interp

import (
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// State is a graph module with a tensor for each of its parameters and an object
// for each of its leaf modules, so that they have an identity under a trace. It
// follows the module: after SetParam, SetBound or a pass, the next use sees what the
// module has now, and tensors whose arrays stayed are the same tensors. Interpreters
// may share it.
type State struct {
	Module *graph.Module
	now    atomic.Pointer[table]
	mu     sync.Mutex // held while a table is made
}

// table is the state at one version of the module.
type table struct {
	version uint32
	tensors map[string]held
	leaves  map[string]*Leaf
}

// held is the tensor of a parameter, and the array that it was made from.
type held struct {
	tensor *tensor.Tensor
	value  *array.Array
}

// NewState returns the state of a module. Parameters share the module's arrays.
func NewState(m *graph.Module) *State {
	s := &State{Module: m}
	s.table()
	return s
}

// table returns the state at the module's version.
func (s *State) table() *table {
	if t := s.now.Load(); t != nil && t.version == s.Module.Version() {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now.Load()
	if old == nil {
		old = &table{}
	} else if old.version == s.Module.Version() {
		return old // another goroutine made it
	}
	t := &table{version: s.Module.Version(), tensors: map[string]held{}, leaves: map[string]*Leaf{}}
	for _, p := range s.Module.Params() {
		if p.Value == nil {
			continue
		}
		h := old.tensors[p.Path]
		if h.value != p.Value {
			h = held{tensor.StateParam(p.Value), p.Value}
		}
		t.tensors[p.Path] = h
	}
	for path := range s.Module.Bounds() {
		l := old.leaves[path]
		if l == nil {
			l = &Leaf{s, path}
		}
		t.leaves[path] = l
	}
	s.now.Store(t)
	return t
}

// Tensor returns the parameter at path, nil when there is none.
func (s *State) Tensor(path string) *tensor.Tensor { return s.table().tensors[path].tensor }

// Leaf returns the leaf module at path, nil when there is none.
func (s *State) Leaf(path string) *Leaf { return s.table().leaves[path] }

// Leaf is a leaf module of a captured graph: what it does is data, not a Go value.
type Leaf struct {
	state *State
	Path  string
}

// Forward runs the leaf; see tensor.Leaf.
func (l *Leaf) Forward(in ...*tensor.Tensor) []*tensor.Tensor {
	out, err := l.call(in)
	if err != nil {
		panic(err)
	}
	return out
}

func (l *Leaf) call(in []*tensor.Tensor) ([]*tensor.Tensor, error) {
	b := l.state.Module.Bound(l.Path)
	tb := &tensor.Bound{Op: b.Op, Attrs: b.Attrs, Names: b.Names, Inputs: len(in)}
	for _, p := range b.Params {
		tb.Params = append(tb.Params, l.state.Tensor(p))
	}
	return tensor.Leaf(l, tb, in...), nil
}

// Walk visits the state as tensor.Walk does: parameters and leaf modules by path.
func (s *State) Walk(visit func(tensor.Item) bool) {
	now := s.table()
	for path := range s.Module.Bounds() {
		visit(tensor.Item{Path: path, Module: now.leaves[path]})
	}
	for _, p := range s.Module.Params() {
		if t := now.tensors[p.Path].tensor; t != nil {
			visit(tensor.Item{Path: p.Path, Tensor: t, Buffer: p.Buffer})
		}
	}
}
