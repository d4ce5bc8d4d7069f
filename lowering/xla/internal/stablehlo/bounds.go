package stablehlo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// source is the dimension of an operand that a dimension of a result has its size from;
// Operand is -1 where the size is the operation's own.
type source struct{ Operand, Dim int }

// sourcesOf says of each dimension of each result which dimension of an operand its size
// follows. It is an error where a size that is a bound would have to be known when the
// program is compiled.
func sourcesOf(o *Op) ([][]source, error) {
	f := bounded[o.Name]
	switch {
	case f != nil:
		return f(o)
	case specs[o.Name].alike:
		return alike(o)
	}
	return nil, errors.New("it takes no sizes that are bounds")
}

// bounded are the operations that take such sizes, besides those of which operands and result
// have one type.
var bounded = map[string]func(o *Op) ([][]source, error){
	"compare": alike, "is_finite": alike, "convert": alike, "bitcast_convert": alike, "custom_call": alike,
	"constant": own, "iota": own,
	"select": ofSelect, "transpose": ofTranspose, "broadcast_in_dim": ofBroadcast, "reshape": ofReshape, "reduce": ofReduce, "dot_general": ofDot,
	"concatenate": ofConcat, "slice": ofSlice, "pad": ofPad, "reverse": ofReverse, "gather": ofGather, "sort": ofSort,
	"convolution": ofConvolution, "reduce_window": ofReduceWindow,
}

// identity is each dimension of the result from that of an operand.
func identity(operand, rank int) []source {
	list := make([]source, rank)
	for i := range list {
		list[i] = source{operand, i}
	}
	return list
}

func alike(o *Op) ([][]source, error) {
	return [][]source{identity(0, o.Operands[0].Type.Rank())}, nil
}

func ofSelect(o *Op) ([][]source, error) {
	return [][]source{identity(1, o.Operands[1].Type.Rank())}, nil
}

// own is of results whose sizes the operation says.
func own(o *Op) ([][]source, error) {
	return [][]source{slices.Repeat([]source{{-1, -1}}, o.Results[0].Type.Rank())}, nil
}

func ofTranspose(o *Op) ([][]source, error) {
	list := []source{}
	for _, d := range o.Ints("permutation") {
		list = append(list, source{0, d})
	}
	return [][]source{list}, nil
}

func ofBroadcast(o *Op) ([][]source, error) {
	list, err := own(o)
	for i, d := range o.Ints("broadcast_dimensions") {
		if x := o.Operands[0].Type; x.Bound(i) || x.Dims[i] == o.Results[0].Type.Dims[d] && x.Dims[i] != 1 {
			list[0][d] = source{0, i}
		}
	}
	return list, err
}

// ofReshape finds a dimension again where as many elements stand before it and it is as large.
func ofReshape(o *Op) ([][]source, error) {
	x, r := o.Operands[0].Type, o.Results[0].Type
	list, _ := own(o)
	before := 1
	for i, n := range x.Dims {
		if x.Bound(i) {
			j, product := 0, 1
			for j < r.Rank() && (product != before || r.Dims[j] != n) {
				product *= r.Dims[j]
				j++
			}
			if j == r.Rank() {
				return nil, fmt.Errorf("dimension %d of %s is taken apart, or joined with others", i, x)
			}
			list[0][j] = source{0, i}
		}
		before *= n
	}
	return list, nil
}

func ofReduce(o *Op) ([][]source, error) {
	list := []source{}
	for i := range o.Operands[0].Type.Dims {
		if !slices.Contains(o.Ints("dimensions"), i) {
			list = append(list, source{0, i})
		}
	}
	return slices.Repeat([][]source{list}, len(o.Results)), nil
}

func ofDot(o *Op) ([][]source, error) {
	d := o.Get("dot_dimension_numbers").(Dot)
	x, y := slices.Concat(d.LhsBatch, d.LhsContract), slices.Concat(d.RhsBatch, d.RhsContract)
	for k := range x {
		if o.Operands[0].Type.Bound(x[k]) != o.Operands[1].Type.Bound(y[k]) {
			return nil, fmt.Errorf("dimension %d of one operand and dimension %d of the other are not both bounds", x[k], y[k])
		}
	}
	list := []source{}
	for _, i := range d.LhsBatch {
		list = append(list, source{0, i})
	}
	for operand, used := range [][]int{x, y} {
		for i := range o.Operands[operand].Type.Dims {
			if !slices.Contains(used, i) {
				list = append(list, source{operand, i})
			}
		}
	}
	return [][]source{list}, nil
}

func ofConcat(o *Op) ([][]source, error) {
	dim := o.Int("dimension")
	list := identity(0, o.Operands[0].Type.Rank())
	list[dim] = source{-1, -1}
	for i, x := range o.Operands {
		for d := range list {
			if d == dim && x.Type.Bound(d) || x.Type.Bound(d) != o.Operands[0].Type.Bound(d) {
				return nil, fmt.Errorf("it joins along a bound, or with operand %d, which has others", i)
			}
		}
	}
	return [][]source{list}, nil
}

// kept is the identity, where no dimension is changed that is a bound.
func kept(o *Op, changed func(d int) bool) ([][]source, error) {
	x := o.Operands[0].Type
	list := identity(0, x.Rank())
	for i := range x.Dims {
		if changed(i) {
			if x.Bound(i) {
				return nil, fmt.Errorf("it changes dimension %d, which is a bound", i)
			}
			list[i] = source{-1, -1}
		}
	}
	return slices.Repeat([][]source{list}, max(1, len(o.Results))), nil
}

