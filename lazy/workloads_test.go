package lazy_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The workloads W1 to W17 are those that the papers on Torchy and LazyTensor measure, with their
// counts: docs/results.md has them next to times. Models are cut to sizes at which a count is quick to
// find; counts do not depend on them. Runs wait for the compiler, so that all counts are exact.

func nightly() bool { return os.Getenv("GOFX_NIGHTLY") == "1" }

// counts are those of a session that a workload tells.
type counts struct {
	Graphs, Compiles, Interpreted, Hits int
	Flushes                             map[lazy.Reason]int
}

func countsOf(s *lazy.Session) counts {
	st := s.Stats()
	return counts{st.Graphs, st.Compiles, st.Interpreted, st.Hits, st.Flushes}
}

// microbenchmark is W1's: so many elementwise calls on nine matrices; where turned, every second
// group of eight goes backwards (W2).
func microbenchmark(x []*tensor.Tensor, calls int, turned bool) *tensor.Tensor {
	v := x[0]
	for i := range calls {
		k, y := i%8, x[1+i%8]
		if turned && i/8%2 == 1 {
			k = 7 - k
		}
		switch k {
		case 0, 3, 7:
			v = v.Add(y)
		case 1, 5:
			v = v.Mul(y)
		case 2, 6:
			v = v.Div(y)
		default:
			v = v.Sub(y)
		}
	}
	return v
}

// nine are the matrices, in eager code and in a session.
func nine(s *lazy.Session) (eager, in []*tensor.Tensor) {
	for i := range 9 {
		eager = append(eager, ramp(4, 4).AddScalar(1.5+float64(i)/8))
		in = append(in, s.In(eager[i]))
	}
	return eager, in
}

func TestWorkloads_W1_chains(t *testing.T) {
	for _, calls := range []int{8, 16, 32} {
		s := open(t, lazy.Options{Synchronous: true})
		eager, x := nine(s)
		for range 100 {
			require.True(t, array.Equal(microbenchmark(eager, calls, false).Array(), microbenchmark(x, calls, false).Array()))
		}
		require.Equal(t, counts{1, 1, 3, 97, map[lazy.Reason]int{lazy.Data: 100}}, countsOf(s))
		g := s.Explain().Graphs[0]
		require.Equal(t, []int{calls, 1, 9}, []int{g.Calls, g.Outputs, len(g.Reads)})
	}
}

func TestWorkloads_W2_branches(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true})
	eager, x := nine(s)
	want := []*array.Array{microbenchmark(eager, 32, false).Array(), microbenchmark(eager, 32, true).Array()}
	for i := range 1000 {
		require.True(t, array.Equal(want[i%2], microbenchmark(x, 32, i%2 == 1).Array()))
	}
	require.Equal(t, counts{2, 2, 6, 994, map[lazy.Reason]int{lazy.Data: 1000}}, countsOf(s), "998 of 1000 graphs are known; two are run three times before they are compiled")
	for _, g := range s.Explain().Graphs {
		require.Len(t, g.Next, 1, "each graph is followed by the other one")
	}
}

// small makes a configuration of BERT or RoBERTa small, with so many layers.
func small(c models.BertConfig, layers int) models.BertConfig {
	c.VocabSize, c.MaxPositions, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 40, 200, 16, layers, 2, 32
	return c
}

// sentences runs a model over texts of given lengths again and again, in eager code and in a
// session, and returns the counts of the session.
func sentences(t *testing.T, o lazy.Options, lengths []int, times int, read func(ids, mask *tensor.Tensor) string) counts {
	o.Synchronous = true
	s := open(t, o)
	for round := range times {
		for i, n := range lengths {
			ids := tokens(n, i)
			var want string
			if round%20 < 4 {
				want = read(ids, ids.OnesLike())
			}
			got := read(s.In(ids), s.In(ids.OnesLike()))
			if round%20 < 4 {
				require.Equal(t, want, got)
			}
		}
	}
	require.Zero(t, s.Stats().Refused)
	return countsOf(s)
}

