// Package certificate is what a generated package is checked against: inputs, and the
// outputs that it must compute for them, in one small file. fxgen writes the file and a
// test that calls Check; the test runs wherever the package is built.
//
// Inputs that were made up are stored as the number of their formula, others as they are,
// large ones compressed. Samples may be steps: a sample that continues the one before is
// computed by the same model, and takes results of the call before as its inputs. Of outputs of more
// than 4096 elements, a selection is stored and sums over runs of all elements, so that
// a file has some hundred kilobytes however large the model is. Each output has the
// tolerance that it is compared with, and how far the plan that the code was printed
// from was from it.
//
// It stands beside package gosrc, and knows neither graphs nor plans. Tests link it,
// programs do not. Read certificate.go first.
package certificate
