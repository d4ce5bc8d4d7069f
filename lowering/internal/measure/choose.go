package measure

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Close is how much more than the way that rules choose another one may take, by their estimates, to be
// measured.
const Close = 1.25

// Gain is the part of the time of the rules' way that another one takes at most to be chosen.
const Gain = 0.95

// Meter runs a function and returns what it takes. what is the name of a way, Between for what is done
// between the runs of ways.
type Meter func(what string, run func()) time.Duration

// Between is the name of the time between runs.
const Between = "between"

// Clock is the Meter that measures.
func Clock(_ string, run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}

// Chooser has the choices of a process.
type Chooser struct {
	meter Meter

	mu    sync.Mutex
	known map[string]entry // by folder and key
}

// New returns a chooser without choices.
func New(m Meter) *Chooser { return &Chooser{meter: m, known: map[string]entry{}} }

// Choose decides how steps of p, and of the plans in it, are computed: on so many threads, on sizes that are
// numbers. p tells what was compared (plan.Plan.Measured).
func (c *Chooser) Choose(p *plan.Plan, o lowering.Options, threads int) {
	if !o.Measure.On || o.Exact {
		return
	}
	points := points(p, threads)
	if len(points) == 0 {
		return
	}
	folder := lowering.UserFolder("cpu", o.Measure.Folder)
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]entry{}
	stored := map[string]bool{}
	var open []*point
	for _, t := range points {
		if _, ok := found[t.key]; ok {
			continue
		}
		e, ok := c.find(folder, t, budget(o), o.Measure.Stored)
		if stored[t.key] = ok; !ok {
			e = entry{chosen: t.ways[0].Name}
			open = append(open, t)
		}
		found[t.key] = e
	}
	if !o.Measure.Stored {
		c.measure(open, folder, o, found, heavy(p))
	}
	for _, t := range points {
		t.apply(found[t.key], stored[t.key])
	}
}

// find returns a choice that was made before: by this process, or by another one. One that had no time to
// be measured counts for budgets that are not larger.
func (c *Chooser) find(folder lowering.Folder, t *point, budget time.Duration, any bool) (e entry, ok bool) {
	e, ok = c.known[t.memo(folder)]
	if !ok {
		e, ok = parse(folder.Load(t.key), t.ways)
	}
	if !ok || !any && e.within != 0 && e.within < budget {
		return entry{}, false
	}
	c.known[t.memo(folder)] = e
	return e, true
}

// measure makes the choices of points that have different keys, and keeps them.
func (c *Chooser) measure(open []*point, folder lowering.Folder, o lowering.Options, found map[string]entry, weights int) {
	budget := budget(o)
	left := budget
	for _, group := range groups(open) {
		others := nearWeights
		if group[0].uneven() {
			others = farWeights
		}
		t := newTrial(group, c.meter, left, o.MostBytes(), min(weights, others))
		t.run()
		left -= t.spent
		for i, p := range group {
			e := t.runs[i].entry(budget)
			good := func(kept []byte) bool {
				other, ok := parse(kept, p.ways)
				return ok && (other.within == 0 || other.within >= budget)
			}
			if other, ok := parse(folder.Offer(p.key, e.text(), good), p.ways); ok {
				e = other // another process was faster, or this is what it was
			}
			found[p.key], c.known[p.memo(folder)] = e, e
		}
	}
}

// budget is the time that a compilation measures for.
func budget(o lowering.Options) time.Duration {
	return cmp.Or(o.Measure.Budget, lowering.MeasureBudget)
}

// groups are points that are measured together, so few that what they need fits into the memory, and that
// a budget is enough for the first of them if not for all.
func groups(list []*point) (all [][]*point) {
	const most = 8
	var uneven, even []*point
	for _, p := range list {
		if p.uneven() {
			uneven = append(uneven, p)
		} else {
			even = append(even, p)
		}
	}
	for _, kind := range [2][]*point{uneven, even} {
		all = slices.AppendSeq(all, slices.Chunk(kind, most))
	}
	return all
}

// uneven reports whether ways have packed weights of different sizes: what reading them takes decides then.
func (t *point) uneven() bool {
	weight := header(t.plan.Buffers[t.buffer].Type)
	least, most := math.MaxInt, 0
	for _, w := range t.ways {
		_, dims := w.Pack.Packed(weight)
		least, most = min(least, dims[0]), max(most, dims[0])
	}
	return most > least+least/4
}

// point is a weight of a plan that is packed for steps with several ways.
type point struct {
	plan    *plan.Plan
	buffer  int   // the weight
	steps   []int // which read it
	ways    []kernel.Way
	threads int
	key     string
}

func (t *point) memo(folder lowering.Folder) string { return string(folder) + "\x00" + t.key }

// step is the one that is measured.
func (t *point) step() *plan.Step { return &t.plan.Steps[t.steps[0]] }

