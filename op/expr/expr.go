package expr

import (
	"math"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
)

// Builder makes values. Equal operations on equal operands give the same value,
// and operations on constants give constants. The zero Builder is ready for use;
// it is not safe for concurrent use. Methods panic with a *diag.Error when operand
// types do not fit.
type Builder struct {
	nodes []node
	index map[node]int32
}

// node is also its own key: operands that an operation lacks are -1.
type node struct {
	code kernel.Code
	d    array.DType
	args [3]int32
	imm  uint64
}

var noArgs = [3]int32{-1, -1, -1}

// Value is one node of a Builder's DAG. The zero Value is no value.
type Value struct {
	b  *Builder
	id int32
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{} }

// DType returns the element type; Invalid for the zero Value.
func (v Value) DType() array.DType {
	if v.b == nil {
		return array.Invalid
	}
	return v.b.nodes[v.id].d
}

// Code returns the operation that makes v.
func (v Value) Code() kernel.Code { return v.node().code }

// ConstBits returns the bits of a constant as in kernel.Instr.Imm; ok is false
// for every other value.
func (v Value) ConstBits() (bits uint64, ok bool) {
	n := v.node()
	return n.imm, n.code == kernel.OpConst
}

func (v Value) node() node {
	if v.b == nil {
		panic(bug("use of the zero Value"))
	}
	return v.b.nodes[v.id]
}

func bug(msg string) *diag.Error {
	e := diag.Bug("expr: " + msg)
	e.Hint = "correct the scalar expression of the operator"
	return e
}

// untyped is the mistake of operands whose element types an operation does not take:
// the expression is right for others, or lacks a conversion.
func untyped(msg, hint string) *diag.Error { return diag.New(Untyped, msg).WithHint(hint) }

// intern returns the value of n, made at most once.
func (b *Builder) intern(n node) Value {
	if id, ok := b.index[n]; ok {
		return Value{b, id}
	}
	if b.index == nil {
		b.index = make(map[node]int32)
	}
	id := int32(len(b.nodes))
	b.nodes = append(b.nodes, n)
	b.index[n] = id
	return Value{b, id}
}

// Input returns element i of the operator's operands, broadcast, of type d. An
// input has one type.
func (b *Builder) Input(i int, d array.DType) Value {
	if i < 0 || i >= math.MaxUint16 || d.Size() == 0 {
		panic(bug("input " + strconv.Itoa(i) + " of type " + d.String()))
	}
	return b.intern(node{kernel.OpInput, d, noArgs, uint64(i)})
}

// Index returns the flat row-major index of the output element, as i64.
func (b *Builder) Index() Value { return b.intern(node{kernel.OpIndex, array.I64, noArgs, 0}) }

// Coord returns the output coordinate along axis, as i64; a negative axis counts
// from the end.
func (b *Builder) Coord(axis int) Value {
	return b.intern(node{kernel.OpCoord, array.I64, noArgs, uint64(int64(axis))})
}

// ConstBits returns a constant by its bits: floats as IEEE bits at dtype's width,
// integers by their low bits, bools by bit 0.
func (b *Builder) ConstBits(dtype array.DType, bits uint64) Value {
	switch dtype {
	case array.F64, array.I64, array.U64:
	case array.F32, array.U32:
		bits = uint64(uint32(bits))
	case array.F16, array.BF16, array.U16:
		bits = uint64(uint16(bits))
	case array.U8, array.F8E4M3FN, array.F8E4M3FNUZ, array.F8E5M2, array.F8E5M2FNUZ, array.F8E8M0FNU, array.F4E2M1FN:
		bits = uint64(uint8(bits))
	case array.I4, array.U4, array.I2, array.U2:
		bits = uint64(array.NarrowInt(dtype, uint8(bits)))
	case array.I32:
		bits = uint64(int64(int32(bits)))
	case array.I16:
		bits = uint64(int64(int16(bits)))
	case array.I8:
		bits = uint64(int64(int8(bits)))
	case array.Bool:
		bits &= 1
	default:
		panic(bug("constant of unknown type"))
	}
	return b.intern(node{kernel.OpConst, dtype, noArgs, bits})
}

// Const returns x converted to d as OpCast converts.
func (b *Builder) Const(d array.DType, x float64) Value {
	v := b.ConstBits(array.F64, math.Float64bits(x))
	return b.Cast(v, d)
}

// ConstInt returns x converted to d as OpCast converts.
func (b *Builder) ConstInt(d array.DType, x int64) Value {
	return b.Cast(b.ConstBits(array.I64, uint64(x)), d)
}

// ConstUint is ConstInt for numbers beyond the range of int64.
func (b *Builder) ConstUint(d array.DType, x uint64) Value {
	return b.Cast(b.ConstBits(array.U64, x), d)
}

