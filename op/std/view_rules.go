package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func reshapeRule(c *op.Infer, a ReshapeAttrs, in []shape.Type) (shape.Type, error) {
	total := shape.Unknown
	from := "x"
	if in[0].Ranked() {
		total, from = in[0].Dims().Prod(), in[0].Dims().String()
	}
	d, err := fitSizes(c, total, from, a.Shape)
	if err != nil {
		return shape.Type{}, err
	}
	return shape.TensorType(in[0].DType(), d), nil
}

func viewAsRule(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
	x, other := in[0], in[1]
	if !other.Ranked() {
		return shape.Unranked(x.DType()), nil
	}
	if x.Ranked() {
		if _, err := c.Equal(x.Dims().Prod(), other.Dims().Prod(), op.BadReshape, func() string {
			return x.Dims().String() + " has " + x.Dims().Prod().String() + " elements, expected " + other.Dims().Prod().String() +
				" for shape " + other.Dims().String()
		}); err != nil {
			return shape.Type{}, err
		}
	}
	return shape.TensorType(x.DType(), other.Dims()), nil
}

// fitSizes returns sizes with the one that is -1 computed, after requiring that
// they hold total elements. from names what is reshaped.
func fitSizes(c *op.Infer, total shape.Dim, from string, sizes shape.Dims) (shape.Dims, error) {
	free, known := -1, shape.Const(1)
	for i, s := range sizes.Slice() {
		n, ok := s.Int()
		switch {
		case !ok || n >= 0:
			if err := sizeAttr(c, s, sizes); err != nil {
				return sizes, err
			}
			known = known.Mul(s)
		case n != -1:
			return sizes, diag.New(op.BadAttr, "size "+strconv.Itoa(n)+" in shape "+sizes.String()+", expected a size or -1")
		case free >= 0:
			return sizes, diag.New(op.BadAttr, "two sizes of shape "+sizes.String()+" are -1, expected at most one")
		default:
			free = i
		}
	}
	mismatch := func() string {
		want := known.String() + " elements"
		if free >= 0 {
			want = "a multiple of " + want
		}
		return from + " has " + total.String() + " elements, expected " + want + " for shape " + sizes.String()
	}
	if free < 0 {
		_, err := c.Equal(total, known, op.BadReshape, mismatch)
		return sizes, err
	}
	for i, s := range sizes.Slice() {
		if i == free {
			continue
		}
		if err := c.AtLeast(s, shape.Const(1), op.BadReshape, func() string {
			return from + " has " + total.String() + " elements and shape " + sizes.String() + " has a size 0, expected sizes from which -1 follows"
		}); err != nil {
			return sizes, hinted(err, "write the size in place of -1")
		}
	}
	return sizes.With(free, total.FloorDiv(known)), c.Multiple(total, known, op.BadReshape, mismatch)
}

// sizeAttr requires a symbolic size of a shape not to be negative: -1 would mean
// something else.
func sizeAttr(c *op.Infer, s shape.Dim, sizes shape.Dims) error {
	return c.AtLeast(s, shape.Const(0), op.BadAttr, func() string {
		return "size " + s.String() + " in shape " + sizes.String() + ", expected a size or -1"
	})
}

func flattenDims(_ *op.Infer, a FlattenAttrs, d shape.Dims) (shape.Dims, error) {
	start, err := op.Axis(a.StartDim, d.Len())
	if err != nil {
		return d, err
	}
	end, err := op.Axis(a.EndDim, d.Len())
	switch {
	case err != nil:
		return d, err
	case d.Len() == 0:
		return shape.ConstDims(1), nil
	case end < start:
		return d, diag.New(op.BadAxis, "end_dim "+strconv.Itoa(a.EndDim)+" lies before start_dim "+strconv.Itoa(a.StartDim)+", expected it not to")
	}
	return d.Sub(0, start).Append(d.Sub(start, end+1).Prod()).Concat(d.Sub(end+1, d.Len())), nil
}

func unflattenDims(c *op.Infer, a UnflattenAttrs, d shape.Dims) (shape.Dims, error) {
	axis, err := realAxis(a.Dim, d.Len())
	if err != nil {
		return d, err
	}
	if a.Sizes.Len() == 0 {
		return d, diag.New(op.BadAttr, "no sizes, expected at least one")
	}
	sizes, err := fitSizes(c, d.At(axis), "dimension "+strconv.Itoa(axis), a.Sizes)
	if err != nil {
		return d, err
	}
	return d.Sub(0, axis).Concat(sizes).Concat(d.Sub(axis+1, d.Len())), nil
}

// squeezeRule gives an unknown rank when a size that decides it is not known:
// a symbolic batch may be 1, unless the graph relies on its being another size.
func squeezeRule(c *op.Infer, a SqueezeAttrs, in []shape.Type) (shape.Type, error) {
	t := in[0]
	if !t.Ranked() {
		return shape.Unranked(t.DType()), nil
	}
	axes, err := axisList(a.Dim, t.Rank())
	if err != nil {
		return shape.Type{}, err
	}
	drop := make([]bool, t.Rank())
	for _, i := range axes {
		drop[i] = true
	}
	var left []shape.Dim
	for i, s := range t.Dims().Slice() {
		one, known := c.Is(s, 1)
		if !known && drop[i] {
			return shape.Unranked(t.DType()), nil
		}
		if !drop[i] || !one {
			left = append(left, s)
		}
	}
	return shape.TensorType(t.DType(), shape.Of(left...)), nil
}