// points finds the points of a plan and of those in it, what takes longest by its estimate first.
func points(p *plan.Plan, threads int) (list []*point) {
	at := map[int]*point{}
	for i := range p.Steps {
		for _, r := range p.Steps[i].Regions {
			list = append(list, points(r, threads)...)
		}
		ways := waysOf(p, i)
		if len(ways) < 2 {
			continue
		}
		k := p.Steps[i].In[1]
		if at[k] == nil {
			at[k] = &point{plan: p, buffer: k, ways: ways, threads: threads}
			list = append(list, at[k])
		}
		at[k].steps = append(at[k].steps, i)
	}
	list = slices.DeleteFunc(list, func(t *point) bool { return !t.alone() })
	for _, t := range list {
		t.key = keyOf(t)
	}
	slices.SortStableFunc(list, func(a, b *point) int { return cmp.Compare(b.cycles(), a.cycles()) })
	return list
}

// alone reports whether no other step reads the weight, which would have to be computed alike.
func (t *point) alone() bool {
	readers := 0
	for i := range t.plan.Steps {
		if slices.Contains(t.plan.Steps[i].In, t.buffer) {
			readers++
		}
	}
	return readers == len(t.steps)
}

// waysOf returns the ways of a step of known sizes whose estimates are close to the first one's; nil where its
// weight is not packed.
func waysOf(p *plan.Plan, i int) []kernel.Way {
	var list []kernel.Way
	for _, w := range all(p, i) {
		if len(list) == 0 || w.Cycles <= Close*list[0].Cycles {
			list = append(list, w)
		}
	}
	return list
}

// all returns the ways of a step.
func all(p *plan.Plan, i int) []kernel.Way {
	s := &p.Steps[i]
	k, ok := s.Kernel.(kernel.Chooser)
	if !ok || !known(p, s) || len(s.In) < 2 || s.In[0] < 0 || s.In[1] < 0 || p.Buffers[s.In[1]].Pack == nil {
		return nil
	}
	x, _ := p.Buffers[s.In[0]].Type.Dims().Known()
	weight, _ := p.Buffers[s.In[1]].Type.Dims().Known()
	return k.Ways(x, weight)
}

// known reports whether all sizes of a step are numbers, and none is 0.
func known(p *plan.Plan, s *plan.Step) bool {
	for _, list := range [2][]int{s.In, s.Out} {
		for _, k := range list {
			if k < 0 {
				continue
			}
			if dims, ok := p.Buffers[k].Type.Dims().Known(); !ok || slices.Contains(dims, 0) || p.Buffers[k].Late {
				return false
			}
		}
	}
	return len(s.Sizes) == 0 && len(s.Out) > 0 && !slices.Contains(s.Out, -1)
}

// cycles estimates all that is measured of a point once.
func (t *point) cycles() (sum float64) {
	for _, w := range t.ways {
		sum += w.Cycles
	}
	return sum
}

// apply has the steps of a point go by what was chosen, and notes it.
func (t *point) apply(e entry, stored bool) {
	n := plan.Measured{Stored: stored}
	for i, w := range t.ways {
		n.Ways = append(n.Ways, plan.Timed{Name: w.Name, Time: e.times[w.Name]})
		if w.Name == e.chosen {
			n.Chosen = i
		}
	}
	for _, i := range t.steps {
		n.Nodes = append(n.Nodes, t.plan.Steps[i].Nodes...)
	}
	t.plan.Measured = append(t.plan.Measured, n)
	if n.Chosen > 0 {
		take(t.plan, t.buffer, t.steps, e.chosen)
	}
}

// take has steps that read a weight go by the way of a name.
func take(p *plan.Plan, weight int, steps []int, name string) {
	for _, i := range steps {
		ways := all(p, i)
		if at := slices.IndexFunc(ways, func(w kernel.Way) bool { return w.Name == name }); at >= 0 {
			p.Steps[i].Kernel, p.Buffers[weight].Pack = ways[at].Step, ways[at].Pack
		}
	}
}

// heavy is the bytes of all weights of a plan, which pass through the caches in a run.
func heavy(p *plan.Plan) (sum int) {
	for _, k := range p.Weights() {
		if n, ok := p.Buffers[k].Type.Bytes().Int(); ok {
			sum += n
		}
	}
	return sum
}

// keyOf names all that times follow from.
func keyOf(t *point) string {
	s := t.step()
	parts := []string{"ways 1", version(), kernel.Machine(), strconv.Itoa(t.threads), plan.KernelName(s.Kernel)}
	typed := func(list []int) {
		for _, k := range list {
			text := "-"
			if k >= 0 {
				text = t.plan.Buffers[k].Type.String()
			}
			parts = append(parts, text)
		}
		parts = append(parts, "")
	}
	typed(s.In)
	typed(s.Out)
	for _, w := range t.ways {
		parts = append(parts, w.Name)
	}
	return lowering.Key(parts...)
}
