package cost

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
)

// Work is what one run of a plan does, for given sizes.
type Work struct {
	Name   string
	Steps  []Step
	Memory Memory
	// Loops are the symbols of how often loops run their bodies (count.Turns), Assumed
	// those of them, and of sizes that follow from values without a bound, that were taken
	// to be 1 because nobody gave them. Other sizes that follow from values are the most
	// that they can be, unless they are given.
	Loops, Assumed []string
}

// Step is what one step does; views and what lies in place already do nothing and are
// not among the steps. Those of the body of a loop count all its turns, and of a cond
// the branch that computes more is taken.
type Step struct {
	// At is the index of the plan's step, for what is in a body that of the loop.
	At    int
	Nodes []string
	Op    string
	Scope string
	// Kind is the kernel and how it goes about it: steps of one kind follow one Law.
	Kind string
	// Int8 tells that what is multiplied are bytes.
	Int8  bool
	Times int64 // how often it runs
	// Flops are those of all times together, as operators count them; 0 where one does not.
	Flops int64
	// Weights and Values are the bytes that it moves, of all times together: of the
	// model's state, as the model has it, and of operands and results, each once.
	Weights, Values int64
	// Laid are Weights as a target lays them out for its kernels.
	Laid int64
	// Live are the bytes of intermediate values in use meanwhile.
	Live int64
}

// Bytes are all that the step moves.
func (s *Step) Bytes() int64 { return s.Weights + s.Values }

// Memory is what a run holds, in bytes.
type Memory struct {
	Weights int64 `json:"weights"` // the model's state, as a target holds it
	Inputs  int64 `json:"inputs"`
	Outputs int64 `json:"outputs"`
	Arena   int64 `json:"arena"`   // intermediate values
	Scratch int64 `json:"scratch"` // of kernels
}

// Total is all of it.
func (m Memory) Total() int64 { return m.Weights + m.Run() }

// Run is what each of several runs at once holds; they share the weights.
func (m Memory) Run() int64 { return m.Inputs + m.Outputs + m.Arena + m.Scratch }

// Of counts what a run of a plan does for values of its symbols. Memory is that of
// the plan; scratch memory, and how weights are laid out, only a target knows.
func Of(p *plan.Plan, sizes map[string]int) (*Work, error) {
	c := &counter{w: &Work{Name: p.Name}, sizes: sizes, state: map[string]int64{}}
	for _, s := range p.Symbols {
		if _, ok := sizes[s.Name]; !ok {
			return nil, diag.New(lowering.BadOption, "symbol "+s.Name+" has no value, expected a size for each symbol")
		}
	}
	s, steps, err := c.plan(p, sizes)
	if err != nil {
		return nil, err
	}
	c.w.Steps = steps
	once := map[int]bool{}
	for _, k := range slices.Concat(p.Inputs, p.Outputs) {
		switch {
		case once[k]:
		case p.Buffers[k].Kind == plan.Input:
			c.w.Memory.Inputs += int64(s.Bytes[k])
		default:
			c.w.Memory.Outputs += int64(s.Bytes[k])
		}
		once[k] = true
	}
	for n := range maps.Values(c.state) {
		c.w.Memory.Weights += n
	}
	for _, list := range []*[]string{&c.w.Loops, &c.w.Assumed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return c.w, c.w.bounded()
}

// counter counts a plan and the bodies in it.
type counter struct {
	w     *Work
	sizes map[string]int   // those that were given
	state map[string]int64 // bytes of the tensors of the state, by path
}

// plan counts one run of a plan, whose arena it adds to the work's.
func (c *counter) plan(p *plan.Plan, sizes map[string]int) (*plan.Sizes, []Step, error) {
	s := &plan.Sizes{}
	if err := p.Size(s, plan.Values(sizes)); err != nil {
		return nil, nil, err
	}
	for _, k := range p.Weights() {
		c.state[p.Buffers[k].Path] = int64(s.Bytes[k])
	}
	c.w.Memory.Arena += int64(s.Arena)
	held := p.Held(s)
	var steps []Step
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.View || st.Joined {
			continue
		}
		if st.Control() == nil {
			one := c.step(p, st, s, sizes)
			one.At, one.Live = i, int64(held[i])
			steps = append(steps, one)
			continue
		}
		inner, err := c.control(p, i, s, sizes)
		if err != nil {
			return nil, nil, err
		}
		for k := range inner {
			inner[k].At = i
			inner[k].Live += int64(held[i])
			inner[k].Scope = strings.Trim(st.Scope.Path+"."+inner[k].Scope, ".")
		}
		steps = append(steps, inner...)
	}
	return s, steps, nil
}

