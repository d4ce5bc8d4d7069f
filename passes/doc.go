// Package passes is how graphs are transformed: a pass is a struct with a name
// and a function, adapters make the common ones short, and one driver does for
// all of them what is not the idea of the pass (checking, dumping, timing,
// naming the culprit). It owns rules (pattern and replacement as Go functions), the
// facts that passes rely on, the order of passes and the numeric check.
//
// It stands between capture and engines: graphs come from tracer or the text form
// and go to interp, codegen and lowering. The passes themselves are in the packages
// below: simplify, shapeprop, fusion. It names no operator and chooses no pipeline
// (fx does).
//
// Read pass.go first, then ctx.go and run.go; docs/add-a-pass.md is the guide. A rule is
// traced and compiled (rule.go, pattern.go), tried at each node (sweep.go, match.go,
// legal.go) and put in the place of what matches (replace.go); marker.go has what
// patterns may say.
package passes
