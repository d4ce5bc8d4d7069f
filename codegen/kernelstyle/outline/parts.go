package outline

import "github.com/gofx-dev/gofx/lowering/plan"

// cutter cuts items into functions of at most maxSteps: at the ends of scopes,
// outer ones first, and where one scope is too long, where the fewest values are
// in use, because a reader has to keep those in mind from one function to the
// next.
type cutter struct {
	plan   *plan.Plan
	scopes scopes
	widths []int // values in use when each step begins
}

func (c *cutter) part(items []Item) Part { return Part{Scope: c.scopes.common(items), Items: items} }

// parts cuts items that lie in one scope of depth-1 parts. Neighbouring scopes
// share a function until it has minPart steps; one that is too long for any is cut
// by the scopes within it.
func (c *cutter) parts(items []Item, depth int) []Part {
	if len(items) == 0 {
		return []Part{{}}
	}
	if len(items) <= maxSteps {
		return []Part{c.part(items)}
	}
	var runs [][]Item
	deeper := false
	for i := 0; i < len(items); {
		from, prefix := i, c.scopes.prefix(items[i].Step, depth)
		deeper = deeper || prefix != ""
		for i++; i < len(items) && c.scopes.prefix(items[i].Step, depth) == prefix; i++ {
		}
		runs = append(runs, items[from:i])
	}
	if !deeper {
		return c.cut(items)
	}
	var out []Part
	var open []Item
	flush := func() {
		if len(open) > 0 {
			out = append(out, c.part(open))
			open = nil
		}
	}
	for _, run := range runs {
		if len(run) > maxSteps {
			flush()
			out = append(out, c.parts(run, depth+1)...)
			continue
		}
		if len(open)+len(run) > maxSteps || len(open) >= minPart {
			flush()
		}
		open = append(open, run...)
	}
	flush()
	return out
}

// cut cuts a long run where few values are in use. The second half of a
// function's maximum length is searched from its end, so that of places that are
// equally good the longest part is taken.
func (c *cutter) cut(items []Item) []Part {
	if c.widths == nil {
		c.widths = live(c.plan)
	}
	var out []Part
	for len(items) > maxSteps {
		best := maxSteps
		for n := maxSteps; n >= maxSteps/2; n-- {
			if c.widths[items[n].Step] < c.widths[items[best].Step] {
				best = n
			}
		}
		out = append(out, c.part(items[:best]))
		items = items[best:]
	}
	return append(out, c.part(items))
}

// live returns, for each step, how many values of earlier steps are in use when it
// begins. A value counts from the step after the one that makes it to its last
// use: changes are noted at both ends and added up in one pass.
func live(p *plan.Plan) []int {
	change := make([]int, len(p.Steps)+2)
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Kind == plan.Temp && b.First >= 0 && b.First < b.Last {
			change[b.First+1]++
			change[b.Last+1]--
		}
	}
	n := 0
	for i := range change {
		n += change[i]
		change[i] = n
	}
	return change
}