// ofSlice takes all of a bounded dimension, or one element, which is there in every run.
func ofSlice(o *Op) ([][]source, error) {
	x := o.Operands[0].Type
	list := identity(0, x.Rank())
	for d := range x.Dims {
		n := o.Ints("limit_indices")[d] - o.Ints("start_indices")[d]
		switch {
		case n == x.Dims[d] && o.Ints("strides")[d] == 1:
		case x.Bound(d) && n != 1:
			return nil, fmt.Errorf("it takes a part of dimension %d, which is a bound", d)
		default:
			list[d] = source{-1, -1}
		}
	}
	return [][]source{list}, nil
}

func ofPad(o *Op) ([][]source, error) {
	return kept(o, func(d int) bool {
		return o.Ints("edge_padding_low")[d] != 0 || o.Ints("edge_padding_high")[d] != 0 || o.Ints("interior_padding")[d] != 0
	})
}

func ofReverse(o *Op) ([][]source, error) {
	return kept(o, func(d int) bool { return slices.Contains(o.Ints("dimensions"), d) })
}

func ofSort(o *Op) ([][]source, error) {
	return kept(o, func(d int) bool { return d == o.SortDim() })
}

func ofReduceWindow(o *Op) ([][]source, error) {
	windows, err := ReduceWindows(o)
	if err != nil {
		return nil, err
	}
	return kept(o, func(d int) bool { return windows[d] != Window{Size: 1, Stride: 1, Base: 1, Dilation: 1} })
}

func ofConvolution(o *Op) ([][]source, error) {
	d := o.Get("dimension_numbers").(Conv)
	x := o.Operands[0].Type
	for i := range x.Dims {
		if x.Bound(i) && i != d.Input[0] {
			return nil, fmt.Errorf("dimension %d of the image is a bound, only the batch may be one", i)
		}
	}
	if o.Operands[1].Type.IsBounded() || o.Int("batch_group_count") != 1 {
		return nil, errors.New("its kernel takes no sizes that are bounds")
	}
	list, err := own(o)
	list[0][d.Output[0]] = source{0, d.Input[0]}
	return list, err
}

// ofGather has the sizes of the indices, and those of slices, which are its own. It takes all of a bounded
// dimension: a position in one may lie after the run's size.
func ofGather(o *Op) ([][]source, error) {
	g := o.Get("dimension_numbers").(Gather)
	if o.Operands[1].Type.Bound(g.IndexVectorDim) {
		return nil, errors.New("it reads positions whose length is a bound")
	}
	for d, n := range o.Operands[0].Type.Dims {
		if o.Operands[0].Type.Bound(d) && (slices.Contains(g.StartIndexMap, d) || o.Ints("slice_sizes")[d] != n) {
			return nil, fmt.Errorf("it reads positions of dimension %d, which is a bound", d)
		}
	}
	list, err := own(o)
	at := 0
	for i := range list[0] {
		if slices.Contains(g.OffsetDims, i) {
			continue
		}
		if at == g.IndexVectorDim {
			at++
		}
		list[0][i] = source{1, at}
		at++
	}
	return list, err
}

// inferSetSize is the rule of set_dimension_size, except for whether the size is a bound: that
// follows from the size.
func inferSetSize(o *Op) ([]Type, error) {
	if d := o.Int("dimension"); d < 0 || d >= o.Operands[0].Type.Rank() {
		return nil, fmt.Errorf("dimension is %d of %s", d, o.Operands[0].Type)
	}
	if t := o.Operands[1].Type; !t.Equal(Of(array.I32)) {
		return nil, fmt.Errorf("the size is %s, expected a scalar of i32", t)
	}
	return []Type{o.Operands[0].Type.Limited(o.Int("dimension"), true)}, nil
}

// Limited returns the type with the size of a dimension as a bound, or not as one.
func (t Type) Limited(dim int, bound bool) Type {
	flags := make([]bool, t.Rank())
	copy(flags, t.Bounded)
	flags[dim] = bound
	t.Bounded = flags
	return t
}

// checkBounds requires sizes of results to be bounds where those that they follow are.
func checkBounds(o *Op) error {
	if !slices.ContainsFunc(slices.Concat(o.Operands, o.Results), func(v *Value) bool { return v.Type.IsBounded() }) {
		return nil
	}
	if o.Name == "set_dimension_size" {
		d := o.Int("dimension")
		if want := o.Operands[0].Type.Limited(d, o.Results[0].Type.Bound(d)); !want.Equal(o.Results[0].Type) {
			return fmt.Errorf("result is %s, expected %s", o.Results[0].Type, want)
		}
		return nil
	}
	if whole(o) {
		return errors.New("it takes no more sizes that are bounds than the dialect lets it have")
	}
	sources, err := sourcesOf(o)
	if err != nil {
		return err
	}
	for i, v := range o.Results {
		for d, s := range sources[i] {
			if follows := s.Operand >= 0 && o.Operands[s.Operand].Type.Bound(s.Dim); v.Type.Bound(d) != follows {
				return fmt.Errorf("the size of dimension %d of result %s and the one that it follows are not both bounds", d, v.Type)
			}
		}
	}
	return nil
}

// whole reports whether an operation is to be computed for the bounds, as numbers: slices have
// results of such sizes only, gathers read slices of such sizes, and one dimension of what is reshaped or
// broadcast may be a bound.
func whole(o *Op) bool {
	if o.Name == "gather" {
		return o.Operands[0].Type.IsBounded()
	}
	for _, v := range slices.Concat(o.Operands, o.Results) {
		n := 0
		for d := range v.Type.Dims {
			if v.Type.Bound(d) {
				n++
			}
		}
		if o.Name == "slice" && n > 0 || (o.Name == "reshape" || o.Name == "broadcast_in_dim") && n > 1 {
			return true
		}
	}
	return false
}
