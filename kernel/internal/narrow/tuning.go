package narrow

// Sums are cut along k, and scratch is stated, by these sizes: they are the same on every
// machine, and small enough for the caches of any.
const (
	unpackRows  = 4       // rows that one pass over weights serves: as many sums as registers hold
	unpackMost  = 16      // rows up to which weights are widened in registers
	unpackPart  = 64      // columns of a part of the weights
	unpackDepth = 2048    // and its k, for several rows: four rows of it, 32 KiB, stay near while the part passes
	lineMost    = 48      // rows up to which half.Int4Tile, four at a time, takes less than a block of floats
	byteRows    = 8       // rows that one pass over weights of 8 bits serves at most
	byteMost    = 64      // rows up to which eight at a time take less than a block of floats
	byteDepth   = 768     // and their k: eight rows of it, 24 KiB, stay in the first cache
	partBytes   = 1 << 18 // of a part of the weights that several passes meet
	byteUnit    = 32      // columns of bytes that meet all rows, four at a time: 18 KiB of 4 bits at k 1024
	unpackCols  = 256     // columns that are widened at once for more rows: half a second cache of 1 MiB at k 512
)

// Rows a multiple of pageFloats apart share the sets of the first cache; spreadBy more
// elements part them.
const pageFloats, spreadBy = 1024, 96
