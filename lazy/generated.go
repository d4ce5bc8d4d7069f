package lazy

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/generated"
)

// table has the graphs of Options.Generated, or those that Options.Record takes up.
type table struct {
	record  bool
	digests map[uint64][]*generated.Graph
	modules map[*generated.Graph]*graph.Module // of record
}

// ready is what the table has of a program.
type ready struct {
	sought bool             // since what the program has open has changed
	runs   bool             // its plan is the graph's
	graph  *generated.Graph // nil before one was found
}

// compiles reports whether graphs are compiled that no table has.
func (o Options) compiles() bool { return o.Generated == nil || o.given }

func openTable(o Options) *table {
	if o.Generated == nil && !o.Record {
		return nil
	}
	t := &table{record: o.Record, digests: map[uint64][]*generated.Graph{}, modules: map[*generated.Graph]*graph.Module{}}
	if g := o.Generated; g != nil && g.Form == generated.Form && (!g.Rounding || o.Rounding) {
		for i := range g.List {
			t.add(&g.List[i])
		}
	}
	return t
}

func (t *table) add(g *generated.Graph) { t.digests[g.Digest] = append(t.digests[g.Digest], g) }

// take gives a program the generated graph that computes it, where there is one. With
// Options.Record there always is, unless the target refuses it.
func (c *cache) take(p *program, k *cone) {
	t := c.table
	if t == nil {
		return
	}
	if t.record && p.ready.runs && k.wrote(p.ready.graph.Weights) {
		p.again()
	}
	if !p.ready.sought && !p.queue {
		p.ready.sought = true
		c.seek(p, k)
	}
	if !p.ready.runs {
		c.s.stats.Missed++
		p.story.missed++
	}
}

// found is a generated graph of a program, and how the program runs it.
type found struct {
	graph  *generated.Graph
	exe    *compiled
	module *graph.Module
}

// seek finds the graph of a program, and starts it.
func (c *cache) seek(p *program, k *cone) {
	t, digest := c.table, k.digest()
	f := c.best(p, k, digest)
	if f == nil && t.record {
		g := p.recorded(k, digest)
		exe, m, ok := p.variant(k, g)
		if !ok {
			return
		}
		g.Text = graph.Print(m, graph.PrintOptions{})
		g.Into = exe.pairs(p.into)
		t.add(g)
		t.modules[g] = m
		c.s.stats.Compiles++
		p.built++
		f = &found{g, exe, m}
	}
	if f != nil {
		run, err := c.programOf(f.graph, f.exe, f.module, k)
		p.start(f.graph, f.exe, run, err)
	}
}

// best returns the graph of a table that computes a cone. One whose weights were written would take
// them again and again: it is the last choice. One that makes other updates in inputs than the program
// copies what it could make there, or the inputs. Neither will do where graphs are recorded.
func (c *cache) best(p *program, k *cone, digest uint64) *found {
	var by [3]*found
	for _, g := range c.table.digests[digest] {
		exe, m, ok := p.variant(k, g)
		if !ok || graph.Print(m, graph.PrintOptions{}) != g.Text {
			continue
		}
		faults := 0
		if !exe.makes(p.into) {
			faults = 1
		}
		if k.wrote(g.Weights) {
			faults = 2
		}
		if by[faults] == nil {
			by[faults] = &found{g, exe, m}
		}
	}
	if c.table.record {
		return by[0]
	}
	return cmp.Or(by[:]...)
}

// programOf makes the program of a graph for the tensors that a cone reads. A graph that was
// recorded has no code yet: the target stands in for it.
func (c *cache) programOf(g *generated.Graph, exe *compiled, m *graph.Module, k *cone) (lowering.Executable, error) {
	if g.New == nil {
		run, into, err := compileInto(c.s.opts.Target, m, lowering.Options{Exact: !c.s.opts.Rounding, Threads: c.s.opts.Threads, Into: g.Into})
		if !into {
			exe.into = nil
		}
		return run, err
	}
	var weights []*array.Array
	for _, i := range g.Weights {
		weights = append(weights, k.leaves[i].slot().array)
	}
	run, err := g.Bind(weights, c.s.opts.Threads)
	if err != nil { // no Bound in an interface
		return nil, err
	}
	return run, nil
}

// start has a program run a graph, which leaves open what g says.
func (p *program) start(g *generated.Graph, exe *compiled, run lowering.Executable, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue = true; err != nil {
		p.bad = err
		return
	}
	exe.run = run
	p.exe = exe
	p.ready.graph, p.ready.runs = g, true
	for _, i := range g.Numbers {
		p.vary[i] = true
	}
	for _, i := range g.Kept {
		p.extra[i] = true
	}
}

