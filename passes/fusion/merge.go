package fusion

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// MergeLinear makes one linear layer, or one product, of several that multiply the same
// value by weights of their own, such as the query, key and value of an attention: their
// weights are put side by side ahead of time, and the result is split, which is a view.
//
// Each element is the same sum of products; a kernel may add it up in another order,
// because it sees a larger matrix. A missing bias next to others is a bias of 0, by which
// a sum of -0 becomes 0. Weights that others read, or that runs change, stay; so do
// layers that an elementwise call follows, which a plan computes with the layer.
var MergeLinear = passes.Pass{
	Name: "merge-linear",
	Doc:  "Makes one linear layer of those with the same operand, such as query, key and value.",
	Order: []passes.Before{
		{First: "linear-bn", Then: "merge-linear", Why: "normalisations are folded into the layers before these are one"},
		{First: "merge-linear", Then: "quant-prepare", Why: "observers and scales are those of the merged weights"},
	},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		m := &merger{c: c, params: passes.NewParams(c.Module, g), sharing: simplify.NewSharing(g)}
		for n := range g.All() {
			if err := c.Err(); err != nil {
				return false, err
			}
			m.users(n)
		}
		if c.Matches() > before {
			c.Module.DropUnused()
		}
		return c.Matches() > before, nil
	},
}

type merger struct {
	c       *passes.Ctx
	params  *passes.Params
	sharing simplify.Sharing
}

// layer is a product by a weight that does not change.
type layer struct {
	n            *graph.Node
	weight, bias *array.Array
	axis         int // of the weight's results
}

func (l layer) features() int { return l.weight.Dim(l.axis) }

// users merges the products of x.
func (m *merger) users(x *graph.Node) {
	if x.NumUses() < 2 || x.Type().Kind() != shape.Tensor || !x.Type().Ranked() || x.Type().Rank() < 1 {
		return
	}
	for _, o := range []*op.Op{std.Linear, std.Matmul} {
		var list []layer
		refused := map[*graph.Node]string{}
		for u := range x.Users() {
			if u.Op() != o || u.Arg(0) != x || u.Graph() != x.Graph() {
				continue
			}
			l, why := m.layer(u)
			if why == "" {
				why = m.sharing.Written(x)
			}
			if why != "" {
				refused[u] = why
				continue
			}
			list = append(list, l)
		}
		if len(list)+len(refused) > 1 {
			for u := range x.Users() {
				if why := refused[u]; why != "" {
					m.c.Refuse(u, why)
				}
			}
		}
		if len(list) > 1 {
			m.merge(x, list)
		}
	}
}

// layer looks at a product, or says why it is not merged.
func (m *merger) layer(n *graph.Node) (l layer, why string) {
	l = layer{n: n, axis: 0}
	path, weight, why := m.params.Constant(n, 1)
	if why != "" {
		return l, why
	}
	if n.Op() == std.Matmul {
		l.axis = 1
	}
	biasPath, bias, whyBias := "", (*array.Array)(nil), ""
	if n.Op() == std.Linear {
		biasPath, bias, whyBias = m.params.Constant(n, 2)
	}
	switch {
	case whyBias != "":
		return l, whyBias
	case weight == nil || weight.Rank() != 2:
		return l, "its weight is no matrix"
	case m.params.Reader(path, n) != nil:
		return l, "its weight " + path + " is shared with " + m.params.Reader(path, n).String() + " and would be stored twice"
	case biasPath != "" && (bias.Rank() != 1 || bias.DType() != weight.DType()):
		return l, "its bias " + biasPath + " is no vector of its type"
	case n.Opcode() == graph.CallModule && n.NumArgs() != 1:
		return l, "its module has operands besides its input"
	}
	l.weight, l.bias = weight, bias
	if u := follower(n); u != nil {
		return l, u.String() + " follows it, which is computed with it"
	}
	return l, ""
}

// follower returns the elementwise call that is the only user of n: it becomes part of
// the step that computes n.
func follower(n *graph.Node) *graph.Node {
	if n.NumUses() != 1 {
		return nil
	}
	for u := range n.Users() {
		if u.Op() != nil && u.Op().Scalar() {
			return u
		}
	}
	return nil
}

// merge puts one product in the place of several, where the first of them stands.
func (m *merger) merge(x *graph.Node, list []layer) {
	first := list[0].n
	for _, l := range list {
		if l.n.Precedes(first) {
			first = l.n
		}
	}
	c := first.Graph().Before(first)
	bias := m.bias(list)
	args := []*graph.Node{x, c.GetAttr(m.store(first.Name()+".weight", joinedWeights(list)))}
	if bias != nil {
		args = append(args, c.GetAttr(m.store(first.Name()+".bias", bias)))
	}
	var sizes []int
	for _, l := range list {
		sizes = append(sizes, l.features())
	}
	product := c.Function(first.Op(), first.Attrs(), args...)
	parts := c.Function(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: -1}, product)
	items := make([]*graph.Node, len(list))
	for i := range list {
		items[i] = c.ItemNode(parts, i)
	}
	for i, l := range list {
		old := l.n.Args()
		if err := m.c.Replace(l.n, items[i], "one of "+strconv.Itoa(len(list))+" products of "+x.String()); err != nil {
			panic(err)
		}
		for _, a := range old {
			if a != nil && a.Opcode() == graph.GetAttr && !a.Erased() && a.NumUses() == 0 {
				_ = a.Graph().Erase(a) // one that defines a symbol stays
			}
		}
	}
}

