package eval

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// vector returns the index vector of a batch index.
func vector(idx tensor, batch []int, dim int) []int64 {
	n := 1
	at := slices.Clone(batch)
	if dim < idx.t.Rank() {
		n = idx.t.Dims[dim]
		at = slices.Insert(at, dim, 0)
	}
	list := make([]int64, n)
	for i := range list {
		if dim < idx.t.Rank() {
			at[dim] = i
		}
		bits := idx.v[flat(idx.t.Dims, at)]
		if idx.t.Elem == array.U64 {
			bits = min(bits, 1<<63-1)
		}
		list[i] = int64(bits)
	}
	return list
}

// apart splits an index into its places in dims and the others.
func apart(at, dims []int) (in, out []int) {
	for i, n := range at {
		if slices.Contains(dims, i) {
			in = append(in, n)
		} else {
			out = append(out, n)
		}
	}
	return in, out
}

func gather(o *stablehlo.Op, in []tensor) tensor {
	x, g, sizes := in[0], o.Get("dimension_numbers").(stablehlo.Gather), o.Ints("slice_sizes")
	return moved(o, x, func(at, src []int) {
		offset, batch := apart(at, g.OffsetDims)
		clear(src)
		for i, n := range vector(in[1], batch, g.IndexVectorDim) {
			d := g.StartIndexMap[i]
			src[d] = clamp(array.I64, uint64(n), x.t.Dims[d]-sizes[d])
		}
		k := 0
		for d := range src {
			if !slices.Contains(g.CollapsedSliceDims, d) {
				src[d] += offset[k]
				k++
			}
		}
	})
}

// scatter takes updates from the last to the first: the specification leaves the order open, cards take any, and a program
// that counts on the order of the elements must not pass here.
func scatter(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	x, u, s := in[0], in[2], o.Get("scatter_dimension_numbers").(stablehlo.Scatter)
	out := tensor{x.t, slices.Clone(x.v)}
	var failed error
	i := u.t.Len()
	each(u.t.Dims, func(at []int) {
		i--
		at = slices.Clone(at)
		for d, n := range u.t.Dims {
			at[d] = n - 1 - at[d]
		}
		window, batch := apart(at, s.UpdateWindowDims)
		dst := make([]int, x.t.Rank())
		k := 0
		for d := range dst {
			if !slices.Contains(s.InsertedWindowDims, d) {
				dst[d] = window[k]
				k++
			}
		}
		for j, n := range vector(in[1], batch, s.IndexVectorDim) {
			d := s.ScatterDimsToOperandDims[j]
			if n < 0 || n >= int64(x.t.Dims[d]) {
				return
			}
			dst[d] += int(n)
		}
		for d, n := range dst {
			if n >= x.t.Dims[d] {
				return
			}
		}
		p := flat(x.t.Dims, dst)
		v, err := m.scalars(o.Regions[0], []uint64{out.v[p], u.v[i]})
		if err != nil {
			failed = err
			return
		}
		out.v[p] = v[0]
	})
	return []tensor{out}, failed
}

// sort orders the lines along a dimension, equal elements as they were.
func sort(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	dim := o.SortDim()
	var out []tensor
	for _, t := range in {
		out = append(out, tensor{t.t, slices.Clone(t.v)})
	}
	dims := slices.Clone(in[0].t.Dims)
	n := dims[dim]
	dims[dim] = min(1, n)
	var failed error
	each(dims, func(at []int) {
		place := func(i int) int {
			src := slices.Clone(at)
			src[dim] = i
			return flat(in[0].t.Dims, src)
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		before := func(a, b int) bool {
			var args []uint64
			for _, t := range in {
				args = append(args, t.v[place(a)], t.v[place(b)])
			}
			r, err := m.scalars(o.Regions[0], args)
			if err != nil {
				failed = err
				return false
			}
			return r[0] != 0
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case before(a, b):
				return -1
			case before(b, a):
				return 1
			}
			return 0
		})
		for k, t := range in {
			for i, from := range order {
				out[k].v[place(i)] = t.v[place(from)]
			}
		}
	})
	return out, failed
}
