package program

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// cast translates a conversion of register a.
func (c *stripCoder) cast(from, to array.DType, a int) bool {
	if !stripType(from) || !stripType(to) {
		return false
	}
	switch toFloat := to.IsFloat(); {
	case from == to:
		c.take(a)
	case from.IsFloat() && toFloat:
		c.take(a)
		c.round(to)
	case from.IsFloat() && to == array.Bool:
		c.withConst(vmath.StepNe, a, 0)
	case from.IsFloat():
		c.toInt(to, a)
	case from == array.Bool && toFloat:
		c.withConst(vmath.StepAnd, a, math.Float32bits(1))
	case from == array.Bool:
		c.withConst(vmath.StepAnd, a, 1)
	case toFloat:
		// Integers of 16 bits are exact in f32: the rounding to 16 bits is the only one.
		if from.Bits() == 32 && to != array.F32 {
			return false
		}
		if from == array.U32 {
			c.unary(vmath.StepFromUint, a)
		} else {
			c.unary(vmath.StepFromInt, a)
		}
		c.round(to)
	case to == array.Bool:
		ones := c.constant(^uint32(0))
		c.withConst(vmath.StepIntEq, a, 0)
		c.emit(vmath.StepXor, ones, place{})
	default:
		c.take(a)
		lo, hi := intRange(from)
		if toLo, toHi := intRange(to); lo < toLo || hi > toHi {
			c.wrap(to)
		}
	}
	return true
}

// toInt truncates and saturates.
func (c *stripCoder) toInt(to array.DType, a int) {
	if to == array.U32 {
		c.unary(vmath.StepToUint, a)
		return
	}
	c.unary(vmath.StepToInt, a)
	if to != array.I32 {
		lo, hi := intRange(to)
		c.emit(vmath.StepIntMax, c.constant(uint32(lo)), place{})
		c.emit(vmath.StepIntMin, c.constant(uint32(hi)), place{})
	}
}

// loadSteps converts elements of a type to lanes; those of four bytes are read
// where they are.
func loadStep(t array.DType) uint8 {
	switch t {
	case array.F16:
		return vmath.StepLoadF16
	case array.BF16:
		return vmath.StepLoadBF16
	case array.I8:
		return vmath.StepLoadI8
	case array.U8:
		return vmath.StepLoadU8
	case array.I16:
		return vmath.StepLoadI16
	case array.U16:
		return vmath.StepLoadU16
	case array.Bool:
		return vmath.StepLoadBool
	}
	return vmath.StepLoad
}

func storeStep(t array.DType) uint8 {
	switch t {
	case array.F16:
		return vmath.StepStoreF16
	case array.BF16:
		return vmath.StepStoreBF16
	case array.I8, array.U8:
		return vmath.StepStore8
	case array.I16, array.U16:
		return vmath.StepStore16
	case array.Bool:
		return vmath.StepStoreBool
	}
	return vmath.StepStore
}
