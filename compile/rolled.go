package compile

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
)

// rolls is what a record has whose loops have any number of rounds.
type rolls struct {
	counts []count
	rounds []rounds
	loops  map[uint64]looped
	prog   *program
}

// looped is how a loop is rolled, by its mark.
type looped struct {
	count int // of counts
	apart bool
	first int // calls of the first round, where that is apart
}

// fitting lists the records that fit a call except for the number of rounds of loops.
func (b *bucket) fitting(c *core, k *call, image *state.Image, fits *record) (list []*record) {
	if fits != nil || len(c.loops) == 0 || c.inPlace || b.uneven >= c.opts.lift {
		return nil
	}
	open := map[string]bool{}
	for _, w := range image.Words() {
		if w.Rounds {
			open[w.Path] = true
		}
	}
	if c.onlyCounts {
		for _, s := range image.Sizes() {
			open[s.Key()] = true
		}
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, r := range b.records {
		if (r.open == nil || r.open.rolls != nil) && r.guard.CheckBut(&k.machine, k.in, k.out, open) {
			list = append(list, r)
		}
	}
	return list
}

// roll makes a record of a call and of another record, in whose place it comes, if they differ in the number of rounds of loops alone. done is false
// where they do not, or no graph has such loops.
func (c *core) roll(b *bucket, near []*record, image *state.Image, replay *state.Replay, got *lazy.Captured, thawed map[string]bool) (done bool) {
	for _, old := range near {
		if old.stores.Same(replay) && sameEnd(old.got, got) && !shows(got) {
			if r := c.rolled(b, old, image, replay, got, thawed); r != nil {
				c.succeed(b, old, r)
				return true
			}
		}
	}
	return false
}

// rolled reports whether the record has loops of any number of rounds.
func (o *opened) rolled() bool { return o != nil && o.rolls != nil }

// shows reports whether a result shows other memory, whose sizes no graph checks.
func shows(got *lazy.Captured) bool {
	return slices.ContainsFunc(got.Found, func(t lazy.CapturedTensor) bool { return t.Memory >= 0 || t.Like >= 0 || t.Shows() })
}

func (c *core) rolled(b *bucket, old *record, image *state.Image, replay *state.Replay, got *lazy.Captured, thawed map[string]bool) *record {
	o := &opened{paths: map[string]bool{}, like: old}
	var was []state.Scalar
	for _, w := range image.Words() {
		before, ok := old.was(w.Path)
		if !ok || !w.Rounds || before.Same(w.Was) { // loops of equal numbers unroll: theirs are compared
			continue
		}
		if min(before.I, w.Was.I) < 2 {
			return nil
		}
		o.paths[w.Path] = true
		o.words, was = append(o.words, w), append(was, before)
	}
	if !o.sizes.find(old.sizes, image.Sizes()) {
		return nil
	}
	counts := o.counts(was)
	before, now := marked(old.got), marked(got)
	var found *rolls
	for _, loops := range choices(before, now, counts) {
		x, y := rolled(old.got, trips(loops, counts, func(c count) int { return c.was })), rolled(got, trips(loops, counts, func(c count) int { return c.now }))
		if x == nil || y == nil || !sameProgram(x, y) {
			continue
		}
		if found != nil { // two ways to say it, of which one is wrong
			return nil
		}
		found = &rolls{counts: counts, loops: loops, prog: y}
	}
	if found == nil {
		b.uneven++
		return nil
	}
	o.rolls = found
	o.like = nil
	return c.compiled(o, image, replay, got, thawed)
}

// marked counts the calls of each loop.
func marked(got *lazy.Captured) map[uint64]int {
	n := map[uint64]int{}
	for i := range got.Calls {
		if m := got.Calls[i].Mark; m != 0 {
			n[m]++
		}
	}
	return n
}

// mostChoices bounds what choices lists.
const mostChoices = 64

// choices lists which counts the loops may have whose calls differ in number. A first round with more or fewer calls is apart.
func choices(a, b map[uint64]int, counts []count) (list []map[uint64]looped) {
	list = []map[uint64]looped{{}}
	marks := make([]uint64, 0, len(a))
	for m := range b {
		if a[m] == 0 {
			return nil
		}
		if a[m] != b[m] {
			marks = append(marks, m)
		}
	}
	if len(marks) == 0 || len(a) != len(b) {
		return nil
	}
	slices.Sort(marks)
	for _, m := range marks {
		var next []map[uint64]looped
		for i, c := range counts {
			l, ok := loopOf(a[m], b[m], i, c)
			if !ok {
				continue
			}
			for _, before := range list {
				with := map[uint64]looped{m: l}
				for k, v := range before {
					with[k] = v
				}
				next = append(next, with)
			}
		}
		if list = next; len(list) > mostChoices {
			return nil
		}
	}
	return list
}

// loopOf says how a loop is rolled that has made so many calls in the two captures.
func loopOf(was, now, i int, c count) (l looped, ok bool) {
	d, n := now-was, c.now-c.was
	if n == 0 || d%n != 0 || d/n <= 0 {
		return l, false
	}
	round := d / n
	first := was - (c.was-1)*round
	if first < 0 || first+(c.now-1)*round != now {
		return l, false
	}
	return looped{count: i, apart: first != round, first: first}, true
}

// trips says how often each loop ran in one of the two captures.
func trips(loops map[uint64]looped, counts []count, of func(count) int) map[uint64]trip {
	all := map[uint64]trip{}
	for m, l := range loops {
		t := trip{rounds: of(counts[l.count])}
		if l.apart {
			t.apart, t.first = true, l.first
		}
		all[m] = t
	}
	return all
}

// compiled makes the graph and the record.
func (c *core) compiled(o *opened, image *state.Image, replay *state.Replay, got *lazy.Captured, thawed map[string]bool) *record {
	g := &rolling{p: o.rolls.prog, counts: o.rolls.counts, sizes: &o.sizes, data: arraysOf(image)}
	for i := range o.rolls.prog.loops {
		l := o.rolls.loops[o.rolls.prog.loops[i].mark]
		n := rounds{count: l.count}
		if l.apart {
			n.first = 1
		}
		i := slices.Index(g.rounds, n)
		if i < 0 {
			i = len(g.rounds)
			g.rounds = append(g.rounds, n)
		}
		g.of = append(g.of, i)
	}
	o.rolls.rounds = g.rounds
	m, err := g.graph(context.Background())
	if err != nil {
		return nil
	}
	as := *got
	as.Module, as.Reads = m, g.reads
	r, why := c.record(image, replay, &as, o, thawed)
	if why != nil {
		return nil
	}
	if !r.gives(image, got, c.opts.lower.Exact) {
		r.leave()
		return nil
	}
	r.got.Results = nil
	return r
}

// gives reports whether a rolled record computes for the call that it was made of what that has computed.
func (r *record) gives(image *state.Image, got *lazy.Captured, exact bool) bool {
	if r.outs == 0 {
		return true
	}
	data := arraysOf(image)
	in := make([]*array.Array, len(r.got.Reads))
	for i, t := range r.got.Reads {
		if t < 0 {
			n := r.open.rolls.rounds[^t]
			in[i] = numbered(n.first, r.open.rolls.counts[n.count].now)
			continue
		}
		in[i] = array.Contiguous(data[t])
	}
	out, err := r.run.Run(context.Background(), in)
	return err == nil && slices.EqualFunc(out, got.Results, func(a, b *array.Array) bool {
		return a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) && (!exact || array.Equal(a, b))
	})
}

