package cpu

import "strconv"

// model returns the signature and the brand that the processor gives itself.
func model() string {
	const leafBrand = 0x80000002 // the first of three
	sign, _, _, _ := cpuid(1, 0)
	s := strconv.FormatUint(uint64(sign), 16)
	top, _, _, _ := cpuid(0x80000000, 0)
	if top < leafBrand+2 {
		return s
	}
	var b []byte
	for i := range uint32(3) {
		a, x, c, d := cpuid(leafBrand+i, 0)
		for _, r := range []uint32{a, x, c, d} {
			for ; r != 0; r >>= 8 {
				b = append(b, byte(r))
			}
		}
	}
	return s + " " + string(b)
}
