package debug

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/shape"
)

// Minimal is what Minimise has found.
type Minimal struct {
	Case
	Err   error // how it fails
	Tries int   // how many cases were tried
	// Kept names the tensors whose values matter, parameters by their paths and inputs
	// by their nodes, "%x". The others have the values that a formula gives.
	Kept []string
}

// Minimise cuts a failing case down as long as it fails in the same way: with the same
// diagnostic of the same pass. Results are dropped and replaced by values before them;
// what is above becomes inputs with the values that it had; calls are passed by, equal
// inputs become one, sizes become small, tensors get values by a formula. The case that
// is given does not change.
func Minimise(ctx context.Context, c Case, fails Failure) (*Minimal, error) {
	s := &search{ctx: ctx, fails: fails, now: c}
	err := s.run(c)
	if err == nil {
		return nil, diag.New(NothingFails, "the case does not fail")
	}
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	s.want, s.err = kind(err), err
	s.now = Case{graph.Clone(c.Module), slices.Clone(c.Inputs)}
	for round := 0; round < maxRounds; round++ {
		before := s.done
		for _, step := range []func(){s.fixed, s.inline, s.results, s.upwards, s.cut, s.bypass, s.unused, s.sizes} {
			step()
		}
		if s.done == before {
			break
		}
	}
	kept := s.formulas()
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	return &Minimal{Case: s.now, Err: s.err, Tries: s.tries, Kept: kept}, nil
}

// maxRounds bounds a search of which each round makes the case smaller.
const maxRounds = 20

// failureKind is what tells failures apart.
type failureKind struct {
	code  diag.Code
	phase string
	typ   string // of an error that is no diagnostic
}

func kind(err error) failureKind {
	var l diag.List
	if errors.As(err, &l) && len(l) > 0 {
		err = l[0]
	}
	var e *diag.Error
	if !errors.As(err, &e) {
		return failureKind{typ: fmt.Sprintf("%T", err)}
	}
	return failureKind{code: e.Code, phase: e.Phase}
}

// search is one call of Minimise.
type search struct {
	ctx   context.Context
	fails Failure
	want  failureKind
	now   Case
	err   error // of now
	tries int
	done  int // cases that were smaller
}

// panicked is an error of a failure that panics.
type panicked struct{ v any }

func (p panicked) Error() string { return fmt.Sprint("panic: ", p.v) }

// run tries a case; a panic is a failure too.
func (s *search) run(c Case) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked{r}
		}
	}()
	s.tries++
	return s.fails(s.ctx, c)
}

// edit tries a copy of the case that f has changed, and keeps it where it fails in the
// same way. f gives new inputs their values, by node; false, and a panic of an edit that
// the graph refuses or whose node has gone, end the attempt.
func (s *search) edit(f func(g *graph.Graph, values map[*graph.Node]*array.Array) bool) bool {
	if s.ctx.Err() != nil {
		return false
	}
	m := graph.Clone(s.now.Module)
	values := map[*graph.Node]*array.Array{}
	for i, p := range m.Graph.Inputs() {
		if i < len(s.now.Inputs) {
			values[p] = s.now.Inputs[i]
		}
	}
	if !attempt(func() bool { return f(m.Graph, values) }) {
		return false
	}
	m.DropUnused()
	c := Case{Module: m}
	for _, p := range m.Graph.Inputs() {
		c.Inputs = append(c.Inputs, values[p])
	}
	return s.keep(c)
}

// attempt calls f, which panics where an edit is refused.
func attempt(f func() bool) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return f()
}

func (s *search) keep(c Case) bool {
	if graph.Lint(c.Module.Graph).Err() != nil {
		return false
	}
	err := s.run(c)
	if err == nil || kind(err) != s.want {
		return false
	}
	s.now, s.err = c, err
	s.done++
	return true
}

// names lists the nodes that f wants, by name, as they are found in copies.
func (s *search) names(f func(n *graph.Node) bool) (list []string) {
	for n := range s.now.Module.Graph.Nodes() {
		if f(n) {
			list = append(list, n.Name())
		}
	}
	return list
}

