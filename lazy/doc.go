// Package lazy runs ordinary tensor code as planned graphs without capturing it first:
// calls are recorded, and computed together when the program looks at a number. A
// session is the engine; the model's code does not change. Branches, loops and prints on
// data are ordinary Go: they end what is recorded so far (a flush), and the next calls
// begin a new graph.
//
// A graph that comes again, with the same calls, types and outputs, is found by its key and
// runs as a compiled plan. What a program prints, its bits and the lines of its errors are
// those of eager code, see Options.Rounding.
//
// The room stands above lowering/cpu, which compiles the graphs, and tracer/record, which
// turns views and writes into values; it does not know operators by name. It keeps no
// graph: a value that was computed keeps its array alone.
//
// Read session.go first, then engine.go (recording), source.go (eager tensors), flush.go
// (what is computed), cache.go (programs), lift.go, dims.go and sizes.go (numbers and sizes that
// programs leave open), and grad.go (gradients). journal.go notes what Explain tells
// (explain.go), and report.go writes it. program.go captures steps that are not to be recorded
// again, lend.go runs code that knows nothing of the session, donate.go updates models in their memory. folder.go keeps graphs on disk.
//
// Ref: Suhan et al., LazyTensor: combining eager execution with domain-specific compilers
// (2021); Lopes, Torchy: a tracing JIT compiler for PyTorch (CC 2023).
package lazy
