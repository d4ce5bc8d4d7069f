// Package certificate checks a generated package: one small file holds inputs
// and the outputs that the package must compute for them. fxgen writes the file and a
// test that calls Check; the test runs wherever the package is built.
//
// Synthetic inputs are stored as the number of their formula, others as they are,
// large ones compressed. Samples may be steps: a sample that continues the one
// before runs on the same model, and takes results of the previous call as its inputs. An output
// of more than 4096 elements is stored as a selection and as sums over runs of
// all elements, so that a file has some hundred kilobytes for a model of any
// size. Each output has its tolerance, and the distance of the plan that the code
// was printed from.
//
// It stands next to package gosrc, and knows neither graphs nor plans. Tests link it,
// programs do not. Read certificate.go first.
package certificate
