package decode_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/models/decode"
	"github.com/gofx-dev/gofx/models/sampling"
)

// The likeliest tokens after a prompt.
func ExampleNew() {
	f, err := gguf.Open("../testdata/llama/qwen3.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := models.LoadLlama(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	d, err := decode.New(ctx, m, decode.Options{Positions: 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	pick, err := sampling.New(sampling.Config{}) // Temperature 0
	if err != nil {
		fmt.Println(err)
		return
	}
	text, fresh := d.Text(), []int64{3, 30, 17}
	for range 3 {
		scores, err := text.Read(ctx, fresh)
		if err != nil {
			fmt.Println(err)
			return
		}
		token, err := pick.Next(scores[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(token, " ")
		fresh = []int64{token}
	}
	fmt.Println(text.Len(), text.Room())
	// Output:
	// 9 34 39 5 27
}

// A cache of 8 bits takes 34 bytes for 32 elements, where one of f32 takes 128.
func ExampleOptions() {
	f, err := gguf.Open("../testdata/llama/blocks.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := models.LoadLlama(f, models.Activations8())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	d, err := decode.New(ctx, m, decode.Options{Positions: 32, Cache: array.U8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	scores, err := d.Text().Read(ctx, []int64{3, 30, 17})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(scores[0]) == m.Config.VocabSize, m.Config.CacheType(array.U8))
	// Output:
	// true u8[N,2,R,68]
}
