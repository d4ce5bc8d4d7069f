package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// sliceDims is the type rule of slice.
func sliceDims(c *op.Infer, a SliceAttrs, d shape.Dims) (shape.Dims, error) {
	axis, err := realAxis(a.Dim, d.Len())
	if err != nil {
		return d, err
	}
	if a.Step < 0 {
		return d, diag.New(op.BadAttr, "step "+strconv.Itoa(a.Step)+", expected a positive one").
			WithHint("flip reverses a dimension")
	}
	size, step := d.At(axis), max(a.Step, 1)
	if one, err := oneElement(c, a, size, step); !a.Inside && (one || err != nil) {
		return d.With(axis, shape.Const(1)), err
	}
	lo, err := sliceBound(c, a.Start, size, false, a.Inside)
	if err != nil {
		return d, err
	}
	hi, err := sliceBound(c, a.Stop, size, true, a.Inside)
	if err != nil {
		return d, err
	}
	length := hi.Sub(lo)
	if n, ok := length.Int(); ok {
		if n > 0 {
			n = (n-1)/step + 1
		}
		return d.With(axis, shape.Const(max(n, 0))), nil
	}
	count := length.AddInt(step - 1).FloorDivInt(step)
	_, from := a.Start.Int()
	_, to := a.Stop.Int()
	from = from && !a.Inside
	to = to || hi.Equal(size) // x.Size(0), say, is the end as well
	some, all := shape.AtLeast(size, shape.Const(1)), shape.AtLeast(count, shape.Const(0))
	switch {
	case !from || !to:
		return d.With(axis, count), inside(c, lo, hi)
	case all.Truth() != shape.True && some.Implies(all):
		return d.With(axis, count), c.AtLeast(size, shape.Const(1), op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(axis) + " of size " + size.String() + ", expected at least one element"
		})
	}
	return d.With(axis, count.Max(shape.Const(0))), nil // bounds that lie beyond an end are cut there
}

// oneElement requires the element to be there that a slice takes of a dimension of any
// size, where it takes one at most: a size of 1 broadcasts.
func oneElement(c *op.Infer, a SliceAttrs, size shape.Dim, step int) (bool, error) {
	start, ok := a.Start.Int()
	stop, known := a.Stop.Int()
	if _, sized := size.Int(); sized || size.IsUnknown() || !ok || !known {
		return false, nil
	}
	if a.Stop.Equal(End) {
		if stop = 0; start >= 0 {
			return false, nil
		}
	} else if (start < 0) != (stop < 0) {
		return false, nil
	}
	if stop <= start || stop-start > step || stop-start < 0 {
		return false, nil
	}
	least := shape.Const(max(start, -1-start)).AddInt(1)
	return true, c.AtLeast(size, least, op.SizeMismatch, func() string {
		return "element " + strconv.Itoa(start) + " of a dimension of size " + size.String() + ", expected one inside"
	})
}

// sliceBound resolves a bound of a dimension of the given size. What lies beyond an end is
// cut there, where a start beyond the last end, and a stop before the first one, may stay: they
// leave nothing. Where a bound is symbolic, it is taken to lie inside.
func sliceBound(c *op.Infer, b, size shape.Dim, stop, within bool) (shape.Dim, error) {
	v, isInt := b.Int()
	n, sized := size.Int()
	switch {
	case b.Equal(End):
		return size, nil
	case isInt && sized && v < 0:
		return shape.Const(max(n+v, 0)), nil
	case isInt && sized:
		return shape.Const(min(v, n)), nil
	case b.Is(0):
		return b, nil
	case b.IsUnknown() || size.IsUnknown():
		return shape.Unknown, nil
	case isInt && v < 0 && within:
		return size.Add(b), inside(c, shape.Const(-v), size)
	case isInt && within:
		return b, inside(c, b, size)
	case isInt && v < 0 && stop:
		return size.Add(b), nil
	case isInt && v < 0:
		return size.Add(b).Max(shape.Const(0)), nil
	case isInt && stop:
		return size.Min(b), nil
	case isInt:
		return b, nil
	}
	if shape.AtLeast(b, size).Truth() == shape.True {
		return size, nil
	}
	return b, inside(c, b, size)
}

// inside requires b to be neither negative nor more than n.
func inside(c *op.Infer, b, n shape.Dim) error {
	what := func() string {
		return b.String() + " lies outside a dimension of size " + n.String() + ", expected 0 to that size"
	}
	if err := c.AtLeast(b, shape.Const(0), op.SizeMismatch, what); err != nil {
		return err
	}
	return c.AtLeast(n, b, op.SizeMismatch, what)
}
