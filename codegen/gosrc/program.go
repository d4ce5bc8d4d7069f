package gosrc

import (
	"math"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
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
			field("Imm", jen.Op(uintText(in.Imm)+" /* "+constant(in.DType, in.Imm)+" */"))
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
	g := expr.FromProgram(p)
	f := formula{inputs: len(p.Inputs), uses: make([]int, len(g.Nodes))}
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			f.uses[a]++
		}
	}
	for _, o := range g.Outs {
		f.uses[o]++
	}
	var results []string
	for _, out := range expr.Fold(g, f.term) {
		results = append(results, out.text)
	}
	text := strings.Join(append(f.shared, strings.Join(results, ", ")), "; ")
	if r := []rune(text); len(r) > longFormula {
		text = string(r[:longFormula]) + "…"
	}
	return text
}

type formula struct {
	inputs int
	uses   []int    // of each node
	shared []string // what is said first
}

// term is what a formula says of a node, and how tightly that binds.
type term struct {
	text  string
	binds int
}

// within writes a term in a place that binds so tightly.
func (t term) within(binds int) string {
	if t.binds < binds {
		return "(" + t.text + ")"
	}
	return t.text
}

// tightest is how tightly a sign binds, bits operations on bits, of which languages
// think differently: their operands stand in parentheses.
const tightest, bits = 6, 1

// notation writes an operation.
type notation func(f *formula, n expr.Node, args []term) term

// notations has the operations that are not written as calls of functions of their names.
var notations = expr.Forms[notation]{
	kernel.OpInput: func(f *formula, n expr.Node, _ []term) term { return atom(f.input(n.Imm)) },
	kernel.OpConst: func(_ *formula, n expr.Node, _ []term) term { return atom(constant(n.DType, n.Imm)) },
	kernel.OpIndex: func(*formula, expr.Node, []term) term { return atom("i") },
	kernel.OpCoord: func(_ *formula, n expr.Node, _ []term) term {
		return atom("coord(" + strconv.FormatInt(int64(n.Imm), 10) + ")")
	},
	kernel.OpNeg: func(_ *formula, _ expr.Node, args []term) term { return atom("-" + args[0].within(tightest)) },
	kernel.OpCast: func(_ *formula, n expr.Node, args []term) term {
		return called(n.DType.String()+rounding(array.Rounding(n.Imm)), args)
	},
	kernel.OpOr: infix(" | ", bits), kernel.OpXor: infix(" ^ ", bits), kernel.OpAnd: infix(" & ", bits), kernel.OpShl: infix(" << ", bits), kernel.OpShr: infix(" >> ", bits),
	kernel.OpEq: infix(" == ", 3), kernel.OpNe: infix(" != ", 3), kernel.OpLt: infix(" < ", 3), kernel.OpLe: infix(" <= ", 3), kernel.OpGt: infix(" > ", 3), kernel.OpGe: infix(" >= ", 3),
	kernel.OpAdd: infix(" + ", 4), kernel.OpSub: infix(" - ", 4), kernel.OpMul: infix("*", 5), kernel.OpDiv: infix("/", 5),
}

// term writes a node: by a name, where it is used more than once.
func (f *formula) term(i int, n expr.Node, args []term) term {
	write := notations[n.Code]
	if write == nil {
		write = func(_ *formula, n expr.Node, args []term) term { return called(n.Code.String(), args) }
	}
	t := write(f, n, args)
	if len(args) == 0 || f.uses[i] < 2 {
		return t
	}
	name := "t"
	if n := len(f.shared); n > 0 {
		name += strconv.Itoa(n + 1)
	}
	f.shared = append(f.shared, name+" = "+t.text)
	return atom(name)
}

// atom is a term that needs no parentheses.
func atom(text string) term { return term{text, tightest} }

func called(name string, args []term) term {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	return atom(name + "(" + strings.Join(texts, ", ") + ")")
}

// infix is written between its operands.
func infix(sign string, binds int) notation {
	left, right := binds, binds+1
	if binds == bits {
		left, right = tightest, tightest
	}
	return func(_ *formula, _ expr.Node, args []term) term {
		return term{args[0].within(left) + sign + args[1].within(right), binds}
	}
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
	case f.inputs == 1:
		return "x"
	case f.inputs <= 8:
		return string(rune('a' + i))
	}
	return "x" + strconv.FormatUint(i, 10)
}

// constant is a constant in the shortest form that reads back the same.
func constant(d array.DType, imm uint64) string {
	value, size := 0.0, 32
	switch d {
	case array.F64:
		value, size = math.Float64frombits(imm), 64
	case array.F32:
		value = float64(math.Float32frombits(uint32(imm)))
	case array.F16:
		value = float64(array.Half(imm).Float32())
	case array.BF16:
		value = float64(array.BFloat(imm).Float32())
	case array.Bool:
		return strconv.FormatBool(imm != 0)
	case array.U64:
		return strconv.FormatUint(imm, 10)
	default:
		if !d.IsNarrowFloat() {
			return strconv.FormatInt(int64(imm), 10)
		}
		value = float64(array.NarrowFloats(d)[uint8(imm)])
	}
	return strconv.FormatFloat(value, 'g', -1, size)
}
