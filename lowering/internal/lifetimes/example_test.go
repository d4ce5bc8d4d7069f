package lifetimes_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/lowering/internal/lifetimes"
)

// Two values of a chain of steps are in use at a time; the third takes the first one's place.
func Example() {
	spans := lifetimes.NewSpans(3)
	for step, buffers := range [][]int{{0, 1}, {1, 2}} {
		for _, b := range buffers {
			spans.Use(b, step)
		}
	}
	blocks := make([]lifetimes.Block, len(spans))
	for i, s := range spans {
		blocks[i] = lifetimes.Block{Span: s, Size: 100}
	}
	fmt.Println(lifetimes.Place(blocks, 64), "bytes")
	for _, b := range blocks {
		fmt.Println(b.First, b.Last, b.Offset)
	}
	// Output:
	// 228 bytes
	// 0 0 0
	// 0 1 128
	// 1 1 0
}
