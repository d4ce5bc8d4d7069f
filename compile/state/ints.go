package state

import (
	"path/filepath"
	"runtime"
)

// Ints say what code does with sizes that it is told as ints, by Dim and Size.Int, on lines of which all that it does is known: it compares
// them, and gives them to operators as sizes, computed with on the way.
type Ints struct {
	Asks  []Line
	Tests []IntTest
	Uses  []IntUse
}

// Line is a line of code, by the path of its package and the base name of its file, as with Body.
type Line struct {
	Package, File string
	Line          int
}

// Has reports whether a frame stands on the line.
func (l *Line) Has(f *runtime.Frame) bool {
	return f.Line == l.Line && filepath.Base(f.File) == l.File && placeOf(f).Package == l.Package
}

// IntExpr is what code computes with ints, in postfix order.
type IntExpr []IntTerm

// IntTerm is a step of an IntExpr: "ask" is an int of the line N of Asks, "const" is N; "+", "-", "*", "/", "%", "min" and "max" take two.
type IntTerm struct {
	Op string
	N  int
}

// IntTest is a comparison by "==", "!=", "<", "<=", ">" or ">=".
type IntTest struct {
	A  IntExpr
	Op string
	B  IntExpr
}

// IntUse is a call of an operator that is given ints as sizes, Count of them: each is one of Exprs.
type IntUse struct {
	Line
	Op    string
	Count int
	Exprs []IntExpr
}
