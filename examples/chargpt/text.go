package main

import (
	_ "embed"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
)

// text is a copy of gofx's decisions, in ASCII.
//
//go:embed text.txt
var text string

// symbols are the end of a line and the characters of ASCII from the space on.
const symbols = 96

// number is that of a character of ASCII.
func number(c byte) int64 {
	if c < ' ' || c > '~' {
		return 0
	}
	return int64(c-' ') + 1
}

// character is the one with a number.
func character(n int64) byte {
	if n == 0 {
		return '\n'
	}
	return byte(n-1) + ' '
}

// windows is a loader of pieces of a text at random places, which the epoch and the number of the
// batch decide, so that training goes on where it was stopped.
type windows struct {
	text    string
	size    int // pieces of a batch
	batches int // of an epoch
	seed    uint64
}

// Len implements train.Loader.
func (w *windows) Len() int { return w.batches }

// Batch implements train.Loader: characters, and those after each of them.
func (w *windows) Batch(epoch, i int) ([]*array.Array, error) {
	r := rand.New(rand.NewPCG(w.seed, uint64(epoch)<<32|uint64(i)))
	x, y := make([]int64, 0, w.size*window), make([]int64, 0, w.size*window)
	for range w.size {
		at := r.IntN(len(w.text) - window)
		for k := range window {
			x, y = append(x, number(w.text[at+k])), append(y, number(w.text[at+k+1]))
		}
	}
	return []*array.Array{array.FromSlice(x, w.size, window), array.FromSlice(y, w.size, window)}, nil
}
