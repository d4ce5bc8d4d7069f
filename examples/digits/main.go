// Command digits classifies the test split of the handwritten digits with the
// packages that `go generate` wrote from the model in this folder, in floats and
// quantised.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"

	"example.com/digits/digitsnet"
	"example.com/digits/dynamicnet"
	"example.com/digits/int4net"
	"example.com/digits/staticnet"
)

//go:generate go tool fxgen gen -o digitsnet -package digitsnet -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool fxgen draw -o digits.svg -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go run ./calibration
//go:generate go tool fxgen quant -config static.json -calib calibration.npy -o quantised/static -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool fxgen quant -config dynamic.json -o quantised/dynamic -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool fxgen quant -config int4.json -o quantised/int4 -weights digits.safetensors -input x=f32[N,1,8,8] .#Net -new NewNet
//go:generate go tool fxgen gen -o staticnet -package staticnet quantised/static
//go:generate go tool fxgen gen -o dynamicnet -package dynamicnet quantised/dynamic
//go:generate go tool fxgen gen -o int4net -package int4net quantised/int4

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// classifier is the interface of every generated package.
type classifier interface {
	Forward(ctx context.Context, x array.Dense[float32]) (array.Dense[float32], error)
}

// generated is one of the packages that go generate wrote.
type generated struct {
	folder, form string
	config       string // request to fxgen quant, "" for floats
	load         func() (classifier, error)
}

func packages() []generated {
	return []generated{
		{"digitsnet", "float", "", func() (classifier, error) { return digitsnet.New() }},
		{"staticnet", "static int8", "static.json", func() (classifier, error) { return staticnet.New() }},
		{"dynamicnet", "dynamic int8", "dynamic.json", func() (classifier, error) { return dynamicnet.New() }},
		{"int4net", "int4", "int4.json", func() (classifier, error) { return int4net.New() }},
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
