// Package debug finds the mistake of a pass or an engine. Bisect names the rewrite
// of a pipeline that breaks a check, Compare the first value in which two forms of a
// model differ, and Minimise cuts a graph down to the few nodes that still fail, which
// Write makes a test of.
//
// It stands above the driver of passes, whose Options.StopAt ends a pipeline at any
// rewrite, and runs graphs by interpretation or with the engine that it is given. It
// repairs nothing, and does not know the purpose of a pass.
//
// Read bisect.go first, then compare.go and minimise.go.
package debug
