package main

// kind is what an instruction does, as far as counts tell it apart.
type kind uint8

const (
	other  kind = iota
	fmla        // multiply-adds of four f32
	dot         // four dot products of four bytes
	wide        // multiply-adds of four products of 16 bits
	vector      // other arithmetic of vectors
	memory      // loads and stores
	single      // multiply-adds of one f32
	scalar      // other arithmetic of one float
	branch      // jumps and calls
	whole       // arithmetic of integers
)

// encodings tell kinds apart, the first that fits: C4.1 of the Arm Architecture Reference Manual for A-profile (DDI 0487).
var encodings = []struct {
	mask, bits uint32
	kind       kind
}{
	{0xffe0fc00, 0x4e20cc00, fmla}, // FMLA Vd.4S, Vn.4S, Vm.4S
	{0xffe0fc00, 0x4ea0cc00, fmla}, // FMLS
	{0xffc0f400, 0x4f801000, fmla}, // FMLA Vd.4S, Vn.4S, Vm.S[i]
	{0xffc0f400, 0x4f805000, fmla}, // FMLS
	{0xffe0fc00, 0x4e809400, dot},  // SDOT Vd.4S, Vn.16B, Vm.16B
	{0xffe0fc00, 0x6e809400, dot},  // UDOT
	{0xffe0fc00, 0x4e809c00, dot},  // USDOT
	{0xffc0f400, 0x4f80e000, dot},  // SDOT Vd.4S, Vn.16B, Vm.4B[i]
	{0xffc0f400, 0x6f80e000, dot},  // UDOT
	{0xffc0f400, 0x4f80f000, dot},  // USDOT
	{0xffc0f400, 0x4f00f000, dot},  // SUDOT
	{0xbfe0fc00, 0x0e608000, wide}, // SMLAL and SMLAL2 Vd.4S, Vn.4H or 8H, Vm
	{0xbfe0fc00, 0x2e608000, wide}, // UMLAL
	{0x0a000000, 0x08000000, memory},
	{0x1c000000, 0x14000000, branch},
	{0x5f000000, 0x1f000000, single}, // FMADD and its like
	{0x5f000000, 0x1e000000, scalar},
	{0x0e000000, 0x0e000000, vector},
	{0x1c000000, 0x10000000, whole}, // with immediates
	{0x0e000000, 0x0a000000, whole}, // of registers
}

// kindOf tells what an instruction does.
func kindOf(word uint32) kind {
	for _, e := range encodings {
		if word&e.mask == e.bits {
			return e.kind
		}
	}
	return other
}