// arraysOf are the values of the data tensors of a call.
func arraysOf(image *state.Image) (list []*array.Array) {
	for _, x := range image.Data() {
		list = append(list, x.Value().(*array.Array))
	}
	return list
}

// numbered are the numbers of rounds.
func numbered(first, end int) *array.Array {
	list := make([]int64, end-first)
	for i := range list {
		list[i] = int64(first + i)
	}
	return array.FromSlice(list)
}

// trips adds the numbers of rounds of a call whose guard was checked. ok is false where a loop has less than two rounds, or counts
// that were one are not.
func (o *opened) trips(g *state.Guard, m *state.Machine, n *numbers) (ok bool) {
	if o == nil || o.rolls == nil {
		return true
	}
	values := make([]int, len(o.rolls.counts))
	for i, c := range o.rolls.counts {
		if values[i], ok = o.count(c, g, m); !ok {
			return false
		}
	}
	for _, r := range o.rolls.rounds {
		if values[r.count]-r.first < 2 {
			return false
		}
		n.leaves = append(n.leaves, numbered(r.first, values[r.count]))
	}
	return true
}

// count is the value of a count in a call.
func (o *opened) count(c count, g *state.Guard, m *state.Machine) (n int, ok bool) {
	n = -1
	for _, w := range c.words {
		v := int(o.words[w].Now(m).I)
		if n >= 0 && n != v {
			return 0, false
		}
		n = v
	}
	if c.symbol > 0 {
		v := o.sizes.size(c.symbol, g, m)
		if n >= 0 && n != v {
			return 0, false
		}
		n = v
	}
	return n, n >= 2
}

// size is the size of a symbol in a call.
func (s *sizes) size(symbol int, g *state.Guard, m *state.Machine) int {
	for t, of := range s.of {
		if axis := slices.Index(of, symbol); axis >= 0 {
			return g.Tensor(m, t).Value().(*array.Array).Shape()[axis]
		}
	}
	return -1
}

// follows reports whether the graph that a call has made is that of a rolled record.
func (o *opened) follows(now *record) bool {
	loops := map[uint64]trip{}
	for m, l := range o.rolls.loops {
		n, ok := o.counted(o.rolls.counts[l.count], now)
		if !ok {
			return false
		}
		t := trip{rounds: n}
		if l.apart {
			t.apart, t.first = true, l.first
		}
		loops[m] = t
	}
	p := rolled(now.got, loops)
	return p != nil && sameProgram(o.rolls.prog, p)
}

// counted is the value of a count in the call of a record.
func (o *opened) counted(c count, now *record) (n int, ok bool) {
	for _, w := range c.words {
		v, ok := now.was(o.words[w].Path)
		if !ok {
			return 0, false
		}
		n = int(v.I)
	}
	if c.symbol > 0 {
		for t, of := range o.sizes.of {
			if axis := slices.Index(of, c.symbol); axis >= 0 {
				n = now.sizes[t].Shape[axis]
			}
		}
	}
	return n, n >= 2
}

// succeed keeps a record that was made by an older one, in whose place it comes where that is of one number of rounds.
func (c *core) succeed(b *bucket, old, r *record) {
	if old.open.rolled() {
		b.add(c, r)
		return
	}
	b.replace(old, r)
}

// replace puts a record in the place of another one, for whose calls it stands, too.
func (b *bucket) replace(old, r *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.records, old)
	if b.closed || i < 0 {
		r.leave()
		return
	}
	b.refused = 0
	b.records = slices.Insert(slices.Delete(b.records, i, i+1), 0, r)
	old.leave()
}
