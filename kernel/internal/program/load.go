package program

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// An input layout is, in m.layout: the number of merged axes, the flag that
// the input is contiguous over the whole output, then size and stride of each
// axis, innermost first. There is always at least one axis.

func layoutLen(rank int) int { return 2 + 2*(rank+1) }

// setLayout merges the axes of input i, broadcast to the output's shape.
func (m *machine) setLayout(i int) {
	lay := m.layout[i*m.stride:][:m.stride]
	shape := m.shape
	in := m.in[i]
	missing := len(shape) - in.Rank()
	dims, n := lay[2:], 0
	for k := len(shape) - 1; k >= 0; k-- {
		if shape[k] == 1 {
			continue
		}
		stride := 0
		if k >= missing && in.Dim(k-missing) != 1 {
			stride = in.Strides()[k-missing]
		}
		if n > 0 && int64(stride) == dims[2*n-1]*dims[2*n-2] {
			dims[2*n-2] *= int64(shape[k])
			continue
		}
		dims[2*n], dims[2*n+1] = int64(shape[k]), int64(stride)
		n++
	}
	if n == 0 {
		dims[0], dims[1] = 1, 1
		n = 1
	}
	lay[0], lay[1] = int64(n), boolBit(n == 1 && dims[1] == 1)
}

// load makes the block of an input available in a register.
func (m *machine) load(in *Instr) {
	i := int(in.Imm)
	contiguous := m.layout[i*m.stride+1] != 0
	a := m.in[i]
	c := opcode.RegClassOf(in.DType)
	if contiguous {
		switch in.DType {
		case array.F32, array.F64, array.I64, array.U64:
			m.alias[c][in.Dst] = uint16(i + 1)
			return
		}
	}
	switch in.DType {
	case array.F32:
		gatherBlock(m, i, viewAs[uint32](m.wF32(in.Dst)), array.Raw[uint32](a))
	case array.F64:
		gatherBlock(m, i, viewAs[uint64](m.wF64(in.Dst)), array.Raw[uint64](a))
	case array.I64, array.U64:
		gatherBlock(m, i, viewAs[uint64](m.wI64(in.Dst)), array.Raw[uint64](a))
	case array.F16, array.BF16:
		unpackHalfBlock(in.DType, m.wF32(in.Dst), blockOf(m, i, array.Raw[uint16](a), contiguous))
	case array.I32:
		widenBlock(m.wI64(in.Dst), viewAs[int32](blockOf(m, i, array.Raw[uint32](a), contiguous)))
	case array.U32:
		widenBlock(m.wI64(in.Dst), blockOf(m, i, array.Raw[uint32](a), contiguous))
	case array.I16:
		widenBlock(m.wI64(in.Dst), viewAs[int16](blockOf(m, i, array.Raw[uint16](a), contiguous)))
	case array.U16:
		widenBlock(m.wI64(in.Dst), blockOf(m, i, array.Raw[uint16](a), contiguous))
	case array.I8:
		widenBlock(m.wI64(in.Dst), viewAs[int8](blockOf(m, i, array.Raw[uint8](a), contiguous)))
	case array.U8:
		widenBlock(m.wI64(in.Dst), blockOf(m, i, array.Raw[uint8](a), contiguous))
	case array.Bool:
		d := m.wI64(in.Dst)
		src := blockOf(m, i, array.Raw[uint8](a), contiguous)[:len(d)]
		for k := range d {
			d[k] = boolBit(src[k] != 0)
		}
	default:
		panic(programBug("input of unknown type"))
	}
}

// blockOf returns the elements of the current block of input i, in place when
// the input is contiguous, else gathered into the stage.
func blockOf[T uint8 | uint16 | uint32](m *machine, i int, src []T, contiguous bool) []T {
	if contiguous {
		return src[m.in[i].Offset()+m.start:][:m.n]
	}
	d := viewAs[T](m.stage)[:m.n]
	gatherBlock(m, i, d, src)
	return d
}

