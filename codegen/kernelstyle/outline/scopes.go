package outline

import (
	"strings"

	"github.com/gofx-dev/gofx/lowering/plan"
)

// scopes holds the scope by which each step is grouped.
type scopes []string

// scopesOf returns the scopes of the steps: each its own, and for steps without
// one the common scope of the steps around them. Modules that users call directly
// leave no scope but that of the modules within them.
func scopesOf(p *plan.Plan) scopes {
	list := make(scopes, len(p.Steps))
	for step := range list {
		list[step] = p.Steps[step].Scope.Path
	}
	for step := 0; step < len(list); {
		if list[step] != "" {
			step++
			continue
		}
		from := step
		for step < len(list) && list[step] == "" {
			step++
		}
		if from == 0 || step == len(list) {
			continue
		}
		around := commonScope(list[from-1], list[step])
		for k := from; k < step; k++ {
			list[k] = around
		}
	}
	return list
}

// commonScope returns the longest scope that holds both.
func commonScope(a, b string) string {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return strings.Join(x[:n], ".")
}

// prefix returns the first depth parts of a step's scope; "" when the scope has
// fewer.
func (s scopes) prefix(step, depth int) string {
	path := s[step]
	at := 0
	for range depth {
		if at > 0 {
			at++
		}
		if at >= len(path) {
			return ""
		}
		n := strings.IndexByte(path[at:], '.')
		if n < 0 {
			n = len(path) - at
		}
		at += n
	}
	return path[:at]
}

// common returns the longest scope that all items lie in. One depth after the
// other, until an item differs.
func (s scopes) common(items []Item) string {
	best := ""
	for depth := 1; ; depth++ {
		p := s.prefix(items[0].Step, depth)
		if p == "" || p == best {
			return best
		}
		for _, it := range items {
			if s.prefix(it.Step, depth) != p {
				return best
			}
		}
		best = p
	}
}

// markGaps marks where the scope changes, one part below the function's own.
func (s scopes) markGaps(items []Item, scope string) {
	depth := 1
	if scope != "" {
		depth += 1 + strings.Count(scope, ".")
	}
	for n := 1; n < len(items); n++ {
		items[n].Gap = s.prefix(items[n].Step, depth) != s.prefix(items[n-1].Step, depth)
	}
}
