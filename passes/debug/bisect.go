package debug

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Culprit is the rewrite of a pipeline at which a check begins to fail.
type Culprit struct {
	Pass string
	// Match is the number of the rewrite, as passes.StopAt counts them: StopAt{Pass,
	// Match} ends the pipeline after it. 0 stands for what the pass does besides its
	// rewrites, or for all of a pass whose rewrites belong together.
	Match int
	Event *passes.Event // what the rewrite did, nil where Match is 0
	Err   error         // what the check said
	Runs  int           // of the pipeline
	// Good and Bad are the module before and after the rewrite. Where the pass itself
	// fails, and makes no module, Bad is nil.
	Good, Bad *graph.Module
}

// String returns "rewrite 3 of pass gelu: net.go:14: %g replaced by %gelu: rule gelu" and
// what the check said.
func (c *Culprit) String() string {
	var b strings.Builder
	switch {
	case c.Event != nil:
		b.WriteString("rewrite " + strconv.Itoa(c.Match) + " of pass " + c.Pass + ": " + c.Event.String())
	default:
		b.WriteString("pass " + c.Pass + ", besides its rewrites")
	}
	return b.String() + "\n" + c.Err.Error() + "\n"
}

// Bisect finds the rewrite of a pipeline at which check begins to fail, or the pipeline
// itself: the graph is right before it and wrong after it. It runs the pipeline once,
// and then as often as halving the number of rewrites takes. check may be nil: the
// graph must then compute what it computed before the passes, as o.Numeric says.
// Options of o that are about the end of a pipeline are obeyed; m does not change.
func Bisect(ctx context.Context, m *graph.Module, pipeline []passes.Pass, o passes.Options, check func(context.Context, *graph.Module) error) (*Culprit, error) {
	b, err := newBisection(ctx, m, pipeline, o, check)
	if err != nil {
		return nil, err
	}
	if err := b.check(ctx, graph.Clone(m)); err != nil {
		return nil, &diag.Error{Code: FailsBefore, Msg: "the check refuses the graph as it is before the passes", Err: err}
	}
	whole, err := b.try(point{len(b.list) - 1, -1})
	if err != nil {
		return nil, err
	}
	if whole.err == nil {
		return nil, diag.New(NothingFails, "the check accepts what the pipeline makes of the graph")
	}
	bad, points := whole, b.points(whole)
	var good *state
	k := sort.Search(len(points)-1, func(k int) bool {
		if err != nil {
			return true
		}
		var s *state
		switch s, err = b.try(points[k]); {
		case err != nil:
		case s.err != nil:
			bad = s
			return true
		default:
			good = s
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	c := &Culprit{Pass: b.list[points[k].pass].Name, Match: max(points[k].match, 0), Err: bad.err, Runs: b.runs, Good: graph.Clone(m), Bad: bad.mod}
	if bad.mod == nil {
		c.Bad = b.refused(points[k])
	}
	if good != nil {
		c.Good = good.mod
	}
	if r := whole.report.Passes[points[k].pass]; points[k].match > 0 {
		c.Event, c.Match = &r.Log[points[k].match-1], points[k].match+b.before(whole, points[k].pass)
	}
	return c, nil
}

// point is a place of a pipeline: after a rewrite of a pass, or after the pass: -1.
type point struct{ pass, match int }

// state is what the pipeline has made at a point.
type state struct {
	mod    *graph.Module
	report *passes.Report
	err    error // of the pipeline, which has then made no module, or of the check
}

// bisection is one call of Bisect.
type bisection struct {
	ctx    context.Context
	origin *graph.Module
	list   []passes.Pass
	o      passes.Options
	check  func(context.Context, *graph.Module) error
	whole  *state
	runs   int
}

func newBisection(ctx context.Context, m *graph.Module, pipeline []passes.Pass, o passes.Options, check func(context.Context, *graph.Module) error) (*bisection, error) {
	if check == nil {
		spec := passes.Numeric{}
		if o.Numeric != nil {
			spec = *o.Numeric
		}
		var err error
		if check, err = spec.Against(ctx, m); err != nil {
			return nil, err
		}
	}
	b := &bisection{ctx: ctx, origin: m, check: check}
	for _, p := range pipeline {
		if !slices.Contains(o.Disable, p.Name) {
			b.list = append(b.list, p)
		}
		if p.Name == o.StopAfter {
			break
		}
	}
	if len(b.list) == 0 {
		return nil, diag.New(NothingFails, "the pipeline has no passes")
	}
	b.o = passes.Options{NoLint: o.NoLint, LintEach: o.LintEach, Order: o.Order}
	return b, nil
}

// before counts the rewrites of earlier passes of the same name, which StopAt counts on.
func (b *bisection) before(whole *state, pass int) int {
	n := 0
	for i, r := range whole.report.Passes[:pass] {
		if b.list[i].Name == b.list[pass].Name {
			n += r.Matches
		}
	}
	return n
}

// points lists the places of the pipeline, up to where it ended.
func (b *bisection) points(whole *state) (list []point) {
	for i, r := range whole.report.Passes {
		for k := 1; k <= r.Matches && !b.list[i].Whole; k++ {
			list = append(list, point{i, k})
		}
		list = append(list, point{i, -1})
	}
	return list
}

// try runs the pipeline up to a point, and the check. The error is one that ends the
// search.
func (b *bisection) try(at point) (*state, error) {
	b.runs++
	s := &state{mod: graph.Clone(b.origin)}
	s.report, s.err = passes.Run(b.ctx, s.mod, b.list[:at.pass+1], b.until(at))
	if err := b.ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	if b.whole == nil {
		b.whole = s
		if len(s.report.Passes) == 0 {
			return nil, s.err // the pipeline cannot run
		}
	}
	if err := b.same(s, at); err != nil {
		return nil, err
	}
	if s.err == nil {
		s.err = b.check(b.ctx, graph.Clone(s.mod))
	} else {
		s.mod = nil
	}
	if errors.Is(s.err, context.Canceled) || errors.Is(s.err, context.DeadlineExceeded) {
		return nil, s.err
	}
	return s, nil
}

// until returns the options of a run up to a point.
func (b *bisection) until(at point) passes.Options {
	o := b.o
	if at.match > 0 {
		o.StopAt = passes.StopAt{Pass: b.list[at.pass].Name, Match: at.match + b.before(b.whole, at.pass)}
	}
	return o
}

// refused returns the module at a point which the checks of the driver do not let pass,
// nil where the pass itself failed.
func (b *bisection) refused(at point) *graph.Module {
	m, o := graph.Clone(b.origin), b.until(at)
	o.NoLint, o.LintEach = true, false
	if _, err := passes.Run(b.ctx, m, b.list[:at.pass+1], o); err != nil {
		return nil
	}
	return m
}

// same demands that the passes do what they did in the whole run.
func (b *bisection) same(s *state, at point) error {
	for i, r := range s.report.Passes {
		want := b.whole.report.Passes[i].Matches
		if i == at.pass && at.match > 0 {
			want = at.match
		}
		if r.Matches != want && (s.err == nil || i < len(s.report.Passes)-1) {
			return diag.New(NotRepeatable, "pass "+r.Name+" made "+strconv.Itoa(r.Matches)+" rewrites, and "+strconv.Itoa(want)+" in the first run")
		}
	}
	return nil
}
