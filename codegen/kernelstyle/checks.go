package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

// checks prints the function that compares the inputs of a call with the model's
// types. First come element types, ranks and fixed sizes; where these hold, the
// symbols are read off the inputs, and every other size, and every guard, is
// compared with its value for them.
type checks struct {
	*pkg
	file *goFile
}

const fixedCheckText = `
// modelCheck compares the inputs with what the model takes.
func modelCheck(INPUTS) error {
	var c kernel.Checker
	TYPES
	return c.Err()
}
`

const symbolicCheckText = `
// modelCheck compares the inputs with what the model takes and finds the symbolic sizes.
func modelCheck(INPUTS) (SYMBOLS, err error) {
	defer kernel.Recover(&err)
	var c kernel.Checker
	TYPES
	if err := c.Err(); err != nil {
		return ZEROS, err
	}
	SIZES
	return NAMES, c.Err()
}
`

func (c *checks) print() {
	params := jen.Null()
	if len(c.inputs) > 0 {
		params = jen.List(ids(c.inputs)...).Add(arrayPointer())
	}
	if !c.symbolic() {
		c.file.template(fixedCheckText, c.with(map[string]any{"INPUTS": params, "TYPES": c.types()}))
		return
	}
	zeros := gosrc.Ints(make([]int, len(c.symbols)))
	c.file.template(symbolicCheckText, c.with(map[string]any{
		"INPUTS": params, "TYPES": c.types(), "SYMBOLS": jen.List(c.symbolParams()...), "ZEROS": jen.List(zeros...),
		"SIZES": c.inOrder(zeros), "NAMES": jen.List(ids(c.symbols)...),
	}))
}

// inOrder prints what follows the types: symbols, then relations, which tell what needs a size,
// then sizes, where no relation is broken.
func (c *checks) inOrder(zeros []jen.Code) []jen.Code {
	lines, guards, sizes := c.symbolLines(), c.guards(), c.sizeLines()
	if lines = append(lines, guards...); len(guards) > 0 && len(sizes) > 0 {
		failed := jen.Err().Op(":=").Id("c").Dot("Err").Call()
		lines = append(lines, jen.If(failed, jen.Err().Op("!=").Nil()).Block(jen.Return(append(slices.Clone(zeros), jen.Err())...)))
	}
	return append(lines, sizes...)
}

// types prints the comparison with element types, ranks and fixed sizes.
func (c *checks) types() []jen.Code {
	var lines []jen.Code
	for i, k := range c.Inputs {
		b := &c.Buffers[k]
		args := []jen.Code{gosrc.Quoted(c.InputName(i)), jen.Id(c.inputs[i]), gosrc.DType(b.Type.DType()), gosrc.Quoted(b.Type.String())}
		for _, d := range b.Type.Dims().Slice() {
			n, ok := d.Int()
			if !ok {
				n = -1
			}
			args = append(args, jen.Lit(n))
		}
		lines = append(lines, jen.Id("c").Dot("Input").Call(args...))
	}
	for i, k := range c.Inputs {
		if c.Buffers[k].Updated {
			others := slices.Delete(ids(c.inputs), i, i+1)
			lines = append(lines, jen.Id("c").Dot("Updated").Call(append([]jen.Code{gosrc.Quoted(c.InputName(i)), jen.Id(c.inputs[i])}, others...)...))
		}
	}
	return lines
}

// symbolLines prints what reads the symbols off the inputs.
func (c *checks) symbolLines() []jen.Code {
	var lines []jen.Code
	for i, x := range c.Symbols {
		lines = append(lines, jen.Id(c.symbols[i]).Op("=").Id(c.inputs[x.Input]).Dot("Dim").Call(jen.Lit(x.Axis)))
	}
	for _, x := range c.Same {
		lines = append(lines, jen.Id(c.vars[x.Name]).Op(":=").Id(c.inputs[x.Input]).Dot("Dim").Call(jen.Lit(x.Axis)))
	}
	return lines
}

