// Package shapeprop computes types: by the operators' rules for inputs of other
// types (Infer), for given sizes of symbols (Specialize, Bind), or as they are in one
// run (Observe).
//
// It stands next to simplify; lowering fixes pinned symbols with it. It
// treats operators by their records and names none. It does not guess sizes: an unknown
// size stays unknown. Read infer.go first.
package shapeprop
