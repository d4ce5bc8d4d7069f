package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// looped is a plan with a loop, whose two bodies each copy their first operand to
// their result; the condition writes the buffer that a weight is.
func looped() *plan.Plan {
	typ := shape.TensorType(array.F32, shape.ConstDims(2))
	buffer := func(name string, kind plan.Kind) plan.Buffer { return plan.Buffer{Name: name, Kind: kind, Type: typ} }
	body := func(name string) *plan.Plan {
		p := &plan.Plan{Name: name, Inputs: []int{0, 1}, Outputs: []int{2},
			Buffers: []plan.Buffer{buffer("a", plan.Input), buffer("b", plan.Input), buffer("y", plan.Output)},
			Steps:   []plan.Step{{Kernel: &kernel.Copy{}, In: []int{0}, Out: []int{2}}}}
		p.Live()
		p.Place()
		return p
	}
	cond := body("cond")
	cond.Stateful = true
	w := buffer("w", plan.Weight)
	w.Path = "sum"
	cond.Buffers = append(cond.Buffers, w)
	cond.Steps = append(cond.Steps, plan.Step{Kernel: &kernel.Copy{}, In: []int{0}, Out: []int{3}})
	cond.Live()
	cond.Place()
	p := &plan.Plan{Name: "loop", Inputs: []int{0, 1}, Outputs: []int{2},
		Buffers: []plan.Buffer{buffer("x", plan.Input), buffer("k", plan.Input), buffer("y", plan.Output), buffer("next", plan.Temp), buffer("more", plan.Temp)},
		Steps: []plan.Step{{Kernel: &plan.Control{Op: "while", Carry: 1}, In: []int{0, 1}, Out: []int{2}, Spare: []int{3, 4},
			Regions: []*plan.Plan{cond, body("body")}}}}
	p.Live()
	p.Place()
	return p
}

func TestControlIsChecked(t *testing.T) {
	require.NoError(t, looped().Check())
	for name, breaks := range map[string]func(p *plan.Plan, s *plan.Step){
		"a body is missing":          func(_ *plan.Plan, s *plan.Step) { s.Regions = s.Regions[:1] },
		"no memory for what is next": func(_ *plan.Plan, s *plan.Step) { s.Spare = s.Spare[1:] },
		"memory of the caller":       func(_ *plan.Plan, s *plan.Step) { s.Spare[0] = 0 },
		"memory that is no buffer":   func(_ *plan.Plan, s *plan.Step) { s.Spare[0] = 9 },
		"more carried than given":    func(_ *plan.Plan, s *plan.Step) { s.Control().Carry = 3 },
		"a body takes too little":    func(_ *plan.Plan, s *plan.Step) { s.Regions[1].Inputs = []int{0} },
		"a body gives too much":      func(_ *plan.Plan, s *plan.Step) { s.Regions[1].Outputs = []int{2, 2} },
		"a body is broken":           func(_ *plan.Plan, s *plan.Step) { s.Regions[1].Steps[0].In[0] = 2 },
		"bodies of a kernel":         func(_ *plan.Plan, s *plan.Step) { s.Kernel = &kernel.Copy{} },
	} {
		p := looped()
		breaks(p, &p.Steps[0])
		require.ErrorIs(t, p.Check(), diag.Internal, name)
	}
}

func TestWalkOverBodies(t *testing.T) {
	p := looped()
	var names []string
	for q := range p.All() {
		names = append(names, q.Name)
	}
	require.Equal(t, []string{"loop", "cond", "body"}, names)
	for q := range p.All() {
		require.Equal(t, "loop", q.Name)
		break
	}
	require.Equal(t, map[string]bool{"sum": true}, p.Written())
	operands, sliced := p.Steps[0].Operands()
	require.Equal(t, []int{0, 1}, operands)
	require.False(t, sliced(0))
	require.Contains(t, p.String(), "Carry: 1} (x, k) by way of next, more")
	require.Panics(t, func() { p.Steps[0].Kernel.Run(nil, nil, nil) })
}
