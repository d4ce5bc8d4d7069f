// Package random computes the numbers of a counter-based generator (Salmon et al.,
// "Parallel Random Numbers: As Easy as 1, 2, 3", 2011) and the samples drawn from
// them. A number depends on a counter and a key alone. Arithmetic bounds it. Read
// random.go first.
package random
