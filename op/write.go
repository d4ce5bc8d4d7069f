package op

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Written is the type rule of writing src into dst in place, where src is cast to
// dst's element type: it returns what dst is afterwards. Shapes must be equal, without
// broadcasting, floats are not written to other types, and those that only hold values to
// and from none but themselves. What is not known of
// either type is left to the run.
func (c *Infer) Written(dst, src shape.Type) (shape.Type, error) {
	if dst.Kind() != shape.Tensor || src.Kind() != shape.Tensor {
		return dst, nil
	}
	d := src.DType()
	narrow := d != dst.DType() && d != array.Invalid && (d.IsNarrow() || dst.DType().IsNarrow())
	if narrow || d.IsFloat() && !dst.DType().IsFloat() && dst.DType() != array.Invalid {
		return shape.Type{}, diag.New(InPlaceType, "a result of element type "+d.String()+" cannot be written to a tensor of "+dst.DType().String())
	}
	if !dst.Ranked() || !src.Ranked() {
		return dst, nil
	}
	misfit := func() string {
		return "the result " + src.String() + " does not fit the tensor " + dst.String() + " that it is written to"
	}
	if dst.Rank() != src.Rank() {
		return shape.Type{}, diag.New(InPlaceType, misfit())
	}
	dims := dst.Dims()
	for i := range dst.Rank() {
		d, err := c.Equal(dst.Dim(i), src.Dim(i), InPlaceType, misfit)
		if err != nil {
			return shape.Type{}, err
		}
		dims = dims.With(i, d)
	}
	return dst.WithDims(dims), nil
}
