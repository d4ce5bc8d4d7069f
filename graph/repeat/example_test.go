package repeat_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph/repeat"
)

// Find takes the longest repetition that begins at an item.
func ExampleItems_Find() {
	s := repeat.Items{Keys: []string{"x", "a", "a", "b", "a", "a", "b", "y"}, MaxPeriod: 4}
	fmt.Println(s.Find(), s.At(2, 3))
	// Output: [{1 3 2}] {2 3 1}
}

// WithoutDigits is what the names of repeated modules have in common.
func ExampleWithoutDigits() {
	fmt.Println(repeat.WithoutDigits("encoder.layer.11"))
	// Output: encoder.layer.
}
