// Command digits classifies the test split of the handwritten digits with the
// package that `go generate` wrote from the model in this folder.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"

	"example.com/digits/digitsnet"
)

//go:generate go tool fxgen gen -o digitsnet -package digitsnet -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool fxgen draw -o digits.svg -input x=f32[N,1,8,8] .#Net -new NewNet

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	images, labels, err := testSplit()
	if err != nil {
		return err
	}
	net, err := digitsnet.New()
	if err != nil {
		return err
	}
	logits, err := net.Forward(context.Background(), array.DenseOf(images, len(labels), 1, 8, 8))
	if err != nil {
		return err
	}
	right := 0
	for i, p := range argmax(logits.Data(), 10) {
		if p == labels[i] {
			right++
		}
	}
	fmt.Printf("%d of %d test digits are right (%.2f %%), by the generated package digitsnet\n", right, len(labels), 100*float64(right)/float64(len(labels)))
	return nil
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
