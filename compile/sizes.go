package compile

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes become symbols where no code looks at one as a number: the calls of the function are the same for all sizes then.
// The session follows what code does with sizes (lazy.Session.Capture), so that attributes are what code has made of
// symbols. What follows from sizes, types tell: type rules on symbols, which are right for both of two calls, and the conditions that the graph
// checks when it runs.

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

// follows returns the sizes that become symbols if a call is one that differs from an older record in them and in words that may
// become inputs.
func follows(near []*record, image *state.Image) *sizes {
	for _, old := range near {
		var s sizes
		if s.find(old.sizes, image.Sizes()) && s.open() {
			return &s
		}
	}
	return nil
}

func (s *sizes) symbols() [][]int {
	if s == nil {
		return nil
	}
	return s.of
}

// looked has the sizes of tensors compared for good, at one of which code has looked.
func (c *core) looked(b *bucket, s *sizes, got *lazy.Captured) {
	if s == nil || got.Looked == "" {
		return
	}
	b.compares(s)
	tell(&c.counts, &c.looks, state.Refusal{Why: "code is told one by " + got.Looked, Line: got.LookedAt.String()})
}

// compares has sizes compared for good.
func (b *bucket) compares(s *sizes) {
	for _, path := range s.paths {
		b.differed[state.Sized{Path: path}.Key()] = math.MinInt
	}
}

// same reports whether two lists have the same sizes as the same symbols.
func (s *sizes) same(o *sizes) bool { return slices.EqualFunc(s.of, o.of, slices.Equal[[]int]) }

// at are the sizes of the symbols in a call, nil where it has other tensors.
func (s *sizes) at(shapes []state.Sized) []int {
	if len(shapes) != len(s.of) {
		return nil
	}
	list := make([]int, len(s.now))
	for i, of := range s.of {
		for axis, y := range of {
			if y > 0 {
				list[y-1] = shapes[i].Shape[axis]
			}
		}
	}
	return list
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

// keeps reports whether a call has the sizes of its attributes where its numbers are inputs.
func (s *sizes) keeps(c *lazy.CapturedCall, l op.Lifted) bool {
	if !s.open() {
		return true
	}
	_, a := c.Op.Codec().AppendSkeleton(nil, c.Attrs, nil)
	_, b := c.Op.Codec().AppendSkeleton(nil, l.Attrs, nil)
	return slices.Equal(a, b)
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
