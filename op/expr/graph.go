package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// Node is one operation as printers see it.
type Node struct {
	Code  kernel.Code
	DType array.DType
	// Args are the operands, as indices into Graph.Nodes.
	Args []int
	// Imm is the input number, the axis, the rounding of a cast or the constant's bits, as in kernel.Instr.
	Imm uint64
}

// Graph is a finished expression: plain data, operands before their users, each
// node once. Outs are indices into Nodes.
type Graph struct {
	Nodes []Node
	Outs  []int
}

// Graph returns the DAG of outs without unused nodes, in a deterministic order.
func (b *Builder) Graph(outs ...Value) Graph {
	var body Graph
	at := make([]int, len(b.nodes))
	for i, id := range b.order(outs) {
		at[id] = i
		n := b.nodes[id]
		out := Node{Code: n.code, DType: n.d, Imm: n.imm}
		for _, a := range n.args {
			if a >= 0 {
				out.Args = append(out.Args, at[a])
			}
		}
		body.Nodes = append(body.Nodes, out)
	}
	for _, v := range outs {
		body.Outs = append(body.Outs, at[v.id])
	}
	return body
}

// Reads tells which of n inputs the expression reads.
func (g Graph) Reads(n int) []bool {
	reads := make([]bool, n)
	for _, e := range g.Nodes {
		if e.Code == kernel.OpInput && e.Imm < uint64(n) {
			reads[e.Imm] = true
		}
	}
	return reads
}

// Inline rebuilds body in b with its inputs replaced by values, which is how fusion
// joins expressions; it returns the outputs. in[i] stands for input i and must
// have its type. Index and Coord keep their meaning, so that both expressions
// must be over the same output shape where body uses them.
func (b *Builder) Inline(body Graph, in []Value) []Value { return b.rebuild(body, in, b.written) }

// written makes what an operation gives for operands, as it is written.
func (b *Builder) written(n Node, args []Value) Value {
	if n.Code == kernel.OpCast {
		return b.CastRounded(args[0], n.DType, array.Rounding(n.Imm))
	}
	return b.Op(n.Code, args...)
}

// rebuild makes body in b, its operations by of.
func (b *Builder) rebuild(body Graph, in []Value, of func(n Node, args []Value) Value) []Value {
	return Fold(body, func(_ int, n Node, args []Value) Value {
		if v, ok := leaf(b, n, in); ok {
			return v
		}
		return of(n, args)
	})
}

// leaf makes a node without operands; ok is false for operations. in[i] stands for input i.
func leaf(b *Builder, n Node, in []Value) (v Value, ok bool) {
	switch n.Code {
	case kernel.OpInput:
		if n.Imm >= uint64(len(in)) || in[n.Imm].DType() != n.DType {
			panic(bug("inline: input " + strconv.FormatUint(n.Imm, 10) + " is missing or not " + n.DType.String()))
		}
		return in[n.Imm], true
	case kernel.OpConst:
		return b.ConstBits(n.DType, n.Imm), true
	case kernel.OpIndex:
		return b.Index(), true
	case kernel.OpCoord:
		return b.Coord(int(int64(n.Imm))), true
	}
	return v, false
}

// String prints one node a line, as "%2 f32 = add %0 %1", and the outputs.
func (g Graph) String() string {
	var out strings.Builder
	for i, n := range g.Nodes {
		out.WriteString("%" + strconv.Itoa(i) + " " + n.DType.String() + " = " + n.Code.String())
		for _, a := range n.Args {
			out.WriteString(" %" + strconv.Itoa(a))
		}
		switch n.Code {
		case kernel.OpInput:
			out.WriteString(" " + strconv.FormatUint(n.Imm, 10))
		case kernel.OpCoord:
			out.WriteString(" " + strconv.FormatInt(int64(n.Imm), 10))
		case kernel.OpConst:
			out.WriteString(" " + constString(n.DType, n.Imm))
		case kernel.OpCast:
			if n.Imm != 0 {
				out.WriteString(" rounding " + strconv.FormatUint(n.Imm, 10))
			}
		}
		out.WriteByte('\n')
	}
	out.WriteString("return")
	for _, o := range g.Outs {
		out.WriteString(" %" + strconv.Itoa(o))
	}
	return out.String()
}

// constString prints a constant so that it can be told from every other one:
// floats in the shortest decimal form, NaN by its bits.
func constString(d array.DType, bits uint64) string {
	f, size := 0.0, 64
	switch d {
	case array.F64:
		f = math.Float64frombits(bits)
	case array.F32:
		f, size = float64(math.Float32frombits(uint32(bits))), 32
	case array.F16, array.BF16, array.F8E4M3FN, array.F8E4M3FNUZ, array.F8E5M2, array.F8E5M2FNUZ, array.F8E8M0FNU, array.F4E2M1FN:
		return "0x" + strconv.FormatUint(bits, 16)
	case array.Bool:
		return strconv.FormatBool(bits != 0)
	case array.U64:
		return strconv.FormatUint(bits, 10)
	default:
		return strconv.FormatInt(int64(bits), 10)
	}
	if math.IsNaN(f) {
		return "0x" + strconv.FormatUint(bits, 16)
	}
	return strconv.FormatFloat(f, 'g', -1, size)
}
