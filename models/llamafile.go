package models

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// architectures are what files say by their architecture alone. Llama's have the rows of
// queries and keys in an order of their own, and Mistral's are among them.
var architectures = map[string]LlamaConfig{
	"llama": {Rotary: LlamaRotary{Interleaved: true}},
	"qwen2": {},
	"qwen3": {},
	"gemma": {Gelu: true, ScaledWords: true},
}

// LlamaOption is an option of LoadLlama.
type LlamaOption func(*llamaFile)

// Mapped has a decoder read its matrices where they lie in the memory of the file, which must stay
// open as long as the decoder is in use: nothing is copied, and pages are read when they are needed.
func Mapped() LlamaOption { return func(r *llamaFile) { r.mapped = true } }

// Activations8 has a decoder multiply weights that are integers times scales by activations of 8 bits, as llama.cpp does:
// see [tensor.BlockLinearDynamic]. Matrices of Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K are. A token takes less
// time; scores are off by what rounding makes of them, which docs/weights.md has figures for.
func Activations8() LlamaOption { return func(r *llamaFile) { r.dynamic = true } }

// LoadLlama makes a decoder of a GGUF file of Llama, Mistral, Qwen 2 and 3 or Gemma. Matrices
// of 16 bits and of blocks stay as they are stored, all other weights become f32; the file may be
// closed afterwards, unless it is [Mapped]. A rule that the file asks for and the decoder lacks is an
// error, FX8035.
func LoadLlama(f *gguf.File, opts ...LlamaOption) (*Llama, error) {
	r := &llamaFile{File: f, kept: map[string]*LlamaLinear{}}
	for _, o := range opts {
		o(r)
	}
	c := r.config()
	if r.err != nil {
		return nil, r.err
	}
	m := newLlama(c, r.linear)
	if r.err != nil {
		return nil, r.err
	}
	if err := nn.LoadStateDict(m, r, nn.CastTypes()); err != nil {
		return nil, err
	}
	return m, r.keep()
}

// llamaFile reads a decoder of a file; it is the nn.Weights of its tensors, without the
// matrices that are kept as they are stored. It keeps the first mistake.
type llamaFile struct {
	*gguf.File
	arch            string
	mapped, dynamic bool
	kept            map[string]*LlamaLinear // by the names of their matrices
	err             error
}

func (r *llamaFile) fail(msg string) {
	if r.err == nil {
		r.err = diag.New(NoDecoder, "gguf: "+msg)
	}
}

const divisors = "rope_freqs.weight"

// config reads the sizes and rules, and holds them to the shapes of the tensors, so that
// nothing is made that the file has no data for.
func (r *llamaFile) config() LlamaConfig {
	r.arch, _ = r.value("general.architecture").(string)
	c, ok := architectures[r.arch]
	if !ok {
		r.fail("architecture is " + diag.Quote(r.arch) + ", expected one of " + strings.Join(slices.Sorted(maps.Keys(architectures)), ", "))
		return c
	}
	r.refuse()
	c.Width, c.NumLayers = r.size("embedding_length", 0), r.size("block_count", 0)
	c.Inner, c.MaxPositions = r.size("feed_forward_length", 0), r.size("context_length", 0)
	c.NumHeads = r.size("attention.head_count", 0)
	c.NumKVHeads = r.size("attention.head_count_kv", c.NumHeads)
	c.HeadDim = r.size("attention.key_length", c.Width/max(c.NumHeads, 1))
	c.RMSNormEps = r.number("attention.layer_norm_rms_epsilon", 0)
	if values := r.size("attention.value_length", c.HeadDim); values != c.HeadDim {
		r.fail("values have " + strconv.Itoa(values) + " elements and keys " + strconv.Itoa(c.HeadDim) + ", expected as many")
	}
	if c.NumKVHeads > 0 && c.NumHeads%c.NumKVHeads != 0 {
		r.fail(strconv.Itoa(c.NumHeads) + " heads of queries share " + strconv.Itoa(c.NumKVHeads) + " of keys, expected a multiple")
	}
	c.OutputTable, c.Biases, c.HeadNorms = r.has("output.weight"), r.has("blk.0.attn_q.bias"), r.has("blk.0.attn_q_norm.weight")
	r.rotary(&c)
	r.agree(&c)
	return c
}

// keys are those of an architecture that config reads, and those that change nothing.
var keys = []string{
	"attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.layer_norm_rms_epsilon", "attention.value_length", "block_count",
	"context_length", "embedding_length", "feed_forward_length", "rope.dimension_count", "rope.freq_base", "rope.scaling.factor", "rope.scaling.finetuned",
	"rope.scaling.original_context_length", "rope.scaling.type", "tensor_data_layout", "vocab_size",
}

// refuse refuses files with other keys, which may change what a decoder computes.
func (r *llamaFile) refuse() {
	for _, key := range r.Keys() {
		if name, ours := strings.CutPrefix(key, r.arch+"."); ours && !slices.Contains(keys, name) {
			r.fail("key " + diag.Quote(key) + " may ask for a rule that is unknown, expected a file without it")
		}
	}
}

