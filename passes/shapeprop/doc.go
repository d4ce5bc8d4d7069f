// Package shapeprop computes types: by the operators' rules for inputs of other
// types (Infer), for given sizes of symbols (Specialize, Bind), or as they are in one
// run (Observe).
//
// It stands beside simplify; lowering fixes pinned symbols with it. It treats
// operators by their records and names none, and does not decide sizes: what is not
// known stays unknown. Read infer.go first.
package shapeprop
