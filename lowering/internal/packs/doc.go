// Package packs has the weights that programs of this process have laid out for the processor.
// Programs over one tensor, in one form, share what they have packed: plans of the CPU, and
// generated graphs that a session gives the weights.
//
// It stands below lowering/cpu and lowering/generated. It does not know when a weight is stale: its users
// compare versions, and ask again. Read packs.go first.
package packs
