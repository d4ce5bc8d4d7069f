package gosrc

import (
	"math"
	"reflect"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Holes print the parts that only the code around a literal can print.
type Holes struct {
	Dim     func(shape.Dim) jen.Code             // a size as a shape.Dim
	Size    func(shape.Dim) jen.Code             // a size as an int or a tensor.Size
	Program func(*kernel.Program) *jen.Statement // a pointer to a program; nil for its literal
}

// Literal prints a Go value as an expression: numbers, strings, slices, structs
// and pointers to structs of exported fields (fields at their zero value are left
// out), interfaces that hold one of these, and the value types of attributes.
func Literal(value reflect.Value, h Holes) jen.Code {
	switch typed := value.Interface().(type) {
	case array.DType:
		return DType(typed)
	case kernel.Code:
		return From("kernel", OpcodeName(typed))
	case kernel.Activation:
		return From("kernel", "Act"+typed.String())
	case kernel.ConvWay:
		return From("kernel", "Conv"+typed.String())
	case op.Ints:
		if typed.Len() == 0 {
			return From("op", "Ints").Values()
		}
		return From("tensor", "Ints").CallFunc(func(g *jen.Group) {
			for _, n := range typed.Slice() {
				g.Lit(n)
			}
		})
	case op.Floats:
		return From("tensor", "Floats").CallFunc(func(g *jen.Group) {
			for _, f := range typed.Slice() {
				g.Add(Float(f))
			}
		})
	case op.Scalar:
		return scalarLit(typed)
	case []kernel.Instr:
		return instrs(typed)
	case *kernel.Program:
		if h.Program != nil {
			return h.Program(typed)
		}
	case shape.Dim:
		return h.Dim(typed)
	case shape.Dims:
		return From("tensor", "Sizes").CallFunc(func(g *jen.Group) {
			for _, d := range typed.Slice() {
				g.Add(h.Size(d))
			}
		})
	}
	switch value.Kind() {
	case reflect.Bool:
		return jen.Lit(value.Bool())
	case reflect.Int:
		return jen.Lit(int(value.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return jen.Op(uintText(value.Uint()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return jen.Lit(int(value.Int()))
	case reflect.Float64:
		return Float(value.Float())
	case reflect.Float32:
		return Float32(float32(value.Float()))
	case reflect.String:
		return jen.Lit(value.String())
	case reflect.Interface:
		return held(value.Elem(), h)
	case reflect.Pointer:
		return jen.Op("&").Add(structLit(value.Elem(), h, true))
	case reflect.Struct:
		return structLit(value, h, true)
	case reflect.Slice, reflect.Array:
		return listLit(value, h)
	}
	panic("codegen: no literal for " + value.Type().String())
}

// held prints the value in an interface. A bare number would get a type of its own
// there.
func held(value reflect.Value, h Holes) jen.Code {
	literal := Literal(value, h)
	switch value.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint, reflect.Float32:
		return typeCode(value.Type()).Call(literal)
	case reflect.Int, reflect.Float64, reflect.Bool, reflect.String:
		if value.Type().PkgPath() != "" {
			return typeCode(value.Type()).Call(literal)
		}
	}
	return literal
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

// Home returns the path of the package by which generated code names a type:
// declarations of the families below kernel have the same names in kernel, and the
// attributes of op/std have them in tensor.
func Home(t reflect.Type) string {
	switch path := t.PkgPath(); {
	case strings.HasPrefix(path, Root+"kernel/internal/"):
		return Root + "kernel"
	case path == Root+"op/std":
		return Root + "tensor"
	default:
		return path
	}
}

// typeCode prints a Go type that values of literals have.
func typeCode(typ reflect.Type) *jen.Statement {
	if typ.PkgPath() != "" {
		return jen.Qual(Home(typ), typ.Name())
	}
	switch typ.Kind() {
	case reflect.Slice:
		return jen.Index().Add(typeCode(typ.Elem()))
	case reflect.Array:
		return jen.Index(jen.Lit(typ.Len())).Add(typeCode(typ.Elem()))
	case reflect.Pointer:
		return jen.Op("*").Add(typeCode(typ.Elem()))
	}
	return jen.Id(typ.Name())
}

// structLit prints a struct; inner list elements leave out the type (typed false).
func structLit(v reflect.Value, h Holes, typed bool) *jen.Statement {
	s := jen.Null()
	if typed {
		s = typeCode(v.Type())
	}
	return s.Values(fields(v, h)...)
}

// Fieldwise prints a struct with one field on a line.
func Fieldwise(v reflect.Value, h Holes) *jen.Statement {
	return typeCode(v.Type()).Custom(Multiline(), fields(v, h)...)
}

// fields are the exported fields of a struct that are not zero.
func fields(v reflect.Value, h Holes) (list []jen.Code) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !isZero(v.Field(i)) {
			list = append(list, jen.Id(f.Name).Op(":").Add(Literal(v.Field(i), h)))
		}
	}
	return list
}

func isZero(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice:
		return value.Len() == 0
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(value.Float()) == 0
	case reflect.Struct:
		if value.CanInterface() {
			switch d := value.Interface().(type) {
			case shape.Dims:
				return d.Len() == 0
			case shape.Dim:
				return d.Is(0)
			}
		}
		for i := range value.NumField() { // IsZero takes -0 for 0
			if !isZero(value.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range value.Len() {
			if !isZero(value.Index(i)) {
				return false
			}
		}
		return true
	}
	return value.IsZero()
}

func listLit(value reflect.Value, h Holes) jen.Code {
	t := typeCode(value.Type())
	if value.Type().Elem().Kind() != reflect.Struct {
		return t.ValuesFunc(func(g *jen.Group) {
			for i := range value.Len() {
				g.Add(Literal(value.Index(i), h))
			}
		})
	}
	return t.CustomFunc(Multiline(), func(g *jen.Group) {
		for i := range value.Len() {
			g.Add(structLit(value.Index(i), h, false))
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

// narrowElems are the Go types of elements that only hold values.
var narrowElems = map[array.DType]string{
	array.F8E4M3FN: "Float8E4M3FN", array.F8E4M3FNUZ: "Float8E4M3FNUZ", array.F8E5M2: "Float8E5M2", array.F8E5M2FNUZ: "Float8E5M2FNUZ",
	array.F8E8M0FNU: "Float8E8M0FNU", array.F4E2M1FN: "Float4E2M1FN",
	array.I4: "Int4", array.U4: "Uint4", array.I2: "Int2", array.U2: "Uint2",
}

// ElemName returns the Go type of elements; qualified says that it is one of package
// array.
func ElemName(dtype array.DType) (name string, qualified bool) {
	switch dtype {
	case array.F16:
		return "Half", true
	case array.BF16:
		return "BFloat", true
	case array.Bool:
		return "bool", false
	}
	if name := narrowElems[dtype]; name != "" {
		return name, true
	}
	name = dtype.String()
	return map[byte]string{'f': "float", 'i': "int", 'u': "uint"}[name[0]] + name[1:], false
}

// Elem returns the Go type of elements.
func Elem(dtype array.DType) *jen.Statement {
	name, qualified := ElemName(dtype)
	if qualified {
		return From("array", name)
	}
	return jen.Id(name)
}

// opcodeNames has the Go names of scalar operations that are not Op and their own name.
var opcodeNames = expr.Forms[string]{
	kernel.OpFMA: "OpFMA", kernel.OpIsNaN: "OpIsNaN", kernel.OpFloorDiv: "OpFloorDiv", kernel.OpMulHi: "OpMulHi",
}

// OpcodeName returns the Go name of a scalar operation.
func OpcodeName(code kernel.Code) string {
	if name := opcodeNames[code]; name != "" {
		return name
	}
	name := code.String()
	return "Op" + strings.ToUpper(name[:1]) + name[1:]
}

func scalarLit(s op.Scalar) jen.Code {
	switch {
	case !s.Present():
		return From("op", "Scalar").Values()
	case s.IsFloat():
		return From("tensor", "Number").Call(Float(s.Float64()))
	case s.IsInt():
		return From("tensor", "Number").Call(jen.Lit(int(s.Int64())))
	}
	return From("tensor", "Number").Call(jen.Lit(s.Int64() != 0))
}

// Float32 prints a float32 so that it reads back with the same bits: package math has
// float64s only.
func Float32(number float32) jen.Code {
	wide := float64(number)
	switch {
	case math.IsInf(wide, 0):
		return jen.Float32().Call(Float(wide))
	case wide != wide || wide == 0 && math.Signbit(wide):
		return jen.Qual("math", "Float32frombits").Call(jen.Op(uintText(uint64(math.Float32bits(number)))))
	}
	return jen.Lit(wide)
}

// Float prints a float so that it reads back with the same bits.
func Float(number float64) jen.Code {
	switch {
	case math.IsNaN(number) && math.Float64bits(number) != math.Float64bits(math.NaN()):
		return jen.Qual("math", "Float64frombits").Call(jen.Op(uintText(math.Float64bits(number))))
	case math.IsNaN(number):
		return jen.Qual("math", "NaN").Call()
	case math.IsInf(number, 0):
		sign := 1
		if number < 0 {
			sign = -1
		}
		return jen.Qual("math", "Inf").Call(jen.Lit(sign))
	case number == 0 && math.Signbit(number):
		return jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Lit(-1))
	}
	return jen.Lit(number)
}