func joinedWeights(list []layer) *array.Array {
	var all []*array.Array
	for _, l := range list {
		all = append(all, l.weight)
	}
	return concatenated(all, list[0].axis)
}

// bias returns the biases side by side, nil where no layer has one.
func (m *merger) bias(list []layer) *array.Array {
	var all []*array.Array
	some := false
	for _, l := range list {
		b := l.bias
		if some = some || b != nil; b == nil {
			b = array.New(l.weight.DType(), l.features())
		}
		all = append(all, b)
	}
	if !some {
		return nil
	}
	return concatenated(all, 0)
}

func (m *merger) store(hint string, a *array.Array) string {
	path := m.c.Module.FreshPath(hint)
	m.c.Module.SetParam(graph.Param{Path: path, Value: a})
	return path
}

// concatenated joins arrays along an axis.
func concatenated(list []*array.Array, axis int) *array.Array {
	dims := append([]int{}, list[0].Shape()...)
	dims[axis] = 0
	for _, a := range list {
		dims[axis] += a.Dim(axis)
	}
	out := array.New(list[0].DType(), dims...)
	at := 0
	for _, a := range list {
		array.Copy(array.Slice(out, axis, at, at+a.Dim(axis), 1), a)
		at += a.Dim(axis)
	}
	return out
}

// MergeMatmul makes one product of several that multiply matrices of known rows by the
// same matrix: the rows are put below each other and the result is split. It copies the
// rows, which pays for few of them; products that depend on each other stay.
//
// Each element is the same sum of products; a kernel may add it up in another order.
var MergeMatmul = passes.Pass{
	Name: "merge-matmul",
	Doc:  "Makes one product of those of several matrices with the same right operand.",
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		s := simplify.NewSharing(g)
		for y := range g.All() {
			if err := c.Err(); err != nil {
				return false, err
			}
			if list := rowProducts(c, s, y); len(list) > 1 {
				mergeRows(c, y, list)
			}
		}
		return c.Matches() > before, nil
	},
}

// rowProducts returns the products by y that can be computed where the last of them is.
func rowProducts(c *passes.Ctx, s simplify.Sharing, y *graph.Node) []*graph.Node {
	var all, list []*graph.Node
	for u := range y.Users() {
		if u.Op() == std.Matmul && u.Arg(1) == y && u.Arg(0) != y && u.Graph() == y.Graph() && y.Type().Rank() == 2 {
			all = append(all, u)
		}
	}
	for _, n := range all {
		x := n.Arg(0)
		_, known := x.Type().Dim(0).Int()
		switch why := s.Written(x, y); {
		case len(all) < 2:
		case why != "":
			c.Refuse(n, why)
		case x.Type().Rank() != 2 || !known:
			c.Refuse(n, x.String()+" is no matrix of known rows")
		default:
			list = append(list, n)
		}
	}
	for len(list) > 1 {
		last := list[0]
		for _, n := range list {
			if last.Precedes(n) {
				last = n
			}
		}
		early := (*graph.Node)(nil)
		kept := list[:0:0]
		for _, n := range list {
			if u := usedBefore(n, last); u != nil {
				early = u
				c.Refuse(n, u.String()+" uses it before "+last.String()+" is computed")
				continue
			}
			kept = append(kept, n)
		}
		if list = kept; early == nil {
			return list
		}
	}
	return nil
}

func usedBefore(n, last *graph.Node) *graph.Node {
	for u := range n.Users() {
		if u.Precedes(last) || u == last {
			return u
		}
	}
	return nil
}

func mergeRows(ctx *passes.Ctx, y *graph.Node, list []*graph.Node) {
	last := list[0]
	var rows []*graph.Node
	var sizes []int
	for _, n := range list {
		if last.Precedes(n) {
			last = n
		}
		size, _ := n.Arg(0).Type().Dim(0).Int()
		rows, sizes = append(rows, n.Arg(0)), append(sizes, size)
	}
	c := last.Graph().Before(last)
	product := c.Function(std.Matmul, nil, c.Function(std.Cat, std.DimAttrs{}, rows...), y)
	parts := c.Function(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...)}, product)
	items := make([]*graph.Node, len(list))
	for i := range list {
		items[i] = c.ItemNode(parts, i)
	}
	for i, n := range list {
		if err := ctx.Replace(n, items[i], "one of "+strconv.Itoa(len(list))+" products by "+y.String()); err != nil {
			panic(err)
		}
	}
}