// sizeLines prints what compares sizes with the symbols, where no relation is broken.
func (c *checks) sizeLines() []jen.Code {
	var lines []jen.Code
	compared := map[[2]int]bool{}
	for _, x := range slices.Concat(c.Symbols, c.Same) { // the relations compare those of Same
		compared[[2]int{x.Input, x.Axis}] = true
	}
	for i, k := range c.Inputs {
		b := &c.Buffers[k]
		for axis, d := range b.Type.Dims().Slice() {
			if _, fixed := d.Int(); !fixed && !compared[[2]int{i, axis}] {
				lines = append(lines, jen.Id("c").Dot("Size").Call(gosrc.Quoted(c.InputName(i)), jen.Id(c.inputs[i]), gosrc.Quoted(d.String()), jen.Lit(axis), c.dim(d)))
			}
		}
	}
	return lines
}

// guards prints the checks of relations between sizes.
func (c *checks) guards() []jen.Code {
	var lines []jen.Code
	for _, need := range c.Guards {
		rel := fromKernel(map[shape.Rel]string{shape.EQ: "Equal", shape.GE: "AtLeast", shape.MOD: "Multiple", shape.NE: "Other"}[need.Rel])
		head := []jen.Code{jen.Id("Rel").Op(":").Add(rel.Clone())}
		if need.Op != "" {
			head = append(head, jen.Id("Op").Op(":").Add(gosrc.Quoted(need.Op)))
		}
		input := jen.Nil()
		if all := append(need.A.Symbols(), need.B.Symbols()...); len(all) > 0 {
			s := c.symbolOf(all[0])
			input = c.argument(s.Input)
			head = append(head, jen.Id("Input").Op(":").Add(gosrc.Quoted(c.InputName(s.Input))))
		}
		claim := []jen.Code{jen.List(head...), jen.Id("A").Op(":").Add(c.side(need.A)), jen.Id("B").Op(":").Add(c.side(need.B))}
		lines = append(lines, jen.If(jen.Op("!").Add(rel).Dot("Holds").Call(c.dim(need.A), c.dim(need.B))).Block(
			jen.Id("c").Dot("Guard").Call(input, gosrc.Quoted(needText(need)), fromKernel("Claim").Custom(gosrc.Multiline(), claim...))))
	}
	return lines
}

// argument is the array of an input: a parameter, of a body a field.
func (c *checks) argument(i int) *jen.Statement {
	if c.body {
		return jen.Add(c.refs[c.Inputs[i]])
	}
	return jen.Id(c.inputs[i])
}

// side prints a side of a guard with the values of its symbols.
func (c *checks) side(d shape.Dim) *jen.Statement {
	fields := []jen.Code{jen.Id("Text").Op(":").Add(gosrc.Quoted(d.String())), jen.Id("Value").Op(":").Add(c.dim(d))}
	var sizes []jen.Code
	for _, name := range d.Symbols() {
		s := c.symbolOf(name)
		sizes = append(sizes, jen.Values(jen.Id("Symbol").Op(":").Add(gosrc.Quoted(name)), jen.Id("Value").Op(":").Id(c.vars[name]),
			jen.Id("Input").Op(":").Add(gosrc.Quoted(c.InputName(s.Input))), jen.Id("Axis").Op(":").Lit(s.Axis)))
	}
	if sizes != nil {
		fields = append(fields, jen.Id("Sizes").Op(":").Index().Add(fromKernel("SizeOf")).Values(sizes...))
	}
	return fromKernel("Side").Values(fields...)
}

func (c *checks) symbolOf(name string) guard.Symbol {
	for _, s := range slices.Concat(c.Symbols, c.Same) {
		if s.Name == name {
			return s
		}
	}
	return guard.Symbol{}
}

// needText tells where a guard comes from, without a line number, which would
// change with every edit above it.
func needText(x guard.Need) string {
	name := x.Pos.File[strings.LastIndexAny(x.Pos.File, "/\\")+1:]
	if name == "" {
		return ""
	}
	return "required in " + name
}
