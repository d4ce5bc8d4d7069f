package source

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// scope is what an expression reads.
type scope struct {
	load  func(input int, d array.DType) string // a register's text
	coord func(axis int) string                 // the coordinate along an axis, i64
	index func() string                         // the flat index, i64
}

// Printable reports whether the device computes the expression; doubles tells whether it has
// floats of 64 bits.
func Printable(g expr.Graph, doubles bool) (ok bool, reason string) {
	for _, n := range g.Nodes {
		if !Computes(n.DType) {
			return false, "kernels do not compute with " + n.DType.String()
		}
		if n.DType == array.F64 && !doubles {
			return false, "the device has no floats of 64 bits"
		}
	}
	return true, ""
}

// body prints the expression as declarations, indented by tab, and returns the registers of its
// results. prefix keeps the names of two bodies apart.
func body(b *strings.Builder, g expr.Graph, prefix, tab string, s scope) []string {
	w := &writer{scope: s, g: g}
	return expr.Fold(g, func(i int, n expr.Node, args []string) string {
		text := forms.Of(n.Code).text(w, n, args)
		if n.Code == kernel.OpConst {
			return text
		}
		name := prefix + strconv.Itoa(i)
		b.WriteString(tab + register(n.DType) + " " + name + " = " + text + ";\n")
		return name
	})
}

// writer is what forms know of the expression that they stand in.
type writer struct {
	scope
	g expr.Graph
}

// from is the type of a node's operand.
func (w *writer) from(n expr.Node) array.DType { return w.g.Nodes[n.Args[0]].DType }

// fill puts operands into the text of an operation, whose words of one letter are a, b, c.
func fill(text string, args []string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 'a' && c <= 'c' && !letter(text, i-1) && !letter(text, i+1) {
			b.WriteString(args[c-'a'])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func letter(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// wrap reduces an integer to the range of its type.
func wrap(d array.DType, v string) string {
	switch d {
	case array.I64, array.U64, array.Bool:
		return v
	}
	return "(i64)(" + storage(d) + ")(" + v + ")"
}

// cast prints a conversion by the rules of array.Cast.
func cast(to, from array.DType, v string) string {
	fromFloat, toFloat := register(from) != "i64", register(to) != "i64"
	switch {
	case to == array.Bool:
		return "(i64)(" + v + " != 0)"
	case fromFloat && toFloat:
		return floatToFloat(to, from, v)
	case fromFloat:
		return floatToInt(to, from, v)
	case toFloat:
		return intToFloat(to, from, v)
	}
	return wrap(to, v)
}

func floatToFloat(to, from array.DType, v string) string {
	switch {
	case to == array.F64:
		return "(double)" + v
	case from == array.F64 && to != array.F32:
		return round(to, "fx_odd("+v+")")
	case from == array.F64:
		return "(float)" + v
	case to == array.F32:
		return v
	}
	return round(to, v)
}

func floatToInt(to, from array.DType, v string) string {
	kind := "f"
	if from == array.F64 {
		kind = "d"
	} else if to == array.I32 || to.Size() < 4 {
		return floatToWord(to, v)
	}
	if to == array.U64 {
		return "(i64)fx_" + kind + "2u(" + v + ")"
	}
	v = "fx_" + kind + "2i(" + v + ")"
	if to == array.I64 {
		return v
	}
	n := to.Bits()
	lo, hi := int64(0), int64(1)<<n-1
	if to.IsSigned() {
		lo, hi = -1<<(n-1), int64(1)<<(n-1)-1
	}
	return "fx_clamp(" + v + ", " + intLiteral(lo) + ", " + intLiteral(hi) + ")"
}

// floatToWord prints a conversion of a float to an integer that 32 bits hold, for which processors have vectors.
func floatToWord(to array.DType, v string) string {
	v = "fx_f2w(" + v + ")"
	switch to {
	case array.I32:
		return "(i64)" + v
	case array.I16, array.I8:
		least := leastOf(to)
		return "(i64)fx_clampw(" + v + ", " + strconv.FormatInt(least, 10) + ", " + strconv.FormatInt(-least-1, 10) + ")"
	}
	return "(i64)fx_clampw(" + v + ", 0, " + strconv.FormatInt(1<<to.Bits()-1, 10) + ")"
}

func intToFloat(to, from array.DType, v string) string {
	if from == array.U64 {
		switch to {
		case array.F64:
			return "(double)(u64)" + v
		case array.F32:
			return "(float)(u64)" + v
		}
		return round(to, "fx_i2odd((u64)"+v+", 0)")
	}
	switch {
	case to == array.F64:
		return "(double)" + v
	case to == array.F32, from.Bits() <= 16 || from == array.Bool:
		return round(to, "(float)"+v)
	}
	return round(to, "fx_i2odd("+v+" < 0 ? 0 - (u64)"+v+" : (u64)"+v+", "+v+" < 0)")
}
