// Command calibration writes the calibration data: the first images that are not
// in the test split, as the network takes them.
package main

import (
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

const images = 128

func main() {
	px, err := npy.ReadFile("images.npy")
	if err == nil {
		err = npy.WriteFile("calibration.npy", batch(array.Data[uint8](px)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// batch returns images of 64 pixels, scaled to [0, 1].
func batch(pixels []uint8) *array.Array {
	var x []float32
	for i := 0; len(x) < 64*images; i++ {
		if i%4 == 3 {
			continue
		}
		for _, p := range pixels[64*i : 64*i+64] {
			x = append(x, float32(p)/16)
		}
	}
	return array.FromSlice(x, images, 1, 8, 8)
}
