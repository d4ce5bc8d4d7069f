package plan

import "slices"

// The sizes that Admit looks at: all small ones, then powers of two.
const (
	admitSmall  = 1 << 10
	admitLarge  = 1 << 20
	admitRounds = 4
)

// Admit changes sizes so that the guards hold, one symbol at a time and no more than it must, and
// reports whether it has found such: what a plan does is tried with sizes that it may be given.
// Guards that speak of other symbols do not count.
func Admit(sizes map[string]int, guards []Guard) bool {
	broken := func() int {
		return slices.IndexFunc(guards, func(g Guard) bool {
			_, _, ok, err := g.Eval(Values(sizes))
			return !ok && (err == nil || spoken(&g, sizes))
		})
	}
	for range admitRounds * (len(guards) + 1) {
		at := broken()
		if at < 0 {
			return true
		}
		if !admit(sizes, guards, &guards[at]) {
			return false
		}
	}
	return broken() < 0
}

// spoken reports whether a guard speaks of these symbols alone.
func spoken(g *Guard, sizes map[string]int) bool {
	return !slices.ContainsFunc(g.Symbols(), func(s string) bool { _, ok := sizes[s]; return !ok })
}

// admit gives one symbol of a guard a size for which it holds, of those tried the one for which most
// guards do.
func admit(sizes map[string]int, guards []Guard, g *Guard) bool {
	best, symbol, size := -1, "", 0
	for _, s := range g.Symbols() {
		was, ours := sizes[s]
		if !ours {
			continue
		}
		for n := range candidates(was) {
			sizes[s] = n
			if _, _, ok, err := g.Eval(Values(sizes)); err != nil || !ok {
				continue
			}
			held := 0
			for i := range guards {
				if _, _, ok, err := guards[i].Eval(Values(sizes)); err == nil && ok {
					held++
				}
			}
			if held > best {
				best, symbol, size = held, s, n
			}
			if held == len(guards) {
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
