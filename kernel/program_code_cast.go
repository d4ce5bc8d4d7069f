package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
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
		c.withConst(stepNe, a, 0)
	case from.IsFloat():
		c.toInt(to, a)
	case from == array.Bool && toFloat:
		c.withConst(stepAnd, a, math.Float32bits(1))
	case from == array.Bool:
		c.withConst(stepAnd, a, 1)
	case toFloat:
		// Integers of 16 bits are exact in f32: the rounding to 16 bits is the only one.
		if from == array.I32 && to != array.F32 {
			return false
		}
		c.unary(stepFromInt, a)
		c.round(to)
	case to == array.Bool:
		ones := c.constant(^uint32(0))
		c.withConst(stepIntEq, a, 0)
		c.emit(stepXor, ones, place{})
	default:
		c.take(a)
		lo, hi := intRange(from)
		toLo, toHi := intRange(to)
		return toLo <= lo && hi <= toHi
	}
	return true
}

// toInt truncates and saturates.
func (c *stripCoder) toInt(to array.DType, a int) {
	c.unary(stepToInt, a)
	if to != array.I32 {
		lo, hi := intRange(to)
		c.emit(stepIntMax, c.constant(uint32(lo)), place{})
		c.emit(stepIntMin, c.constant(uint32(hi)), place{})
	}
}

// loadSteps converts elements of a type to lanes; those of four bytes are read
// where they are.
func loadStep(t array.DType) uint8 {
	switch t {
	case array.F16:
		return stepLoadF16
	case array.BF16:
		return stepLoadBF16
	case array.I8:
		return stepLoadI8
	case array.U8:
		return stepLoadU8
	case array.I16:
		return stepLoadI16
	case array.U16:
		return stepLoadU16
	case array.Bool:
		return stepLoadBool
	}
	return stepLoad
}

func storeStep(t array.DType) uint8 {
	switch t {
	case array.F16:
		return stepStoreF16
	case array.BF16:
		return stepStoreBF16
	case array.I8, array.U8:
		return stepStore8
	case array.I16, array.U16:
		return stepStore16
	case array.Bool:
		return stepStoreBool
	}
	return stepStore
}
