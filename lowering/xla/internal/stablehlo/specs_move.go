package stablehlo

import (
	"errors"
	"fmt"
	"slices"
)

func fitsBroadcast(o *Op) error {
	x, r, dims := o.Operands[0].Type, o.Results[0].Type, o.Ints("broadcast_dimensions")
	if x.Elem != r.Elem {
		return fmt.Errorf("operand is %s, result %s: element types must be equal", x, r)
	}
	if len(dims) != x.Rank() {
		return fmt.Errorf("broadcast_dimensions has %d elements, operand %s has %d dimensions", len(dims), x, x.Rank())
	}
	if err := unique("broadcast_dimensions", dims, r.Rank()); err != nil {
		return err
	}
	for i, d := range dims {
		if x.Dims[i] != 1 && x.Dims[i] != r.Dims[d] {
			return fmt.Errorf("dimension %d of %s does not stretch to dimension %d of %s", i, x, d, r)
		}
	}
	return nil
}

// unique requires a list of different dimensions of a tensor of that rank.
func unique(name string, dims []int, rank int) error {
	for i, d := range dims {
		if d < 0 || d >= rank {
			return fmt.Errorf("%s has %d, there are %d dimensions", name, d, rank)
		}
		if slices.Contains(dims[:i], d) {
			return fmt.Errorf("%s has %d twice", name, d)
		}
	}
	return nil
}

// perDim requires a list of one number of at least that size for each dimension.
func perDim(name string, list []int, rank, least int) error {
	if len(list) != rank {
		return fmt.Errorf("%s has %d elements, expected %d", name, len(list), rank)
	}
	for _, n := range list {
		if n < least {
			return fmt.Errorf("%s has %d, expected %d or more", name, n, least)
		}
	}
	return nil
}

func fitsReshape(o *Op) error {
	x, r := o.Operands[0].Type, o.Results[0].Type
	if x.Elem != r.Elem || x.Len() != r.Len() {
		return fmt.Errorf("operand is %s, result %s: elements must be as many and of one type", x, r)
	}
	return nil
}

func inferTranspose(o *Op) ([]Type, error) {
	x, perm := o.Operands[0].Type, o.Ints("permutation")
	if len(perm) != x.Rank() {
		return nil, fmt.Errorf("permutation has %d elements, operand %s has %d dimensions", len(perm), x, x.Rank())
	}
	if err := unique("permutation", perm, x.Rank()); err != nil {
		return nil, err
	}
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = x.Dims[p]
	}
	return []Type{x.With(dims...)}, nil
}

func inferReverse(o *Op) ([]Type, error) {
	x := o.Operands[0].Type
	return []Type{x}, unique("dimensions", o.Ints("dimensions"), x.Rank())
}

func inferSlice(o *Op) ([]Type, error) {
	x, start, limit, step := o.Operands[0].Type, o.Ints("start_indices"), o.Ints("limit_indices"), o.Ints("strides")
	if len(start) != x.Rank() || len(limit) != x.Rank() || len(step) != x.Rank() {
		return nil, fmt.Errorf("bounds of %d, %d and %d dimensions, operand is %s", len(start), len(limit), len(step), x)
	}
	dims := make([]int, x.Rank())
	for i := range dims {
		if start[i] < 0 || start[i] > limit[i] || limit[i] > x.Dims[i] || step[i] < 1 {
			return nil, fmt.Errorf("dimension %d: [%d:%d:%d] of %d", i, start[i], limit[i], step[i], x.Dims[i])
		}
		dims[i] = (limit[i] - start[i] + step[i] - 1) / step[i]
	}
	return []Type{x.With(dims...)}, nil
}

// starts checks the start indices of a dynamic operation: scalars of one integer type.
func starts(list []*Value, rank int) error {
	if len(list) != rank {
		return fmt.Errorf("%d start indices, expected %d", len(list), rank)
	}
	for _, v := range list {
		if v.Type.Rank() != 0 || !v.Type.Elem.IsInt() || v.Type.Elem != list[0].Type.Elem {
			return fmt.Errorf("start index is %s, expected integers of one type", v.Type)
		}
	}
	return nil
}

