package guard

import (
	"slices"

	"github.com/gofx-dev/gofx/shape"
)

// The sizes that Admit looks at: all small ones, then powers of two.
const (
	admitSmall  = 1 << 10
	admitLarge  = 1 << 20
	admitRounds = 4
)

// Admit changes sizes so that the relations hold, one symbol at a time and no more than it must, and
// reports whether it has found such: what a plan does is tried with sizes that it may be given.
// Relations that speak of other symbols do not count.
func (l Relations) Admit(sizes map[string]int) bool {
	broken := func() int {
		return slices.IndexFunc(l, func(r shape.Relation) bool {
			_, _, ok, err := r.Eval(in(sizes))
			return !ok && (err == nil || spoken(r, sizes))
		})
	}
	for range admitRounds * (len(l) + 1) {
		at := broken()
		if at < 0 {
			return true
		}
		if !l.admit(sizes, l[at]) {
			return false
		}
	}
	return broken() < 0
}

// spoken reports whether a relation speaks of these symbols alone.
func spoken(g shape.Relation, sizes map[string]int) bool {
	return !slices.ContainsFunc(g.Symbols(), func(s string) bool { _, ok := sizes[s]; return !ok })
}

// admit gives one symbol of a relation a size for which it holds, of those tried the one for which most
// relations do.
func (l Relations) admit(sizes map[string]int, g shape.Relation) bool {
	best, symbol, size := -1, "", 0
	for _, s := range g.Symbols() {
		was, ours := sizes[s]
		if !ours {
			continue
		}
		for n := range candidates(was) {
			sizes[s] = n
			if _, _, ok, err := g.Eval(in(sizes)); err != nil || !ok {
				continue
			}
			held := 0
			for _, r := range l {
				if _, _, ok, err := r.Eval(in(sizes)); err == nil && ok {
					held++
				}
			}
			if held > best {
				best, symbol, size = held, s, n
			}
			if held == len(l) {
				break
			}
		}
		sizes[s] = was
	}
	if best >= 0 {
		sizes[symbol] = size
	}
	return best >= 0
}

// candidates yields sizes, those near was first.
func candidates(was int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for d := range admitSmall {
			if !yield(was+d) || d > 0 && was >= d && !yield(was-d) {
				return
			}
		}
		for n := range min(was, admitSmall) {
			if !yield(n) {
				return
			}
		}
		for n := admitSmall; n <= admitLarge; n *= 2 {
			if !yield(n) {
				return
			}
		}
	}
}