func unsqueezeDims(_ *op.Infer, a DimAttrs, d shape.Dims) (shape.Dims, error) {
	axis, err := op.Axis(a.Dim, d.Len()+1)
	if err != nil {
		return d, err
	}
	return d.Sub(0, axis).Append(shape.Const(1)).Concat(d.Sub(axis, d.Len())), nil
}

func expandRule(c *op.Infer, a ExpandAttrs, in []shape.Type) (shape.Type, error) {
	t, want := in[0], a.Shape
	lead := want.Len() - t.Rank()
	if t.Ranked() && lead < 0 {
		return shape.Type{}, diag.New(op.RankMismatch, "x has "+strconv.Itoa(t.Rank())+" dimensions, shape "+want.String()+" has only "+strconv.Itoa(want.Len()))
	}
	for i, s := range want.Slice() {
		n, known := s.Int()
		keep := known && n == -1
		if !known {
			if err := sizeAttr(c, s, want); err != nil {
				return shape.Type{}, err
			}
		}
		if known && n < -1 {
			return shape.Type{}, diag.New(op.BadAttr, "size "+strconv.Itoa(n)+" in shape "+want.String()+", expected a size or -1")
		}
		switch {
		case !t.Ranked() && keep:
			want = want.With(i, shape.Unknown)
		case !t.Ranked() || (i < lead && !keep):
		case i < lead:
			return shape.Type{}, diag.New(op.BadAttr, "size -1 for new dimension "+strconv.Itoa(i)+" of shape "+want.String()+", expected a size")
		case keep:
			want = want.With(i, t.Dim(i-lead))
		case !t.Dim(i - lead).Is(1):
			d, err := c.Equal(t.Dim(i-lead), s, op.ShapeMismatch, func() string {
				return "dimension " + strconv.Itoa(i-lead) + " of x has size " + t.Dim(i-lead).String() + ", expected 1 or " + s.String()
			})
			if err != nil {
				return shape.Type{}, err
			}
			want = want.With(i, d)
		}
	}
	return shape.TensorType(t.DType(), want), nil
}

// realAxis is op.Axis for operators that need a dimension to be there.
func realAxis(axis, rank int) (int, error) {
	if rank == 0 {
		return 0, diag.New(op.BadAxis, "axis "+strconv.Itoa(axis)+" of a 0-dimensional tensor, expected a tensor with dimensions")
	}
	return op.Axis(axis, rank)
}

// axisList returns the axes that dims names, not negative, in its order: all of
// them when it is empty. Naming one twice is an error.
func axisList(dims op.Ints, rank int) ([]int, error) {
	var axes []int
	if dims.Len() == 0 {
		for i := range rank {
			axes = append(axes, i)
		}
		return axes, nil
	}
	seen := make([]bool, rank+1)
	for _, d := range dims.Slice() {
		axis, err := op.Axis(d, rank)
		if err != nil {
			return nil, err
		}
		if seen[axis] {
			return nil, diag.New(op.BadAttr, "axis "+strconv.Itoa(d)+" is named twice in "+dims.String()+", expected each once")
		}
		seen[axis] = true
		if rank > 0 {
			axes = append(axes, axis)
		}
	}
	return axes, nil
}

// permutation checks that dims names each axis once.
func permutation(dims op.Ints, rank int) ([]int, error) {
	if dims.Len() != rank {
		return nil, diag.New(op.RankMismatch, "x has "+strconv.Itoa(rank)+" dimensions, dims "+dims.String()+" names "+strconv.Itoa(dims.Len()))
	}
	return axisList(dims, rank)
}

// swap returns the permutation that exchanges two axes.
func swap(dim0, dim1, rank int) ([]int, error) {
	i, err := op.Axis(dim0, rank)
	if err != nil {
		return nil, err
	}
	j, err := op.Axis(dim1, rank)
	if err != nil {
		return nil, err
	}
	perm, _ := axisList(op.Ints{}, rank)
	if rank > 0 {
		perm[i], perm[j] = j, i
	}
	return perm, nil
}

func reversed(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = rank - 1 - i
	}
	return perm
}

// moved returns the permutation of movedim.
func moved(a MovedimAttrs, rank int) ([]int, error) {
	if a.Source.Len() != a.Destination.Len() {
		return nil, diag.New(op.BadAttr, "source "+a.Source.String()+" and destination "+a.Destination.String()+" differ in length, expected the same")
	}
	perm, _ := axisList(op.Ints{}, rank)
	if a.Source.Len() == 0 {
		return perm, nil
	}
	from, err := axisList(a.Source, rank)
	if err != nil {
		return nil, err
	}
	to, err := axisList(a.Destination, rank)
	if err != nil {
		return nil, err
	}
	placed, taken := make([]bool, rank), make([]bool, rank)
	for i := range from {
		perm[to[i]] = from[i]
		placed[to[i]], taken[from[i]] = true, true
	}
	next := 0
	for i := range perm {
		if placed[i] {
			continue
		}
		for taken[next] {
			next++
		}
		perm[i] = next
		next++
	}
	return perm, nil
}

// pick returns the dimensions perm names.
func pick(d shape.Dims, perm []int) shape.Dims {
	out := make([]shape.Dim, len(perm))
	for i, p := range perm {
		out[i] = d.At(p)
	}
	return shape.Of(out...)
}
