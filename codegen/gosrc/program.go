package gosrc

import (
	"math"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// instrWidth is about how long lines of instructions are.
const instrWidth = 170

// instrs prints instructions, several on a line: the formula above the program
// explains them, and each constant has its number after its bits.
func instrs(list []kernel.Instr) *jen.Statement {
	return jen.Index().Qual(Root+"kernel", "Instr").CustomFunc(Multiline(), func(lines *jen.Group) {
		var line []jen.Code
		width := 0
		for i := range list {
			code := instr(&list[i])
			n := len(jen.Id("x").Add(code).GoString()) + 1
			if width += n; width > instrWidth && len(line) > 0 {
				lines.Add(jen.List(line...))
				line, width = nil, n
			}
			line = append(line, code)
		}
		lines.Add(jen.List(line...))
	})
}

// instr prints one instruction without its type.
func instr(in *kernel.Instr) *jen.Statement {
	return jen.ValuesFunc(func(g *jen.Group) {
		field := func(name string, code jen.Code) { g.Id(name).Op(":").Add(code) }
		field("Op", From("kernel", OpcodeName(in.Op)))
		field("DType", DType(in.DType))
		if in.From != array.Invalid {
			field("From", DType(in.From))
		}
		for i, r := range [4]uint16{in.Dst, in.A, in.B, in.C} {
			if r != 0 {
				field([4]string{"Dst", "A", "B", "C"}[i], jen.Lit(int(r)))
			}
		}
		switch {
		case in.Op == kernel.OpConst && (in.DType.IsFloat() || in.DType.IsNarrowFloat()):
			field("Imm", jen.Op(uintText(in.Imm)+" /* "+constant(in)+" */"))
		case in.Imm != 0:
			field("Imm", jen.Op(uintText(in.Imm)))
		}
	})
}

// longFormula is the longest formula that is printed whole.
const longFormula = 200

// Formula says on one line what a program computes: "x / (1 + exp(-x))". x is the
// element of a single input; a, b and so on are those of several; i is the number of
// the element. A term that is used more than once comes first: "t = tanh(a + b); t -
// t*t".
func Formula(p *kernel.Program) string {
	f := formula{p: p, at: map[register]int{}, outs: make([]int, len(p.Outputs))}
	for _, list := range [2][]kernel.Instr{p.Consts, p.Code} {
		for i := range list {
			f.take(&list[i])
		}
	}
	var results []string
	for _, out := range f.outs {
		results = append(results, f.text(out, 0))
	}
	text := strings.Join(append(f.shared, strings.Join(results, ", ")), "; ")
	if r := []rune(text); len(r) > longFormula {
		text = string(r[:longFormula]) + "…"
	}
	return text
}

// register is a place of the machine that runs programs.
type register struct {
	class kernel.RegClass
	index uint16
}

// term is the result of an instruction; args are earlier terms.
type term struct {
	in   *kernel.Instr
	args []int
	uses int
	name string // once it has been said
}

type formula struct {
	p      *kernel.Program
	terms  []term
	at     map[register]int // the term that a register holds
	outs   []int
	shared []string
}

// take adds an instruction.
func (f *formula) take(in *kernel.Instr) {
	from := in.From
	if from == array.Invalid {
		from = in.DType
	}
	t := term{in: in}
	operands := [3]uint16{in.A, in.B, in.C}
	for i, r := range operands[:in.Op.Info().Arity] {
		class := kernel.RegClassOf(from)
		if in.Op == kernel.OpSelect && i == 0 {
			class = kernel.RegI64
		}
		arg := f.at[register{class, r}]
		f.terms[arg].uses++
		t.args = append(t.args, arg)
	}
	if in.Op == kernel.OpOutput {
		f.outs[in.Imm] = t.args[0]
		return
	}
	f.terms = append(f.terms, t)
	f.at[register{kernel.RegClassOf(in.DType), in.Dst}] = len(f.terms) - 1
}

// tightest is how tightly a sign binds, bits operations on bits, of which languages
// think differently: their operands stand in parentheses.
const tightest, bits = 6, 1

// infix are the operations that are written between their operands, and how tightly
// they bind.
var infix = map[kernel.Code]struct {
	text  string
	binds int
}{
	kernel.OpOr: {" | ", bits}, kernel.OpXor: {" ^ ", bits}, kernel.OpAnd: {" & ", bits}, kernel.OpShl: {" << ", bits}, kernel.OpShr: {" >> ", bits},
	kernel.OpEq: {" == ", 3}, kernel.OpNe: {" != ", 3}, kernel.OpLt: {" < ", 3}, kernel.OpLe: {" <= ", 3}, kernel.OpGt: {" > ", 3}, kernel.OpGe: {" >= ", 3},
	kernel.OpAdd: {" + ", 4}, kernel.OpSub: {" - ", 4}, kernel.OpMul: {"*", 5}, kernel.OpDiv: {"/", 5},
}

// text writes a term for a place that binds so tightly.
func (f *formula) text(at, binds int) string {
	t := &f.terms[at]
	switch t.in.Op {
	case kernel.OpInput:
		return f.input(t.in.Imm)
	case kernel.OpConst:
		return constant(t.in)
	case kernel.OpIndex:
		return "i"
	case kernel.OpCoord:
		return "coord(" + strconv.FormatInt(int64(t.in.Imm), 10) + ")"
	}
	if t.name != "" {
		return t.name
	}
	if t.uses > 1 {
		text := f.whole(t, 0)
		t.name = "t"
		if n := len(f.shared); n > 0 {
			t.name += strconv.Itoa(n + 1)
		}
		f.shared = append(f.shared, t.name+" = "+text)
		return t.name
	}
	return f.whole(t, binds)
}

// whole writes a term without a name.
func (f *formula) whole(t *term, binds int) string {
	if op, ok := infix[t.in.Op]; ok {
		left, right := op.binds, op.binds+1
		if op.binds == bits {
			left, right = tightest, tightest
		}
		text := f.text(t.args[0], left) + op.text + f.text(t.args[1], right)
		if op.binds < binds {
			text = "(" + text + ")"
		}
		return text
	}
	var args []string
	for _, a := range t.args {
		args = append(args, f.text(a, 0))
	}
	name := t.in.Op.String()
	switch t.in.Op {
	case kernel.OpNeg:
		return "-" + f.text(t.args[0], tightest)
	case kernel.OpCast:
		name = t.in.DType.String() + rounding(array.Rounding(t.in.Imm))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// rounding names a cast to a float of 8 bits in a formula.
func rounding(r array.Rounding) (s string) {
	if r&array.Unsaturated != 0 {
		s = "_unsaturated"
	}
	switch {
	case r&array.RoundDown != 0:
		s += "_down"
	case r&array.RoundNearest != 0:
		s += "_nearest"
	}
	return s
}

func (f *formula) input(i uint64) string {
	switch {
	case len(f.p.Inputs) == 1:
		return "x"
	case len(f.p.Inputs) <= 8:
		return string(rune('a' + i))
	}
	return "x" + strconv.FormatUint(i, 10)
}

// constant is a constant in the shortest form that reads back the same.
func constant(in *kernel.Instr) string {
	value, size := 0.0, 32
	switch in.DType {
	case array.F64:
		value, size = math.Float64frombits(in.Imm), 64
	case array.F32:
		value = float64(math.Float32frombits(uint32(in.Imm)))
	case array.F16:
		value = float64(array.Half(in.Imm).Float32())
	case array.BF16:
		value = float64(array.BFloat(in.Imm).Float32())
	case array.Bool:
		return strconv.FormatBool(in.Imm != 0)
	case array.U64:
		return strconv.FormatUint(in.Imm, 10)
	default:
		if !in.DType.IsNarrowFloat() {
			return strconv.FormatInt(int64(in.Imm), 10)
		}
		value = float64(array.NarrowFloats(in.DType)[uint8(in.Imm)])
	}
	return strconv.FormatFloat(value, 'g', -1, size)
}
