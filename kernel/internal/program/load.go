package program

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
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
	// An operand that a register holds unchanged stands for the register if it lies in one
	// run.
	same := in.DType == array.F32 || in.DType.Size() == 8
	if same && contiguous {
		m.alias[c][in.Dst] = uint16(i + 1)
		return
	}
	var f []float32
	var d []int64
	switch c {
	case opcode.RegF32:
		f = m.wF32(in.Dst)
	case opcode.RegF64:
		d = viewAs[int64](m.wF64(in.Dst))
	default:
		d = m.wI64(in.Dst)
	}
	switch in.DType.Size() {
	case 8:
		gatherBlock(m, i, asUnsigned(d), array.Raw[uint64](a))
	case 4:
		if same {
			gatherBlock(m, i, viewAs[uint32](f), array.Raw[uint32](a))
			return
		}
		widenWords(in.DType, d, blockOf(m, i, array.Raw[uint32](a), contiguous))
	case 2:
		src := blockOf(m, i, array.Raw[uint16](a), contiguous)
		if c == opcode.RegF32 {
			unpackHalfBlock(in.DType, f, src)
			return
		}
		widenShorts(in.DType, d, src)
	default:
		src := blockOf(m, i, array.Raw[uint8](a), contiguous)
		if c == opcode.RegF32 {
			loadNarrowFloats(in.DType, f, src)
			return
		}
		widenBytes(in.DType, d, src)
	}
}

func widenWords(t array.DType, d []int64, src []uint32) {
	if t == array.I32 {
		widenBlock(d, viewAs[int32](src))
	} else {
		widenBlock(d, src)
	}
}

func widenShorts(t array.DType, d []int64, src []uint16) {
	if t == array.I16 {
		widenBlock(d, viewAs[int16](src))
	} else {
		widenBlock(d, src)
	}
}

func widenBytes(t array.DType, d []int64, src []uint8) {
	switch t {
	case array.I8:
		widenBlock(d, viewAs[int8](src))
	case array.U8:
		widenBlock(d, src)
	case array.I4, array.U4, array.I2, array.U2:
		narrowInts(t, d, src)
	default: // a bool from a file may be neither 0 nor 1
		src = src[:len(d)]
		for k := range d {
			d[k] = boolBit(src[k] != 0)
		}
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

// gatherBlock copies the elements of the current block of input i to d, row by
// row. Broadcast axes have stride 0 and cost nothing more; the innermost row is
// copied as one run, or one value.
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
		if coord[0] == 0 && stride == 0 && rank > 1 {
			// Whole rows of one value each, as channels of images have.
			rows := min(int(dims[2]-coord[1])-1, len(d)/inner)
			if rows > 0 && repeatRows(m.level, d[:rows*inner], src[pos:], int(dims[3]), inner) {
				if d = d[rows*inner:]; len(d) == 0 {
					return
				}
				pos += rows * int(dims[3])
				coord[1] += int64(rows)
			}
		}
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

// repeatRows sets rows of n elements each to one of src, a step apart, and reports false
// for elements that are not of four bytes.
func repeatRows[T uint8 | uint16 | uint32 | uint64](level cpu.Level, d, src []T, step, n int) bool {
	words, ok := any(d).([]uint32)
	if ok && step >= 0 {
		move.Repeat(level, words, any(src).([]uint32), step, n)
		return true
	}
	return false
}

func copyRowBlock[T uint8 | uint16 | uint32 | uint64](d, src []T, pos, stride int) {
	switch stride {
	case 1:
		copy(d, src[pos:pos+len(d)])
	case 0:
		operand.FillBlock(d, src[pos])
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

// roundHalfBlock rounds f32 values in place to values of f16 or bf16.
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
	switch c := opcode.RegClassOf(in.DType); {
	case in.DType == array.F32:
		copy(array.Raw[float32](o)[lo:lo+n], m.rF32(in.A))
	case c == opcode.RegF32 && in.DType.IsNarrow():
		storeNarrowFloats(in.DType, array.Raw[uint8](o)[lo:lo+n], m.rF32(in.A))
	case c == opcode.RegF32:
		packHalfBlock(in.DType, array.Raw[uint16](o)[lo:lo+n], m.rF32(in.A))
	case c == opcode.RegF64:
		copy(array.Raw[float64](o)[lo:lo+n], m.rF64(in.A))
	default:
		m.storeInts(o, lo, m.rI64(in.A))
	}
}

// storeInts writes a block of integers to an output from element lo on.
func (m *machine) storeInts(o *array.Array, lo int, src []int64) {
	switch hi := lo + m.n; o.DType().Size() {
	case 8:
		copy(array.Raw[int64](o)[lo:hi], src)
	case 4:
		narrowBlock(array.Raw[uint32](o)[lo:hi], src)
	case 2:
		narrowBlock(array.Raw[uint16](o)[lo:hi], src)
	default: // values of bool are 0 and 1
		narrowBlock(array.Raw[uint8](o)[lo:hi], src)
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
