package device

// Library is what a device is, too, where its vendor's routines compute for it.
type Library interface {
	// Product returns the routine for a matrix product, and what it is, for people and keys:
	// "cuBLASLt 12.4.5". The error, of code NoDevice, says why there is none.
	Product(p Product) (r Routine, name string, err error)
	// Convolution is Product for a convolution.
	Convolution(c Convolution) (r Routine, name string, err error)
}

// Routine is something that a library computes. It may run in several queues at once.
type Routine interface {
	// Reserve gives a queue the memory that runs in it need, before they are recorded.
	Reserve(q Queue) error
	// Run enqueues it: results are written to out.
	Run(q Queue, out Buffer, in ...Buffer) error
	Free()
}

// Product is out = a·b, for each matrix of a batch: out [Batch, M, N] in row-major order from
// the start of its buffer, a [M, K], b [K, N]. Sums are f32.
type Product struct {
	Batch, M, N, K int
	Half           string // "f16" or "bf16" elements; "" for f32
	TF32           bool   // operands of f32 may be rounded to tf32
	Sums           bool   // out has the sums in f32, also of halves
	A, B           Matrix
}

// Convolution is out [N, M, OutH, OutW] = x [N, C, H, W] convolved with weights [M, C/Groups,
// KernelH, KernelW], all dense and of one type. Nothing is padded.
type Convolution struct {
	N, C, H, W, M, KernelH, KernelW, OutH, OutW int
	StrideH, StrideW, DilationH, DilationW      int
	Groups                                      int
	Half                                        string // as of a Product
}

// Matrix is how an operand lies in its buffer, in elements: rows or columns one after the other.
type Matrix struct {
	Offset int
	Lead   int  // from row to row; with Turned from column to column
	Turned bool // columns are contiguous
	Batch  int  // from matrix to matrix, 0 for one that all share
}
