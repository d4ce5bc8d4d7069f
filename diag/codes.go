package diag

import (
	"slices"
	"strings"
)

// Info explains a code: what went wrong, why it usually happens, how to cure it.
type Info struct {
	// Code has constants in the packages that report it: the comment //gofx:code above
	// it names them, and go generate ./diag declares them.
	Code  Code
	Title string // lower case, no full stop: the mistake in a few words
	Cause string // what leads to it
	Cure  string // what to change
	// Example is the shortest input that has the mistake. For FX2 and FX7 it is
	// text form of a graph (or of the dimension or type at fault); for FX1, FX3,
	// FX4, FX5 and FX6, and for the FX2 that only values cause, it is Go source; for FX8
	// it names the bytes of a file or a command line. A test runs each.
	Example string
}

// tables holds one literal table a stage, each in a file of its own.
func tables() [][]Info {
	return [][]Info{traceCodes, typeCodes, valueCodes, passCodes, gradCodes, compileCodes, trainCodes, codegenCodes, lowerCodes, gpuCodes, pjrtCodes, quantCodes, textCodes, fileCodes, weightCodes, onnxCodes, pt2Codes, internalCodes}
}

// Lookup returns what is known about a code; ok is false for codes that no
// table has.
func Lookup(c Code) (info Info, ok bool) {
	for _, t := range tables() {
		for i := range t {
			if t[i].Code == c {
				return t[i], true
			}
		}
	}
	return Info{}, false
}

// Codes returns every documented code, sorted.
func Codes() []Info {
	var all []Info
	for _, t := range tables() {
		all = append(all, t...)
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return all
}
