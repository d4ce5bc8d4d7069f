package shapeprop

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Specialize makes a pass that fixes symbols to numbers, and with them what the
// guards derive: in types, attributes and regions. The symbols stay, guarded to
// have these sizes, so that other inputs are refused at entry.
func Specialize(sizes map[string]int) passes.Pass {
	return passes.Pass{
		Name: "specialize",
		Doc:  "Fixes symbolic sizes to numbers.",
		Run:  func(c *passes.Ctx, g *graph.Graph) (bool, error) { return specialize(c, g, sizes) },
	}
}

func specialize(c *passes.Ctx, g *graph.Graph, sizes map[string]int) (bool, error) {
	var have []string
	for _, s := range g.Symbols() {
		have = append(have, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		s, ok := g.Symbol(name)
		switch {
		case !ok:
			return false, diag.New(NoSuchSymbol, "no symbol "+strconv.Quote(name)).WithHint("the symbols are " + strings.Join(have, ", "))
		case sizes[name] < 0:
			return false, s.Node.Error(NoSuchSymbol, "the size of "+name+" is "+strconv.Itoa(sizes[name])+", expected 0 or more")
		}
		g.AddGuard(shape.Sym(name), shape.Const(sizes[name]), s.Node)
	}
	s, err := solve(g)
	if err != nil {
		return false, err
	}
	env := func(name string) shape.Dim { return s.Resolve(shape.Sym(name)) }
	var errs diag.List
	changed := false
	for n := range g.All() {
		old := n.Type()
		if o := n.Op(); o != nil && o.Codec().HasDims() {
			attrs := o.Codec().Bind(n.Attrs(), env)
			switch {
			case o.Codec().Equal(attrs, n.Attrs()):
			case n.Opcode() == graph.CallModule:
				b := *n.Bound()
				b.Attrs = attrs
				c.Module.SetBound(n.Target(), b)
			default:
				errs.Add(n.SetAttrs(attrs))
				c.Rewrote(n, nil, "sizes fixed")
			}
		}
		n.SetType(passes.MergeTypes(n.Type().Bind(env), old.Bind(env)))
		changed = changed || !old.Same(n.Type())
	}
	return changed || c.Matches() > 0, errs.Err()
}
