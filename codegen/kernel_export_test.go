package codegen

import (
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// CodeName is the Go name of a scalar operation.
func CodeName(c kernel.Code) string { return codeName(c) }

// DimText prints a size as generated code has it.
func DimText(d shape.Dim) string {
	return new(kernelGen).dim(d).GoString()
}