func inferDynamicSlice(o *Op) ([]Type, error) {
	x, sizes := o.Operands[0].Type, o.Ints("slice_sizes")
	if err := perDim("slice_sizes", sizes, x.Rank(), 0); err != nil {
		return nil, err
	}
	for i, n := range sizes {
		if n > x.Dims[i] {
			return nil, fmt.Errorf("slice_sizes has %d, dimension %d of %s is smaller", n, i, x)
		}
	}
	return []Type{x.With(sizes...)}, starts(o.Operands[1:], x.Rank())
}

func inferUpdateSlice(o *Op) ([]Type, error) {
	if len(o.Operands) < 2 {
		return nil, errors.New("no update")
	}
	x, u := o.Operands[0].Type, o.Operands[1].Type
	if x.Elem != u.Elem || x.Rank() != u.Rank() {
		return nil, fmt.Errorf("update is %s, operand %s", u, x)
	}
	for i, n := range u.Dims {
		if n > x.Dims[i] {
			return nil, fmt.Errorf("update is %s, larger than operand %s", u, x)
		}
	}
	return []Type{x}, starts(o.Operands[2:], x.Rank())
}

func inferConcat(o *Op) ([]Type, error) {
	t, dim := o.Operands[0].Type, o.Int("dimension")
	if dim < 0 || dim >= t.Rank() {
		return nil, fmt.Errorf("dimension is %d of %s", dim, t)
	}
	dims := slices.Clone(t.Dims)
	for i, v := range o.Operands[1:] {
		u := slices.Clone(v.Type.Dims)
		if len(u) == len(dims) {
			dims[dim] += u[dim]
			u[dim] = t.Dims[dim]
		}
		if v.Type.Elem != t.Elem || !slices.Equal(u, t.Dims) {
			return nil, fmt.Errorf("operand %d is %s, operand 0 is %s: only dimension %d may differ", i+1, v.Type, t, dim)
		}
	}
	return []Type{t.With(dims...)}, nil
}

func inferPad(o *Op) ([]Type, error) {
	x, lo, hi, in := o.Operands[0].Type, o.Ints("edge_padding_low"), o.Ints("edge_padding_high"), o.Ints("interior_padding")
	if v := o.Operands[1].Type; v.Rank() != 0 || v.Elem != x.Elem {
		return nil, fmt.Errorf("padding value is %s, operand %s", v, x)
	}
	if len(lo) != x.Rank() || len(hi) != x.Rank() {
		return nil, fmt.Errorf("edge padding of %d and %d dimensions, operand is %s", len(lo), len(hi), x)
	}
	if err := perDim("interior_padding", in, x.Rank(), 0); err != nil {
		return nil, err
	}
	dims := make([]int, x.Rank())
	for i, n := range x.Dims {
		dims[i] = lo[i] + n + max(n-1, 0)*in[i] + hi[i]
		if dims[i] < 0 {
			return nil, fmt.Errorf("dimension %d becomes %d", i, dims[i])
		}
	}
	return []Type{x.With(dims...)}, nil
}

func inferGather(o *Op) ([]Type, error) {
	x, idx, sizes := o.Operands[0].Type, o.Operands[1].Type, o.Ints("slice_sizes")
	g := o.Get("dimension_numbers").(Gather)
	if !idx.Elem.IsInt() || g.IndexVectorDim < 0 || g.IndexVectorDim > idx.Rank() {
		return nil, fmt.Errorf("start_indices is %s, index_vector_dim %d", idx, g.IndexVectorDim)
	}
	if err := indexMap("start_index_map", g.StartIndexMap, idx, g.IndexVectorDim, x.Rank()); err != nil {
		return nil, err
	}
	if err := errors.Join(perDim("slice_sizes", sizes, x.Rank(), 0), unique("collapsed_slice_dims", g.CollapsedSliceDims, x.Rank())); err != nil {
		return nil, err
	}
	var window []int
	for i, n := range sizes {
		if n > x.Dims[i] {
			return nil, fmt.Errorf("slice_sizes has %d for dimension %d of %s", n, i, x)
		}
		if !slices.Contains(g.CollapsedSliceDims, i) {
			window = append(window, n)
		} else if n > 1 {
			return nil, fmt.Errorf("collapsed dimension %d has slice size %d", i, n)
		}
	}
	dims, err := interleave("offset_dims", batch(idx, g.IndexVectorDim), window, g.OffsetDims)
	return []Type{x.With(dims...)}, err
}

