package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// Generator continues texts with a GPT-2 that was captured and planned once, for
// prompts and caches of all lengths. Many goroutines may share one.
type Generator struct {
	config models.GPT2Config
	plan   *cpu.Executable
}

// Stores are the ways to store the weights of products: in 32 bits, in 16, and, with the
// tables of words and positions, in 8 bits for each channel or 4 in groups of 32.
var Stores = []string{"f32", "bf16", "int8", "int4"}

// NewGenerator captures a decoder with the sizes of config, whose weights are stored in one
// of Stores. Products are computed in floats from all of them.
func NewGenerator(ctx context.Context, m *models.GPT2Decoder, config models.GPT2Config, store string, threads int) (*Generator, error) {
	gm, err := fx.Trace(ctx, m, fx.Input("input_ids", "i64[N,S]"), fx.Input("past", config.PastType()))
	if err != nil {
		return nil, err
	}
	if _, err := gm.Apply(ctx, fx.Optimise(), fx.PassOptions{}); err != nil {
		return nil, err
	}
	opts := lowering.Options{Threads: threads}
	switch store {
	case "f32":
	case "bf16":
		opts.Weights = array.BF16
	case "int8", "int4":
		weights := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly}}
		if store == "int4" {
			weights.Global.Weight.Bits = 4
		}
		if _, err := gm.Apply(ctx, []fx.Pass{quant.Convert(weights, cpu.QuantBackend()), integer.Lower}, fx.PassOptions{}); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("-store is %q, expected one of %s", store, strings.Join(Stores, ", "))
	}
	plan, err := cpu.Compile(gm.Module, opts)
	if err != nil {
		return nil, err
	}
	return &Generator{config, plan}, nil
}

// Tokens yields the likeliest tokens after a prompt, one after the other, until
// the model has no position left or the loop ends. Every token is computed once:
// its keys and values are kept.
func (g *Generator) Tokens(ctx context.Context, prompt []int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		c := g.newCache()
		fresh := prompt
		for c.used+len(fresh) <= g.config.MaxPositions {
			token, err := g.next(ctx, fresh, c)
			if !yield(token, err) || err != nil {
				return
			}
			fresh = []int64{token}
		}
	}
}

// Agreeing counts the tokens of a text, after the first few, that are the likeliest
// ones: each is predicted from all earlier tokens of the text, so that one difference
// does not cause others.
func (g *Generator) Agreeing(ctx context.Context, text []int64, first int) (n int, err error) {
	c := g.newCache()
	for at := first; at < len(text); at++ {
		token, err := g.next(ctx, text[c.used:at], c)
		if err != nil {
			return 0, err
		}
		if token == text[at] {
			n++
		}
	}
	return n, nil
}

// Recomputed yields the same as Tokens without a cache: all tokens are computed
// for each new one.
func (g *Generator) Recomputed(ctx context.Context, prompt []int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		c := g.newCache()
		all := append([]int64(nil), prompt...)
		for len(all) <= g.config.MaxPositions {
			c.used = 0
			token, err := g.next(ctx, all, c)
			if !yield(token, err) || err != nil {
				return
			}
			all = append(all, token)
		}
	}
}

// cache holds the keys and values of a text, row after row: a row is the
// decoder's result for one position.
type cache struct {
	rows []float32
	dims []int // of a row
	size int   // elements of a row
	used int   // rows
}

func (g *Generator) newCache() *cache {
	k := g.config
	row := 2 * k.NumLayers * k.Width
	return &cache{rows: make([]float32, k.MaxPositions*row), size: row, dims: []int{k.NumLayers, 2, 1, k.NumHeads, k.Width / k.NumHeads}}
}

// slice returns n rows from the given one on, as a tensor in the cache's memory.
func (c *cache) slice(from, n int) *array.Array {
	return array.FromSlice(c.rows[from*c.size:(from+n)*c.size], append([]int{n}, c.dims...)...)
}

// next runs the model on tokens that follow those of the cache, appends their
// keys and values to it, and returns the likeliest next one.
func (g *Generator) next(ctx context.Context, tokens []int64, c *cache) (int64, error) {
	if len(tokens) == 0 {
		return 0, fmt.Errorf("no tokens, expected a prompt of one at least")
	}
	ids := array.FromSlice(tokens, 1, len(tokens))
	logits := array.New(array.F32, 1, g.config.VocabSize)
	past, present := c.slice(0, c.used), c.slice(c.used, len(tokens))
	if err := g.plan.RunInto(ctx, []*array.Array{logits, present}, []*array.Array{ids, past}); err != nil {
		return 0, err
	}
	c.used += len(tokens)
	return argmax(array.Data[float32](logits)), nil
}

func argmax(v []float32) int64 {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return int64(best)
}
