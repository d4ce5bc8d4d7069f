package recompute

import (
	"math/bits"
	"path"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// way is one way to carry out a policy.
type way struct {
	// chain is how many values that the backward half reads may be computed again one from
	// the other. Repeated calls of a long chain are all made at the beginning of the backward
	// half, for its end: they would take as much memory as keeping them.
	chain int
	// costly is how many calls that are not cheap may be computed again, of those in order of costs.
	costly int
}

const endlessChain = 1 << 30

// choose tries ways on copies of the graph and takes the one whose run takes the least memory,
// of those within the budget.
func (p Policy) choose(c *passes.Ctx, h *halves) (way, error) {
	if len(p.Scopes) > 0 {
		return way{chain: endlessChain}, nil
	}
	best, found := way{}, false
	var least, peak int64 = -1, 0
	for _, k := range []int{0, 1, 2, 4, 8, 16, endlessChain} {
		if err := c.Err(); err != nil {
			return way{}, err
		}
		w := way{chain: k}
		kept, top := p.try(c, w)
		if least < 0 || kept < least {
			least = kept
		}
		if p.Budget > 0 && kept > p.Budget {
			continue
		}
		if !found || top < peak {
			best, found, peak = w, true, top
		}
	}
	if found {
		return best, nil
	}
	return p.spend(c, h, least)
}

// spend finds how many costly calls have to be computed again.
func (p Policy) spend(c *passes.Ctx, h *halves, least int64) (way, error) {
	all := len(h.costs())
	if kept, _ := p.try(c, way{endlessChain, all}); kept > p.Budget {
		return way{}, diag.New(OverBudget, "the backward half reads "+strconv.FormatInt(min(kept, least), 10)+" bytes at least, expected at most "+strconv.FormatInt(p.Budget, 10)).
			WithHint("raise the budget, or make the batch smaller")
	}
	few, many := 0, all
	for few < many {
		if err := c.Err(); err != nil {
			return way{}, err
		}
		half := (few + many) / 2
		if kept, _ := p.try(c, way{endlessChain, half}); kept <= p.Budget {
			many = half
		} else {
			few = half + 1
		}
	}
	return way{endlessChain, many}, nil
}

// try returns what a way keeps, and the most memory of values at one time.
func (p Policy) try(c *passes.Ctx, w way) (kept, peak int64) {
	m := c.Module.WithGraph(c.Module.Graph.Clone())
	h := p.halves(m.Graph)
	h.rewrite(h.cut(p.fixed(h, w)), func(*graph.Node) {})
	after := p.halves(m.Graph)
	return after.kept(), after.peak()
}

// fixed returns the calls that a policy keeps the results of.
func (p Policy) fixed(h *halves, w way) map[*graph.Node]bool {
	fixed := map[*graph.Node]bool{}
	if len(p.Scopes) > 0 {
		for _, n := range h.nodes {
			fixed[n] = n.Op() != op.GetItem && !p.within(n)
		}
		return fixed
	}
	for _, n := range h.nodes {
		fixed[n] = !h.cheap(n)
	}
	for _, n := range h.costs()[:min(w.costly, len(h.costs()))] {
		fixed[n] = false
	}
	h.shorten(fixed, w.chain)
	return fixed
}

// within reports whether a call is in a module of the policy, and only that uses its result.
func (p Policy) within(n *graph.Node) bool {
	in, _ := instance(p.Scopes, n.Scope().Path)
	if in == "" {
		return false
	}
	for u := range n.Users() {
		if u.Op() == op.GetItem {
			continue
		}
		if at, _ := instance(p.Scopes, u.Scope().Path); at != in {
			return false
		}
	}
	return true
}

// instance returns the outermost module of a path that one of the patterns matches, "" for none.
func instance(patterns []string, scope string) (string, error) {
	for i := 0; i <= len(scope); i++ {
		if i < len(scope) && scope[i] != '.' {
			continue
		}
		for _, pattern := range patterns {
			ok, err := path.Match(pattern, scope[:i])
			if err != nil {
				return "", err
			}
			if ok && i > 0 {
				return scope[:i], nil
			}
		}
	}
	return "", nil
}

// cheap reports whether a call costs about as much as reading its result.
func (h *halves) cheap(n *graph.Node) bool {
	o := n.Op()
	if o == nil {
		return false
	}
	switch o.Class {
	case op.Elementwise, op.Movement:
		return true
	case op.Reduction: // a norm or softmax gives as many elements as it reads, statistics are few
		return n.Arg(0) != nil && 2*h.bytes(n.Type()) > h.bytes(n.Arg(0).Type())
	}
	return false
}

// costs returns the calls that are not cheap, those that save the most bytes for an operation first,
// and of those that save as many, first every second one, then every second one of the rest, so that
// what is computed again between two of them stays short.
func (h *halves) costs() []*graph.Node {
	type cost struct {
		n     *graph.Node
		bytes int64 // for 1,024 operations
		turn  uint32
	}
	var list []cost
	for _, n := range h.nodes {
		if !n.Opcode().IsCall() || h.cheap(n) || h.never[n] != "" || h.free(n) {
			continue
		}
		work := int64(max(h.size(flops(n)), 1))
		list = append(list, cost{n, h.bytes(n.Type()) * 1024 / work, bits.Reverse32(uint32(len(list)))})
	}
	slices.SortStableFunc(list, func(a, b cost) int {
		switch {
		case a.bytes != b.bytes && a.bytes > b.bytes:
			return -1
		case a.bytes != b.bytes:
			return 1
		case a.turn > b.turn:
			return -1
		}
		return 1
	})
	out := make([]*graph.Node, len(list))
	for i, c := range list {
		out[i] = c.n
	}
	return out
}

func flops(n *graph.Node) shape.Dim { return count.Flops(n) }

// shorten fixes calls where chains of values that the backward half reads become too long.
func (h *halves) shorten(fixed map[*graph.Node]bool, most int) {
	read := map[*graph.Node]bool{}
	for _, n := range h.nodes {
		if h.read[n] != nil {
			read[h.store(n)] = true
		}
	}
	chain := map[*graph.Node]int{}
	again := func(n *graph.Node) bool { return !h.free(n) && !fixed[n] && h.never[n] == "" && !h.held[n] }
	for _, n := range h.nodes {
		if !again(n) {
			continue
		}
		long := 0
		for a := range n.Inputs() {
			if !again(a) {
				continue
			}
			k := chain[a]
			if read[a] {
				k++
			}
			long = max(long, k)
		}
		if long > most && !h.view(n) && !tuple(n) {
			fixed[n], long = true, 0
		}
		chain[n] = long
	}
}

// peak returns the most bytes of values that are in memory at one time.
func (h *halves) peak() (most int64) {
	last, pos, i := map[*graph.Node]int{}, map[*graph.Node]int{}, 0
	for n := range h.g.Nodes() {
		pos[n] = i
		for a := range n.Inputs() {
			last[h.lies(a)] = i
		}
		i++
	}
	free, now := make([]int64, i+1), int64(0)
	for n := range h.g.Nodes() {
		if h.lies(n) == n && n.Opcode().IsCall() {
			b := h.bytes(n.Type())
			now += b
			free[max(last[n], pos[n])] += b
		}
		most = max(most, now)
		now -= free[pos[n]]
	}
	return most
}

// lies returns what holds the memory of a value, a call of several results for each of them.
func (h *halves) lies(n *graph.Node) *graph.Node {
	for h.view(n) || n.Op() == op.GetItem {
		n = n.Viewed()
	}
	return n
}
