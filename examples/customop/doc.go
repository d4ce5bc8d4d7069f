// Package customop has three custom operators, one for each way to define an
// operator, and a network that calls them. Each is one entry in one file: its
// samples and faulty calls stand next to its definition, and conform_test.go runs them
// in every engine.
//
// Empty fields of a record are derived from its class, types and definition: here
// the cost of a call and its tolerance, and the gradients of snake and gated_linear. A kernel
// says nothing of its gradient: median has a rule, and grad_test.go trains the network.
//
// Read snake.go first, then gated.go, median.go and net.go; docs/add-an-op.md is the
// guide.
package customop
