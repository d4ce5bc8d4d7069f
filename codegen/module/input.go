package module

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
)

// maxDefault is the largest default value that is printed; a larger one makes
// its input a required one, which the comment of the function says.
const maxDefault = 64

// elems are the elements of an array as Go literals of one type.
type elems struct {
	elem  *jen.Statement
	items []jen.Code
}

// defaultLit prints the elements of an input's default value, nil when it has none
// that can be printed.
func defaultLit(n *graph.Node) *elems {
	values, ok := n.Default().(*array.Array)
	if !ok || values.Len() > maxDefault {
		return nil
	}
	values = array.Contiguous(values)
	switch values.DType() {
	case array.F32:
		return elements(array.Data[float32](values), jen.Float32(), gosrc.Float32)
	case array.F64:
		return elements(array.Data[float64](values), jen.Float64(), gosrc.Float)
	case array.I32:
		return elements(array.Data[int32](values), jen.Int32(), func(v int32) jen.Code { return jen.Lit(int(v)) })
	case array.I64:
		return elements(array.Data[int64](values), jen.Int64(), func(v int64) jen.Code { return jen.Lit(int(v)) })
	case array.U8:
		return elements(array.Data[uint8](values), jen.Uint8(), func(v uint8) jen.Code { return jen.Lit(int(v)) })
	case array.Bool:
		return elements(array.Data[bool](values), jen.Bool(), func(v bool) jen.Code { return jen.Lit(v) })
	}
	return nil
}

func elements[T array.Elem](data []T, elem *jen.Statement, lit func(T) jen.Code) *elems {
	e := &elems{elem: elem}
	for _, v := range data {
		e.items = append(e.items, lit(v))
	}
	return e
}