// batch returns the sizes of indices without those of the index vectors.
func batch(idx Type, vector int) []int {
	dims := slices.Clone(idx.Dims)
	if vector < len(dims) {
		dims = slices.Delete(dims, vector, vector+1)
	}
	return dims
}

// indexMap requires one dimension of the operand for each element of an index vector.
func indexMap(name string, dims []int, idx Type, vector, rank int) error {
	n := 1
	if vector < idx.Rank() {
		n = idx.Dims[vector]
	}
	if len(dims) != n {
		return fmt.Errorf("%s has %d elements, index vectors have %d", name, len(dims), n)
	}
	return unique(name, dims, rank)
}

// interleave puts the sizes of windows at the places at of a shape, and those of batches
// in order at the others.
func interleave(name string, batch, window, at []int) ([]int, error) {
	if len(at) != len(window) {
		return nil, fmt.Errorf("%s has %d elements, windows have %d dimensions", name, len(at), len(window))
	}
	if !slices.IsSorted(at) {
		return nil, fmt.Errorf("%s is not sorted", name)
	}
	rank := len(batch) + len(window)
	if err := unique(name, at, rank); err != nil {
		return nil, err
	}
	var dims []int
	for i := range rank {
		if k := slices.Index(at, i); k >= 0 {
			dims = append(dims, window[k])
		} else {
			dims = append(dims, batch[0])
			batch = batch[1:]
		}
	}
	return dims, nil
}

func inferScatter(o *Op) ([]Type, error) {
	x, idx, u := o.Operands[0].Type, o.Operands[1].Type, o.Operands[2].Type
	s := o.Get("scatter_dimension_numbers").(Scatter)
	if !idx.Elem.IsInt() || s.IndexVectorDim < 0 || s.IndexVectorDim > idx.Rank() || u.Elem != x.Elem {
		return nil, fmt.Errorf("input is %s, scatter_indices %s, updates %s, index_vector_dim %d", x, idx, u, s.IndexVectorDim)
	}
	if err := indexMap("scatter_dims_to_operand_dims", s.ScatterDimsToOperandDims, idx, s.IndexVectorDim, x.Rank()); err != nil {
		return nil, err
	}
	if err := errors.Join(unique("inserted_window_dims", s.InsertedWindowDims, x.Rank()), unique("update_window_dims", s.UpdateWindowDims, u.Rank())); err != nil {
		return nil, err
	}
	var window, bound []int
	for _, d := range s.UpdateWindowDims {
		window = append(window, u.Dims[d])
	}
	for i, n := range x.Dims {
		if !slices.Contains(s.InsertedWindowDims, i) {
			bound = append(bound, n)
		}
	}
	if len(bound) != len(window) {
		return nil, fmt.Errorf("update_window_dims has %d elements, windows of %s have %d dimensions", len(window), x, len(bound))
	}
	for i := range window {
		if window[i] > bound[i] {
			return nil, fmt.Errorf("updates %s have larger windows than input %s", u, x)
		}
	}
	dims, err := interleave("update_window_dims", batch(idx, s.IndexVectorDim), window, s.UpdateWindowDims)
	if err == nil && !slices.Equal(dims, u.Dims) {
		err = fmt.Errorf("updates are %s, expected sizes %v", u, dims)
	}
	if err == nil {
		err = body(o.Regions[0], []Type{Of(x.Elem), Of(x.Elem)}, []Type{Of(x.Elem)})
	}
	return []Type{x}, err
}

// body requires a region to take and give values of these types.
func body(r *Region, in, out []Type) error {
	if got := types(r.Args); !slices.EqualFunc(got, in, Type.Equal) {
		return fmt.Errorf("region takes %v, expected %v", got, in)
	}
	if got := types(r.Returned()); !slices.EqualFunc(got, out, Type.Equal) {
		return fmt.Errorf("region returns %v, expected %v", got, out)
	}
	return nil
}
