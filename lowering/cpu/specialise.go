package cpu

import (
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/internal/measure"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// MaxSpecialised is the most plans that an executable makes for sizes that come
// again, next to the one for all sizes.
const MaxSpecialised = 8

// specialist makes plans of their own for sizes that come again, where a plan that
// knows the sizes is faster: concatenations need no copy where what is before their
// axis is 1. They give the same bits: convolutions stay as they were chosen.
type specialist struct {
	ready  *graph.Module // prepared; only its graph is used
	source *source
	opts   lowering.Options
	inputs []*graph.Node

	mu     sync.Mutex
	seen   [MaxSpecialised][]int // sizes of runs that had no plan of their own, once each
	next   int
	sizes  [][]int // of the symbols, for each plan
	plans  []*Executable
	busy   bool // a plan is being made
	closed bool
}

// gainsFromSizes reports whether steps of a plan would be others if sizes were known.
func gainsFromSizes(p *plan.Plan) bool {
	return len(p.Symbols) > 0 && !p.Stateful && slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		_, is := s.Kernel.(*kernel.Concat)
		return is && !s.Joined && !s.View && p.Buffers[s.Out[0]].Kind == plan.Temp
	})
}

// imagesOf returns what the convolutions of a plan were chosen by.
func imagesOf(p *plan.Plan) map[string][]int {
	images := map[string][]int{}
	for _, s := range p.Steps {
		var in []int
		switch k := s.Kernel.(type) {
		case *kernel.ConvPacked:
			in = k.In
		case *kernel.ConvFused:
			in = k.In
		case *kernel.ConvTransposeFused:
			in = k.In
		}
		for _, n := range s.Nodes { // one of them is the convolution
			if in != nil {
				images[n] = in
			}
		}
		for _, r := range s.Regions {
			for name, in := range imagesOf(r) {
				images[name] = in
			}
		}
	}
	return images
}

// of returns the executable for the sizes of these inputs: one of their own, made
// when they come for the second time, or nil. While it is made other runs go on with the plan for all sizes.
func (s *specialist) of(e *Executable, in []*array.Array) *Executable {
	own, sizes := s.find(e, in)
	if sizes == nil {
		return own
	}
	own = s.specialise(e, sizes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy = false; s.closed {
		if own != nil {
			own.Close()
		}
		s.source.letGo()
		return nil
	}
	s.sizes, s.plans = append(s.sizes, sizes), append(s.plans, own)
	return own
}

// find returns the executable for the sizes of these inputs, or the sizes if the caller is to make one.
func (s *specialist) find(e *Executable, in []*array.Array) (own *Executable, anew []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	for i, sizes := range s.sizes {
		if e.hasSizes(in, sizes) {
			return s.plans[i], nil
		}
	}
	if s.busy || len(s.plans) == MaxSpecialised {
		return nil, nil
	}
	for _, sizes := range s.seen {
		if sizes != nil && e.hasSizes(in, sizes) {
			s.busy = true
			return nil, slices.Clone(sizes)
		}
	}
	sizes := s.seen[s.next]
	if sizes == nil {
		sizes = make([]int, len(e.plan.Symbols))
	}
	if e.sizesOf(in, sizes) {
		s.seen[s.next] = sizes
		s.next = (s.next + 1) % MaxSpecialised
	}
	return nil, nil
}

// specialise makes the plan for sizes, nil when there is none; that is tried once.
func (s *specialist) specialise(e *Executable, sizes []int) *Executable {
	o := s.opts // of which results are chosen already
	o.Shapes, o.Outputs, o.Threads = map[string]int{}, nil, e.threads
	for i, sym := range e.plan.Symbols {
		o.Shapes[sym.Name] = sizes[i]
	}
	ready, err := lowering.Prepare(s.ready, o)
	if err != nil {
		return nil
	}
	p, err := planWithin(ready, o, nil, imagesOf(e.plan))
	if err != nil {
		return nil
	}
	measure.Follow(p, e.plan)
	own, err := newExecutable(p, s.source, s.inputs, e.threads, e.limit, nil)
	if err != nil {
		return nil
	}
	return own
}

// hasSizes reports whether inputs bind the symbols to these sizes, and agree with them.
func (e *Executable) hasSizes(in []*array.Array, sizes []int) bool {
	for i, s := range e.plan.Symbols {
		a := e.input(in, s.Input)
		if a == nil || s.Axis >= a.Rank() || a.Dim(s.Axis) != sizes[i] {
			return false
		}
	}
	return e.sameSizes(in, sizes)
}

// sameSizes reports whether the other sizes are what the symbols make them. Where they
// are not, the plan for all sizes tells what needs them.
func (e *Executable) sameSizes(in []*array.Array, sizes []int) bool {
	if len(e.plan.Same) == 0 {
		return true
	}
	env := func(symbol string) (int, bool) {
		for i := range e.plan.Symbols {
			if e.plan.Symbols[i].Name == symbol {
				return sizes[i], true
			}
		}
		return 0, false
	}
	for _, s := range e.plan.Same {
		a := e.input(in, s.Input)
		if a == nil || s.Axis >= a.Rank() {
			return false
		}
		want, err := e.plan.Buffers[e.plan.Inputs[s.Input]].Type.Dim(s.Axis).Eval(env)
		if err != nil || a.Dim(s.Axis) != want {
			return false
		}
	}
	return true
}

// sizesOf stores the sizes to which inputs bind the symbols; not ok where they do not.
func (e *Executable) sizesOf(in []*array.Array, sizes []int) bool {
	for i, s := range e.plan.Symbols {
		a := e.input(in, s.Input)
		if a == nil || s.Axis >= a.Rank() {
			return false
		}
		sizes[i] = a.Dim(s.Axis)
	}
	return true
}

// made returns the executables that were made for sizes.
func (s *specialist) made() (list []*Executable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.plans {
		if p != nil {
			list = append(list, p)
		}
	}
	return list
}

// close ends the making of plans, and returns those that were made.
func (s *specialist) close() []*Executable {
	list := s.made()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.plans, s.sizes = true, nil, nil
	s.source.letGo()
	return list
}
