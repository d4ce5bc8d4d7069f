package decode_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/models/decode"
	"github.com/gofx-dev/gofx/tensor"
)

var ctx = context.Background()

const llamas = "../testdata/llama/"

func llama(t testing.TB, name string) *models.Llama {
	t.Helper()
	f, err := gguf.Open(llamas + name + ".gguf")
	require.NoError(t, err)
	m, err := models.LoadLlama(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return m
}

func decoder(t testing.TB, m *models.Llama, o decode.Options) *decode.Decoder {
	t.Helper()
	d, err := decode.New(ctx, m, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// read returns a copy of the scores of the only text.
func read(t testing.TB, text *decode.Text, tokens ...int64) []float32 {
	t.Helper()
	scores, err := text.Read(ctx, tokens)
	require.NoError(t, err)
	require.Len(t, scores, 1)
	return slices.Clone(scores[0])
}

// The keys and values of new tokens are written to the cache, and nothing else of it is copied.
func TestCacheIsWrittenInPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		d    array.DType
	}{{"llama", array.F32}, {"gemma", array.F16}, {"qwen3", array.F32}, {"blocks", array.U8}} { // the last two have weights of 4 bits
		m := llama(t, c.name)
		p := decode.Plan(decoder(t, m, decode.Options{Cache: c.d}))
		writes := 0
		for _, s := range p.Steps {
			switch s.Kernel.(type) {
			case *kernel.SliceScatter:
				writes++
				require.Equal(t, s.In[0], s.Out[0], "%s: the cache is copied", p.Buffers[s.Out[0]].Name)
			case *kernel.Copy:
				require.NotContains(t, p.Outputs, s.Out[0], "%s: the cache is copied", p.Buffers[s.Out[0]].Name)
			}
		}
		require.Equal(t, 2*m.Config.NumLayers, writes, "keys and values of all layers")
	}
}

// A text has the scores of the network's Forward, in whatever pieces it is read.
func TestTextsEqualForward(t *testing.T) {
	ids := []int64{3, 30, 17, 5, 6, 7, 2, 39, 0, 11}
	for _, name := range []string{"llama", "llama3", "qwen2", "qwen3", "gemma"} {
		m := llama(t, name)
		c := m.Config
		logits, _ := m.Forward(tensor.FromSlice(ids, 1, 10), tensor.Zeros(0, c.NumLayers, 2, 1, c.NumKVHeads, c.HeadDim))
		want := array.Data[float32](array.Contiguous(logits.Array()))
		for d, within := range map[array.DType]float64{array.F32: 2e-5, array.F16: 1e-2} {
			text := decoder(t, m, decode.Options{Positions: 12, Cache: d}).Text()
			for _, n := range []int{0, 1, 4, 9} {
				text.Cut(0)
				if n > 0 {
					read(t, text, ids[:n]...)
				}
				require.Less(t, distance(want, read(t, text, ids[n:]...)), within, "%s, %s, after %d", name, d, n)
				require.Equal(t, []int{10, 2}, []int{text.Len(), text.Room()})
			}
		}
	}
}

// A text over a cache of 8 bits has scores within 1 % of those over one of f32, the same bits in whatever pieces it is read, and
// a cache of 34 bytes for 32 elements. So has the network that takes all keys and values anew.
func TestCacheOf8Bits(t *testing.T) {
	var ids []int64
	for i := range 150 {
		ids = append(ids, int64(i*i%40))
	}
	for name, m := range map[string]*models.Llama{"blocks": llama(t, "blocks"), "grouped": grouped(t)} {
		m.Config.MaxPositions = 512
		c := m.Config
		d := decoder(t, m, decode.Options{Cache: array.U8, Threads: 2})
		want := read(t, decoder(t, m, decode.Options{}).Text(), ids...)
		text := d.Text()
		got := read(t, text, ids...)
		t.Log(name, distance(want, got))
		require.Less(t, distance(want, got), 1e-2, name)
		require.NotEqual(t, want, got, name)
		for _, n := range []int{1, 64, 100, 149} {
			text.Cut(0)
			for _, id := range ids[:n/2] { // one by one
				read(t, text, id)
			}
			read(t, text, ids[n/2:n]...)
			require.Less(t, distance(got, read(t, text, ids[n:]...)), 2e-3, "%s, after %d", name, n)
		}
		require.Equal(t, 512*c.NumKVHeads*c.HeadDim/32*34, decode.CacheBytes(text)/(2*c.NumLayers), name)
		logits, _ := m.Forward(tensor.FromSlice(ids, 1, len(ids)), tensor.New(array.New(array.U8, 0, c.NumLayers, 2, 1, c.NumKVHeads, c.CacheRow(array.U8))))
		require.Less(t, distance(got, array.Data[float32](array.Contiguous(logits.Array()))), 2e-3, name)
	}
	m := llama(t, "llama")
	_, err := decode.New(ctx, m, decode.Options{Cache: array.U8})
	require.ErrorContains(t, err, "heads of 8 elements do not fit in a cache of 8 bits, expected a multiple of 32")
	require.ErrorIs(t, err, models.NoDecoder)
}

// grouped has heads of 96 elements, three of which share keys.
func grouped(t *testing.T) *models.Llama {
	m := models.NewLlama(models.LlamaConfig{
		VocabSize: 256, MaxPositions: 512, Width: 128, Inner: 256, NumLayers: 3, NumHeads: 6, NumKVHeads: 2, HeadDim: 96,
		RMSNormEps: 1e-5, Rotary: models.LlamaRotary{Base: 10000, Dims: 96},
	})
	models.Synthetic(&models.Model{}, m, "eight")
	return m
}

// distance is the norm of the difference over that of what is wanted.
func distance(want, got []float32) float64 {
	var d, w float64
	for i := range want {
		d += math.Pow(float64(want[i]-got[i]), 2)
		w += math.Pow(float64(want[i]), 2)
	}
	return math.Sqrt(d / w)
}

// Blocks change no bit, and a text that was cut goes on as one that was never longer.
func TestBlocksChangeNoBit(t *testing.T) {
	m := llama(t, "llama")
	m.Config.MaxPositions = 512
	prompt := make([]int64, 300)
	for i := range prompt {
		prompt[i] = int64(i * i % 40)
	}
	for _, d := range []array.DType{array.F32, array.F16, array.U8} {
		if d == array.U8 {
			m = grouped(t)
		}
		for _, n := range []int{65, 79, 80, 128, 133, 300} {
			whole, parts := decoder(t, m, decode.Options{Cache: d}).Text(), decoder(t, m, decode.Options{Cache: d, Block: 64}).Text()
			want := read(t, whole, prompt[:n]...)
			require.Equal(t, want, read(t, parts, prompt[:n]...), "%s, %d tokens", d, n)
			parts.Cut(n - 20)
			whole.Cut(n - 20)
			require.Equal(t, read(t, whole, 1, 2, 3), read(t, parts, 1, 2, 3))
		}
	}
}

// Texts of a batch are those of each alone, also where lists have other lengths, or none for a while.
func TestBatches(t *testing.T) {
	for _, name := range []string{"qwen2", "llama", "8 bits"} {
		m, o, within := grouped(t), decode.Options{Cache: array.U8}, 1e-2
		if name != "8 bits" {
			m, o, within = llama(t, name), decode.Options{}, 2e-5
		}
		m.Config.MaxPositions = 512
		alone := decoder(t, m, o)
		o.Texts, o.Block = 3, 64
		d := decoder(t, m, o)
		text := d.Text()
		var texts []*decode.Text
		for range 3 {
			texts = append(texts, alone.Text())
		}
		places := 0
		for round, lengths := range [][3]int{{4, 1, 6}, {1, 1, 1}, {0, 3, 0}, {150, 2, 70}, {1, 0, 1}, {1, 1, 1}} {
			var lists [][]int64
			for i, n := range lengths {
				list := make([]int64, n)
				for k := range list {
					list[k] = int64((7*k*k + 5*i + round) % 40)
				}
				lists = append(lists, list)
			}
			scores, err := text.Read(ctx, lists...)
			require.NoError(t, err)
			for i, list := range lists {
				if len(list) == 0 {
					require.Nil(t, scores[i])
					continue
				}
				require.Less(t, distance(read(t, texts[i], list...), scores[i]), within, "%s: text %d of round %d", name, i, round)
			}
			places += slices.Max(lengths[:])
			require.Equal(t, places, text.Len())
		}
	}
}

// Many goroutines share a decoder.
func TestTextsAreIndependent(t *testing.T) {
	d := decoder(t, llama(t, "llama3"), decode.Options{Threads: 1})
	want := make([][]float32, 6)
	for i := range want {
		text := d.Text()
		read(t, text, int64(i), 7)
		want[i] = read(t, text, 9)
	}
	var wg sync.WaitGroup
	got := make([][]float32, len(want))
	for i := range got {
		wg.Go(func() {
			text := d.Text()
			if _, err := text.Read(ctx, []int64{int64(i), 7}); err == nil {
				if scores, err := text.Read(ctx, []int64{9}); err == nil {
					got[i] = scores[0]
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, want, got)
}

func TestWrongTexts(t *testing.T) {
	m := llama(t, "llama")
	text := decoder(t, m, decode.Options{Positions: 8}).Text()
	read(t, text, 1, 2, 3)
	for want, list := range map[string][]int64{
		"0 tokens after 3, expected one at least":                       {},
		"6 tokens after 3, expected at most 5: a text has room for 8":   {1, 2, 3, 4, 5, 6},
		"token 40 is none of the network's, expected a number below 40": {1, 40},
		"token -1 is none": {-1},
	} {
		_, err := text.Read(ctx, list)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, decode.BadText)
		require.Equal(t, 3, text.Len())
	}
	_, err := text.Read(ctx)
	require.ErrorContains(t, err, "0 lists of tokens, expected 1")
	_, err = text.Read(ctx, []int64{1}, []int64{2})
	require.ErrorContains(t, err, "2 lists of tokens, expected 1, one for each text")
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = text.Read(stopped, []int64{4})
	require.ErrorIs(t, err, context.Canceled)
	want := decoder(t, m, decode.Options{Positions: 8}).Text()
	read(t, want, 1, 2, 3)
	require.Equal(t, read(t, want, 5), read(t, text, 5), "no error has changed the text")
	for want, o := range map[string]decode.Options{
		"Block is 1, expected 64 to 1048576, a multiple of 32": {Block: 1},
		"Block is 80, expected 64":                             {Block: 80},
		"Positions is 65, expected 1 to 64":                    {Positions: 65},
		"Texts is -1, expected 1 to 65536":                     {Texts: -1},
		"Cache is f64, expected f32, f16 or u8":                {Cache: array.F64},
	} {
		_, err := decode.New(ctx, m, o)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, decode.BadText)
	}
}

// A token after texts of some lengths: over the cache that is written in place, and over one that Forward's
// plan copies for each token.
func BenchmarkToken(b *testing.B) {
	m := models.NewLlama(models.LlamaConfig{
		VocabSize: 256, MaxPositions: 2048, Width: 256, Inner: 512, NumLayers: 4, NumHeads: 14, NumKVHeads: 2, HeadDim: 64,
		RMSNormEps: 1e-5, Rotary: models.LlamaRotary{Base: 10000, Dims: 64},
	})
	models.Synthetic(&models.Model{}, m, "decode")
	texts := map[array.DType]*decode.Text{}
	for _, d := range []array.DType{array.F32, array.F16, array.U8} {
		texts[d] = decoder(b, m, decode.Options{Threads: 1, Cache: d}).Text()
	}
	gm, err := fx.Trace(ctx, m, fx.Input("input_ids", "i64[N,S]"), fx.Input("past", m.Config.PastType()))
	require.NoError(b, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(b, err)
	copies, err := cpu.Compile(gm.Module, lowering.Options{Threads: 1})
	require.NoError(b, err)
	for _, n := range []int{128, 512, 1920} {
		for d, text := range texts {
			b.Run(d.String()+"/"+strconv.Itoa(n), func(b *testing.B) {
				text.Cut(0)
				_, err := text.Read(ctx, make([]int64, n))
				require.NoError(b, err)
				for b.Loop() {
					text.Cut(n)
					if _, err := text.Read(ctx, []int64{1}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("cat/"+strconv.Itoa(n), func(b *testing.B) {
			in := []*array.Array{array.FromSlice([]int64{1}, 1, 1), array.New(array.F32, n, 4, 2, 1, 2, 64)}
			out := []*array.Array{array.New(array.F32, 1, 256), array.New(array.F32, 1, 4, 2, 1, 2, 64)}
			for b.Loop() {
				if err := copies.RunInto(ctx, out, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
