package op

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// InPlaceType is the code of an in-place call whose result does not fit its target.
const InPlaceType diag.Code = "FX2024"

// Written is the type rule of writing src into x in place, where src is cast to
// x's element type: it returns what x is afterwards. Shapes must be equal, without
// broadcasting, and floats are not written to other types. What is not known of
// either type is left to the run.
func (c *Infer) Written(x, src shape.Type) (shape.Type, error) {
	if x.Kind() != shape.Tensor || src.Kind() != shape.Tensor {
		return x, nil
	}
	if d := src.DType(); d.IsFloat() && !x.DType().IsFloat() && x.DType() != array.Invalid {
		return shape.Type{}, diag.New(InPlaceType, "a result of element type "+d.String()+" cannot be written to a tensor of "+x.DType().String())
	}
	if !x.Ranked() || !src.Ranked() {
		return x, nil
	}
	misfit := func() string {
		return "the result " + src.String() + " does not fit the tensor " + x.String() + " that it is written to"
	}
	if x.Rank() != src.Rank() {
		return shape.Type{}, diag.New(InPlaceType, misfit())
	}
	dims := x.Dims()
	for i := range x.Rank() {
		d, err := c.Equal(x.Dim(i), src.Dim(i), InPlaceType, misfit)
		if err != nil {
			return shape.Type{}, err
		}
		dims = dims.With(i, d)
	}
	return x.WithDims(dims), nil
}
