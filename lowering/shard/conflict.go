package shard

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
)

// conflicts reports every call at which two layouts of the author meet that cannot both
// stay, unless the author says how the result is laid out.
func (p *propagation) conflicts() error {
	var errs diag.List
	for _, c := range p.calls {
		if p.decided(c) {
			continue
		}
		if e := p.conflict(c); e != nil {
			errs = append(errs, e)
		}
	}
	if len(errs) > 0 {
		errs.Sort()
		return errs
	}
	return nil
}

// claim is a dimension that is cut along an axis, by what the author said of from.
type claim struct {
	text string
	axis int
	from *tensor
}

// conflict returns what is wrong at a call: the first of its cuts that is to go along two axes,
// or along one that another cut goes along.
func (p *propagation) conflict(c *call) *diag.Error {
	owner := map[int]claim{}
	for i := range c.cuts {
		cut := &c.cuts[i]
		var here *claim
		var clash *diag.Error
		each := func(what string, t *tensor, d int) {
			k := t.split[d]
			if k < 0 || clash != nil {
				return
			}
			now := claim{"dimension " + strconv.Itoa(d) + " of " + what, k, t.from[d]}
			switch other, taken := owner[k]; {
			case here != nil && here.axis != k:
				clash = p.clash(c, *here, now, "the two belong together")
			case taken && here == nil:
				clash = p.clash(c, other, now, "a partition has one place along an axis")
			case here == nil:
				here = &now
			}
		}
		c.named(cut, each)
		if clash != nil {
			return clash
		}
		if here != nil {
			owner[here.axis] = *here
		}
	}
	return nil
}

// named calls f for each dimension of a cut, with what it is one of.
func (c *call) named(cut *kernel.Cut, f func(what string, t *tensor, dim int)) {
	for i, d := range cut.In {
		if d >= 0 {
			f(c.operand(i), c.in[i], d)
		}
	}
	for i, d := range cut.Out {
		if d >= 0 {
			f("the result", c.out[i], d)
		}
	}
}

// operand returns the operator's name of an operand.
func (c *call) operand(i int) string {
	in := c.node.Op().In
	o := in[min(i, len(in)-1)]
	if o.Variadic {
		return "operand " + strconv.Itoa(i)
	}
	return o.Name
}

func (p *propagation) clash(c *call, a, b claim, why string) *diag.Error {
	s := lowering.SourceOf(c.node)
	along := func(x claim) string {
		return x.text + " is cut along " + p.layout.Mesh[x.axis].Name + " (by the layout of " + x.from.name + ")"
	}
	cure := "say in Layout.Values how " + s.Node + " is laid out; what differs is then exchanged"
	if a.from != b.from {
		cure += ", or change the layout of " + a.from.name + " or of " + b.from.name
	}
	within := ""
	if o := c.node.Op(); o.Name != s.Op {
		within = "within " + s.Op + ": "
	}
	return c.node.Error(Conflict, within+along(a)+", "+along(b)+": "+why).WithHint(cure)
}