// W3: a class for each of 994 texts of 5 lengths. The number of graphs is that of lengths,
// whatever the depth, and 3 where sizes become symbols.
func TestWorkloads_W3_classification(t *testing.T) {
	for _, c := range []models.BertConfig{small(models.BertBase, 1), small(models.BertLarge, 3)} {
		m := filled(models.NewBertForSequenceClassification(c, 3))
		class := func(ids, mask *tensor.Tensor) string { return show(m.Forward(ids, mask)) }
		lengths, times := []int{5, 6, 7, 8, 9, 7, 6}, 6
		if nightly() {
			times = 142
		}
		n := times * len(lengths)
		data := map[lazy.Reason]int{lazy.Data: n}
		require.Equal(t, counts{5, 5, 15, n - 15, data}, sentences(t, lazy.Options{Dims: lazy.Fixed}, lengths, times, class))
		require.Equal(t, counts{3, 1, 5, n - 5, data}, sentences(t, lazy.Options{}, lengths, times, class))
	}
}

// W4: where the answers to questions about texts of about 150 tokens begin and end.
func TestWorkloads_W4_answers(t *testing.T) {
	lengths, times := []int{150, 153, 149, 161, 158}, 4
	if nightly() {
		times = 200
	}
	n := times * len(lengths)
	for _, layers := range []int{1, 3} {
		m := filled(models.NewBertForQuestionAnswering(small(models.BertLarge, layers)))
		read := func(ids, mask *tensor.Tensor) string {
			start, end := m.Forward(ids, mask)
			return show(tensor.Cat([]*tensor.Tensor{start.Argmax(1), end.Argmax(1)}, 0).Cast(array.F32))
		}
		data := map[lazy.Reason]int{lazy.Data: n}
		require.Equal(t, counts{5, 5, 15, n - 15, data}, sentences(t, lazy.Options{Dims: lazy.Fixed}, lengths, times, read))
		require.Equal(t, counts{3, 1, 5, n - 5, data}, sentences(t, lazy.Options{}, lengths, times, read))
	}
}

// W5: the likeliest tokens at a place of six sentences, and their probabilities.
func TestWorkloads_W5_fillMask(t *testing.T) {
	lengths, times := []int{7, 8, 9, 10, 11, 12}, 6
	if nightly() {
		times = 166
	}
	n := times * len(lengths)
	m := filled(models.NewRobertaForMaskedLM(small(models.RobertaLarge, 2)))
	read := func(ids, mask *tensor.Tensor) string {
		p, tokens := m.Forward(ids, mask).Select(1, 3).Softmax(-1).Topk(5, -1)
		return show(tensor.Cat([]*tensor.Tensor{p, tokens.Cast(array.F32)}, 0))
	}
	require.Equal(t, counts{6, 6, 18, n - 18, map[lazy.Reason]int{lazy.Data: n}}, sentences(t, lazy.Options{Dims: lazy.Fixed}, lengths, times, read))
	require.Equal(t, counts{3, 1, 5, n - 5, map[lazy.Reason]int{lazy.Data: n}}, sentences(t, lazy.Options{}, lengths, times, read))
}

// W6: texts of 30 tokens after prompts of 4. Graphs are of lengths: that of the prompt, and those of
// so many tokens in the past. With symbols they are that of the prompt, that of the next token,
// whose past the prompt has computed, and one of all others, besides two of the first text.
func TestWorkloads_W6_generation(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 30, Width: 16, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	m := filled(models.NewGPT2Decoder(c))
	const texts, perText = 5, 27
	n := texts * perText
	item := map[lazy.Reason]int{lazy.Item: n}
	for _, o := range []struct {
		dims lazy.Policy
		want counts
	}{{lazy.Fixed, counts{27, 27, 81, n - 81, item}}, {lazy.Auto, counts{5, 3, 11, n - 11, item}}} {
		s := open(t, lazy.Options{Dims: o.dims, Synchronous: true})
		for i := range texts {
			prompt := tokens(4, i)
			require.Equal(t, slices.Collect(m.Generate(prompt)), slices.Collect(m.Generate(s.In(prompt))))
		}
		require.Equal(t, o.want, countsOf(s), o.dims)
		require.Zero(t, s.Stats().Refused)
	}
}

// W7: images of a data set, one after the other by their number, which is no part of a graph. The
// number of graphs does not grow with that of images.
func TestWorkloads_W7_images(t *testing.T) {
	nets := map[string]func() nn.Module{"cut": func() nn.Module {
		return nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(4*13*13, 10))
	}}
	if nightly() {
		nets["resnet18"] = func() nn.Module { return models.NewResNet18() }
		nets["resnext50_32x4d"] = func() nn.Module { return models.NewResNeXt50() }
		nets["mobilenet_v3_large"] = func() nn.Module { return models.NewMobileNetV3Large() }
	}
	for name, make := range nets {
		t.Run(name, func(t *testing.T) {
			net := make()
			models.Synthetic(&models.Model{}, net, "gofx-1")
			nn.Eval(net)
			s := open(t, lazy.Options{Synchronous: true})
			images := ramp(1000, 3, 28, 28)
			in := s.In(images)
			for i := range 1000 {
				got := nn.Run(net, in.Narrow(0, i, 1)).Argmax(1).Item()
				if i < 4 || i == 999 {
					require.Equal(t, nn.Run(net, images.Narrow(0, i, 1)).Argmax(1).Item(), got)
				}
				if i == 9 || i == 99 || i == 999 {
					require.Equal(t, counts{1, 1, 3, i - 2, map[lazy.Reason]int{lazy.Item: i + 1}}, countsOf(s), "after %d images", i+1)
				}
			}
		})
	}
}

