// Command gpt2 continues a text with GPT-2 small and tells how fast: each token is
// computed once, because the keys and values of all before are kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// options are the flags.
type options struct {
	weights, prompt string
	tokens, threads int
	cache           bool
}

func main() {
	var o options
	flag.StringVar(&o.weights, "weights", "", "safetensors `file` of the checkpoint gpt2; without one the weights are made up")
	flag.StringVar(&o.prompt, "prompt", "464,2068,7586,21831", "token `numbers` to continue")
	flag.IntVar(&o.tokens, "tokens", 32, "how many tokens to add")
	flag.IntVar(&o.threads, "threads", 0, "how many threads to use, 0 for one a processor")
	flag.BoolVar(&o.cache, "cache", true, "keep keys and values")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, models.GPT2Small, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run loads a model of the sizes of config and continues the prompt.
func run(ctx context.Context, w io.Writer, config models.GPT2Config, o options) error {
	prompt, err := numbers(o.prompt)
	if err != nil {
		return err
	}
	m := models.NewGPT2Decoder(config)
	if o.weights == "" {
		models.Synthetic(&models.Model{}, m, "gpt2")
	} else if err := nn.LoadFile(m, o.weights, nn.AllowUnexpected()); err != nil { // the file has masks too
		return err
	}
	g, err := NewGenerator(ctx, m, config, o.threads)
	if err != nil {
		return err
	}
	tokens := g.Tokens(ctx, prompt)
	if !o.cache {
		tokens = g.Recomputed(ctx, prompt)
	}
	return report(w, o.tokens, tokens)
}

// report prints up to n tokens as they come, and how long they took. The first one
// takes the whole prompt and is told apart.
func report(w io.Writer, n int, tokens iter.Seq2[int64, error]) error {
	if n < 1 {
		return fmt.Errorf("-tokens is %d, expected 1 at least", n)
	}
	start := time.Now()
	var first time.Duration
	count := 0
	for token, err := range tokens {
		if err != nil {
			return err
		}
		if count++; count == 1 {
			first = time.Since(start)
		}
		fmt.Fprint(w, token, " ")
		if count == n {
			break
		}
	}
	rest := time.Since(start) - first
	fmt.Fprintf(w, "\nfirst token after %s", first.Round(time.Microsecond))
	if count > 1 {
		fmt.Fprintf(w, ", then %.1f tokens a second", float64(count-1)/rest.Seconds())
	}
	fmt.Fprintln(w)
	return nil
}

// numbers reads a list with commas.
func numbers(text string) (list []int64, err error) {
	for _, f := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(f), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-prompt: %w", err)
		}
		list = append(list, n)
	}
	return list, nil
}