// gatherBlock copies the elements of the current block of input i to d, row by row.
func gatherBlock[T uint8 | uint16 | uint32 | uint64](m *machine, i int, d, src []T) {
	lay := m.layout[i*m.stride:][:m.stride]
	rank := int(lay[0])
	dims := lay[2:][:2*rank]
	pos, rest := m.in[i].Offset(), m.start
	coord := m.coord[:rank]
	for k := range coord {
		size := int(dims[2*k])
		c := rest % size
		rest /= size
		coord[k] = int64(c)
		pos += c * int(dims[2*k+1])
	}
	inner, stride := int(dims[0]), int(dims[1])
	for {
		run := min(inner-int(coord[0]), len(d))
		copyRowBlock(d[:run], src, pos, stride)
		if d = d[run:]; len(d) == 0 {
			return
		}
		// The row is complete: carry into the outer axes.
		pos -= int(coord[0]) * stride
		coord[0] = 0
		for k := 1; k < rank; k++ {
			pos += int(dims[2*k+1])
			if coord[k]++; coord[k] < dims[2*k] {
				break
			}
			pos -= int(dims[2*k]) * int(dims[2*k+1])
			coord[k] = 0
		}
	}
}

func copyRowBlock[T uint8 | uint16 | uint32 | uint64](d, src []T, pos, stride int) {
	switch stride {
	case 1:
		copy(d, src[pos:pos+len(d)])
	case 0:
		v := src[pos]
		for k := range d {
			d[k] = v
		}
	default:
		for k := range d {
			d[k] = src[pos]
			pos += stride
		}
	}
}

// viewAs returns the memory of s as elements of T.
func viewAs[T, S array.Elem](s []S) []T {
	var t T
	var z S
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(z))/int(unsafe.Sizeof(t)))
}

func asUnsigned(s []int64) []uint64 { return viewAs[uint64](s) }

func widenBlock[T int8 | uint8 | int16 | uint16 | int32 | uint32](d []int64, src []T) {
	src = src[:len(d)]
	for k := range d {
		d[k] = int64(src[k])
	}
}

func narrowBlock[T int8 | uint8 | int16 | uint16 | int32 | uint32](d []T, src []int64) {
	src = src[:len(d)]
	for k := range d {
		d[k] = T(src[k])
	}
}

func unpackHalfBlock(t array.DType, d []float32, src []uint16) {
	src = src[:len(d)]
	if t == array.BF16 {
		for k := range d {
			d[k] = array.BFloat(src[k]).Float32()
		}
		return
	}
	for k := range d {
		d[k] = array.Half(src[k]).Float32()
	}
}

func packHalfBlock(t array.DType, d []uint16, src []float32) {
	src = src[:len(d)]
	if t == array.BF16 {
		for k := range d {
			d[k] = uint16(array.BFloatFromFloat32(src[k]))
		}
		return
	}
	for k := range d {
		d[k] = uint16(array.HalfFromFloat32(src[k]))
	}
}

// roundHalfBlock rounds f32 values in place to what f16 or bf16 holds.
func roundHalfBlock(t array.DType, d []float32) {
	if t == array.BF16 {
		for k, x := range d {
			d[k] = array.BFloatFromFloat32(x).Float32()
		}
		return
	}
	for k, x := range d {
		d[k] = array.HalfFromFloat32(x).Float32()
	}
}

// store writes a register's block to an output.
func (m *machine) store(in *Instr) {
	o := m.out[in.Imm]
	lo, n := o.Offset()+m.start-m.from, m.n
	switch in.DType {
	case array.F32:
		copy(array.Raw[float32](o)[lo:lo+n], m.rF32(in.A))
	case array.F64:
		copy(array.Raw[float64](o)[lo:lo+n], m.rF64(in.A))
	case array.I64, array.U64:
		copy(array.Raw[int64](o)[lo:lo+n], m.rI64(in.A))
	case array.F16, array.BF16:
		packHalfBlock(in.DType, array.Raw[uint16](o)[lo:lo+n], m.rF32(in.A))
	case array.I32, array.U32:
		narrowBlock(array.Raw[uint32](o)[lo:lo+n], m.rI64(in.A))
	case array.I16, array.U16:
		narrowBlock(array.Raw[uint16](o)[lo:lo+n], m.rI64(in.A))
	default: // I8, U8 and Bool, whose values are 0 and 1
		narrowBlock(array.Raw[uint8](o)[lo:lo+n], m.rI64(in.A))
	}
}

// fillConst writes a constant to a whole register.
func (m *machine) fillConst(in *Instr) {
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		operand.FillBlock(m.wF32(in.Dst), constF32(in.DType, in.Imm))
	case opcode.RegF64:
		operand.FillBlock(viewAs[uint64](m.wF64(in.Dst)), in.Imm)
	default:
		operand.FillBlock(m.wI64(in.Dst), int64(in.Imm))
	}
}
