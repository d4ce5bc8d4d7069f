// Package record is what engines that record share: tensors as places of storages,
// writes in place as values, eager tensors that enter a program, regions of control
// flow. An engine brings the program (Program), what it knows of eager tensors and
// says of mistakes (Source) and, where it records control flow, blocks of code
// (Regions). What a value is, is the engine's: the tracer's are nodes of a graph, a
// lazy session's may be places in an arena.
//
// It stands below tracer and above tracer/alias, whose Recorder it implements. It
// knows neither graphs nor operators by name, sets no policy, and takes no locks:
// one goroutine at a time uses a recorder.
//
// Read program.go first, which says what an engine brings; then recorder.go (values
// of tensors), memory.go (eager tensors), write.go, region.go, cond.go and loop.go.
package record
