// Package cpu is the target that runs graphs on this machine's processor: it
// turns a graph into a plan (package plan) and executes it. Operators are found
// in the table of rules.go, else by their own kernel or expression, else through
// their decomposition. The plan is data that code generation prints; what is
// particular to executing it in this process is in the Executable.
//
// It stands at the end of the flow, above lowering and kernel. It does not compute
// anything itself, and neither fuses, packs weights ahead nor chooses layouts:
// docs/kernels.md says what plans run. Read cpu.go first, then build.go (a fold that
// makes the plan) and exec.go.
package cpu
