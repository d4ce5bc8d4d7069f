package plan

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// Control is the kernel of a control-flow step, or embedded in it: what the step does
// with the bodies, which are the step's Regions. A cond has two, a while a condition
// and a body, a scan one; a call runs one that is laid out when it begins, because its
// sizes follow from values. Engines run them.
type Control struct {
	Op    string // cond, while, scan or call
	Carry int    // values that a loop carries
	Seqs  int    // sequences of a scan
	// MaxTrips is the most rounds of a while, one more is a mistake; 0 does not bound them.
	MaxTrips int
}

// Run implements kernel.Step. Nobody calls it.
func (c *Control) Run(*kernel.Workspace, []*array.Array, []*array.Array) {
	panic(diag.Bug(c.Op + " is run as a kernel"))
}

// Flow returns c, also where c is embedded.
func (c *Control) Flow() *Control { return c }

// Cond reports whether the step chooses between two bodies.
func (c *Control) Cond() bool { return c.Op == op.Cond.Name }

// While reports whether the step repeats its second body as long as the first says.
func (c *Control) While() bool { return c.Op == op.While.Name }

// Call reports whether the step runs its one body once.
func (c *Control) Call() bool { return c.Op == op.Call.Name }

// Control returns the kernel of a control-flow step, nil for others.
func (s *Step) Control() *Control {
	if k, ok := s.Kernel.(interface{ Flow() *Control }); ok {
		return k.Flow()
	}
	return nil
}

// opaque returns the operator of the Go function that the step calls, nil for a kernel.
func (s *Step) opaque() *op.Op {
	if k, ok := s.Kernel.(interface{ Opaque() *op.Op }); ok {
		return k.Opaque()
	}
	return nil
}

// Effects reports whether the step calls a Go function that has effects.
func (s *Step) Effects() bool {
	o := s.opaque()
	return o != nil && o.Effect == op.Effectful
}

// Told is the Go function that the step calls for its effects alone, "" for another step.
// Generated code tells the caller's hook of it.
func (s *Step) Told() string {
	if !s.Effects() || slices.ContainsFunc(s.Out, func(k int) bool { return k >= 0 }) {
		return ""
	}
	return s.opaque().Key()
}

// Operands are the buffers that region r of a control-flow step is given. A scan
// gives slices of its sequences, which sliced reports.
func (s *Step) Operands() (buffers []int, sliced func(i int) bool) {
	c := s.Control()
	if c.Cond() {
		return s.In[1:], func(int) bool { return false }
	}
	return s.In, func(i int) bool { return i >= c.Carry && i < c.Carry+c.Seqs }
}

// Written returns the paths of the tensors that steps of the plan, or of bodies in
// it, write.
func (p *Plan) Written() map[string]bool {
	paths := map[string]bool{}
	for q := range p.All() {
		for i := range q.Steps {
			for _, k := range q.Steps[i].Out {
				if k >= 0 && q.Buffers[k].Kind == Weight {
					paths[q.Buffers[k].Path] = true
				}
			}
		}
	}
	return paths
}

// All ranges over the plan and, after it, the bodies of its steps, at any depth.
func (p *Plan) All() func(yield func(*Plan) bool) {
	return func(yield func(*Plan) bool) { p.each(yield) }
}

func (p *Plan) each(yield func(*Plan) bool) bool {
	if !yield(p) {
		return false
	}
	for i := range p.Steps {
		for _, r := range p.Steps[i].Regions {
			if !r.each(yield) {
				return false
			}
		}
	}
	return true
}
