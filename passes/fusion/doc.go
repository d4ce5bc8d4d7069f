// Package fusion holds the passes that merge several operators into one: batch
// norms into the convolution or linear layer before them. Each says of every
// candidate that it leaves alone why it does.
//
// They come behind functionalize and before decompose, which takes apart what they
// match. Unlike the other passes they name operators; they change no types and know
// nothing of targets. Read batchnorm.go first.
package fusion
