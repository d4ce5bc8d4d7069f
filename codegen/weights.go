package codegen

import (
	"bytes"
	"math"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/internal/goname"
)

// weightsName returns the name of the file with the weights.
func (g *kernelGen) weightsName() string {
	if g.file == "model" {
		return "weights.safetensors"
	}
	return g.file + "_weights.safetensors"
}

func (g *kernelGen) named() []safetensors.Named {
	list := make([]safetensors.Named, len(g.weights))
	for i, w := range g.weights {
		list[i] = safetensors.Named{Name: w.path, Array: w.array}
	}
	return list
}

// weightData returns the file of weights, with checksums; it depends on names and
// data alone.
func (g *kernelGen) weightData() ([]byte, error) {
	var b bytes.Buffer
	err := safetensors.Write(&b, g.named(), safetensors.Checksums(g.named()))
	return b.Bytes(), err
}

// weightFiles prints the struct of weights and what fills it.
func (g *kernelGen) weightFiles() []*goFile {
	files := &goFiles{g: g, base: g.file + "_weights"}
	schema, name := g.prefix+"Schema", g.prefix+"Weights"
	files.declare(schema+" is the hash of names, types and shapes of the weights.", 1,
		jen.Const().Id(schema).Op("=").Op("0x"+strconv.FormatUint(safetensors.SchemaHash(g.named()), 16)))
	var fields []string
	var lines []jen.Code
	for _, w := range g.weights {
		if !w.block {
			fields = append(fields, w.field)
			lines = append(lines, bindLine(jen.Id("w").Dot(w.field), quoted(w.path), w.array))
		}
	}
	list := structFields(fields, arrayPointer())
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			list = append(list, jen.Id(b.field).Index(jen.Lit(len(b.insts))).Id(b.weightsType()))
			lines = append(lines, b.bindCall())
		}
	}
	files.declare(name+" are the tensors of the model. They do not change.", len(list)+2, jen.Type().Id(name).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		bind := numbered("bind", i)
		return bind + " takes tensors from l.", jen.Func().Params(g.weightsParam()).Id(bind).Params(loaderParam())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l")) })
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			b.printWeights(files)
		}
	}
	if g.o.Weights == WeightsLiteral {
		files.list = append(files.list, g.literalFile())
	}
	return files.list
}

func loaderParam() *jen.Statement { return jen.Id("l").Op("*").Add(fromSafetensors("Loader")) }

// bindLine prints the request for one tensor.
func bindLine(target, name jen.Code, a *array.Array) jen.Code {
	args := []jen.Code{jen.Op("&").Add(target), name, dtypeLit(a.DType())}
	for _, n := range a.Shape() {
		args = append(args, jen.Lit(n))
	}
	return jen.Id("l").Dot("Tensor").Call(args...)
}

// goElem returns the Go type of elements.
func goElem(d array.DType) *jen.Statement {
	switch d {
	case array.F32:
		return jen.Float32()
	case array.F64:
		return jen.Float64()
	case array.F16:
		return fromArray("Half")
	case array.BF16:
		return fromArray("BFloat")
	case array.Bool:
		return jen.Bool()
	}
	name := d.String()
	if name[0] == 'u' {
		return jen.Id("uint" + name[1:])
	}
	return jen.Id("int" + name[1:])
}

// literalFile prints the numbers of all tensors.
func (g *kernelGen) literalFile() *goFile {
	s := g.newFile(g.file + "_data.go")
	find := g.prefix + "Literal"
	var data []jen.Code
	names := goname.NewSet()
	body := []jen.Code{jen.Switch(jen.Id("name")).BlockFunc(func(cases *jen.Group) {
		for _, w := range g.weights {
			name := g.top.Unique(g.prefix + "Data" + goname.Upper(names.Lower(w.path)))
			var dims []jen.Code
			for _, n := range w.array.Shape() {
				dims = append(dims, jen.Lit(n))
			}
			// A nil shape would mean one dimension.
			shape := jen.Index().Int().Values(dims...).Op("...")
			cases.Case(quoted(w.path)).Block(jen.Return(fromArray("FromSlice").Call(jen.Id(name), shape), jen.Nil()))
			data = append(data, jen.Var().Id(name).Op("=").Index().Add(goElem(w.array.DType())).Add(numbers(w.array)))
		}
	}), jen.Return(jen.Nil(), jen.Nil())}
	if len(g.weights) == 0 {
		body = body[1:]
	}
	s.declare(find+" returns a tensor over the numbers below, nil for names that the model lacks.", len(body)+2,
		jen.Func().Id(find).Params(jen.Id("name").String()).Params(arrayPointer(), jen.Error()).Block(body...))
	for _, d := range data {
		s.Line()
		s.Add(d)
	}
	return s
}

// numbers prints the elements of an array so that they read back bit by bit,
// many on a line.
func numbers(a *array.Array) jen.Code {
	return jen.CustomFunc(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, func(lines *jen.Group) {
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
func element(a *array.Array, i int) (jen.Code, int) {
	text := ""
	switch a.DType() {
	case array.F32:
		f := array.Data[float32](a)[i]
		if special(float64(f)) {
			return jen.Qual("math", "Float32frombits").Call(jen.Op("0x" + strconv.FormatUint(uint64(math.Float32bits(f)), 16))), 32
		}
		text = strconv.FormatFloat(float64(f), 'g', -1, 32)
	case array.F64:
		f := array.Data[float64](a)[i]
		if special(f) {
			return jen.Qual("math", "Float64frombits").Call(jen.Op("0x" + strconv.FormatUint(math.Float64bits(f), 16))), 40
		}
		text = strconv.FormatFloat(f, 'g', -1, 64)
	case array.F16:
		text = "0x" + strconv.FormatUint(uint64(array.Data[array.Half](a)[i]), 16)
	case array.BF16:
		text = "0x" + strconv.FormatUint(uint64(array.Data[array.BFloat](a)[i]), 16)
	case array.U64:
		text = strconv.FormatUint(array.Data[uint64](a)[i], 10)
	case array.Bool:
		text = strconv.FormatBool(array.Int64At(a, i) != 0)
	default:
		text = strconv.FormatInt(array.Int64At(a, i), 10)
	}
	return jen.Op(text), len(text)
}

// special reports whether no decimal literal has the bits of f.
func special(f float64) bool {
	return f != f || math.IsInf(f, 0) || f == 0 && math.Signbit(f)
}
