package modelfile

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// Sparse returns the value of a sparse tensor, dense: bounded by the constant that it
// stands for, which files can make large.
func (f *File) Sparse(sp *pb.Sparse) (*array.Array, *diag.Error) {
	if sp.Values == nil || sp.Indices == nil {
		return nil, diag.New(spec.CodeTensor, "a sparse tensor has no values or no indices")
	}
	values, err := ArrayOf(sp.Values, f.Data)
	if err != nil {
		return nil, err
	}
	indices, err := ArrayOf(sp.Indices, f.Data)
	if err != nil {
		return nil, err
	}
	dims, n, err := TensorDims(&pb.Tensor{Name: sp.Values.Name, Dims: sp.Dims})
	if err != nil {
		return nil, err
	}
	count := values.Len()
	linear := indices.Rank() == 1 && indices.Len() == count
	if !linear && (indices.Rank() != 2 || indices.Dim(0) != count || indices.Dim(1) != len(dims)) {
		return nil, diag.New(spec.CodeTensor, "the indices of sparse tensor "+diag.Quote(sp.Values.Name)+" are "+array.Describe(indices.DType(), indices.Shape()))
	}
	if !indices.DType().IsInt() {
		return nil, diag.New(spec.CodeTensor, "the indices of sparse tensor "+diag.Quote(sp.Values.Name)+" are "+array.Describe(indices.DType(), indices.Shape()))
	}
	if n > (spec.FoldBytes+64*count)/values.DType().Size() {
		return nil, diag.New(spec.CodeTensor, "sparse tensor "+diag.Quote(sp.Values.Name)+" is too large to be written out: "+strconv.Itoa(n)+" elements")
	}
	dense := array.New(values.DType(), dims...)
	for i := range count {
		at := 0
		if linear {
			at = int(array.Int64At(indices, i))
		}
		for k := 0; !linear && k < len(dims); k++ {
			j := int(array.Int64At(indices, i*len(dims)+k))
			if j < 0 || j >= dims[k] {
				at = -1
				break
			}
			at = at*dims[k] + j
		}
		if at < 0 || at >= n {
			return nil, diag.New(spec.CodeTensor, "an index of sparse tensor "+diag.Quote(sp.Values.Name)+" lies outside of it")
		}
		if values.DType().IsFloat() {
			array.SetFloat64At(dense, at, array.Float64At(values, i))
		} else {
			array.SetInt64At(dense, at, array.Int64At(values, i))
		}
	}
	return dense, nil
}
