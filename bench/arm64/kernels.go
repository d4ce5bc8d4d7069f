package main

// kernel is a function whose loop is modelled.
type kernel struct {
	name, symbol string
	kind         kind // of the instructions that the roof counts
	// count is how many of them the loop has; 0 takes the loop with the most. Tiles of few rows have loops of their own.
	count int
}

const family = "github.com/gofx-dev/gofx/kernel/internal/"

// products are the kernels of multiply-adds. All those of a round are needed for the result.
var products = []kernel{
	{"f32 tile, 8 rows by 8 columns", family + "gemm.gemmTileNEON.abi0", fmla, 0},
	{"f32 tile, 4 rows by 8 columns", family + "gemm.gemmRowsNEON.abi0", fmla, 8},
	{"f32 tile, 2 rows by 8 columns", family + "gemm.gemmRowsNEON.abi0", fmla, 4},
	{"f32 tile, 1 row by 8 columns", family + "gemm.gemmRowsNEON.abi0", fmla, 2},
	{"8-bit tile with SDOT, 8 rows by 8 columns", family + "quant.qTileDot.abi0", dot, 0},
	{"8-bit tile with SDOT, 4 rows by 8 columns", family + "quant.qTileDot.abi0", dot, 32},
	{"8-bit tile with SDOT, 1 row by 8 columns", family + "quant.qTileDot.abi0", dot, 8},
	{"8-bit tile with SMLAL, 3 rows by 8 columns", family + "quant.qTileNEON.abi0", wide, 0},
	{"8-bit tile with SMLAL, 1 row by 8 columns", family + "quant.qTileNEON.abi0", wide, 8},
}

// vectors are the kernels of other arithmetic.
var vectors = []kernel{
	{"epilogue of f32, 4 numbers, every operand", family + "gemm.epilogueNEON.abi0", vector, 0},
	{"Winograd 4x4, a patch of 4 tiles", family + "winograd.winogradInput4NEON.abi0", vector, 0},
	{"Winograd 4x4, outputs of 4 tiles", family + "winograd.winogradOutput4NEON.abi0", vector, 0},
	{"Winograd 2x2, a patch of 4 tiles", family + "winograd.winogradInput2NEON.abi0", vector, 0},
	{"Winograd 2x2, outputs of 4 tiles", family + "winograd.winogradOutput2NEON.abi0", vector, 0},
	{"8-bit add, 16 pairs", family + "quant.qAddNEON.abi0", vector, 0},
	{"8-bit multiply, 16 pairs", family + "quant.qMulNEON.abi0", vector, 0},
	{"quantise 16 floats", family + "quant.qQuantizeNEON.abi0", vector, 0},
	{"dequantise 16 bytes", family + "quant.qDequantizeNEON.abi0", vector, 0},
	{"range of 16 floats", family + "quant.qRangeNEON.abi0", vector, 0},
	{"table of 256, 16 bytes", family + "quant.qLookupNEON.abi0", vector, 0},
	{"greatest bytes, 16 windows", family + "quant.qMostNEON.abi0", vector, 0},
	{"16 bytes added to sums", family + "quant.qAddUpNEON.abi0", vector, 0},
	{"total of 16 bytes", family + "quant.qTotalNEON.abi0", vector, 0},
	{"32 sums to bytes", family + "quant.qRequantNEON.abi0", vector, 0},
	{"32 sums to bytes, with a residual", family + "quant.qRequantAddNEON.abi0", vector, 0},
	{"32 sums to floats", family + "quant.qDequantNEON.abi0", vector, 0},
}

// core is one that LLVM describes.
type core struct {
	name string // of llvm-mca
	note string // whose description it has, where that is not its own
}

var cores = []core{
	{"cortex-a55", ""},
	{"cortex-a76", "Cortex-A57's"},
	{"neoverse-n1", ""},
	{"neoverse-n2", ""},
	{"neoverse-v1", ""},
	{"neoverse-v2", ""},
	{"apple-m1", "Cyclone's, of 2013"},
}

// roof is what a core does at best with a kind of multiply-add: a loop of 24 of them that wait for nothing.
type roof struct {
	kind  kind
	name  string
	lanes int    // multiply-adds of an instruction
	word  uint32 // with operands V30 and V31, into V0
}

const independent = 24

var roofs = []roof{
	{fmla, "FMLA", 4, 0x4f9f13c0},  // FMLA V0.4S, V30.4S, V31.S[0]
	{dot, "SDOT", 16, 0x4f9fe3c0},  // SDOT V0.4S, V30.16B, V31.4B[0]
	{wide, "SMLAL", 4, 0x0e7f83c0}, // SMLAL V0.4S, V30.4H, V31.4H
}

// words are the instructions of the roof's loop.
func (r roof) words() (list []uint32) {
	for i := range uint32(independent) {
		list = append(list, r.word|i)
	}
	return list
}
