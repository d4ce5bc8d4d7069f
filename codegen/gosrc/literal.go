package gosrc

import (
	"math"
	"reflect"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Literal prints a Go value as an expression: numbers, strings, slices, structs
// and pointers to structs of exported fields (fields at their zero value are left
// out), and the value types of attributes. dim prints a symbolic dimension.
func Literal(v reflect.Value, dim func(shape.Dim) jen.Code) jen.Code {
	switch x := v.Interface().(type) {
	case array.DType:
		return DType(x)
	case kernel.Code:
		return From("kernel", OpcodeName(x))
	case op.Ints:
		if x.Len() == 0 {
			return From("op", "Ints").Values()
		}
		return From("op", "IntList").CallFunc(func(g *jen.Group) {
			for _, n := range x.Slice() {
				g.Lit(n)
			}
		})
	case op.Floats:
		return From("op", "FloatList").CallFunc(func(g *jen.Group) {
			for _, f := range x.Slice() {
				g.Add(Float(f))
			}
		})
	case op.Scalar:
		return scalarLit(x)
	case shape.Dim:
		return dim(x)
	case shape.Dims:
		return From("shape", "Of").CallFunc(func(g *jen.Group) {
			for _, d := range x.Slice() {
				g.Add(dim(d))
			}
		})
	}
	switch v.Kind() {
	case reflect.Bool:
		return jen.Lit(v.Bool())
	case reflect.Int:
		return jen.Lit(int(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return jen.Op(uintText(v.Uint()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return jen.Lit(int(v.Int()))
	case reflect.Float64:
		return Float(v.Float())
	case reflect.Float32:
		return Float(v.Float())
	case reflect.String:
		return jen.Lit(v.String())
	case reflect.Pointer:
		return jen.Op("&").Add(structLit(v.Elem(), dim, true))
	case reflect.Struct:
		return structLit(v, dim, true)
	case reflect.Slice, reflect.Array:
		return listLit(v, dim)
	}
	panic("codegen: no literal for " + v.Type().String())
}

func uintText(n uint64) string {
	if n < 1<<16 {
		return jen.Lit(int(n)).GoString()
	}
	const digits = "0123456789abcdef"
	var b []byte
	for ; n > 0; n >>= 4 {
		b = append([]byte{digits[n&15]}, b...)
	}
	return "0x" + string(b)
}

// Home returns the path of the package by which generated code names a type: what
// the families below kernel declare has the same name in kernel.
func Home(t reflect.Type) string {
	if strings.HasPrefix(t.PkgPath(), Root+"kernel/internal/") {
		return Root + "kernel"
	}
	return t.PkgPath()
}

// typeCode prints a Go type that values of literals have.
func typeCode(t reflect.Type) *jen.Statement {
	if t.PkgPath() != "" {
		return jen.Qual(Home(t), t.Name())
	}
	switch t.Kind() {
	case reflect.Slice:
		return jen.Index().Add(typeCode(t.Elem()))
	case reflect.Array:
		return jen.Index(jen.Lit(t.Len())).Add(typeCode(t.Elem()))
	case reflect.Pointer:
		return jen.Op("*").Add(typeCode(t.Elem()))
	}
	return jen.Id(t.Name())
}

// structLit prints a struct; inner list elements leave out the type (typed false).
func structLit(v reflect.Value, dim func(shape.Dim) jen.Code, typed bool) *jen.Statement {
	s := jen.Null()
	if typed {
		s = typeCode(v.Type())
	}
	return s.ValuesFunc(func(g *jen.Group) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && !isZero(v.Field(i)) {
				g.Id(f.Name).Op(":").Add(Literal(v.Field(i), dim))
			}
		}
	})
}

func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(v.Float()) == 0
	case reflect.Struct:
		if d, ok := v.Interface().(shape.Dims); ok {
			return d.Len() == 0
		}
		if d, ok := v.Interface().(shape.Dim); ok {
			return d.Is(0)
		}
	}
	return v.IsZero()
}

func listLit(v reflect.Value, dim func(shape.Dim) jen.Code) jen.Code {
	t := typeCode(v.Type())
	if v.Type().Elem().Kind() != reflect.Struct {
		return t.ValuesFunc(func(g *jen.Group) {
			for i := range v.Len() {
				g.Add(Literal(v.Index(i), dim))
			}
		})
	}
	// One struct a line: instruction lists stay readable.
	return t.CustomFunc(Multiline(), func(g *jen.Group) {
		for i := range v.Len() {
			g.Add(structLit(v.Index(i), dim, false))
		}
	})
}

// DType prints an element type.
func DType(d array.DType) jen.Code {
	if d == array.Invalid {
		return From("array", "Invalid")
	}
	name := strings.ToUpper(d.String())
	if d == array.Bool {
		name = "Bool"
	}
	return From("array", name)
}

// Elem returns the Go type of elements.
func Elem(d array.DType) *jen.Statement {
	switch d {
	case array.F32:
		return jen.Float32()
	case array.F64:
		return jen.Float64()
	case array.F16:
		return From("array", "Half")
	case array.BF16:
		return From("array", "BFloat")
	case array.Bool:
		return jen.Bool()
	}
	name := d.String()
	if name[0] == 'u' {
		return jen.Id("uint" + name[1:])
	}
	return jen.Id("int" + name[1:])
}

// OpcodeName returns the Go name of a scalar operation.
func OpcodeName(c kernel.Code) string {
	switch c {
	case kernel.OpFMA:
		return "OpFMA"
	case kernel.OpIsNaN:
		return "OpIsNaN"
	case kernel.OpFloorDiv:
		return "OpFloorDiv"
	case kernel.OpMulHi:
		return "OpMulHi"
	}
	name := c.String()
	return "Op" + strings.ToUpper(name[:1]) + name[1:]
}

func scalarLit(s op.Scalar) jen.Code {
	switch {
	case !s.Present():
		return From("op", "Scalar").Values()
	case s.IsFloat():
		return From("op", "Float").Call(Float(s.Float64()))
	case s.IsInt():
		return From("op", "Int").Call(jen.Lit(int(s.Int64())))
	}
	return From("op", "BoolScalar").Call(jen.Lit(s.Int64() != 0))
}

// Float prints a float so that it reads back with the same bits.
func Float(f float64) jen.Code {
	switch {
	case math.IsNaN(f) && math.Float64bits(f) != math.Float64bits(math.NaN()):
		return jen.Qual("math", "Float64frombits").Call(jen.Op(uintText(math.Float64bits(f))))
	case math.IsNaN(f):
		return jen.Qual("math", "NaN").Call()
	case math.IsInf(f, 0):
		sign := 1
		if f < 0 {
			sign = -1
		}
		return jen.Qual("math", "Inf").Call(jen.Lit(sign))
	case f == 0 && math.Signbit(f):
		return jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Lit(-1))
	}
	return jen.Lit(f)
}
