package codegen

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
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

// weightData returns the file of weights; it depends on names and data alone.
func (g *kernelGen) weightData() ([]byte, error) {
	var b bytes.Buffer
	err := safetensors.Write(&b, g.named(), nil)
	return b.Bytes(), err
}

// weightFiles prints the struct of weights and what fills it.
func (g *kernelGen) weightFiles() []*goFile {
	files := &goFiles{base: g.file + "_weights"}
	s := files.next()
	pfx := g.prefix
	s.p("// ", pfx, "Schema is the hash of names, types and shapes of the weights.")
	s.p("const ", pfx, "Schema = 0x", strconv.FormatUint(safetensors.SchemaHash(g.named()), 16))
	s.p()
	s.p("// ", pfx, "Weights are the tensors of the model. They do not change.")
	s.p("type ", pfx, "Weights struct {")
	var fields, lines []string
	for _, w := range g.weights {
		if !w.block {
			fields = append(fields, w.field)
			lines = append(lines, bindLine("w."+w.field, strconv.QuoteToASCII(w.path), w.array))
		}
	}
	writeFields(s, fields, "*array.Array")
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			s.p(b.field, " [", strconv.Itoa(len(b.insts)), "]", b.weightsType())
			lines = append(lines, b.bindCall())
		}
	}
	s.p("}")
	s.p()
	files.function(lines, func(i int) string {
		name := numbered("bind", i)
		return "// " + name + " takes tensors from l.\nfunc (w *" + pfx + "Weights) " + name + "(l *" + pfx + "Loader) {"
	}, func(i int) string { return "w." + numbered("bind", i) + "(l)" })
	for _, b := range g.blocks {
		if len(b.weights) > 0 {
			b.printWeights(g, files)
		}
	}
	if g.o.Weights == WeightsLiteral {
		files.list = append(files.list, g.literalFile())
	}
	return files.list
}

// bindLine prints the request for one tensor; name is a Go expression.
func bindLine(target, name string, a *array.Array) string {
	line := "l.tensor(&" + target + ", " + name + ", " + dtypeText(a.DType())
	for _, n := range a.Shape() {
		line += ", " + strconv.Itoa(n)
	}
	return line + ")"
}

func dtypeText(d array.DType) string {
	if d == array.Bool {
		return "array.Bool"
	}
	return "array." + strings.ToUpper(d.String())
}

// goElem returns the Go type of elements.
func goElem(d array.DType) string {
	switch d {
	case array.F32:
		return "float32"
	case array.F64:
		return "float64"
	case array.F16:
		return "array.Half"
	case array.BF16:
		return "array.BFloat"
	case array.Bool:
		return "bool"
	}
	name := d.String()
	if name[0] == 'u' {
		return "uint" + name[1:]
	}
	return "int" + name[1:]
}

// writeFields prints struct fields of one type, several on a line.
func writeFields(s *goFile, fields []string, typ string) {
	for len(fields) > 0 {
		line := fields[0]
		n := 1
		for n < len(fields) && len(line)+len(fields[n]) < 90 {
			line += ", " + fields[n]
			n++
		}
		s.p("\t", line, " ", typ)
		fields = fields[n:]
	}
}

// literalFile prints the numbers of all tensors.
func (g *kernelGen) literalFile() *goFile {
	s := &goFile{name: g.file + "_data.go"}
	pfx := g.prefix
	s.p("// ", pfx, "Literal returns a tensor over the numbers below, nil for names that the model lacks.")
	s.p("func ", pfx, "Literal(name string) (*array.Array, error) {")
	if len(g.weights) > 0 {
		s.p("switch name {")
	}
	var data []string
	names := newNames()
	for _, w := range g.weights {
		name := g.top.add(pfx + "Data" + exported(names.add(camel(w.path))))
		s.p("case ", strconv.QuoteToASCII(w.path), ":")
		// A nil shape would mean one dimension.
		shape := ", []int{" + ints(w.array.Shape()) + "}..."
		s.p("return array.FromSlice(", name, shape, "), nil")
		data = append(data, "var "+name+" = "+elementsText(w.array))
	}
	if len(g.weights) > 0 {
		s.p("}")
	}
	s.p("return nil, nil")
	s.p("}")
	for _, d := range data {
		s.p()
		s.p(d)
	}
	return s
}

func ints(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ")
}

// elementsText prints the elements of an array as a slice that reads back bit by bit.
func elementsText(a *array.Array) string {
	n := a.Len()
	var b strings.Builder
	b.WriteString("[]" + goElem(a.DType()) + "{\n")
	width := 0
	for i := range n {
		t := elementText(a, i)
		if width += len(t) + 2; width > 100 {
			b.WriteString("\n")
			width = len(t) + 2
		}
		b.WriteString(t + ", ")
	}
	if n > 0 {
		b.WriteString("\n")
	}
	b.WriteString("}")
	return b.String()
}

func elementText(a *array.Array, i int) string {
	switch a.DType() {
	case array.F32:
		f := array.Data[float32](a)[i]
		if special(float64(f)) {
			return "math.Float32frombits(0x" + strconv.FormatUint(uint64(math.Float32bits(f)), 16) + ")"
		}
		return strconv.FormatFloat(float64(f), 'g', -1, 32)
	case array.F64:
		f := array.Data[float64](a)[i]
		if special(f) {
			return "math.Float64frombits(0x" + strconv.FormatUint(math.Float64bits(f), 16) + ")"
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case array.F16:
		return "0x" + strconv.FormatUint(uint64(array.Data[array.Half](a)[i]), 16)
	case array.BF16:
		return "0x" + strconv.FormatUint(uint64(array.Data[array.BFloat](a)[i]), 16)
	case array.U64:
		return strconv.FormatUint(array.Data[uint64](a)[i], 10)
	case array.Bool:
		return strconv.FormatBool(array.Int64At(a, i) != 0)
	}
	return strconv.FormatInt(array.Int64At(a, i), 10)
}

// special reports whether no decimal literal has the bits of f.
func special(f float64) bool {
	return f != f || math.IsInf(f, 0) || f == 0 && math.Signbit(f)
}
