package lifetimes

// times has a number for each step from the first to the last one that blocks are in use at. It raises those of a span,
// and finds the highest of a span, in steps that grow as the logarithm of their number: a tree of halves.
type times struct {
	first, n int   // the first step, and how many there are: a power of 2
	all      []int // the number that all steps of a node have at least
	some     []int // the highest number below a node
}

func newTimes(blocks []Block) *times {
	t := &times{n: 1}
	last := 0
	for i, b := range blocks {
		if i == 0 {
			t.first, last = b.First, b.Last
		}
		t.first, last = min(t.first, b.First), max(last, b.Last)
	}
	for t.n <= last-t.first {
		t.n *= 2
	}
	t.all, t.some = make([]int, 2*t.n), make([]int, 2*t.n)
	return t
}

// at is the number of a step.
func (t *times) at(step int) int { return step - t.first }

// raise makes the numbers of a span at least v.
func (t *times) raise(s Span, v int) {
	for a, b := t.at(s.First)+t.n, t.at(s.Last)+t.n+1; a < b; a, b = a/2, b/2 {
		if a%2 == 1 {
			t.cover(a, v)
			a++
		}
		if b%2 == 1 {
			b--
			t.cover(b, v)
		}
	}
}

func (t *times) cover(node, v int) {
	t.all[node] = max(t.all[node], v)
	for ; node > 0 && t.some[node] < v; node /= 2 {
		t.some[node] = v
	}
}

// highest is the highest number of a span.
func (t *times) highest(s Span) (most int) {
	a, b := t.at(s.First)+t.n, t.at(s.Last)+t.n+1
	for up := a; up > 0; up /= 2 { // what covers the ends from above
		most = max(most, t.all[up])
	}
	for up := b - 1; up > 0; up /= 2 {
		most = max(most, t.all[up])
	}
	for ; a < b; a, b = a/2, b/2 {
		if a%2 == 1 {
			most = max(most, t.some[a])
			a++
		}
		if b%2 == 1 {
			b--
			most = max(most, t.some[b])
		}
	}
	return most
}
