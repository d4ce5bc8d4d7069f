package shard

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/shape"
)

// From says where a value comes from: result Index of a stage, or with Stage -1 the input of
// the graph that has that Index.
type From struct{ Stage, Index int }

// Stage is a part of a graph that some devices run, as a module of its own.
type Stage struct {
	Module *graph.Module
	Inputs []From // of the module's graph, in order
	Flops  int64  // with one turn of each while
	// Weights are the bytes of what the stage reads of the state, Received those that come
	// from the stages before it.
	Weights, Received int64
	Calls             int
}

// Pipeline is a graph as stages that run one after the other.
type Pipeline struct {
	Stages  []*Stage
	Outputs []From // of the graph, in order
	inputs  []string
}

// slack is how much more work the longest stage may have where less is handed on then.
const slack = 1.1

// Stages cuts a module's graph, which is not changed, into n stages in the order of its calls:
// such that the longest has as little work as can be, or at most a tenth more where fewer bytes
// are handed on. Options pins symbols and chooses results as for Propagate.
func Stages(m *graph.Module, o lowering.Options, n int) (*Pipeline, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	b, err := newBlocks(ready.Graph)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(b.nodes) {
		return nil, diag.New(BadLayout, strconv.Itoa(n)+" stages of a graph that can be cut into "+strconv.Itoa(len(b.nodes))).
			WithHint("take at least one, and not more than there are calls that are not bound together")
	}
	var parts []partition.Part
	for i, nodes := range b.cut(n) {
		p := partition.Part{Name: "stage" + strconv.Itoa(i), Nodes: nodes}
		p.OwnReads(ready.Graph, func(*graph.Node) bool { return true })
		parts = append(parts, p)
	}
	calls, err := partition.Fuse(ready, parts...)
	if err != nil {
		return nil, err
	}
	return piped(ready, calls)
}

// blocks are runs of calls that stay together, with what stages are judged by.
type blocks struct {
	nodes [][]*graph.Node
	work  []int64 // of the blocks before each, one more than there are blocks
	cross []int64 // bytes that are handed on where a stage begins with a block
}