func isTensor(n *graph.Node) bool {
	return n != nil && n.Opcode() != graph.Output && n.Type().Kind() == shape.Tensor
}

func isCall(n *graph.Node) bool { return n.Opcode().IsCall() }

// fixed gives symbols the sizes that they have in this run.
func (s *search) fixed() {
	sizes := map[string]int{}
	for _, sym := range s.now.Module.Graph.Symbols() {
		for i, p := range s.now.Module.Graph.Inputs() {
			if p == sym.Node && i < len(s.now.Inputs) && s.now.Inputs[i] != nil && sym.Axis < s.now.Inputs[i].Rank() {
				sizes[sym.Name] = s.now.Inputs[i].Dim(sym.Axis)
			}
		}
	}
	if len(sizes) == 0 {
		return
	}
	m := graph.Clone(s.now.Module)
	if _, err := passes.Run(s.ctx, m, []passes.Pass{shapeprop.Specialize(sizes)}, passes.Options{NoLint: true}); err != nil {
		return
	}
	var lines []string // without what only says the sizes of symbols
	for line := range strings.Lines(graph.Print(m, graph.PrintOptions{Positions: true})) {
		if text := strings.TrimSpace(line); !strings.HasPrefix(text, "symbol ") && !strings.HasPrefix(text, "guard ") {
			lines = append(lines, line)
		}
	}
	s.reparse(strings.Join(lines, ""), func(a *array.Array, _ shape.Type) *array.Array { return a })
}

// inline puts the bodies of sub-graphs in the place of their calls.
func (s *search) inline() {
	for _, name := range s.names(func(n *graph.Node) bool { return n.Callee() != nil }) {
		s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
			n := g.Find(name)
			if n == nil {
				return false
			}
			_, err := graph.Inline(n)
			return err == nil
		})
	}
}

// setResults gives the graph other results and removes what only the old ones needed.
func setResults(g *graph.Graph, list ...*graph.Node) {
	old := g.Output()
	was := old.Args()
	at := g.At().From(old)
	_ = g.Erase(old) // nothing uses an output
	structure := graph.Leaf(0)
	if len(list) != 1 {
		structure = &graph.Structure{Kind: graph.Results}
		for i := range list {
			structure.Fields = append(structure.Fields, graph.Leaf(i))
		}
	}
	at.Output(structure, list...)
	sweep(was...)
}

// sweep removes values that nothing uses any more, and what only they needed.
func sweep(list ...*graph.Node) {
	for _, n := range list {
		if n == nil || n.Erased() || n.NumUses() > 0 || n.Opcode() == graph.Output {
			continue
		}
		args := slices.Collect(n.Inputs())
		if n.Graph().Erase(n) == nil {
			sweep(args...)
		}
	}
}

// results drops results: all but one, else half of them and fewer.
func (s *search) results() {
	out := s.now.Module.Graph.Output()
	if out == nil || out.NumArgs() == 0 || s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
		setResults(g)
		return true
	}) {
		return // none is needed
	}
	if out.NumArgs() < 2 {
		return
	}
	for i := range s.now.Module.Graph.Output().NumArgs() {
		if s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
			n := g.Output().Arg(i)
			if n == nil {
				return false
			}
			setResults(g, n)
			return true
		}) {
			return
		}
	}
	halves(s.now.Module.Graph.Output().NumArgs(), func(from, to int) bool {
		return s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
			setResults(g, slices.Delete(g.Output().Args(), from, to)...)
			return true
		})
	})
}

// halves calls drop for parts of a list of n: halves, quarters, down to single ones. It
// tells that the part is gone; the list is never emptied.
func halves(n int, drop func(from, to int) bool) {
	for size := n / 2; size > 0; size /= 2 {
		for from := 0; from < n && n > size; {
			if to := min(from+size, n); drop(from, to) {
				n -= to - from
			} else {
				from = to
			}
		}
	}
}

