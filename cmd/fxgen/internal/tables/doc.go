// Package tables writes the constructors of compiled functions, with the tables of what the functions
// read and write, and next to the code of which the tables speak the files that embed it.
//
// The package of the user may call constructors that are not written yet. It is loaded three times: with an
// empty file in the place of the generated one, for the signatures; with constructors without tables, whose
// methods Call call the functions themselves, for the analysis; the third has the tables, and is what is written.
//
// Read make.go first, then target.go (functions by their names), print.go and typecode.go.
package tables
