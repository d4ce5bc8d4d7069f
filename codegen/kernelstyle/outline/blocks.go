package outline

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/lowering/plan"
)

// findBlocks finds runs of steps that are equal except for their buffers. It
// compares the scopes of one depth, outermost first, and does not look again into
// a scope that a block covers. Each depth is one pass: the runs of its scopes are
// described, and equal texts are one block. Outermost first, because a layer that
// repeats says more than the parts in it; a scope that occurs once may still hold
// some that repeat, so the next depth looks into it.
func findBlocks(scopes scopes, texts describer) []*Block {
	var blocks []*Block
	taken := make([]bool, len(texts.plan.Steps))
	for depth := 1; ; depth++ {
		byText := map[string]*Block{}
		var order []*Block
		deeper := false
		for _, run := range runs(scopes, depth) {
			if run.Scope == "" || taken[run.First] {
				continue
			}
			deeper = true
			if n := run.Last - run.First; n < minRepeat || n > maxSteps {
				continue
			}
			text := texts.describe(&run)
			if byText[text] == nil {
				byText[text] = &Block{}
				order = append(order, byText[text])
			}
			byText[text].Calls = append(byText[text].Calls, run)
		}
		for _, b := range order {
			if len(b.Calls) > 1 {
				blocks = append(blocks, b)
				for _, run := range b.Calls {
					for i := run.First; i < run.Last; i++ {
						taken[i] = true
					}
				}
			}
		}
		if !deeper {
			return blocks
		}
	}
}

// runs cuts the steps into runs of one scope of a depth.
func runs(scopes scopes, depth int) []Call {
	var list []Call
	for i := 0; i < len(scopes); {
		c := Call{First: i, Scope: scopes.prefix(i, depth)}
		for i++; i < len(scopes) && scopes.prefix(i, depth) == c.Scope; i++ {
		}
		c.Last = i
		list = append(list, c)
	}
	return list
}

// span is the first and the last step that mentions a buffer, -1 for none.
type span struct{ first, last int }

// usesOf passes once over the plan, so that every question whether something
// outside a run mentions a buffer is a comparison.
func usesOf(p *plan.Plan) []span {
	uses := make([]span, len(p.Buffers))
	for k := range uses {
		uses[k] = span{-1, -1}
	}
	for i := range p.Steps {
		for _, list := range [2][]int{p.Steps[i].Out, p.Steps[i].In} {
			for _, k := range list {
				if k >= 0 {
					if uses[k].first < 0 {
						uses[k].first = i
					}
					uses[k].last = i
				}
			}
		}
	}
	return uses
}

// describer writes runs of steps as texts that are equal where one function can
// compute both. In a text buffers have numbers, by kind in the order of their first
// mention.
type describer struct {
	plan *plan.Plan
	key  func(step int) string
	uses []span
	once func(path string) bool
}

// describe returns the text of a run and lists its buffers in it. Steps are
// written with numbers for buffers, and the type of each before the step that
// mentions it first: two runs are equal exactly if their texts are, and then the
// n-th buffer of one is the n-th of the other.
func (d *describer) describe(run *Call) string {
	var text strings.Builder
	names := map[int]string{}
	name := func(k int) string {
		if k < 0 {
			return "nil"
		}
		if names[k] == "" {
			names[k] = d.number(run, k)
			text.WriteString(names[k] + " " + d.plan.Buffers[k].Type.String() + "\n")
		}
		return names[k]
	}
	for i := run.First; i < run.Last; i++ {
		s := &d.plan.Steps[i]
		line := d.key(i) + " " + strconv.FormatBool(s.View) + " " + s.Op + " " + s.Scope.Type + " " + strings.TrimPrefix(s.Scope.Path, run.Scope)
		for _, k := range s.Out {
			line += " " + name(k)
		}
		line += " ="
		for _, k := range s.In {
			line += " " + name(k)
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

// number adds a buffer to the run's list of its kind.
func (d *describer) number(run *Call, buffer int) string {
	b, use := &d.plan.Buffers[buffer], d.uses[buffer]
	within := use.first >= run.First && use.last < run.Last
	suffix, own := strings.CutPrefix(b.Path, run.Scope+".")
	switch {
	case within && (b.Kind == plan.Temp || b.Kind == plan.View):
		run.Locals = append(run.Locals, buffer)
		return "l" + strconv.Itoa(len(run.Locals)) + b.Kind.String()
	case within && b.Kind == plan.Weight && own && d.once(b.Path):
		run.Weights = append(run.Weights, buffer)
		text := "w" + strconv.Quote(suffix)
		if b.Pack != nil {
			text += " " + plan.KernelName(b.Pack)
		}
		return text
	}
	run.Outer = append(run.Outer, buffer)
	return "x" + strconv.Itoa(len(run.Outer))
}