// ConstBool returns a bool constant.
func (b *Builder) ConstBool(x bool) Value {
	if x {
		return b.ConstBits(array.Bool, 1)
	}
	return b.ConstBits(array.Bool, 0)
}

// Like returns x as a constant of v's type.
func (b *Builder) Like(v Value, x float64) Value { return b.Const(v.DType(), x) }

// Op applies any operation with operands: the methods of Builder by name of the
// code. OpCast needs a target type, so it is refused here.
func (b *Builder) Op(code kernel.Code, args ...Value) Value {
	info := code.Info()
	if info.Arity == 0 || info.Arity != len(args) || code == kernel.OpCast || code == kernel.OpOutput {
		panic(bug(code.String() + " applied to " + strconv.Itoa(len(args)) + " operands"))
	}
	entry := node{code: code, args: noArgs}
	for i, a := range args {
		if a.b != b {
			panic(bug(code.String() + ": operand " + strconv.Itoa(i) + " belongs to another builder"))
		}
		entry.args[i] = a.id
	}
	typed := args
	if code == kernel.OpSelect {
		if args[0].DType() != array.Bool {
			panic(untyped("select: condition is "+args[0].DType().String()+", expected bool", "compare it with a constant first"))
		}
		typed = args[1:]
	}
	d := typed[0].DType()
	for _, a := range typed[1:] {
		if a.DType() != d {
			panic(untyped(code.String()+": operands are "+d.String()+" and "+a.DType().String()+", expected one type",
				"write constants in the type of the other operand, b.Like(x, 1), or convert with b.Cast"))
		}
	}
	if !code.Accepts(d) {
		panic(untyped(code.String()+" is not defined for "+d.String(), "convert the operand first"))
	}
	entry.d = d
	if info.ToBool {
		entry.d = array.Bool
	}
	return b.make(entry)
}

// Cast converts x to d; it is x itself when it has that type.
func (b *Builder) Cast(x Value, d array.DType) Value { return b.CastRounded(x, d, 0) }

// CastRounded is Cast with another rounding to floats of 8 bits.
func (b *Builder) CastRounded(x Value, d array.DType, r array.Rounding) Value {
	if x.b != b || d.Size() == 0 {
		panic(bug("cast of " + x.DType().String() + " to " + d.String()))
	}
	if x.DType() == d {
		return x
	}
	if !d.IsNarrowFloat() {
		r = 0
	}
	return b.make(node{kernel.OpCast, d, [3]int32{x.id, -1, -1}, uint64(r)})
}

// make interns entry, or the constant that it is.
func (b *Builder) make(entry node) Value {
	if id, ok := b.index[entry]; ok {
		return Value{b, id}
	}
	if entry.code == kernel.OpSelect {
		if c := b.nodes[entry.args[0]]; c.code == kernel.OpConst {
			return Value{b, entry.args[2-c.imm]}
		}
		if entry.args[1] == entry.args[2] {
			return Value{b, entry.args[1]}
		}
	}
	for _, a := range entry.args {
		if a >= 0 && b.nodes[a].code != kernel.OpConst {
			return b.intern(entry)
		}
	}
	return b.ConstBits(entry.d, b.foldConst(entry))
}

// foldConst evaluates an operation on constants with the kernel itself, so that
// folding cannot disagree with running.
func (b *Builder) foldConst(entry node) uint64 {
	program := kernel.Program{Outputs: []array.DType{entry.d}}
	in := kernel.Instr{Op: entry.code, DType: entry.d, Imm: entry.imm}
	if a := entry.args[0]; entry.code == kernel.OpCast || entry.code.Info().ToBool {
		in.From = b.nodes[a].d
	}
	regs := [3]*uint16{&in.A, &in.B, &in.C}
	for i, a := range entry.args {
		if a < 0 {
			continue
		}
		c := b.nodes[a]
		k := kernel.RegClassOf(c.d)
		*regs[i] = uint16(program.Regs[k])
		program.Consts = append(program.Consts, kernel.Instr{Op: kernel.OpConst, DType: c.d, Dst: *regs[i], Imm: c.imm})
		program.Regs[k]++
	}
	k := kernel.RegClassOf(entry.d)
	in.Dst = uint16(program.Regs[k])
	program.Regs[k]++
	program.Code = []kernel.Instr{in, {Op: kernel.OpOutput, DType: entry.d, A: in.Dst}}
	out := array.New(entry.d)
	run(program, []*array.Array{out}, nil)
	return loadBits(out)
}

// workspaces keeps scratch memory, which is far larger than a folded constant.
var workspaces = sync.Pool{New: func() any { return new(kernel.Workspace) }}

func run(p kernel.Program, outs, ins []*array.Array) {
	ws := workspaces.Get().(*kernel.Workspace)
	defer workspaces.Put(ws)
	kernel.Elementwise{Program: p}.Run(ws, outs, ins)
}
