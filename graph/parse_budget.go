package graph

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// A few bytes of text can ask for much: a call for thousands of results, a size for
// a product of sums, which is stored expanded. What a text is not long enough for
// by itself is charged, in bytes, against a budget that grows with the text.
const (
	budgetBase   = 1 << 20
	budgetFactor = 128

	memberBytes = 192 // of a result of several, and what goes by while it is made
	dimBytes    = 64  // of a dimension of it
	costBytes   = 160 // of one unit of shape.Dim.Cost
	freeCost    = 8   // the expressions of which every text has many
	freeRank    = 8
)

// spend charges bytes; when the budget is used up, reading ends.
func (p *parser) spend(c *scan, bytes int) bool {
	if bytes <= p.left {
		p.left -= bytes
		return true
	}
	c.fail(0, TextLimit, "types and sizes up to here take more memory than a text of this length may, expected fewer results and shorter expressions").
		WithHint("take apart what has many results, name sizes by symbols of their own")
	p.left, p.full = 0, true
	return false
}

// results charges the results of a call of several before they are made.
func (b *body) results(line *scan, o *op.Op, attrs any, args []*Node) bool {
	if o == nil || !o.Codec().Accepts(attrs) {
		return true
	}
	n, tuple := o.NumResults(attrs)
	if !tuple || n <= 0 {
		return true
	}
	rank := 0
	for _, a := range args {
		if a != nil {
			rank = max(rank, a.typ.Rank())
		}
	}
	each := memberBytes + dimBytes*rank
	return b.p.spend(line, each*min(n, 1+b.p.left/each))
}

// sizes charges the expressions in the attributes of a call.
func (b *body) sizes(c *scan, o *op.Op, attrs any) bool {
	if o == nil || !o.Codec().Accepts(attrs) || !o.Codec().HasDims() {
		return true
	}
	cost := 0
	o.Codec().Symbols(attrs, func(d shape.Dim) { cost += expensive(d) })
	return b.p.spend(c, 6*costBytes*cost)
}

// inferred charges the type of a node; expressions are new when no operand has them.
func (b *body) inferred(c *scan, n *Node) bool {
	t := n.typ
	for i := range n.args {
		if d := n.args[i].def; d != nil && d.typ.Dims().Same(t.Dims()) {
			return b.p.spend(c, dimBytes*max(0, t.Rank()-freeRank))
		}
	}
	return b.p.spend(c, typeBytes(t))
}

// typeBytes is what a type takes beyond that of most values.
func typeBytes(t shape.Type) int {
	bytes := dimBytes * max(0, t.Rank()-freeRank)
	for i := range t.Dims().Len() {
		bytes += costBytes * expensive(t.Dim(i))
	}
	for i := range t.Len() {
		bytes += typeBytes(t.Member(i))
	}
	return bytes
}

func expensive(d shape.Dim) int { return max(0, d.Cost()-freeCost) }
