package kernelstyle

import (
	"math"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/goname"
)

// literalFile prints the numbers of all tensors as Go variables, many on a line, and
// the function that finds one by name.
func (g *pkg) literalFile() *goFile {
	file := newFile(&g.opts, g.opts.File+"_data.go")
	find := g.prefix + "Literal"
	var data []jen.Code
	names := goname.NewSet()
	body := []jen.Code{jen.Switch(jen.Id("name")).BlockFunc(func(cases *jen.Group) {
		for _, tensor := range g.named() {
			name := g.top.Unique(g.prefix + "Data" + names.Upper(tensor.Name))
			// A nil shape would mean one dimension.
			shape := jen.Index().Int().Values(gosrc.Ints(tensor.Array.Shape())...).Op("...")
			cases.Case(gosrc.Quoted(tensor.Name)).Block(jen.Return(fromArray("FromSlice").Call(jen.Id(name), shape), jen.Nil()))
			data = append(data, jen.Var().Id(name).Op("=").Index().Add(gosrc.Elem(tensor.Array.DType())).Add(numbers(tensor.Array)))
		}
	}), jen.Return(jen.Nil(), jen.Nil())}
	if len(g.weights) == 0 {
		body = body[1:]
	}
	file.declare(find+" returns a tensor over the numbers below, nil for names that the model lacks.", len(body)+2,
		jen.Func().Id(find).Params(jen.Id("name").String()).Params(arrayPointer(), jen.Error()).Block(body...))
	for _, d := range data {
		file.Line()
		file.Add(d)
	}
	return file
}

// numbers prints the elements of an array so that they read back bit by bit,
// many on a line.
func numbers(a *array.Array) jen.Code {
	return jen.CustomFunc(gosrc.Multiline(), func(lines *jen.Group) {
		var line []jen.Code
		width := 0
		for i := range a.Len() {
			e, n := element(a, i)
			if width += n + 2; width > 100 {
				lines.Add(jen.List(line...))
				line, width = nil, n+2
			}
			line = append(line, e)
		}
		if len(line) > 0 {
			lines.Add(jen.List(line...))
		}
	})
}

// element prints one element, and returns about how long it is.
func element(values *array.Array, index int) (jen.Code, int) {
	text := ""
	switch values.DType() {
	case array.F32:
		f := array.Data[float32](values)[index]
		if special(float64(f)) {
			return jen.Qual("math", "Float32frombits").Call(jen.Op("0x" + strconv.FormatUint(uint64(math.Float32bits(f)), 16))), 32
		}
		text = strconv.FormatFloat(float64(f), 'g', -1, 32)
	case array.F64:
		f := array.Data[float64](values)[index]
		if special(f) {
			return jen.Qual("math", "Float64frombits").Call(jen.Op("0x" + strconv.FormatUint(math.Float64bits(f), 16))), 40
		}
		text = strconv.FormatFloat(f, 'g', -1, 64)
	case array.F16:
		text = "0x" + strconv.FormatUint(uint64(array.Data[array.Half](values)[index]), 16)
	case array.BF16:
		text = "0x" + strconv.FormatUint(uint64(array.Data[array.BFloat](values)[index]), 16)
	case array.U64:
		text = strconv.FormatUint(array.Data[uint64](values)[index], 10)
	case array.Bool:
		text = strconv.FormatBool(array.Int64At(values, index) != 0)
	default:
		if values.DType().IsNarrowFloat() {
			text = "0x" + strconv.FormatUint(uint64(array.Bytes(values)[index]), 16)
			break
		}
		text = strconv.FormatInt(array.Int64At(values, index), 10)
	}
	return jen.Op(text), len(text)
}

// special reports whether no decimal literal has the bits of f.
func special(f float64) bool {
	return f != f || math.IsInf(f, 0) || f == 0 && math.Signbit(f)
}
