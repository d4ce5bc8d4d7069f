package decode

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// Options are the choices of New. The zero Options are those of one text at a time.
type Options struct {
	// Positions is the room of a text, 0 for as many as the network has been trained for.
	Positions int
	// Texts is how many texts are read at once, 0 for one.
	Texts int
	// Cache is the element type of keys and values, array.F32, array.F16 or array.U8; the zero value is F32. F16 takes half
	// the memory; queries are rounded to it, too. U8 takes 0.27 of the memory of F32: keys and values are rounded to 8 bits in blocks of 32 elements, and
	// queries, too, see [tensor.BlockAttention]; heads have to have whole blocks.
	Cache array.DType
	// Block is the most tokens that one run of the network takes, which bounds the memory for long
	// prompts: a multiple of 32, 64 at least; 0 is DefaultBlock. Results do not depend on it, see Text.Read.
	Block int
	// Threads is the most threads of one run, 0 for one a processor.
	Threads int
}

// DefaultBlock is the most tokens that a run takes by default: enough for products of full speed.
const DefaultBlock = 256

// Blocks are cut where kernels cut, too, so that they change no bit: attention takes blockUnit queries
// together, and products of fewer rows than leastBlock may sum in another order.
const (
	blockUnit  = 32
	leastBlock = 17
)

// Decoder is a network that was captured and planned once, for texts of all lengths. Many goroutines
// may share one.
type Decoder struct {
	config models.LlamaConfig
	o      Options
	plan   *cpu.Executable
}

// New captures and plans a network. The error of wrong options is FX8047.
func New(ctx context.Context, m *models.Llama, o Options) (*Decoder, error) {
	c := m.Config
	for _, f := range []struct {
		name      string
		n         *int
		otherwise int
		least     int
		most      int
		unit      int
	}{
		{"Positions", &o.Positions, c.MaxPositions, 1, c.MaxPositions, 1},
		{"Texts", &o.Texts, 1, 1, 1 << 16, 1},
		{"Block", &o.Block, DefaultBlock, 2 * blockUnit, 1 << 20, blockUnit},
	} {
		if *f.n == 0 {
			*f.n = f.otherwise
		}
		if *f.n < f.least || *f.n > f.most || *f.n%f.unit != 0 {
			want := "expected " + strconv.Itoa(f.least) + " to " + strconv.Itoa(f.most)
			if f.unit > 1 {
				want += ", a multiple of " + strconv.Itoa(f.unit)
			}
			return nil, diag.New(BadText, "decode: "+f.name+" is "+strconv.Itoa(*f.n)+", "+want)
		}
	}
	if o.Cache == array.Invalid {
		o.Cache = array.F32
	}
	if o.Cache != array.F32 && o.Cache != array.F16 && o.Cache != array.U8 {
		return nil, diag.New(BadText, "decode: Cache is "+o.Cache.String()+", expected f32, f16 or u8")
	}
	if err := c.CheckCache(o.Cache); err != nil {
		return nil, err
	}
	gm, err := capture(ctx, m, o.Cache)
	if err != nil {
		return nil, err
	}
	opts := lowering.Options{Threads: o.Threads, Shapes: map[string]int{"N": o.Texts, "R": o.Positions}}
	for i := range 2 * c.NumLayers {
		opts.Into = append(opts.Into, lowering.Into{Result: 1 + i, Input: inputs + i})
	}
	plan, err := cpu.Compile(gm.Module, opts)
	if err != nil {
		return nil, err
	}
	return &Decoder{c, o, plan}, nil
}

// inputs of models.Llama.Step come before the cache.
const inputs = 3

// capture returns the graph of models.Llama.Step, with all sizes open.
func capture(ctx context.Context, m *models.Llama, d array.DType) (*fx.GraphModule, error) {
	var cache []*tensor.Tensor
	opts := []fx.Option{fx.Method("Step"), fx.Input("input_ids", "i64[N,S]"), fx.Input("positions", "i64[N,S]"), fx.Input("kept", "bool[N,T]")}
	for i := range m.Config.NumLayers {
		for _, what := range []string{"keys_", "values_"} {
			cache = append(cache, fx.Meta(m.Config.CacheType(d)))
			opts = append(opts, fx.Input(what+strconv.Itoa(i), m.Config.CacheType(d)))
		}
	}
	gm, err := fx.Trace(ctx, m, append(opts, fx.Args(nil, nil, nil, cache))...)
	if err != nil {
		return nil, err
	}
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	return gm, err
}

// Close gives back the memory of the plan. Texts cannot be read any more.
func (d *Decoder) Close() error { return d.plan.Close() }

// Text is as many texts as Options.Texts says, which a Decoder has read up to a place. It is not
// for several goroutines at once.
type Text struct {
	d      *Decoder
	n      int      // places
	kept   [][]bool // of each text: whether a place has a token of it
	cache  []*array.Array
	logits *array.Array
}

