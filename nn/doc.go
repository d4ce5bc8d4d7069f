// Package nn holds the modules that models are made of, as torch.nn has them:
// same names, settings, parameter names and state-dict order. A module is a
// pointer to a struct with a Forward method; there is no base type. Settings and
// tensors are exported fields, so that a module can also be written as a literal.
//
// Modules of this package with one operator are leaves: they call tensor.Leaf,
// which runs the operator eagerly and becomes one call_module node in a trace.
// Containers and the user's own modules are called by Run, which tells a
// trace whose Forward is running. A trace mostly finds that out when Forward is called
// directly, too; docs/tracing.md says when it cannot.
//
// New modules are in evaluation mode, because gofx is for capture and
// inference; call Train for training mode. This is the one place where the
// package departs from torch.nn.
//
// It owns modules, containers, initial values and state dicts. It stands above tensor
// and op/std, next to tracer, and knows nothing of graphs or training loops.
// Read run.go first, then linear.go, the shortest leaf.
package nn
