package sampling

import "cmp"

// candidate is a token that may be drawn.
type candidate struct {
	token int64
	score float64
}

// order compares two candidates: the greater one has the greater score, and of equal ones
// the lower number, so that results do not depend on how a heap moves its elements.
func order(a, b candidate) int {
	if c := cmp.Compare(a.score, b.score); c != 0 {
		return c
	}
	return cmp.Compare(b.token, a.token)
}

// ranking is a heap with the greatest candidate first: most rules leave few of a vocabulary
// of 100,000 tokens, which a heap gives without sorting the others.
type ranking []candidate

func (h ranking) heapify() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// pop takes the greatest candidate out.
func (h *ranking) pop() candidate {
	top, last := (*h)[0], len(*h)-1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.sink(0)
	return top
}

// sink moves candidate i below all that are greater.
func (h ranking) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && order(h[child+1], h[child]) > 0 {
			child++
		}
		if order(h[i], h[child]) >= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
