package passes

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
)

// Options changes what Run does around the passes. The zero value checks the
// graph before and after each pass and nothing else.
type Options struct {
	NoLint    bool          // do not check graph and facts after each pass
	LintEach  bool          // check the graph after each rewrite too, except those of Pass.Whole
	Disable   []string      // passes of the pipeline that are left out
	StopAfter string        // the last pass to run
	StopAt    StopAt        // the last rewrite
	Order     []Before      // what must not run after what, besides the passes' own Order
	Expect    []Expectation // how often passes must match
	Numeric   *Numeric      // compare what the graph computes after each pass with the original
	// DumpDir is a folder for the text form before the first pass, 00-trace.fx,
	// and after each pass, 01-conv-bn.fx, with the difference in 01-conv-bn.diff.
	DumpDir string
	// OnPass is called after each pass with the module as it is then.
	OnPass func(r PassReport, m *graph.Module)
}

// StopAt ends the pass of that name at its rewrite number Match, as Origin counts them,
// and the pipeline with it; the module keeps what was done up to there. 0 ends the
// pipeline before the pass. Rewrites that belong together (Pass.Whole) are not parted.
// The zero StopAt stops nowhere.
type StopAt struct {
	Pass  string
	Match int
}

// Expectation says how often a pass must match.
type Expectation struct {
	Pass     string
	Min, Max int // Max -1: no upper bound
}

// Expect demands that a pass matches exactly n times in the whole pipeline.
func Expect(pass string, n int) Expectation { return Expectation{pass, n, n} }

// ExpectAtLeast demands that a pass matches n times or more.
func ExpectAtLeast(pass string, n int) Expectation { return Expectation{pass, n, -1} }

// Run runs the passes of a pipeline in order on a module; fx.GraphModule.Apply is Run for
// a module that fx has captured. When one of them
// fails, or a check after one, the error names the pass and module is as it was;
// node pointers into module's graph are good only as long as Run changes nothing.
// The report says what was done up to there, also when there is an error.
func Run(ctx context.Context, module *graph.Module, pipeline []Pass, o Options) (*Report, error) {
	r := &runner{Options: o, ctx: ctx, report: &Report{}}
	if err := r.plan(pipeline); err != nil {
		return r.report, err
	}
	r.mod = module.WithGraph(module.Graph.Clone()) // a pass replaces arrays and never writes to them
	if err := r.start(); err != nil {
		return r.report, err
	}
	for _, p := range r.list {
		ends := func() bool { return r.StopAt.Pass == p.Name && r.left <= 0 }
		if ends() {
			break
		}
		if err := r.pass(p); err != nil {
			return r.report, err
		}
		if ends() {
			break
		}
	}
	if err := r.expectations(); err != nil {
		return r.report, err
	}
	if r.changed {
		module.Become(r.mod)
	}
	return r.report, nil
}

// runner is one call of Run.
type runner struct {
	Options
	ctx     context.Context
	report  *Report
	mod     *graph.Module // the copy that the passes work on
	list    []Pass
	changed bool
	base    *baseline
	text    string // of the last dump
	dumps   int
	left    int                  // rewrites of StopAt.Pass to go
	known   map[*graph.Node]bool // nodes that had been there or have an Origin
}

// plan finds mistakes in the pipeline and what is left of it to run.
func (r *runner) plan(pipeline []Pass) error {
	names := make([]string, len(pipeline))
	for i, p := range pipeline {
		names[i] = p.Name
	}
	known := "the pipeline is " + strings.Join(names, ", ")
	for _, n := range append(slices.Clone(r.Disable), r.StopAfter, r.StopAt.Pass) {
		if n != "" && !slices.Contains(names, n) {
			return diag.New(BadPipeline, "no pass "+strconv.Quote(n)+" in the pipeline").WithHint(near.Hint(n, names, known))
		}
	}
	for _, e := range r.Expect {
		if !slices.Contains(names, e.Pass) {
			return diag.New(BadPipeline, strconv.Quote(e.Pass)+" has an Expect count but is not in the pipeline").WithHint(known)
		}
	}
	if r.left = r.StopAt.Match; r.left < 0 || r.left > 0 && r.StopAt.Pass == "" {
		return diag.New(BadPipeline, "StopAt is rewrite "+strconv.Itoa(r.left)+" of pass "+strconv.Quote(r.StopAt.Pass)+", expected a pass and 0 or more")
	}
	for _, p := range pipeline {
		if p.Name == "" || p.Run == nil {
			return diag.New(BadPipeline, "a pass of the pipeline has no name or no Run").WithHint(known)
		}
		if !slices.Contains(r.Disable, p.Name) {
			r.list = append(r.list, p)
		}
		if p.Name == r.StopAfter {
			break
		}
	}
	return CheckOrder(r.list, r.Order...)
}

func (r *runner) start() error {
	if err := r.lint("before the first pass"); err != nil {
		return err
	}
	if r.Numeric != nil {
		b, err := newBaseline(r.ctx, r.Numeric, r.mod)
		if err != nil {
			return err
		}
		r.base = b
	}
	r.known = map[*graph.Node]bool{}
	for n := range r.mod.All() {
		r.known[n] = true
	}
	return r.dump("trace")
}

// lint is kept, so that a pass that changes nothing is not checked.
var lint = graph.NewAnalysis("lint", graph.Lint)

