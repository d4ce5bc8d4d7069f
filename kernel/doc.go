// Package kernel has the CPU kernels that plans, generated code and the eager
// engine run, as steps: plain structs with a Run method, the workspace that they take
// scratch memory and goroutines from, and the frame of a generated call. It knows
// nothing of graphs and operators.
//
// Steps are declared by families below kernel/internal, each with its Go, its
// assembly and its tests. Declarations with the comment //gofx:kernel there are named
// here, in files that go generate writes; a family imports those above it in this table only
// (internal/testkit/archtest holds that):
//
//	cpu        features of the processor          nothing
//	opcode     operations of scalar programs      nothing
//	par        steps, scratch memory, goroutines  cpu
//	half       16-bit floats, 4-bit integers      cpu
//	vmath      functions, the strip machine       cpu, opcode
//	operand    operands, checks, epilogues        half, par
//	random     the counter-based generator        vmath
//	geom       sliding windows                    cpu, operand
//	move       copies, views, transposes          cpu, operand, par
//	rowcol     loops over rows and columns        move, vmath and below
//	resize     images of other sizes              move and below
//	ml         trees, coupled probabilities       move and below
//	gemm       products                           geom and below
//	pool       pools                              geom and below
//	quant      8-bit steps                        geom and below
//	reduce     reductions, norms, softmax         rowcol and below
//	index      indices, sorting                   move, reduce and below
//	winograd   3x3 convolutions by transforms     gemm and below
//	narrow     products with narrow weights       gemm and below
//	rnn        recurrent layers                   gemm and below
//	attention  attention                          gemm, rnn, rowcol and below
//	program    elementwise programs               reduce and below
//	conv       convolutions                       gemm, winograd and below
//
// Entries branch on CPU features themselves: no registry, no function variables, so
// that the linker drops unused kernels. No fmt, no reflection.
//
// Read par_gen.go first (Step), then the doc.go of a family.
package kernel

//go:generate go run ../internal/generators/kernelnames
