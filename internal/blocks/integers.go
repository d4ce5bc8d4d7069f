package blocks

// Part is how many elements share the scale and the minimum that Integers returns.
const Part = 16

// Integers takes one block apart, one of more than one element: into integers q, one an element, and for each
// Part of these a scale and a minimum, so that Decode makes q·scale+minimum of an element, rounded once. It reports
// false, and writes nothing, where the integers of the format are not made.
func (f *Format) Integers(q []int8, scale, least []float32, b []byte) bool {
	switch f.Name {
	case "Q8_0":
		for j := range q {
			q[j] = int8(b[2+j])
		}
		fill(scale, half(b), least, 0)
	case "Q4_0":
		integers32(q, b[2:18], 0, 8)
		fill(scale, half(b), least, 0)
	case "Q4_1":
		integers32(q, b[4:20], 0, 0)
		fill(scale, half(b), least, half(b[2:]))
	case "Q5_0":
		integers32(q, b[6:22], long(b[2:]), 16)
		fill(scale, half(b), least, 0)
	case "Q5_1":
		integers32(q, b[8:24], long(b[4:]), 0)
		fill(scale, half(b), least, half(b[2:]))
	case "Q4_K":
		integers256(q, scale, least, b, b[16:], nil)
	case "Q5_K":
		integers256(q, scale, least, b, b[48:], b[16:48])
	case "Q6_K":
		integers6K(q, scale, b)
		clear(least)
	default:
		return false
	}
	return true
}

// HasIntegers reports whether Integers takes blocks of the format apart.
func (f *Format) HasIntegers() bool {
	switch f.Name {
	case "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K":
		return true
	}
	return false
}

func fill(scale []float32, d float32, least []float32, m float32) {
	for i := range scale {
		scale[i], least[i] = d, m
	}
}

// integers32 has elements of four bits, of which zero stands for 0, and fifth bits.
func integers32(q []int8, low []byte, high uint32, zero int8) {
	for j, v := range low {
		q[j] = int8(v&15|byte(high>>j&1)<<4) - zero
		q[j+16] = int8(v>>4|byte(high>>(j+16)&1)<<4) - zero
	}
}

// integers256 is Q4_K, and Q5_K where there are fifth bits.
func integers256(q []int8, scale, least []float32, b, low, high []byte) {
	d, dmin := half(b), half(b[2:])
	for g := range 8 {
		s, m := scaleK(b[4:16], g)
		fill(scale[2*g:2*g+2], d*float32(s), least[2*g:2*g+2], -(dmin * float32(m)))
		for i, v := range low[g/2*32 : g/2*32+32] {
			v = v >> (4 * (g % 2)) & 15
			if high != nil {
				v |= high[i] >> g & 1 << 4
			}
			q[32*g+i] = int8(v)
		}
	}
}

// integers6K is Q6_K; see decodeQ6K.
func integers6K(q []int8, scale []float32, b []byte) {
	d := half(b[208:])
	for i := range q {
		h, j := i/128, i%128
		v := b[64*h+j%64]>>(4*(j/64))&15 | b[128+32*h+j%32]>>(2*(j/32))&3<<4
		q[i] = int8(v) - 32
	}
	for i := range scale {
		scale[i] = d * float32(int8(b[192+i]))
	}
}
