package compile

import (
	"slices"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes become symbols where the table says that no code looks at a size: the calls of the function are the same for all
// sizes then, and so are their attributes. What follows from sizes, types tell: type rules on symbols, which are right for
// both of two calls, and the conditions that the graph checks when it runs.

// sizes are the symbols of a record.
type sizes struct {
	of       [][]int // by data tensor and axis: the number of a symbol from 1, 0 for none
	was, now []int   // the sizes of symbols in both calls
	paths    []string
}

func (s *sizes) open() bool { return len(s.now) > 0 }

// symbols says which sizes a guard leaves open, nil for none.
func (o *opened) symbols() [][]int {
	if o == nil || !o.sizes.open() {
		return nil
	}
	return o.sizes.of
}

// sizes counts the tensors whose sizes differ from those of the record used last.
func (b *bucket) sizes(image *state.Image, after int, open map[string]bool) {
	for _, s := range image.Sizes() {
		path := s.Key()
		if i := named(b.records[0].sizes, s.Path); i >= 0 && !slices.Equal(b.records[0].sizes[i].Shape, s.Shape) {
			b.differed[path]++
		}
		if b.differed[path] >= after {
			open[path] = true
		}
	}
}

func named(list []state.Sized, path string) int {
	return slices.IndexFunc(list, func(s state.Sized) bool { return s.Path == path })
}

// find makes symbols of the sizes that differ; those that agree in both calls are one. ok is false where a size is
// 0 or 1, which may broadcast, or a tensor does not lie in order.
func (s *sizes) find(old, now []state.Sized) (ok bool) {
	for _, n := range now {
		of := make([]int, len(n.Shape))
		s.of = append(s.of, of)
		i := named(old, n.Path)
		if i < 0 || len(old[i].Shape) != len(n.Shape) {
			return false
		}
		o := old[i]
		if slices.Equal(o.Shape, n.Shape) {
			continue
		}
		s.paths = append(s.paths, n.Path)
		for axis := range of {
			a, b := o.Shape[axis], n.Shape[axis]
			if a == b {
				continue
			}
			if min(a, b) < 2 || !o.Contiguous || !n.Contiguous {
				return false
			}
			of[axis] = s.symbol(a, b)
		}
	}
	return true
}

// symbol is the number of the symbol that has these sizes in the two calls.
func (s *sizes) symbol(was, now int) int {
	for i := range s.now {
		if s.was[i] == was && s.now[i] == now {
			return i + 1
		}
	}
	s.was, s.now = append(s.was, was), append(s.now, now)
	return len(s.now)
}

// typed reports whether the types of the graph are those of both calls.
func (o *opened) typed(got *lazy.Captured) bool {
	if !o.sizes.open() {
		return true
	}
	if got.Types == nil {
		return false
	}
	for i := range got.Calls {
		for _, c := range []struct {
			sizes []int
			typ   shape.Type
		}{{o.sizes.now, got.Calls[i].Type}, {o.sizes.was, o.like.got.Calls[i].Type}} {
			if !got.TypeOf(i, c.sizes).Same(c.typ) {
				return false
			}
		}
	}
	return true
}

// sized reports whether sizes of the record are symbols.
func (r *record) sized() bool { return r.open != nil && r.open.sizes.open() }
