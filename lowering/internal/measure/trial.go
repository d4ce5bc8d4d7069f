package measure

import (
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Each way runs leastRuns times at least, and mostRuns times at most unless it has run for longRun by then.
const (
	leastRuns = 5
	mostRuns  = 25
	longRun   = 2 * time.Millisecond
)

// admit is what runs are expected to take, in cycles a second of a thread: less than processors do.
const admit = 2e9

// pattern makes a small number in f32, f16 and bf16: what operands are filled with.
const pattern = 0x3c

// trial measures points together. Their ways run in turns, one of each point at a time, as steps follow each other in
// a run: a weight does not stay in a cache because it alone is in use. Other weights pass
// through the caches between turns.
type trial struct {
	meter  Meter
	budget time.Duration
	spent  time.Duration
	runs   []*contest
	rest   []byte // other weights
	seen   byte
	ws     kernel.Workspace
}

// contest is the measuring of a point.
type contest struct {
	point   *point
	skipped bool
	runs    bool // in this round
	out, in []*array.Array
	packed  []*array.Array // the weight, by way
	fresh   []byte         // the first operand, which the step before has just written in a run
	least   []time.Duration
	wins    []int         // rounds in which a way was faster than the one that rules choose
	base    time.Duration // of that one in this round
	sum     time.Duration // of all of its rounds
	rounds  int
}

// The most bytes of other weights that pass through the caches between turns: what a near cache holds, and
// where the sizes of packed weights differ as much as a last cache of a few cores does.
const (
	nearWeights = 2 << 20
	farWeights  = 32 << 20
)

func newTrial(list []*point, m Meter, budget time.Duration, most int64, weights int) *trial {
	t := &trial{meter: m, budget: budget, rest: make([]byte, min(int64(weights), most))}
	touch(t.rest) // else all of its pages are one
	expected, left := time.Duration(0), most-int64(len(t.rest))
	for _, p := range list {
		c := &contest{point: p, least: make([]time.Duration, len(p.ways)), wins: make([]int, len(p.ways))}
		t.runs = append(t.runs, c)
		t.ws.Threads = p.threads
		takes := time.Duration(p.cycles() / admit / float64(p.threads) * (1 + leastRuns) * float64(time.Second))
		if c.skipped = expected+takes > budget || !c.layOut(&left, &t.ws); !c.skipped {
			expected += takes
		}
	}
	return t
}

// layOut makes the operands of a contest; not ok where they take more than is left of the memory.
func (c *contest) layOut(left *int64, ws *kernel.Workspace) (ok bool) {
	p, s := c.point.plan, c.point.step()
	for _, k := range s.Out {
		c.out = append(c.out, header(p.Buffers[k].Type))
	}
	for _, k := range s.In {
		c.in = append(c.in, nil)
		if k >= 0 && k != c.point.buffer {
			c.in[len(c.in)-1] = header(p.Buffers[k].Type)
		}
	}
	weight := header(p.Buffers[c.point.buffer].Type)
	for _, w := range c.point.ways {
		a := &array.Array{}
		a.Reset(w.Pack.Packed(weight))
		c.packed = append(c.packed, a)
	}
	bytes := int64(0)
	for _, list := range [3][]*array.Array{c.in, c.out, c.packed} {
		for _, a := range list {
			bytes += size(a)
		}
	}
	if bytes > *left {
		return false
	}
	*left -= bytes
	for _, list := range [3][]*array.Array{c.in, c.out, c.packed} {
		for _, a := range list {
			fill(a)
		}
	}
	c.fresh = c.in[0].Storage().Bytes()
	for i, w := range c.point.ways {
		if k, ok := w.Step.(kernel.Scratcher); ok {
			c.in[1] = c.packed[i]
			ws.Reserve(k.ScratchBytes(c.out, c.in))
		}
	}
	return true
}

// header returns an array without memory.
func header(t shape.Type) *array.Array {
	dims, _ := t.Dims().Known()
	a := &array.Array{}
	a.Reset(t.DType(), dims)
	return a
}

// size is the bytes of an array, which may be nil.
func size(a *array.Array) int64 {
	if a == nil {
		return 0
	}
	return int64(a.Len() * a.DType().Size())
}

// fill gives an array memory with small numbers in it.
func fill(a *array.Array) {
	if a == nil {
		return
	}
	s := array.NewStorage(int(size(a)))
	touch(s.Bytes())
	a.SetStorage(s, 0)
}

// touch writes small numbers.
func touch(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = pattern
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// run measures.
func (t *trial) run() {
	for round := 0; ; round++ {
		for _, c := range t.runs {
			c.runs = !c.skipped && (round <= leastRuns || round <= mostRuns && c.sum < longRun)
		}
		again := false
		for way := 0; t.turn(round, way); way++ {
			again = true
		}
		if !again || t.spent > t.budget {
			break
		}
		if round == 0 {
			t.drop()
			continue // which is not counted
		}
		for _, c := range t.runs {
			if c.runs {
				c.rounds++
			}
		}
	}
}

// turn runs one way of each point that has it, and reports whether there was any.
func (t *trial) turn(round, way int) (any bool) {
	for _, c := range t.runs {
		if !c.runs || way >= len(c.packed) {
			continue
		}
		if !any {
			t.spent += t.meter(Between, t.pass)
			any = true
		}
		if t.spent > t.budget {
			return false
		}
		w := &c.point.ways[way]
		c.in[1] = c.packed[way]
		t.spent += t.meter(Between, func() { touch(c.fresh) })
		took := t.meter(w.Name, func() { w.Step.Run(&t.ws, c.out, c.in) })
		t.spent += took
		if round <= 1 || took < c.least[way] { // the first one is not counted
			c.least[way] = took
		}
		if way == 0 {
			c.base = took
			if round > 0 {
				c.sum += took
			}
		} else if round > 0 && took < c.base {
			c.wins[way]++
		}
	}
	return any
}

// pass reads the other weights.
func (t *trial) pass() {
	for i := 0; i < len(t.rest); i += 64 {
		t.seen ^= t.rest[i]
	}
}

// drop leaves out points that the remaining time is too short for. Each way has run once by now, so that its time is known.
func (t *trial) drop() {
	left, between := t.budget-t.spent, t.spent
	for _, c := range t.runs {
		for _, d := range c.least {
			between -= d
		}
	}
	left -= leastRuns * between
	for _, c := range t.runs {
		takes := time.Duration(0)
		for _, d := range c.least {
			takes += leastRuns * d
		}
		if c.skipped = c.skipped || takes > left; !c.skipped {
			left -= takes
		}
	}
}

// entry is the outcome of a contest.
func (c *contest) entry(budget time.Duration) entry {
	ways := c.point.ways
	e := entry{chosen: ways[0].Name}
	if c.skipped || c.rounds < leastRuns {
		e.within = budget
		return e
	}
	e.times = map[string]time.Duration{}
	best := 0
	for i, w := range ways {
		e.times[w.Name] = max(c.least[i], 1)
		steady := 4*c.wins[i] >= 3*c.rounds // what disturbs one way alone decides nothing
		if steady && float64(c.least[i]) <= Gain*float64(c.least[0]) && c.least[i] < c.least[best] {
			best = i
		}
	}
	e.chosen = ways[best].Name
	return e
}
