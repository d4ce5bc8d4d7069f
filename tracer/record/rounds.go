package record

import (
	"slices"

	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// rounds notes, while the body of a loop is recorded, in which order its code reads what the loop
// carries and writes memory. From the second round on a carried tensor is what the body has
// returned, which may be memory that the body writes: what it reads after the write is then
// another value than the one that it was given. The body is recorded once, as the first round.
type rounds[V alias.Operand] struct {
	around *rounds[V] // of the loop around
	now    int        // writes so far
	read   map[any]*int
	wrote  map[*alias.Storage[V]]int // when first
	args   []*int                    // when the carried values were read last, as often as something was written then
}

// within returns the notes of a body inside of others, whose parameters stand for carried values.
func (n *rounds[V]) within(params []V) *rounds[V] {
	own := &rounds[V]{around: n, read: map[any]*int{}, wrote: map[*alias.Storage[V]]int{}}
	for _, p := range params {
		at := new(int)
		*at = -1
		own.args, own.read[p] = append(own.args, at), at
	}
	return own
}

// reads notes a read of a value, or of a storage.
func (n *rounds[V]) reads(what any) {
	for ; n != nil; n = n.around {
		if at := n.read[what]; at != nil {
			*at = n.now
		}
	}
}

// shows notes that a storage holds a value.
func (n *rounds[V]) shows(s *alias.Storage[V], v V) {
	for ; n != nil; n = n.around {
		if at := n.read[v]; at != nil {
			n.read[s] = at
		}
	}
}

// writes notes a write.
func (n *rounds[V]) writes(s *alias.Storage[V]) {
	for ; n != nil; n = n.around {
		if n.now++; n.wrote[s] == 0 {
			n.wrote[s] = n.now
		}
	}
}

// returns reports carried values that are read after a write to memory that they are in a later round.
func (l *loop[V, B]) returns(n *rounds[V]) bool {
	r, ok := l.r, true
	become := make([]map[*alias.Storage[V]]bool, l.carry)
	for again := true; again; {
		again = false
		for i := range become {
			p := r.ref(l.body.results[i])
			if l.body.results[i] == l.body.args[i] || p == nil {
				continue
			}
			if become[i] == nil {
				become[i], again = map[*alias.Storage[V]]bool{}, true
			}
			was := len(become[i])
			for s := range n.wrote {
				if same(s, p.Storage) && (l.given(s) || !r.regions.Within(memoryOf[V, B](s).home, l.body.block)) {
					become[i][s] = true
				}
			}
			for k, x := range l.body.args[:l.carry] {
				if q := r.ref(x); q != nil && k != i && same(q.Storage, p.Storage) {
					for s := range become[k] {
						become[i][s] = true
					}
				}
			}
			again = again || len(become[i]) > was
		}
	}
	for i, all := range become {
		var first *alias.Storage[V]
		for s := range all {
			if first == nil || n.wrote[s] < n.wrote[first] {
				first = s
			}
		}
		if first != nil && *n.args[i] >= n.wrote[first] {
			l.refuse(first.Written, "the body writes in place to memory that carried value "+itoa(i)+" is in a later round, and then reads that value")
			ok = false
		}
	}
	return ok
}

// given reports whether a storage is that of a carried value.
func (l *loop[V, B]) given(s *alias.Storage[V]) bool {
	return slices.ContainsFunc(l.body.args[:l.carry], func(x *tensor.Tensor) bool { p := l.r.ref(x); return p != nil && p.Storage == s })
}