func (r *runner) lint(when string) error {
	if r.NoLint {
		return nil
	}
	if l := lint.Of(r.mod.Graph); l.Err() != nil {
		return &diag.Error{Code: LintFailed, Msg: "invalid graph " + when, Err: l}
	}
	return nil
}

// pass runs one pass with all checks.
func (r *runner) pass(step Pass) (err error) {
	phase := "pass " + step.Name
	defer func() { err = inPhase(err, phase) }()
	if err := r.ctx.Err(); err != nil {
		return diag.Stop(err)
	}
	for _, f := range step.Requires {
		if n := f.Violation(r.mod.Graph); n != nil {
			return n.Error(MissingFact, "the pass requires a graph that is "+f.Name+", "+n.String()+" is not").WithHint(f.Cure)
		}
	}
	var keeps []Fact
	for _, f := range Facts {
		if !r.NoLint && !hasFact(step.Breaks, f) && f.Violation(r.mod.Graph) == nil {
			keeps = append(keeps, f)
		}
	}
	rep, err := r.measure(step)
	if err != nil {
		return err
	}
	if rep.Changed || rep.Matches > 0 {
		r.changed = true
		r.mod.Touch() // it may have changed a tensor other than by SetParam
	}
	if err := r.dump(step.Name); err != nil { // first, to show what the checks refuse
		return err
	}
	if err := r.check(keeps); err != nil {
		return err
	}
	if r.OnPass != nil {
		r.OnPass(rep, r.mod)
	}
	return nil
}

// measure runs a pass and reports on it.
func (r *runner) measure(step Pass) (PassReport, error) {
	c := NewCtx(r.ctx, r.mod)
	c.pass, c.known = step.Name, r.known
	mine := step.Name == r.StopAt.Pass
	if mine && !step.Whole {
		c.stop = r.left
	}
	if r.LintEach && !step.Whole {
		c.watch = &watch{r.mod, map[*graph.Graph]*graph.Linter{}}
		defer c.watch.close()
	}
	rep := PassReport{Name: step.Name, NodesBefore: nodeCount(r.mod.Graph)}
	start, before := time.Now(), allocated()
	changed, err := run(step, c)
	rep.Time, rep.Allocated = time.Since(start), allocated()-before
	rep.Changed, rep.Matches, rep.Log, rep.Refused, rep.Notes = changed, c.matches, c.log, c.refused, c.Notes()
	rep.NodesAfter = nodeCount(r.mod.Graph)
	if mine {
		r.left -= c.matches
		rep.Stopped = r.left <= 0
	}
	r.report.Passes = append(r.report.Passes, rep)
	if err == nil && (changed || c.matches > 0) {
		c.unnamed()
	}
	return rep, err
}

// allocated returns the bytes that the program has ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// check finds what a pass has broken.
func (r *runner) check(keeps []Fact) error {
	if err := r.lint("after the pass"); err != nil {
		return err
	}
	for _, f := range keeps {
		if n := f.Violation(r.mod.Graph); n != nil {
			return n.Error(BrokenFact, "the graph was "+f.Name+", "+n.String()+" is not any more: "+n.Text()).
				WithHint("list the fact under Breaks, or " + f.Cure)
		}
	}
	if r.base == nil {
		return nil
	}
	return r.base.compare(r.ctx, r.mod)
}

// run calls the pass and turns a panic into an error.
func run(p Pass, c *Ctx) (changed bool, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case stopped:
			changed = true
		case *diag.Error:
			err = v
		default:
			err = &diag.Error{Code: Panicked, Pos: diag.PanicPos(), Msg: "the pass panicked: " + fmt.Sprint(v),
				Hint: "the position is where it panicked"}
		}
	}()
	return p.runOnAll(c, c.Module.Graph)
}

// inPhase says of every diagnostic in err that the phase was running.
func inPhase(err error, phase string) error {
	var list diag.List
	var one *diag.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &one) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		err = diag.Stop(err) // the pass asked the context
	case errors.As(err, &one) && error(one) == err:
		e := *one
		if e.Phase == "" {
			e.Phase = phase
		}
		return &e
	}
	list.Add(err)
	for i, e := range list {
		e2 := *e
		if e2.Phase == "" {
			e2.Phase = phase
		}
		list[i] = &e2
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func nodeCount(g *graph.Graph) int {
	n := 0
	for range whole(g) {
		n++
	}
	return n
}

// expectations compares match counts with what is expected; the error shows the
// first candidate that was left as it is, which most likely is why.
func (r *runner) expectations() error {
	for _, expectation := range r.Expect {
		got, ran := 0, false
		var why *Event
		for i := range r.report.Passes {
			p := &r.report.Passes[i]
			if p.Name != expectation.Pass {
				continue
			}
			ran = !p.Stopped
			got += p.Matches
			if why == nil && len(p.Refused) > 0 {
				why = &p.Refused[0]
			}
		}
		if !ran || got >= expectation.Min && (got <= expectation.Max || expectation.Max < 0) {
			continue
		}
		want := strconv.Itoa(expectation.Min)
		if expectation.Max < 0 {
			want += " or more"
		}
		err := &diag.Error{Code: MatchCount, Phase: "pass " + expectation.Pass, Msg: "matched " + strconv.Itoa(got) + " times, expected " + want}
		if why != nil {
			err.Pos, err.Node = why.Pos(), why.Node.Name()
			err.Related = []diag.Related{{Pos: why.Pos(), Msg: "first candidate that did not match: " + why.Node.String() + ": " + why.Why}}
		}
		return err
	}
	return nil
}
