package tokens_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/models/tokens"
)

func ExampleLoad() {
	f, err := gguf.Open("testdata/llama-bpe.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	v, err := tokens.Load(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := append(v.Begin(), v.Encode("The brown dog")...)
	fmt.Println(text)
	s := v.Stream()
	for _, token := range text {
		fmt.Printf("%q ", s.Next(token))
	}
	fmt.Println(v.Stops(v.EncodeMarked("</s>")[0]))
	// Output:
	// [481 280 301 302]
	// "" "The" " brown" " dog" true
}
