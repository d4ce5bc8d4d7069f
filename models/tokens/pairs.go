package tokens

import "container/heap"

// symbol is a piece of a text that is joined with its neighbours. Joined ones keep the place of the
// first of them.
type symbol struct {
	at, n      int // in the text; n is 0 once it is part of another
	prev, next int // -1 for none
}

// pair is two neighbours that can be joined: of all pairs the one with the lowest rank comes
// first, and of equal ones the leftmost.
type pair struct {
	rank        float64
	left, right int // symbols
	n           int // bytes of both: it is out of date if they have others
}

type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].left < p[j].left
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// join joins neighbours of a text, which begins as its characters, until no pair has a rank. It calls f
// with the pieces in order. The time is n log n in the length of the text.
func join(text string, rank func(left, right string) (float64, bool), f func(piece string)) {
	list := characters(text)
	var waiting pairs
	offer := func(left, right int) {
		if left < 0 || right < 0 {
			return
		}
		l, r := list[left], list[right]
		if by, ok := rank(text[l.at:l.at+l.n], text[r.at:r.at+r.n]); ok {
			heap.Push(&waiting, pair{by, left, right, l.n + r.n})
		}
	}
	for i := 1; i < len(list); i++ {
		offer(i-1, i)
	}
	for len(waiting) > 0 {
		p := heap.Pop(&waiting).(pair)
		l, r := &list[p.left], &list[p.right]
		if l.n == 0 || r.n == 0 || l.n+r.n != p.n {
			continue
		}
		l.n, r.n = p.n, 0
		if l.next = r.next; l.next >= 0 {
			list[l.next].prev = p.left
		}
		offer(l.prev, p.left)
		offer(p.left, l.next)
	}
	for i := 0; i >= 0 && i < len(list); i = list[i].next {
		f(text[list[i].at : list[i].at+list[i].n])
	}
}

// characters are the symbols that a text begins as.
func characters(text string) []symbol {
	var list []symbol
	for at := range text {
		list = append(list, symbol{at: at, prev: len(list) - 1, next: len(list) + 1})
	}
	for i := range list {
		end := len(text)
		if i+1 < len(list) {
			end = list[i+1].at
		} else {
			list[i].next = -1
		}
		list[i].n = end - list[i].at
	}
	return list
}
