// Command digits classifies the test split of the handwritten digits with the
// packages that `go generate` wrote from the model in this folder, in floats and
// quantised. This file generates the first one, forms.go the others.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

//go:generate go tool -modfile=fxgen.mod fxgen gen -o digitsnet -package digitsnet -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints each package's accuracy on the test split.
func run(w io.Writer) error {
	images, labels, err := testSplit()
	if err != nil {
		return err
	}
	x := array.DenseOf(images, len(labels), 1, 8, 8)
	for _, p := range packages() {
		net, err := p.load()
		if err != nil {
			return err
		}
		logits, err := net.Forward(context.Background(), x)
		if err != nil {
			return err
		}
		n := right(logits.Data(), labels)
		fmt.Fprintf(w, "%-12s %d of %d test digits are right (%.2f %%), by the generated package %s\n", p.form, n, len(labels), 100*float64(n)/float64(len(labels)), p.folder)
	}
	return nil
}

// right counts the logits whose largest is the label's.
func right(logits []float32, labels []int) (n int) {
	for i, p := range argmax(logits, 10) {
		if p == labels[i] {
			n++
		}
	}
	return n
}

// testSplit returns the images with index i where i%4 == 3, scaled to [0, 1],
// and their labels.
func testSplit() (images []float32, labels []int, err error) {
	px, err := npy.ReadFile("images.npy")
	if err != nil {
		return nil, nil, err
	}
	lb, err := npy.ReadFile("labels.npy")
	if err != nil {
		return nil, nil, err
	}
	pixels, digits := array.Data[uint8](px), array.Data[uint8](lb)
	for i := 3; i < len(digits); i += 4 {
		for _, p := range pixels[64*i : 64*i+64] {
			images = append(images, float32(p)/16)
		}
		labels = append(labels, int(digits[i]))
	}
	return images, labels, nil
}

// argmax returns the index of the largest element of each row of n.
func argmax(v []float32, n int) []int {
	var out []int
	for i := 0; i+n <= len(v); i += n {
		best := 0
		for k := range n {
			if v[i+k] > v[i+best] {
				best = k
			}
		}
		out = append(out, best)
	}
	return out
}
