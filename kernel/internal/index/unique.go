package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Unique takes the slices of in[0] along Dim that differ, or with Flat the elements, in
// rising order, or with Unsorted in that of their first appearance: out[0] has them,
// out[1] where each appears first, out[2] for every slice the index of its equal in
// out[0], out[3] how often each occurs; the last three are i64. Slices are ordered by
// their first element that differs; NaN is equal to NaN and greater than every number.
//
//gofx:kernel
type Unique struct {
	Dim            int
	Flat, Unsorted bool
}

// Sizes implements Sizer.
func (u Unique) Sizes(shapes [][]int, in []*array.Array) {
	first, place := u.find(in[0])
	if u.Flat {
		shapes[0][0] = len(first)
	} else {
		copy(shapes[0], in[0].Shape())
		shapes[0][u.axis(in[0])] = len(first)
	}
	shapes[1][0], shapes[2][0], shapes[3][0] = len(first), len(place), len(first)
}

// Run implements Step.
func (u Unique) Run(_ *par.Workspace, out, in []*array.Array) {
	first, place := u.find(in[0])
	counts := move.RawOut[int64](out[3])
	clear(counts)
	inverse := move.RawOut[int64](out[2])
	for i, p := range place {
		inverse[i] = int64(p)
		counts[p]++
	}
	at := move.RawOut[int64](out[1])
	outer, n, inner := u.slices(in[0])
	for k, f := range first {
		at[k] = int64(f)
		for o := range outer {
			for i := range inner {
				copyElement(out[0], (o*len(first)+k)*inner+i, in[0], (o*n+f)*inner+i)
			}
		}
	}
}

func (u Unique) axis(x *array.Array) int { return operand.Axis("unique", u.Dim, x.Rank()) }

// slices are the sizes before, of and after the axis of the slices.
func (u Unique) slices(x *array.Array) (outer, n, inner int) {
	if u.Flat {
		return 1, x.Len(), 1
	}
	return operand.Split(x.Shape(), u.axis(x))
}

// find returns where each of the slices that differ appears first, in their order in the
// result, and for every slice its place there.
func (u Unique) find(x *array.Array) (first, place []int) {
	outer, n, inner := u.slices(x)
	compare := func(a, b int) int {
		for o := range outer {
			for i := range inner {
				if c := compareElements(x, (o*n+a)*inner+i, (o*n+b)*inner+i); c != 0 {
					return c
				}
			}
		}
		return 0
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	place = make([]int, n)
	for i, s := range order {
		if i == 0 || compare(order[i-1], s) != 0 {
			first = append(first, s)
		}
		place[s] = len(first) - 1
	}
	if !u.Unsorted {
		return first, place
	}
	rank := make([]int, len(first)) // of the sorted ones by first appearance
	for i := range rank {
		rank[i] = i
	}
	slices.SortFunc(rank, func(a, b int) int { return first[a] - first[b] })
	moved, appeared := make([]int, len(first)), make([]int, len(first))
	for k, r := range rank {
		moved[r], appeared[k] = k, first[r]
	}
	for i := range place {
		place[i] = moved[place[i]]
	}
	return appeared, place
}

func compareElements(x *array.Array, i, j int) int {
	switch d := x.DType(); {
	case d.IsFloat():
		a, b := array.Float64At(x, i), array.Float64At(x, j)
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a):
			return 1
		case math.IsNaN(b):
			return -1
		}
		return cmp.Compare(a, b)
	case d == array.U64:
		return cmp.Compare(uint64(array.Int64At(x, i)), uint64(array.Int64At(x, j)))
	}
	return cmp.Compare(array.Int64At(x, i), array.Int64At(x, j))
}

func copyElement(to *array.Array, i int, from *array.Array, j int) {
	if from.DType().IsFloat() {
		array.SetFloat64At(to, i, array.Float64At(from, j))
		return
	}
	array.SetInt64At(to, i, array.Int64At(from, j))
}
