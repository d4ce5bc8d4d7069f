package module

import (
	"math"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
)

// maxDefault is the largest default value that is printed; a larger one makes
// its input a required one, which the comment of the function says.
const maxDefault = 64

// defaults gives inputs that are nil their default values.
func (p *printer) defaults() []jen.Code {
	var lines []jen.Code
	for i, n := range p.m.Graph.Inputs() {
		lit := defaultLit(n)
		if lit == nil {
			continue
		}
		x := jen.Id(p.params[i].name)
		value := gosrc.From("tensor", "Scalar").Call(lit.elem.Clone().Call(lit.items...))
		if dims := n.Default().(*array.Array).Shape(); len(dims) > 0 {
			value = gosrc.From("tensor", "FromSlice").CallFunc(func(g *jen.Group) {
				g.Add(jen.Index().Add(lit.elem).Values(lit.items...))
				for _, d := range dims {
					g.Lit(d)
				}
			})
		}
		lines = append(lines, jen.If(x.Clone().Op("==").Nil()).Block(x.Clone().Op("=").Add(value)))
	}
	return lines
}

// elems are the elements of an array as Go literals of one type.
type elems struct {
	elem  *jen.Statement
	items []jen.Code
}

// defaultLit prints the elements of an input's default value, nil when it has none
// that can be printed.
func defaultLit(n *graph.Node) *elems {
	a, ok := n.Default().(*array.Array)
	if !ok || a.Len() > maxDefault {
		return nil
	}
	a = array.Contiguous(a)
	switch a.DType() {
	case array.F32:
		return elements(array.Data[float32](a), jen.Float32(), func(v float32) jen.Code { return rounded(float64(v), jen.Float32()) })
	case array.F64:
		return elements(array.Data[float64](a), jen.Float64(), func(v float64) jen.Code { return gosrc.Float(v) })
	case array.I32:
		return elements(array.Data[int32](a), jen.Int32(), func(v int32) jen.Code { return jen.Lit(int(v)) })
	case array.I64:
		return elements(array.Data[int64](a), jen.Int64(), func(v int64) jen.Code { return jen.Lit(int(v)) })
	case array.U8:
		return elements(array.Data[uint8](a), jen.Uint8(), func(v uint8) jen.Code { return jen.Lit(int(v)) })
	case array.Bool:
		return elements(array.Data[bool](a), jen.Bool(), func(v bool) jen.Code { return jen.Lit(v) })
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

// rounded prints a number of a narrower type; those that are no constants are
// converted.
func rounded(f float64, to *jen.Statement) jen.Code {
	if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) {
		return to.Clone().Call(gosrc.Float(f))
	}
	return gosrc.Float(f)
}
