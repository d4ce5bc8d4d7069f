package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/lowering/plan"
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
		"SIZES": append(c.sizeLines(), c.guards()...), "NAMES": jen.List(ids(c.symbols)...),
	}))
}

// types prints the comparison with element types, ranks and fixed sizes.
func (c *checks) types() []jen.Code {
	var lines []jen.Code
	for i, k := range c.Inputs {
		b := &c.Buffers[k]
		args := []jen.Code{gosrc.Quoted(b.Name), jen.Id(c.inputs[i]), gosrc.DType(b.Type.DType()), gosrc.Quoted(b.Type.String())}
		for _, d := range b.Type.Dims().Slice() {
			n, ok := d.Int()
			if !ok {
				n = -1
			}
			args = append(args, jen.Lit(n))
		}
		lines = append(lines, jen.Id("c").Dot("Input").Call(args...))
	}
	return lines
}

// sizeLines prints the code that binds the symbols and compares sizes with them.
func (c *checks) sizeLines() []jen.Code {
	var lines []jen.Code
	defines := map[[2]int]bool{}
	for i, x := range c.Symbols {
		lines = append(lines, jen.Id(c.symbols[i]).Op("=").Id(c.inputs[x.Input]).Dot("Dim").Call(jen.Lit(x.Axis)))
		defines[[2]int{x.Input, x.Axis}] = true
	}
	for _, x := range c.Same {
		lines = append(lines, jen.Id(c.vars[x.Name]).Op(":=").Id(c.inputs[x.Input]).Dot("Dim").Call(jen.Lit(x.Axis)))
		defines[[2]int{x.Input, x.Axis}] = true // the guards compare it
	}
	for i, k := range c.Inputs {
		b := &c.Buffers[k]
		for axis, d := range b.Type.Dims().Slice() {
			if _, fixed := d.Int(); !fixed && !defines[[2]int{i, axis}] {
				lines = append(lines, jen.Id("c").Dot("Size").Call(gosrc.Quoted(b.Name), jen.Id(c.inputs[i]), gosrc.Quoted(b.Type.String()), jen.Lit(axis), c.dim(d)))
			}
		}
	}
	return lines
}

// guards prints the checks of relations between sizes.
func (c *checks) guards() []jen.Code {
	var lines []jen.Code
	for _, guard := range c.Guards {
		rel := fromKernel(map[shape.Rel]string{shape.EQ: "Equal", shape.GE: "AtLeast", shape.MOD: "Multiple", shape.NE: "Other"}[guard.Rel])
		head := []jen.Code{jen.Id("Rel").Op(":").Add(rel.Clone())}
		if guard.Op != "" {
			head = append(head, jen.Id("Op").Op(":").Add(gosrc.Quoted(guard.Op)))
		}
		input := jen.Nil()
		if all := append(guard.A.Symbols(), guard.B.Symbols()...); len(all) > 0 {
			s := c.symbolOf(all[0])
			input = c.argument(s.Input)
			head = append(head, jen.Id("Input").Op(":").Add(gosrc.Quoted(c.Buffers[c.Inputs[s.Input]].Name)))
		}
		claim := []jen.Code{jen.List(head...), jen.Id("A").Op(":").Add(c.side(guard.A)), jen.Id("B").Op(":").Add(c.side(guard.B))}
		lines = append(lines, jen.If(jen.Op("!").Add(rel).Dot("Holds").Call(c.dim(guard.A), c.dim(guard.B))).Block(
			jen.Id("c").Dot("Guard").Call(input, gosrc.Quoted(guardText(guard)), fromKernel("Claim").Custom(gosrc.Multiline(), claim...))))
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
			jen.Id("Input").Op(":").Add(gosrc.Quoted(c.Buffers[c.Inputs[s.Input]].Name)), jen.Id("Axis").Op(":").Lit(s.Axis)))
	}
	if sizes != nil {
		fields = append(fields, jen.Id("Sizes").Op(":").Index().Add(fromKernel("SizeOf")).Values(sizes...))
	}
	return fromKernel("Side").Values(fields...)
}

func (c *checks) symbolOf(name string) plan.Symbol {
	for _, s := range slices.Concat(c.Symbols, c.Same) {
		if s.Name == name {
			return s
		}
	}
	return plan.Symbol{}
}

// guardText tells where a guard comes from, without a line number, which would
// change with every edit above it.
func guardText(x plan.Guard) string {
	name := x.Text[strings.LastIndexAny(x.Text, "/\\")+1:]
	name, _, _ = strings.Cut(name, ":")
	if name == "" {
		return ""
	}
	return "required in " + name
}
