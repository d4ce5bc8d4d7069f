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
	weights, prompt, store string
	tokens, threads        int
	cache, agreement       bool
}

func main() {
	var o options
	flag.StringVar(&o.weights, "weights", "", "safetensors `file` of the checkpoint gpt2; without one the weights are made up")
	flag.StringVar(&o.prompt, "prompt", "464,2068,7586,21831", "token `numbers` to continue")
	flag.IntVar(&o.tokens, "tokens", 32, "how many tokens to add")
	flag.IntVar(&o.threads, "threads", 0, "how many threads to use, 0 for one a processor")
	flag.StringVar(&o.store, "store", "f32", "how weights are stored: "+strings.Join(Stores, ", "))
	flag.BoolVar(&o.agreement, "agreement", false, "count the tokens that weights in f32 give, too")
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
	g, err := NewGenerator(ctx, m, config, o.store, o.threads)
	if err != nil {
		return err
	}
	tokens := g.Tokens(ctx, prompt)
	if !o.cache {
		tokens = g.Recomputed(ctx, prompt)
	}
	if err := report(w, o.tokens, tokens); err != nil || !o.agreement {
		return err
	}
	return agreement(ctx, w, m, g, o, prompt)
}

// agreement continues the prompt with weights in f32 and prints how many of these tokens
// g gives for the same text.
func agreement(ctx context.Context, w io.Writer, m *models.GPT2Decoder, g *Generator, o options, prompt []int64) error {
	f32, err := NewGenerator(ctx, m, g.config, "f32", o.threads)
	if err != nil {
		return err
	}
	text := prompt
	for token, err := range f32.Tokens(ctx, prompt) {
		if err != nil {
			return err
		}
		if text = append(text, token); len(text) == len(prompt)+o.tokens {
			break
		}
	}
	n, err := g.Agreeing(ctx, text, len(prompt))
	if err == nil {
		fmt.Fprintf(w, "%d of %d tokens of f32's text are the likeliest ones with weights in %s\n", n, len(text)-len(prompt), o.store)
	}
	return err
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
