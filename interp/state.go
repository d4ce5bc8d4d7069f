package interp

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// State is a graph module with a tensor for each of its parameters and an object
// for each of its leaf modules, so that they have an identity under a trace. It
// may be shared by interpreters.
type State struct {
	Module  *graph.Module
	tensors map[string]*tensor.Tensor
	leaves  map[string]*Leaf
}

// NewState returns the state of a module. Parameters share the module's arrays.
// A tensor or leaf that is added to the module later is not in it.
func NewState(m *graph.Module) *State {
	s := &State{Module: m, tensors: map[string]*tensor.Tensor{}, leaves: map[string]*Leaf{}}
	for _, p := range m.Params() {
		if p.Value != nil {
			s.tensors[p.Path] = tensor.StateParam(p.Value)
		}
	}
	for path := range m.Bounds() {
		s.leaves[path] = &Leaf{s, path}
	}
	return s
}

// Tensor returns the parameter at path, nil when there is none.
func (s *State) Tensor(path string) *tensor.Tensor { return s.tensors[path] }

// Leaf returns the leaf module at path, nil when there is none.
func (s *State) Leaf(path string) *Leaf { return s.leaves[path] }

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
		tb.Params = append(tb.Params, l.state.tensors[p])
	}
	return tensor.Leaf(l, tb, in...), nil
}

// Walk visits the state as tensor.Walk does: parameters and leaf modules by path.
func (s *State) Walk(visit func(tensor.Item) bool) {
	for path := range s.Module.Bounds() {
		visit(tensor.Item{Path: path, Module: s.leaves[path]})
	}
	for _, p := range s.Module.Params() {
		if t := s.tensors[p.Path]; t != nil {
			visit(tensor.Item{Path: p.Path, Tensor: t, Buffer: p.Buffer})
		}
	}
}