// upwards makes an operand of the only result the result, as long as that fails too.
func (s *search) upwards() {
	for again := true; again; {
		again = false
		out := s.now.Module.Graph.Output()
		if out == nil || out.NumArgs() != 1 || out.Arg(0) == nil {
			return
		}
		for _, name := range above(out.Arg(0)) {
			if again = s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
				setResults(g, g.Find(name))
				return true
			}); again {
				break
			}
		}
	}
}

// above lists the tensors that n is computed from, through what are none.
func above(n *graph.Node) (list []string) {
	for a := range n.Inputs() {
		switch {
		case a.Graph() != n.Graph():
		case isTensor(a):
			list = append(list, a.Name())
		default:
			list = append(list, above(a)...)
		}
	}
	return list
}

// cut makes inputs of calls: of many at once, then of fewer.
func (s *search) cut() {
	list := s.names(func(n *graph.Node) bool { return isCall(n) && isTensor(n) })
	values := s.values(list)
	halves(len(list)+1, func(from, to int) bool { // one more, so that all may go
		to = min(to, len(list))
		ok := s.edit(func(g *graph.Graph, in map[*graph.Node]*array.Array) bool {
			any := false
			for _, name := range list[from:to] {
				if n := g.Find(name); n != nil && values[name] != nil {
					enter(g, n, in, values[name])
					any = true
				}
			}
			return any
		})
		if ok {
			list = slices.Delete(list, from, to)
		}
		return ok
	})
}

// values runs the case and returns what nodes compute.
func (s *search) values(names []string) map[string]*array.Array {
	m := graph.Clone(s.now.Module)
	values := map[string]*array.Array{}
	p := interp.Interpreter{State: interp.NewState(m)}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if err == nil && n.Graph() == m.Graph && v.T != nil {
			values[n.Name()] = array.Clone(v.T.Array())
		}
		return v, err
	}
	_, _ = p.RunArrays(s.ctx, s.now.Inputs) // of a graph that does not run, what there is
	return values
}

// enter puts an input in the place of a call. Its type has the sizes of this run.
func enter(g *graph.Graph, n *graph.Node, in map[*graph.Node]*array.Array, value *array.Array) {
	name, args := n.Name(), slices.Collect(n.Inputs())
	p := g.Before(g.First()).From(n).Placeholder(name, shape.TypeOf(value), nil)
	in[p] = value
	n.ReplaceUses(p, nil)
	if err := g.Erase(n); err != nil {
		panic(err) // it defines a size
	}
	p.Rename(name)
	sweep(args...)
}

// bypass lets users of a value use another one of its type: what it is computed from, or
// an input or parameter before it.
func (s *search) bypass() {
	for _, name := range s.names(isTensor) {
		n := s.now.Module.Graph.Find(name)
		if n == nil {
			continue
		}
		var others []string
		for m := range s.now.Module.Graph.Nodes() {
			direct := slices.Contains(slices.Collect(n.Inputs()), m)
			if m.Precedes(n) && isTensor(m) && (direct || !isCall(m)) && m.Type().Same(n.Type()) {
				others = append(others, m.Name())
			}
		}
		slices.Reverse(others)
		for _, other := range others {
			if s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
				n, by := g.Find(name), g.Find(other)
				if n.NumUses() == 0 {
					return false
				}
				n.ReplaceUses(by, nil)
				sweep(n)
				return true
			}) {
				break
			}
		}
	}
}

// unused removes what nothing uses, and calls with effects.
func (s *search) unused() {
	for _, name := range s.names(func(n *graph.Node) bool { return n.NumUses() == 0 && n.Opcode() != graph.Output }) {
		for _, alone := range []bool{false, true} { // with all that only it needs, or without
			if s.edit(func(g *graph.Graph, _ map[*graph.Node]*array.Array) bool {
				n := g.Find(name)
				if alone {
					return g.Erase(n) == nil
				}
				sweep(n)
				return n.Erased()
			}) {
				break
			}
		}
	}
}
