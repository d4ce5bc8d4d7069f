// Package cpu is the target that runs graphs on this machine's processor: it
// turns a graph into a plan (package plan) and executes it. Operators are found
// in the table of rules.go, else by their own kernel or expression, else through
// their decomposition. The plan is data that code generation prints;
// the Executable holds the rest that a run in this process needs.
//
// It stands at the end of the flow, above lowering and kernel. It finds calls that one
// step computes (group.go, epilogue.go), packs weights for this processor (weights.go), and leaves the computation
// to package kernel; docs/lowering.md describes plans. Read cpu.go first, then build.go (a fold that
// makes the plan) and exec.go.
package cpu
