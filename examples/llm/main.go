// Command llm continues a text with a language model of a GGUF file, and tells how fast.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/models/decode"
	"github.com/gofx-dev/gofx/models/sampling"
	"github.com/gofx-dev/gofx/models/tokens"
)

// options are the flags.
type options struct {
	model, prompt, cache string
	marked, int8         bool
	n                    int
	sampling             sampling.Config
	decode               decode.Options
}

func main() {
	o := options{prompt: "The quick brown fox"}
	flag.StringVar(&o.model, "m", "", "GGUF `file` of Llama, Mistral, Qwen 2 and 3 or Gemma; without one a small network is made up")
	flag.StringVar(&o.prompt, "p", o.prompt, "the `text` to continue")
	flag.BoolVar(&o.marked, "marked", false, "the text may have control tokens, as the templates of chats do")
	flag.IntVar(&o.n, "n", 128, "how many tokens to add at most")
	flag.Float64Var(&o.sampling.Temperature, "temp", 0.8, "temperature, 0 for the likeliest tokens")
	flag.IntVar(&o.sampling.TopK, "top-k", 40, "draw from so many of the likeliest tokens, 0 for all")
	flag.Float64Var(&o.sampling.TopP, "top-p", 0.95, "draw from the likeliest tokens that have this probability together, 0 for all")
	flag.Float64Var(&o.sampling.MinP, "min-p", 0.05, "draw from tokens at least this many times as likely as the likeliest, 0 for all")
	flag.Float64Var(&o.sampling.Repetition, "repeat", 1, "the penalty for tokens that were there before, 1 for none")
	flag.IntVar(&o.sampling.Window, "window", 64, "how many of the last tokens the penalty is for")
	flag.Uint64Var(&o.sampling.Seed, "seed", 1, "of the draws: the same seed gives the same text")
	flag.IntVar(&o.decode.Positions, "ctx", 0, "room for so many tokens, 0 for as many as the network was trained for, 4096 at most")
	flag.StringVar(&o.cache, "cache", "f32", "element type of keys and values: f32, f16, or int8, which rounds them to 8 bits as llama.cpp does with q8_0")
	flag.BoolVar(&o.int8, "int8", false, "round activations to 8 bits where weights have 4 to 8, as llama.cpp does: faster, less exact")
	flag.IntVar(&o.decode.Threads, "threads", 0, "how many threads to use, 0 for one a processor")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Stderr, o)
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run loads the model and writes the text to w as it comes, and how fast to report.
func run(ctx context.Context, w, report io.Writer, o options) error {
	if o.n < 1 {
		return fmt.Errorf("-n is %d, expected 1 at least", o.n)
	}
	start := time.Now()
	l, err := load(ctx, o)
	if err != nil {
		return err
	}
	defer l.decoder.Close()
	prompt := l.vocabulary.Begin()
	if o.marked {
		prompt = append(prompt, l.vocabulary.EncodeMarked(o.prompt)...)
	} else {
		prompt = append(prompt, l.vocabulary.Encode(o.prompt)...)
	}
	if len(prompt) == 0 {
		return errors.New("the text has no token, expected one at least: give a text by -p")
	}
	fmt.Fprintf(report, "loaded in %s\n", time.Since(start).Round(time.Millisecond))
	times, err := l.write(ctx, w, prompt, o)
	times.report(report, len(prompt))
	return err
}

// model is a language model of a file.
type model struct {
	vocabulary *tokens.Vocabulary
	decoder    *decode.Decoder
}

// mostRoom bounds the cache of networks with many positions where -ctx does not ask for them.
const mostRoom = 4096

func load(ctx context.Context, o options) (l model, err error) {
	var f *gguf.File
	if o.model == "" {
		f, err = gguf.Parse(synthetic())
	} else {
		f, err = gguf.Open(o.model)
	}
	if err != nil {
		return l, err
	}
	defer f.Close()
	if l.vocabulary, err = tokens.Load(f); err != nil {
		return l, err
	}
	var opts []models.LlamaOption
	if o.int8 {
		opts = append(opts, models.Activations8())
	}
	m, err := models.LoadLlama(f, opts...)
	if err != nil {
		return l, err
	}
	switch o.cache {
	case "", "f32":
	case "f16":
		o.decode.Cache = array.F16
	case "int8":
		o.decode.Cache = array.U8
	default:
		return l, fmt.Errorf("-cache is %q, expected f32, f16 or int8", o.cache)
	}
	if o.decode.Positions == 0 {
		o.decode.Positions = min(m.Config.MaxPositions, mostRoom)
	}
	l.decoder, err = decode.New(ctx, m, o.decode)
	return l, err
}

// times are how long reading the prompt and writing tokens took.
type times struct {
	prompt, rest time.Duration
	n            int // tokens after the first one
}

func (t times) report(w io.Writer, prompt int) {
	if t.prompt == 0 { // the prompt was not read
		return
	}
	fmt.Fprintf(w, "%d tokens of the prompt: %.1f tokens/s", prompt, float64(prompt)/t.prompt.Seconds())
	if t.n > 0 {
		fmt.Fprintf(w, "; %d tokens after the first: %.1f tokens/s", t.n, float64(t.n)/t.rest.Seconds())
	}
	fmt.Fprintln(w)
}

// write writes the text that follows a prompt until a token ends it, there are o.n tokens, or an error.
func (l model) write(ctx context.Context, w io.Writer, prompt []int64, o options) (t times, err error) {
	s, err := sampling.New(o.sampling)
	if err != nil {
		return t, err
	}
	s.See(prompt...)
	text, stream := l.decoder.Text(), l.vocabulary.Stream()
	defer func() { fmt.Fprintln(w, stream.Rest()) }()
	start := time.Now()
	fresh := prompt
	for n := range o.n {
		if n > 0 && text.Room() == 0 {
			return t, fmt.Errorf("the text has %d tokens and the network has room for no more: stop earlier by -n, or give more room by -ctx where it has more positions", text.Len())
		}
		scores, err := text.Read(ctx, fresh)
		if err != nil {
			return t, err
		}
		// Networks may have more rows of words than there are tokens.
		token, err := s.Next(scores[0][:min(len(scores[0]), l.vocabulary.Len())])
		if err != nil {
			return t, err
		}
		if n == 0 {
			t.prompt, start = time.Since(start), time.Now()
		} else {
			t.n, t.rest = n, time.Since(start)
		}
		if l.vocabulary.Stops(token) {
			return t, nil
		}
		if _, err := io.WriteString(w, stream.Next(token)); err != nil {
			return t, err
		}
		fresh = []int64{token}
	}
	return t, nil
}
