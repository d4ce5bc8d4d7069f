package sampling_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/models/sampling"
)

func ExampleNew() {
	s, err := sampling.New(sampling.Config{Temperature: 0.8, TopK: 40, TopP: 0.95, Repetition: 1.1, Seed: 42})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.See(2) // the text so far
	scores := []float32{0.1, 3, 2.5, -1, 2.9}
	for range 4 {
		token, err := s.Next(scores)
		fmt.Println(token, err)
	}
	_, err = sampling.New(sampling.Config{TopP: 2})
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 4 <nil>
	// 1 <nil>
	// sampling: TopP is 2, expected 0, or 0 to 1 [FX8045]
}