// variant makes the graph of a cone that has open what a generated graph has open, so that its text
// can be compared. ok is false where the graph cannot be the one, or is not enough for
// what the program knows: a number that varies, or a value that was asked for.
func (p *program) variant(k *cone, g *generated.Graph) (exe *compiled, m *graph.Module, ok bool) {
	within := func(list []int, n int) bool {
		return !slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= n })
	}
	if (p.open != nil) != (len(g.Sizes) > 0) || !within(g.Weights, len(k.leaves)) || !within(g.Numbers, len(k.lifts)) || !within(g.Kept, len(k.calls)) {
		return nil, nil, false
	}
	q := &program{vary: make([]bool, len(k.lifts)), extra: setOf(g.Kept), open: p.open}
	for _, i := range g.Numbers {
		q.vary[i] = true
	}
	for i, varies := range p.vary {
		if varies && !q.vary[i] {
			return nil, nil, false
		}
	}
	for i := range p.kept(k) {
		if !q.extra[i] {
			return nil, nil, false
		}
	}
	weights := setOf(g.Weights)
	for i := range weights {
		if l := k.leaves[i]; l.slot() == nil || l.data == nil {
			return nil, nil, false
		}
	}
	err := func() (err error) {
		defer diag.Catch(&err)
		var calls []*graph.Node
		exe, m, calls = q.build(k, weightsOf{has: func(i int) bool { return weights[i] }, name: generated.WeightName})
		if p.open != nil && !p.open.types(calls, k) {
			err = errShut
		}
		return err
	}()
	return exe, m, err == nil && exe.intoOf(g.Into, k)
}

// wrote reports whether one of some tensors of models, by their numbers, was ever written.
func (k *cone) wrote(leaves []int) bool {
	return slices.ContainsFunc(leaves, func(i int) bool { return k.leaves[i].slot().wrote })
}

func setOf(list []int) map[int]bool {
	set := map[int]bool{}
	for _, i := range list {
		set[i] = true
	}
	return set
}

// recorded describes the graph of a program for generators: all that was open in the one before
// stays open, so that there is one for all runs. Tensors of models are weights until they are
// written.
func (p *program) recorded(k *cone, digest uint64) *generated.Graph {
	g := &generated.Graph{Digest: digest}
	before := p.ready.graph
	for i, l := range k.leaves {
		if l.slot() != nil && l.data != nil && !l.slot().wrote && !p.writes(i) && (before == nil || slices.Contains(before.Weights, i)) {
			g.Weights = append(g.Weights, i)
		}
	}
	for i, varies := range p.vary {
		if varies || before != nil && slices.Contains(before.Numbers, i) {
			g.Numbers = append(g.Numbers, i)
		}
	}
	kept := p.kept(k)
	if before != nil {
		maps.Copy(kept, setOf(before.Kept))
	}
	g.Kept = slices.Sorted(maps.Keys(kept))
	if p.open != nil {
		for _, sizes := range p.open.from {
			g.Sizes = append(g.Sizes, slices.Clone(sizes))
		}
	}
	return g
}

// foreseen returns the symbols that a generated graph has for a cone, nil where none has. The
// cone's sizes need not have differed from others yet.
func (c *cache) foreseen(k *cone) *open {
	if c.table == nil {
		return nil
	}
	for _, g := range c.table.digests[k.digest()] {
		if len(g.Sizes) < 2 || slices.ContainsFunc(g.Sizes, func(s []int) bool { return len(s) != len(k.sizes) }) {
			continue
		}
		o := c.family(k).find(k, g.Sizes, len(k.sizes))
		if o == nil || !o.fits(k.sizes) {
			continue
		}
		q := &program{vary: make([]bool, len(k.lifts)), open: o}
		if _, m, ok := q.variant(k, g); ok && graph.Print(m, graph.PrintOptions{}) == g.Text {
			return o
		}
	}
	return nil
}

// digest is of operators and operands, without what graphs may leave open.
func (k *cone) digest() uint64 {
	h := fnv.New64a()
	var b []byte
	for _, q := range k.calls {
		b = b[:0]
		if q.index == 0 {
			b = append(b, q.op.Key()...)
		}
		b = binary.AppendVarint(append(b, 0), int64(q.index))
		for _, a := range q.args() {
			switch {
			case a == nil:
				b = append(b, 0)
			case a.known():
				b = binary.AppendVarint(append(b, 1), int64(a.number))
			default:
				b = binary.AppendVarint(append(b, 2), int64(a.number))
			}
		}
		h.Write(append(b, 0xff))
	}
	return h.Sum64()
}

// Recorded returns the graphs that a session with Options.Record has met, in the order in which
// they came, for generators of code: the graph of each is the module of the same index, with
// the tensors of the models as they were. Names have the numbers that Explain tells. New is nil.
func (s *Session) Recorded() (*generated.Graphs, []*graph.Module) {
	defer s.enter("Recorded")()
	all := &generated.Graphs{Form: generated.Form, Rounding: s.opts.Rounding}
	var modules []*graph.Module
	for _, p := range s.cache.inOrder() {
		g := p.ready.graph
		if g == nil || s.cache.table.modules[g] == nil || slices.ContainsFunc(all.List, func(x generated.Graph) bool {
			return x.Text == g.Text && slices.Equal(x.Kept, g.Kept) && slices.Equal(x.Into, g.Into)
		}) {
			continue
		}
		named := *g
		named.Name = "Graph" + strconv.Itoa(p.story.number)
		all.List = append(all.List, named)
		modules = append(modules, s.cache.table.modules[g])
	}
	return all, modules
}
