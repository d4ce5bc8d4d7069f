// Package passes transforms graphs. A pass is a struct with a name and
// a function, and adapters make the common ones short. One driver does the
// rest for all passes: it checks, dumps and times them, and names the
// culprit of an error. It owns rules (pattern and replacement as Go functions), the
// facts that passes rely on, the order of passes and the numeric check.
//
// It stands between capture and engines: graphs come from tracer or the text form and go to interp, codegen
// and lowering. The passes themselves are in the packages below: simplify, shapeprop and expand; fusion, arrange,
// quant, partition and schedule; debug finds faulty passes. This package names no operator and chooses no
// pipeline (fx does).
//
// Read pass.go first, then ctx.go and run.go; docs/add-a-pass.md is the guide. A rule is
// traced and compiled (rule.go, pattern.go), tried at each node (sweep.go, match.go,
// legal.go), and replaces the nodes that match (replace.go); marker.go has the special
// operands of patterns.
package passes
