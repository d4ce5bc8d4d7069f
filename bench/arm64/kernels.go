package main

// kernel is a function whose loop is modelled.
type kernel struct {
	name, symbol string
	kind         kind // of the instructions that the roof counts
	wasted       int  // those of a round that the result does not need
}

const family = "github.com/gofx-dev/gofx/kernel/internal/"

// products are the kernels of multiply-adds.
var products = []kernel{
	{"f32 tile, 8 rows by 8 columns", family + "gemm.gemmTileNEON.abi0", fmla, 0},
	{"8-bit tile, SDOT, 6 rows by 8 columns", family + "quant.qTileDot.abi0", dot, 2},
	{"8-bit tile, SMLAL, 3 rows by 8 columns", family + "quant.qTileNEON.abi0", wide, 0},
}

// vectors are the kernels of other arithmetic, 16 elements a round.
var vectors = []kernel{
	{"8-bit add", family + "quant.qAddNEON.abi0", vector, 0},
	{"8-bit multiply", family + "quant.qMulNEON.abi0", vector, 0},
	{"quantise", family + "quant.qQuantizeNEON.abi0", vector, 0},
	{"dequantise", family + "quant.qDequantizeNEON.abi0", vector, 0},
	{"range", family + "quant.qRangeNEON.abi0", vector, 0},
	{"table of 256 bytes", family + "quant.qLookupNEON.abi0", vector, 0},
	{"greatest bytes", family + "quant.qMostNEON.abi0", vector, 0},
	{"bytes added to sums", family + "quant.qAddUpNEON.abi0", vector, 0},
	{"total of bytes", family + "quant.qTotalNEON.abi0", vector, 0},
	{"sums to bytes, a row of 32", family + "quant.qRequantNEON.abi0", vector, 0},
	{"sums to bytes with a residual, a row of 32", family + "quant.qRequantAddNEON.abi0", vector, 0},
	{"sums to floats, a row of 32", family + "quant.qDequantNEON.abi0", vector, 0},
}

// names says what an instruction of a kind is and how many multiply-adds it has.
var roofs = map[kind]struct {
	name   string
	word   uint32 // of the first register, by V30 and V31
	lanes  int
	double bool
}{
	fmla: {"FMLA", 0x4e3fcfc0, 4, false},
	dot:  {"SDOT", 0x4e9f97c0, 16, false},
	wide: {"SMLAL", 0x0e7f83c0, 4, false},
}
