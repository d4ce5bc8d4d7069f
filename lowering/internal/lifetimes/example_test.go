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

// Two blocks at one place are no clash where one ends before the other begins.
func ExampleClash() {
	a := lifetimes.Block{Span: lifetimes.Span{First: 0, Last: 2}, Size: 8}
	b := lifetimes.Block{Span: lifetimes.Span{First: 3, Last: 4}, Size: 8}
	fmt.Println(lifetimes.Clash([]lifetimes.Block{a, b}))
	b.First = 2
	fmt.Println(lifetimes.Clash([]lifetimes.Block{a, b}))
	// Output:
	// false
	// true
}

func ExampleMeets() {
	kept := []lifetimes.Block{{Span: lifetimes.Span{First: 0, Last: 9}, Offset: 64, Size: 64}}
	made := []lifetimes.Block{{Span: lifetimes.Span{First: 5, Last: 5}, Offset: 100, Size: 8}}
	fmt.Println(lifetimes.Meets(kept, made))
	// Output: true
}