// W13: texts of 4, 8 and 14 letters, with their scores alone and with gradients: a graph for each
// length, of the calls that the loop in Go makes for it.
func TestWorkloads_W13_wordSeg(t *testing.T) {
	lexicon := models.Lexicon{"the", "dog", "ran", "away"}
	c := models.WordSegEnglish
	c.Words, c.Width, c.MaxLength = len(lexicon)+1, 8, 5
	m := filled(models.NewWordSeg(c))
	params := nn.Parameters(m)
	for _, gradients := range []bool{false, true} {
		s := open(t, lazy.Options{Gradients: gradients, Synchronous: true})
		const times = 5
		for i := range times {
			for _, text := range []string{"the", "dograna", "thedogranaway"} {
				letters, words := lexicon.Read(text+string(rune('a'+i)), c.MaxLength)
				loss := func() *tensor.Tensor { return m.Loss(letters, words) }
				got := m.Loss(s.In(letters), s.In(words))
				if !gradients {
					require.Equal(t, loss().Item(), got.Item())
					continue
				}
				g := tensor.Grad(got, params...)
				require.NoError(t, s.Barrier())
				want, wants, err := fx.ValueAndGrad(loss, params...)
				require.NoError(t, err)
				require.Equal(t, want.Item(), got.Item())
				for k := range params {
					require.True(t, array.Equal(wants[k].Array(), g[k].Array()), "parameter %d", k)
				}
			}
		}
		why := lazy.Item
		if gradients {
			why = lazy.Barrier
		}
		require.Equal(t, counts{3, 3, 9, 3*times - 9, map[lazy.Reason]int{why: 3 * times}}, countsOf(s))
		if !gradients {
			var calls []int
			for _, g := range s.Explain().Graphs {
				calls = append(calls, g.Calls)
			}
			require.Equal(t, []int{285, 725, 1385}, calls)
		}
	}
}

// W14: sets of 1 to 300 boxes. With a graph for each number 300 are compiled; with symbols one is,
// and the set of one box has a graph of its own.
func TestWorkloads_W14_boxes(t *testing.T) {
	overlap := func(b *tensor.Tensor) string {
		area := b.Select(1, 2).Sub(b.Select(1, 0)).Mul(b.Select(1, 3).Sub(b.Select(1, 1)))
		return show(area.Softmax(0).Mul(area).Sum())
	}
	const runs = 1500 // five of each number
	item := map[lazy.Reason]int{lazy.Data: runs}
	for _, o := range []struct {
		dims lazy.Policy
		want counts
	}{{lazy.Fixed, counts{300, 300, 900, 600, item}}, {lazy.Auto, counts{4, 2, 8, runs - 8, item}}} {
		s := open(t, lazy.Options{Dims: o.dims, Synchronous: true})
		for i := range runs {
			x := ramp(1+i*7919%300, 4)
			require.Equal(t, overlap(x), overlap(s.In(x)))
		}
		require.Equal(t, o.want, countsOf(s))
		require.Zero(t, s.Stats().Refused)
	}
}

// W17: a decoder of two layers as a program of a session: its runs record nothing, and it is compiled once.
func TestWorkloads_W17_program(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 30, Width: 16, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	m := filled(models.NewGPT2(c))
	s := open(t, lazy.Options{})
	p, err := s.Program(m, tokens(12, 0))
	require.NoError(t, err)
	defer p.Close()
	for i := range 300 {
		y, err := p.Run(tokens(12, i))
		require.NoError(t, err)
		if i < 3 {
			_, want := m.Forward(tokens(12, i))
			require.True(t, array.Equal(want.Array(), y[1].Array()))
		}
	}
	st := s.Stats()
	require.Equal(t, []int{0, 0, 1, 300}, []int{st.Calls, st.Graphs, st.Compiles, st.Programs})
}