// newBlocks makes a block of each call and what takes its results apart.
func newBlocks(g *graph.Graph) (*blocks, error) {
	b := &blocks{work: []int64{0}}
	effects := graph.EffectsOf(g)
	place, last := map[*graph.Node]int{}, map[*graph.Node]int{}
	var order []*graph.Node
	var errs diag.List
	for n := range g.All() { // the bodies of control flow, too
		if n.Opcode() == graph.GetAttr && effects.WrittenState(n.Target()) {
			errs = append(errs, n.Error(lowering.Unsupported, "tensor "+n.Target()+" is written by the graph, and stages share no state").WithHint("give the state as an input and return it"))
		}
	}
	for n := range g.Nodes() {
		if !n.Opcode().IsCall() {
			continue
		}
		if n.Op() == op.GetItem {
			place[n] = place[n.Arg(0)]
			b.nodes[place[n]] = append(b.nodes[place[n]], n)
		} else {
			flops, ok := flopsOf(n)
			if !ok {
				errs = append(errs, unknownWork(n))
			}
			place[n] = len(b.nodes)
			b.nodes = append(b.nodes, []*graph.Node{n})
			b.work = append(b.work, b.work[len(b.work)-1]+flops)
		}
		order = append(order, n)
		for a := range n.Inputs() {
			last[a] = max(last[a], place[n])
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	b.cross = make([]int64, len(b.nodes)+1)
	for _, n := range order {
		for k := place[n] + 1; k <= last[n]; k++ {
			b.cross[k] += bytesOf(n.Type())
		}
	}
	return b, nil
}

// flopsOf is the work of a call, with one turn of each while in it, whose turns its condition
// decides.
func flopsOf(n *graph.Node) (flops int64, ok bool) {
	size, ok := count.Flops(n).Bind(func(name string) shape.Dim {
		if strings.HasPrefix(name, count.Turns("")) {
			return shape.Const(1)
		}
		return shape.Sym(name)
	}).Int()
	return int64(size), ok
}

// unknownWork says why the work of a call has no number: sizes of its own are not known, or of
// what it computes from, or of what runs in it.
func unknownWork(n *graph.Node) *diag.Error {
	for _, t := range append(n.OperandTypes(), n.Type()) {
		if known(t) {
			continue
		}
		return unknownSize(n, t)
	}
	return n.Error(lowering.UnknownSize, "the work of "+n.Name()+" is "+count.Flops(n).String()+", stages need a number").
		WithHint("pin symbols by Options.Shapes; sizes that only its bodies have must follow from its operands")
}

// known reports whether all sizes of a type are numbers.
func known(t shape.Type) bool {
	if t.Kind() == shape.Tuple {
		for i := range t.Len() {
			if !known(t.Member(i)) {
				return false
			}
		}
		return true
	}
	_, _, ok := t.Concrete()
	return ok || t.Kind() == shape.None
}

// bytesOf are those of a tensor; tuples are counted by what takes them apart.
func bytesOf(t shape.Type) int64 {
	d, dims, ok := t.Concrete()
	if !ok {
		return 0
	}
	return newTensor("", d, dims).bytes(nil, nil)
}

// cut returns the nodes of n stages.
func (b *blocks) cut(n int) (stages [][]*graph.Node) {
	work := func(from, to int) float64 { return float64(b.work[to] - b.work[from]) }
	longest, _ := b.best(n, work, math.Max, func(from, to int, least float64) bool { return work(from, to) >= least })
	bound := longest * slack
	_, starts := b.best(n, func(from, _ int) float64 { return float64(b.cross[from]) }, func(x, y float64) float64 { return x + y },
		func(from, to int, _ float64) bool { return work(from, to) > bound })
	for i, from := range starts {
		to := len(b.nodes)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		stages = append(stages, slices.Concat(b.nodes[from:to]...))
	}
	return stages
}

// best cuts the blocks into n stages of which the costs, folded, are least, and returns where
// they begin. beyond tells that a stage up to a block begins too early, where the least so far is known, and that
// all that begin earlier do.
func (b *blocks) best(n int, cost func(from, to int) float64, fold func(x, y float64) float64, beyond func(from, to int, least float64) bool) (least float64, starts []int) {
	size := len(b.nodes)
	table, from := make([][]float64, n+1), make([][]int, n+1)
	for k := range table {
		table[k], from[k] = make([]float64, size+1), make([]int, size+1)
		for end := range table[k] {
			table[k][end] = math.Inf(1)
		}
	}
	table[0][0] = 0
	for k := 1; k <= n; k++ {
		for end := k; end <= size; end++ {
			for begin := end - 1; begin >= k-1 && !beyond(begin, end, table[k][end]); begin-- {
				if math.IsInf(table[k-1][begin], 1) {
					continue
				}
				if c := fold(table[k-1][begin], cost(begin, end)); c <= table[k][end] {
					table[k][end], from[k][end] = c, begin
				}
			}
		}
	}
	starts = make([]int, n)
	for k, end := n, size; k > 0; k-- {
		end = from[k][end]
		starts[k-1] = end
	}
	return table[n][size], starts
}

// piped makes modules of the stages that calls stand for.
func piped(m *graph.Module, calls []*graph.Node) (*Pipeline, error) {
	p := &Pipeline{}
	where := map[*graph.Node]From{}
	for i, n := range m.Graph.Inputs() {
		where[n] = From{-1, i}
		p.inputs = append(p.inputs, n.Name())
	}
	for i, c := range calls {
		where[c] = From{i, 0}
		for u := range c.Users() {
			if u.Op() == op.GetItem {
				where[u] = From{i, u.Attrs().(op.GetItemAttrs).Index}
			}
		}
	}
	for _, c := range calls {
		s := &Stage{Module: graph.NewModule(c.Callee().Clone())}
		for n := range s.Module.Graph.Nodes() { // which count what runs in them
			flops, _ := flopsOf(n)
			s.Flops += flops
		}
		for n := range s.Module.Graph.All() {
			if n.Opcode() == graph.GetAttr && s.Module.Param(n.Target()) == nil {
				param := *m.Param(n.Target())
				s.Module.SetParam(param)
				s.Weights += bytesOf(param.TypeOf())
			}
			if n.Opcode().IsCall() && n.Op() != op.GetItem {
				s.Calls++
			}
		}
		for _, a := range c.Args() {
			from, ok := where[a]
			if !ok {
				return nil, diag.Bug("a stage is given " + a.Name() + ", which comes from no other")
			}
			if s.Inputs = append(s.Inputs, from); from.Stage >= 0 {
				s.Received += bytesOf(a.Type())
			}
		}
		p.Stages = append(p.Stages, s)
	}
	for _, a := range m.Graph.Output().Args() {
		from, ok := where[a]
		if !ok {
			return nil, a.Error(lowering.Unsupported, "tensor "+a.Name()+" of the state is a result, which no stage computes").WithHint("choose the others by Options.Outputs")
		}
		p.Outputs = append(p.Outputs, from)
	}
	return p, nil
}

// Propagate plans every stage over the mesh of a layout, which speaks of the whole graph: what
// one stage hands on lies in the next as it came.
func (p *Pipeline) Propagate(l Layout) ([]*Plan, error) {
	var plans []*Plan
	var errs diag.List
	seen := map[string]bool{}
	for _, s := range p.Stages {
		part := Layout{Mesh: l.Mesh, Inputs: map[string]Split{}, Weights: map[string]Split{}, Values: map[string]Split{}, Stored: map[string]Split{}}
		for i, n := range s.Module.Graph.Inputs() {
			if from := s.Inputs[i]; from.Stage >= 0 {
				part.Inputs[n.Name()] = plans[from.Stage].Outputs[from.Index].Split
			} else if split, ok := l.Inputs[p.inputs[from.Index]]; ok {
				part.Inputs[n.Name()] = split
				seen["input "+p.inputs[from.Index]] = true
			}
		}
		for _, k := range []struct{ whole, part map[string]Split }{{l.Weights, part.Weights}, {l.Stored, part.Stored}} {
			for path, split := range k.whole {
				if s.Module.Param(path) != nil {
					k.part[path] = split
					seen["weight "+path] = true
				}
			}
		}
		for name, split := range l.Values {
			if n := s.Module.Graph.Find(name); n != nil && n.Opcode().IsCall() {
				part.Values[name] = split
				seen["value "+name] = true
			}
		}
		plan, err := Propagate(s.Module, lowering.Options{}, part)
		if err != nil {
			errs.Add(err)
			return nil, errs // the next stages start from what this one hands on
		}
		plans = append(plans, plan)
	}
	rest := &propagation{layout: l}
	if errs = rest.unknown(seen); len(errs) > 0 {
		return nil, errs
	}
	return plans, nil
}

// Bubble is the share of the time in which a device of the pipeline waits, where stages of
// equal work are given so many batches one after the other.
func (p *Pipeline) Bubble(batches int) float64 {
	idle := len(p.Stages) - 1
	return float64(idle) / float64(max(batches, 1)+idle)
}