// rotary reads how positions turn heads.
func (r *llamaFile) rotary(c *LlamaConfig) {
	t := &c.Rotary
	t.Base = r.number("rope.freq_base", 10000)
	t.Dims = r.size("rope.dimension_count", c.HeadDim)
	if t.Dims%2 != 0 || t.Dims > c.HeadDim {
		r.fail(strconv.Itoa(t.Dims) + " elements of a head of " + strconv.Itoa(c.HeadDim) + " are turned, expected an even number of them")
	}
	t.Scaling, _ = r.value(r.arch + ".rope.scaling.type").(string)
	switch t.Scaling {
	case "", "none":
		t.Scaling = ""
	case "linear":
		t.Factor = r.number("rope.scaling.factor", 0)
	case "yarn":
		t.Factor = r.number("rope.scaling.factor", 0)
		t.Trained = r.size("rope.scaling.original_context_length", c.MaxPositions)
	default:
		r.fail("positions are scaled by " + diag.Quote(t.Scaling) + ", expected none, linear or yarn")
	}
	if !r.has(divisors) || r.err != nil {
		return
	}
	a, err := r.Get(divisors)
	if err != nil {
		r.err = err
		return
	}
	if a.DType() != array.F32 || !slices.Equal(a.Shape(), []int{t.Dims / 2}) {
		r.fail(divisors + " is " + a.DType().String() + shapeText(a.Shape()) + ", expected f32[" + strconv.Itoa(t.Dims/2) + "]")
		return
	}
	t.Divisors = slices.Clone(array.Data[float32](a))
	if slices.ContainsFunc(t.Divisors, func(d float32) bool { return !(d > 0) }) {
		r.fail(divisors + " has numbers that are not positive, expected what turns are divided by")
	}
}

// agree holds the sizes to the shapes of the matrices, of which VocabSize is the first.
func (r *llamaFile) agree(c *LlamaConfig) {
	if r.err != nil {
		return
	}
	if _, shape, ok := r.File.Type("token_embd.weight"); ok && len(shape) == 2 {
		c.VocabSize = shape[0]
	}
	r.matrix("token_embd.weight", c.VocabSize, c.Width)
	for i := 0; i < c.NumLayers && r.err == nil; i++ {
		blk := "blk." + strconv.Itoa(i) + "."
		r.matrix(blk+"attn_q.weight", c.NumHeads*c.HeadDim, c.Width)
		r.matrix(blk+"attn_k.weight", c.NumKVHeads*c.HeadDim, c.Width)
		r.matrix(blk+"ffn_up.weight", c.Inner, c.Width)
	}
}

func (r *llamaFile) matrix(name string, rows, cols int) {
	if _, shape, ok := r.File.Type(name); !ok || !slices.Equal(shape, []int{rows, cols}) {
		r.fail("tensor " + name + " has the shape " + shapeText(shape) + ", expected " + shapeText([]int{rows, cols}))
	}
}

func shapeText(shape []int) string {
	if shape == nil {
		return "of none"
	}
	var out []string
	for _, d := range shape {
		out = append(out, strconv.Itoa(d))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (r *llamaFile) value(key string) any {
	v, _ := r.Value(key)
	return v
}

func (r *llamaFile) has(name string) bool {
	_, _, ok := r.File.Type(name)
	return ok
}

// size reads a positive number below 2^31; one that is absent is other, or a mistake where that is 0.
func (r *llamaFile) size(key string, other int) int {
	key = r.arch + "." + key
	v, ok := r.Value(key)
	n, isInt := v.(uint32)
	switch {
	case !ok && other > 0:
		return other
	case !ok || !isInt || n == 0 || n >= 1<<31:
		r.fail("key " + diag.Quote(key) + " is no positive u32, expected one")
		return 0
	}
	return int(n)
}

// number reads a positive f32; see size.
func (r *llamaFile) number(key string, other float64) float64 {
	key = r.arch + "." + key
	v, ok := r.Value(key)
	x, isFloat := v.(float32)
	switch {
	case !ok && other > 0:
		return other
	case !ok || !isFloat || !(x > 0) || x > 1e30:
		r.fail("key " + diag.Quote(key) + " is no positive f32, expected one")
		return 0
	}
	return float64(x)
}

// linear makes the matrix of a name. One that is kept as it is stored comes last (see keep): it
// would be copied with the other weights.
func (r *llamaFile) linear(name string, in, out int) *LlamaLinear {
	if r.has(name) && r.err == nil {
		_, format, ok, err := r.Blocks(name)
		if err != nil {
			r.err = err
		}
		if ok {
			r.matrix(name, out, in)
			m := &LlamaLinear{Format: format, Dynamic: r.dynamic && blocks.Lookup(format).HasIntegers()}
			r.kept[name] = m
			return m
		}
	}
	return &LlamaLinear{Weight: tensor.StateParam(array.New(array.F32, out, in))}
}

// keep gives the matrices that are kept their bytes.
func (r *llamaFile) keep() error {
	for name, m := range r.kept {
		a, _, _, err := r.Blocks(name)
		if err != nil {
			return err
		}
		if r.mapped {
			m.Weight = tensor.Param(a)
			continue
		}
		own := array.NewUncleared(array.U8, a.Shape()...)
		array.Copy(own, a)
		m.Weight = tensor.StateParam(own)
	}
	return nil
}

// Names implements nn.Weights.
func (r *llamaFile) Names() []string {
	return slices.DeleteFunc(r.File.Names(), func(name string) bool { return name == divisors || r.kept[name] != nil })
}
