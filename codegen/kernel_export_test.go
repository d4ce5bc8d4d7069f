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

// SizeText prints a size as module style has it.
func SizeText(d shape.Dim) string {
	a := sizeArith{&modulePrinter{body: &body{}}, map[string]*goVar{}}
	for _, s := range d.Symbols() {
		a.of[s] = &goVar{name: s}
	}
	c, _ := shape.Fold(d, a)
	return c.code.GoString()
}
