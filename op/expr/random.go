package expr

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// PhiloxBlock is kernel.Philox4x32 as an expression; all values are u32.
func PhiloxBlock(b *Builder, key [2]Value, ctr [4]Value) [4]Value {
	m0, m1 := b.ConstInt(array.U32, kernel.PhiloxM0), b.ConstInt(array.U32, kernel.PhiloxM1)
	w0, w1 := b.ConstInt(array.U32, kernel.PhiloxW0), b.ConstInt(array.U32, kernel.PhiloxW1)
	for r := range kernel.PhiloxRounds {
		if r > 0 {
			key = [2]Value{b.Add(key[0], w0), b.Add(key[1], w1)}
		}
		ctr = [4]Value{
			b.Xor(b.Xor(b.MulHi(m1, ctr[2]), ctr[1]), key[0]), b.Mul(m1, ctr[2]),
			b.Xor(b.Xor(b.MulHi(m0, ctr[0]), ctr[3]), key[1]), b.Mul(m0, ctr[0]),
		}
	}
	return ctr
}

// Philox returns four random u32 words for a 64-bit counter (i64 or u64) under a
// key of two u32 values; the upper half of Philox's counter is zero.
func Philox(b *Builder, keyLo, keyHi, counter Value) [4]Value {
	c := b.Cast(counter, array.U64)
	hi := b.Shr(c, b.ConstInt(array.U64, 32))
	zero := b.ConstInt(array.U32, 0)
	return PhiloxBlock(b, [2]Value{keyLo, keyHi},
		[4]Value{b.Cast(c, array.U32), b.Cast(hi, array.U32), zero, zero})
}

// Uniform maps a random u32 word to an f32 in [0, 1), as kernel.UniformF32 does.
func Uniform(b *Builder, word Value) Value {
	top := b.Cast(b.Shr(word, b.ConstInt(array.U32, 8)), array.F32)
	return b.Mul(top, b.Const(array.F32, 0x1p-24))
}

// Normal maps two random u32 words to two independent standard normal f32
// values, as kernel.NormalF32 does.
func Normal(b *Builder, x, y Value) (Value, Value) {
	u := b.Add(b.Mul(b.Cast(x, array.F32), b.Const(array.F32, 0x1p-32)), b.Const(array.F32, 0x1p-33))
	r := b.Sqrt(b.Mul(b.Const(array.F32, -2), b.Log(u)))
	t := b.Mul(Uniform(b, y), b.Const(array.F32, 2*math.Pi))
	return b.Mul(r, b.Cos(t)), b.Mul(r, b.Sin(t))
}