// Text returns texts without a token, with room for Options.Positions of them.
func (d *Decoder) Text() *Text {
	c := d.config
	t := &Text{d: d, logits: array.New(array.F32, d.o.Texts, c.VocabSize)}
	for range d.o.Texts {
		t.kept = append(t.kept, make([]bool, 0, d.o.Positions))
	}
	for range 2 * c.NumLayers {
		t.cache = append(t.cache, array.New(d.o.Cache, d.o.Texts, c.NumKVHeads, d.o.Positions, c.CacheRow(d.o.Cache)))
	}
	return t
}

// Len returns how many places are taken: as many as the longest list of each Read had tokens.
func (t *Text) Len() int { return t.n }

// Room returns how many places are left.
func (t *Text) Room() int { return t.d.o.Positions - t.n }

// Cut forgets the tokens from place n on, so that a text goes on from there in another way.
// It does nothing where there are fewer.
func (t *Text) Cut(n int) {
	t.n = max(0, min(n, t.n))
	for i := range t.kept {
		t.kept[i] = t.kept[i][:t.n]
	}
}

// Read reads a list of tokens for each text, which follow those read before, and returns the scores of
// the token after each list, which the next call overwrites. A list may be shorter than others, or empty: each
// takes as many places as the longest, and an empty one has no scores. Long lists are read in blocks; scores have the bits that
// one block gives. The error is FX8047 if the lists do not fit in the room, or if one has what is no
// token: then nothing is read. After any other error the texts end where the last whole block did.
func (t *Text) Read(ctx context.Context, tokens ...[]int64) ([][]float32, error) {
	n, err := t.check(tokens)
	if err != nil {
		return nil, err
	}
	for at := 0; at < n; {
		end := min(at+t.d.o.Block, n)
		if left := n - end; left > 0 && left < leastBlock {
			end -= blockUnit
		}
		if err := t.run(ctx, tokens, at-n, end-n); err != nil {
			return nil, err
		}
		at = end
	}
	all, v := array.Data[float32](t.logits), t.d.config.VocabSize
	scores := make([][]float32, len(tokens))
	for i, list := range tokens {
		if len(list) > 0 {
			scores[i] = all[i*v : (i+1)*v]
		}
	}
	return scores, nil
}

// run reads the tokens from one place to another of each list. Places count from the end of the lists, the last one is -1,
// so that short lists begin later.
func (t *Text) run(ctx context.Context, tokens [][]int64, from, to int) error {
	var ids, positions []int64
	var kept []bool
	for i, list := range tokens {
		position := int64(0) // of the next token
		for _, k := range t.kept[i] {
			if k {
				position++
			}
		}
		row := t.kept[i][:t.n]
		for at := from; at < to; at++ {
			id, is := int64(0), len(list)+at >= 0
			if is {
				id = list[len(list)+at]
			}
			ids, positions, row = append(ids, id), append(positions, position), append(row, is)
			if is {
				position++
			}
		}
		kept = append(kept, row...)
	}
	n := to - from
	in := []*array.Array{array.FromSlice(ids, len(tokens), n), array.FromSlice(positions, len(tokens), n), array.FromSlice(kept, len(tokens), t.n+n)}
	out := append([]*array.Array{t.logits}, t.cache...)
	if err := t.d.plan.RunInto(ctx, out, append(in, t.cache...)); err != nil {
		return err
	}
	t.n += n
	for i := range t.kept {
		t.kept[i] = t.kept[i][:t.n]
	}
	return nil
}

// check refuses lists that cannot be read, and returns the length of the longest.
func (t *Text) check(tokens [][]int64) (n int, err error) {
	if len(tokens) != t.d.o.Texts {
		return 0, diag.New(BadText, "decode: "+strconv.Itoa(len(tokens))+" lists of tokens, expected "+strconv.Itoa(t.d.o.Texts)+", one for each text")
	}
	for _, list := range tokens {
		n = max(n, len(list))
		for _, id := range list {
			if id < 0 || id >= int64(t.d.config.VocabSize) {
				return 0, diag.New(BadText, "decode: token "+strconv.FormatInt(id, 10)+" is none of the network's, expected a number below "+strconv.Itoa(t.d.config.VocabSize))
			}
		}
	}
	want := "at most " + strconv.Itoa(t.Room()) + ": a text has room for " + strconv.Itoa(t.d.o.Positions)
	switch {
	case n == 0:
		want = "one at least"
	case n <= t.Room():
		return n, nil
	}
	return 0, diag.New(BadText, "decode: "+strconv.Itoa(n)+" tokens after "+strconv.Itoa(t.n)+", expected "+want).
		WithHint("shorten the text, or give more room where the network has more positions")
}