// step counts one step that is no control flow.
func (c *counter) step(p *plan.Plan, st *plan.Step, s *plan.Sizes, sizes map[string]int) Step {
	one := Step{Nodes: st.Nodes, Op: st.Op, Scope: st.Scope.Path, Times: 1}
	one.Kind, one.Int8 = kindOf(p, st, s)
	if n, err := st.Flops.Eval(plan.Values(sizes)); err == nil {
		one.Flops = int64(n)
	}
	var written int64
	for _, k := range st.Out {
		if k >= 0 {
			written += int64(s.Bytes[k])
		}
	}
	for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(st.In, st.Out)))) {
		if k < 0 {
			continue
		}
		root, n := k, int64(s.Bytes[k])
		if p.Buffers[k].Kind == plan.View {
			root = p.Buffers[k].Of
			n = min(n, int64(s.Bytes[root])) // an expanded view is more than what is there
		}
		if p.Buffers[root].Kind != plan.Weight {
			one.Values += n
			continue
		}
		// No more of the state is read than is computed with, or copied: rows of a table.
		one.Weights += min(n, max(one.Flops*int64(p.Buffers[root].Type.DType().Size()), written))
	}
	one.Laid = one.Weights
	return one
}

// control counts the bodies of a control-flow step, as often as they run.
func (c *counter) control(p *plan.Plan, at int, s *plan.Sizes, sizes map[string]int) ([]Step, error) {
	st := &p.Steps[at]
	flow := st.Control()
	bodies := make([][]Step, len(st.Regions))
	for i, r := range st.Regions {
		var err error
		inner, unknown := p.BodySymbols(at, r, s, func(name string) (int, bool) {
			if n, ok := sizes[name]; ok {
				return n, true
			}
			n, ok := c.sizes[name]
			return n, ok
		})
		for _, name := range unknown {
			inner[name] = 1
			c.w.Assumed = append(c.w.Assumed, name)
		}
		if _, bodies[i], err = c.plan(r, inner); err != nil {
			return nil, inBody(err, st)
		}
	}
	if flow.Call() {
		return bodies[0], nil
	}
	if flow.Cond() {
		return slices.MaxFunc(bodies, func(a, b []Step) int {
			return cmp.Or(cmp.Compare(sum(a, (*Step).flops), sum(b, (*Step).flops)), cmp.Compare(sum(a, (*Step).Bytes), sum(b, (*Step).Bytes)))
		}), nil
	}
	times := make([]int64, len(bodies))
	if flow.While() {
		turns := c.turns(count.Turns(st.Nodes[0]))
		times[0], times[1] = turns+1, turns
	} else {
		times[0] = int64(s.Shapes[st.In[flow.Carry]][0])
	}
	var steps []Step
	for i, b := range bodies {
		if err := repeat(b, times[i]); err != nil {
			return nil, inBody(err, st)
		}
		steps = append(steps, b...)
	}
	return steps, nil
}

// turns is how often a loop runs.
func (c *counter) turns(name string) int64 {
	c.w.Loops = append(c.w.Loops, name)
	if n, ok := c.sizes[name]; ok {
		return int64(min(max(n, 0), most))
	}
	c.w.Assumed = append(c.w.Assumed, name)
	return 1
}

func (s *Step) flops() int64 { return s.Flops }

func sum(steps []Step, of func(*Step) int64) (n int64) {
	for i := range steps {
		n += of(&steps[i])
	}
	return n
}

// repeat makes the steps of one run those of n.
func repeat(steps []Step, n int64) error {
	for i := range steps {
		s := &steps[i]
		if float64(max(s.Flops, s.Bytes(), s.Laid, s.Times))*float64(n) > most {
			return tooMuch(n)
		}
		s.Times, s.Flops, s.Weights, s.Values, s.Laid = s.Times*n, s.Flops*n, s.Weights*n, s.Values*n, s.Laid*n
	}
	return nil
}

// most bounds the counts of a run, so that sums stay in range.
const most = 1 << 60

func tooMuch(n int64) error {
	return diag.New(op.TooLarge, "a loop of "+strconv.FormatInt(n, 10)+" turns computes or moves more than can be counted").
		WithHint("give smaller sizes, or fewer turns")
}

// bounded refuses a work whose sums leave the range.
func (w *Work) bounded() error {
	flops, bytes := 0.0, 0.0
	for i := range w.Steps {
		flops, bytes = flops+float64(w.Steps[i].Flops), bytes+float64(w.Steps[i].Bytes())
	}
	if max(flops, bytes) > most {
		return diag.New(op.TooLarge, "the steps compute or move more than can be counted").WithHint("give smaller sizes")
	}
	return nil
}

// inBody says of an error without a place which step's body it is of.
func inBody(err error, st *plan.Step) error {
	var e *diag.Error
	if !errors.As(err, &e) || e.Op != "" {
		return err
	}
	c := *e
	c.Op, c.Pos = st.Op, st.Pos
	return &c
}
