package blocks

// long reads 32 bits.
func long(b []byte) uint32 { return uint32(word(b)) | uint32(word(b[2:]))<<16 }

// The layouts of blocks of 32 elements: a scale d (and a minimum m), then the elements,
// of which number j lies in the lower half of byte j and number j+16 in the upper half.
// The conversions to float32 keep products and sums apart: fused, they round once.

// decodeQ40: d, 16 bytes of four bits, of which 8 stands for 0.
func decodeQ40(x []float32, b []byte) {
	d := half(b)
	for j, q := range b[2:18] {
		x[j] = d * float32(int(q&15)-8)
		x[j+16] = d * float32(int(q>>4)-8)
	}
}

// decodeQ41: d, m, 16 bytes of four bits.
func decodeQ41(x []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for j, q := range b[4:20] {
		x[j] = float32(d*float32(q&15)) + m
		x[j+16] = float32(d*float32(q>>4)) + m
	}
}

// decodeQ50: d, 32 fifth bits, 16 bytes of four bits; 16 stands for 0.
func decodeQ50(x []float32, b []byte) {
	d, high := half(b), long(b[2:])
	for j, q := range b[6:22] {
		x[j] = d * float32(int(q&15)|int(high>>j&1)<<4-16)
		x[j+16] = d * float32(int(q>>4)|int(high>>(j+16)&1)<<4-16)
	}
}

// decodeQ51: d, m, 32 fifth bits, 16 bytes of four bits.
func decodeQ51(x []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), long(b[4:])
	for j, q := range b[8:24] {
		x[j] = float32(d*float32(uint32(q&15)|high>>j&1<<4)) + m
		x[j+16] = float32(d*float32(uint32(q>>4)|high>>(j+16)&1<<4)) + m
	}
}

// decodeQ80: d, 32 signed bytes.
func decodeQ80(x []float32, b []byte) {
	d := half(b)
	for j, q := range b[2:34] {
		x[j] = float32(int8(q)) * d
	}
}

// The layouts of blocks of 256 elements: scales of scales d (and of minima, dmin), and
// groups of 16 or 32 elements with a scale of a few bits each.

// decodeQ2K: 16 bytes of a scale and a minimum of four bits for 16 elements, 64 bytes of
// two bits, d, dmin. A byte has elements that lie 32 apart.
func decodeQ2K(x []float32, b []byte) {
	d, dmin := half(b[80:]), half(b[82:])
	for i := range x {
		group, q := b[i/16], b[16+i/128*32+i%32]>>(2*(i/32%4))&3
		x[i] = float32(float32(d*float32(group&15))*float32(q)) - float32(dmin*float32(group>>4))
	}
}

// decodeQ3K: 32 bytes of third bits, 64 bytes of two bits, 12 bytes of scales of six bits
// of which 32 stands for 0, d. A third bit that is not set takes 4 away.
func decodeQ3K(x []float32, b []byte) {
	d, scales := half(b[108:]), b[96:108]
	for i := range x {
		g := i / 16
		s := scales[g%8]>>(4*(g/8))&15 | scales[8+g%4]>>(2*(g/4))&3<<4
		q := int(b[32+i/128*32+i%32] >> (2 * (i / 32 % 4)) & 3)
		if b[i%32]>>(i/32)&1 == 0 {
			q -= 4
		}
		x[i] = float32(d*float32(int(s)-32)) * float32(q)
	}
}

// scaleK returns scale and minimum, of six bits each, of group g of eight: those of the
// first four groups are the lower bits of the first eight bytes, those of the others are
// in halves of the last four bytes and the upper bits of the first eight.
func scaleK(s []byte, g int) (scale, least byte) {
	if g < 4 {
		return s[g] & 63, s[g+4] & 63
	}
	return s[g+4]&15 | s[g-4]>>6<<4, s[g+4]>>4 | s[g]>>6<<4
}

// decodeQ4K: d, dmin, 12 bytes of scales and minima, 128 bytes of four bits, of which a
// byte has elements that lie 32 apart.
func decodeQ4K(x []float32, b []byte) {
	d, dmin := half(b), half(b[2:])
	for g := range 8 {
		s, m := scaleK(b[4:16], g)
		ds, dm := float32(d*float32(s)), float32(dmin*float32(m))
		for i, q := range b[16+g/2*32 : 16+g/2*32+32] {
			x[32*g+i] = float32(ds*float32(q>>(4*(g%2))&15)) - dm
		}
	}
}

// decodeQ5K: d, dmin, 12 bytes of scales and minima, 32 bytes of fifth bits, bit g of
// group g, 128 bytes of four bits as with Q4_K.
func decodeQ5K(x []float32, b []byte) {
	d, dmin := half(b), half(b[2:])
	for g := range 8 {
		s, m := scaleK(b[4:16], g)
		ds, dm := float32(d*float32(s)), float32(dmin*float32(m))
		for i, q := range b[48+g/2*32 : 48+g/2*32+32] {
			q = q>>(4*(g%2))&15 | b[16+i]>>g&1<<4
			x[32*g+i] = float32(ds*float32(q)) - dm
		}
	}
}

// decodeQ6K: 128 bytes of four lower bits, 64 bytes of two upper bits, 16 signed scales,
// d; 32 stands for 0. In each half of the block a byte of lower bits has elements that
// lie 64 apart, a byte of upper bits elements that lie 32 apart.
func decodeQ6K(x []float32, b []byte) {
	d := half(b[208:])
	for i := range x {
		h, j := i/128, i%128
		q := b[64*h+j%64]>>(4*(j/64))&15 | b[128+32*h+j%32]>>(2*(j/32))&3<<4
		x[i] = float32(d*float32(int8(b[192+i/16]))) * float32(int(q)-32)
	}
}
