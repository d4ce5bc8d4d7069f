package recompute

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Policy says what the backward half computes again. The zero value has cheap calls computed
// again: elementwise ones, movements of elements, and norms. Results of products, convolutions,
// attention and recurrent layers, statistics, and keys are kept; a dropout computed again draws from
// the same key.
type Policy struct {
	// Scopes are modules of which everything is computed again, products included, from
	// what enters them: paths ("encoder.3") and patterns of path.Match ("layer*"), as
	// torch.utils.checkpoint has it of a function. Everything else is kept.
	Scopes []string
	// Budget is the most bytes of forward values that the backward half may read. Cheap calls are
	// computed again first, then others, those first that save the most bytes for each
	// floating-point operation, until the rest fits. 0: no budget.
	Budget int64
	// Sizes are those of symbols, which a budget needs and the other policies weigh values
	// by. Without one a symbol counts as 32.
	Sizes map[string]int
}

// Pass returns the pass that has a policy carried out on a graph with a backward half, the
// result of ValueAndGrad. It comes before passes that optimise, and before the updates of the
// parameters are added: what reads state that the graph writes is kept.
//
// A graph without a backward half is refused (FX3050), and so are a policy that fits no graph or
// not this one (FX3051), and a budget that cannot be kept (FX3052), with the least that can.
// The report has what was kept before and is kept now, in bytes.
func Pass(p Policy) passes.Pass {
	p.Scopes, p.Sizes = slices.Clone(p.Scopes), maps.Clone(p.Sizes)
	return passes.Pass{
		Name: "recompute", Doc: "Computes values again where the backward half of a graph reads them, instead of keeping them.",
		Whole: true, Module: true,
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) { return p.run(c, g) },
	}
}

func (p Policy) run(c *passes.Ctx, g *graph.Graph) (bool, error) {
	h := p.halves(g)
	if h.first == nil {
		return false, diag.New(NoBackward, "the graph has no backward half").
			WithHint("run the pass on the result of ValueAndGrad, before it is optimised or saved")
	}
	if err := p.check(h); err != nil {
		return false, err
	}
	way, err := p.choose(c, h)
	if err != nil {
		return false, err
	}
	before := h.kept()
	again := h.cut(p.fixed(h, way))
	for _, n := range h.nodes {
		if why := h.never[n]; why != "" && h.read[n] != nil && !h.free(n) {
			c.Refuse(n, why)
		}
	}
	count := h.rewrite(again, func(user *graph.Node) { c.Rewrote(user, nil, "reads values that are computed again") })
	if count > 0 {
		c.Note(fmt.Sprintf("%d calls are computed again; the backward half reads %d bytes of forward values instead of %d", count, p.halves(g).kept(), before))
	}
	return count > 0, nil
}

// check refuses what a policy cannot mean.
func (p Policy) check(h *halves) error {
	switch {
	case p.Budget < 0:
		return diag.New(BadPolicy, "the budget is "+strconv.FormatInt(p.Budget, 10)+" bytes").WithHint("leave it at 0 for no budget")
	case p.Budget > 0 && len(p.Scopes) > 0:
		return diag.New(BadPolicy, "a policy has both scopes and a budget").WithHint("give one of the two")
	}
	if p.Budget > 0 {
		if s := h.open(p.Sizes); s != "" {
			return diag.New(BadPolicy, "a budget in bytes needs the size "+s).WithHint("set it in Policy.Sizes")
		}
	}
	for _, pattern := range p.Scopes {
		if _, err := instance([]string{pattern}, ""); err != nil {
			return diag.New(BadPolicy, "the scope "+strconv.Quote(pattern)+" is malformed: "+err.Error())
		}
		found := false
		for _, n := range h.nodes {
			in, _ := instance([]string{pattern}, n.Scope().Path)
			found = found || in != "" && n.Opcode().IsCall()
		}
		if !found {
			return diag.New(BadPolicy, "no call is in a module "+strconv.Quote(pattern)).WithHint("modules are " + strings.Join(h.scopes(), ", "))
		}
	}
	return nil
}
