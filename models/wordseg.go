package models

import (
	"math"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// WordSegConfig holds the sizes of a WordSeg.
type WordSegConfig struct {
	Letters   int // of the alphabet, with 0 for the end of a word
	Words     int // of the lexicon, with 0 for what is no word
	Width     int
	MaxLength int // of a word
	// Order and Lambda punish long words: the loss has Lambda times the expected sum of
	// lengths to the power of Order.
	Order, Lambda float64
}

// WordSegEnglish are the sizes of the published experiments, with the letters a to z.
var WordSegEnglish = WordSegConfig{Letters: 27, Words: 8000, Width: 512, MaxLength: 10, Order: 5, Lambda: 0.00075}

// WordSeg finds words in text without spaces: the segmental language model of Kawakami,
// Dyer and Blunsom, arXiv:1811.09353. A word is written letter by letter or taken from a
// lexicon, and the probability of a text is the sum over all ways to cut it.
//
// Forward is a loop in Go over places and lengths, with many small calls: of each length of
// text it makes other calls, so a trace is of one length.
type WordSeg struct {
	Embedding *nn.Embedding // of letters
	Encoder   *nn.LSTMCell  // reads the text
	Decoder   *nn.LSTMCell  // writes a word
	Letter    *nn.Linear    // the next letter of a word
	Gate      *nn.Linear    // from the lexicon, or letter by letter
	Hidden    *nn.Linear    // of the lexicon
	Word      *nn.Linear

	config WordSegConfig
}

// NewWordSeg returns a WordSeg with zero weights.
func NewWordSeg(c WordSegConfig) *WordSeg {
	return &WordSeg{
		Embedding: nn.NewEmbedding(c.Letters, c.Width, nn.NoInit()),
		Encoder:   nn.NewLSTMCell(c.Width, c.Width, nn.NoInit()),
		Decoder:   nn.NewLSTMCell(c.Width, c.Width, nn.NoInit()),
		Letter:    linear(c.Width, c.Letters),
		Gate:      linear(c.Width, 2),
		Hidden:    linear(c.Width, c.Width),
		Word:      linear(c.Width, c.Words),
		config:    c,
	}
}

// improbable is the logarithm of a probability that adds nothing to others. It is finite, so
// that its gradient is a number.
const improbable = -1e9

// Forward takes the letters of a text [S] (i64) and the words that begin at each place, by
// length, [S, MaxLength] (i64; see Lexicon.Read), to the logarithms of the text's probability
// and of that times the lengths of its words to the power of Order, summed over all ways to
// cut it (both f32[]).
func (m *WordSeg) Forward(letters, words *tensor.Tensor) (logp, lengths *tensor.Tensor) {
	parts := m.parts(letters, words)
	n := len(parts)
	zero := parts[0].Select(0, 0).ZerosLike()
	p, r := make([]*tensor.Tensor, n+1), make([]*tensor.Tensor, n+1)
	p[0], r[0] = zero, zero.AddScalar(improbable)
	for end := 1; end <= n; end++ {
		var ps, rs []*tensor.Tensor
		for from := max(0, end-m.config.MaxLength); from < end; from++ {
			word := parts[from].Select(0, end-from-1)
			step := p[from].Add(word)
			longer := math.Pow(float64(end-from), m.config.Order)
			ps = append(ps, step)
			rs = append(rs, r[from].Add(word).Logaddexp(step.AddScalar(math.Log(longer))))
		}
		p[end], r[end] = tensor.Stack(ps, 0).Logsumexp(0), tensor.Stack(rs, 0).Logsumexp(0)
	}
	return p[n], r[n]
}

// Loss is the negative logarithm of a text's probability, and the punishment of long words.
func (m *WordSeg) Loss(letters, words *tensor.Tensor) *tensor.Tensor {
	logp, lengths := m.Forward(letters, words)
	return lengths.Sub(logp).Exp().MulScalar(m.config.Lambda).Sub(logp)
}

// Segment returns the lengths of the words of the likeliest way to cut a text. It reads
// probabilities, and goes on in Go.
func (m *WordSeg) Segment(letters, words *tensor.Tensor) []int {
	parts := m.parts(letters, words)
	n := len(parts)
	best, last := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		best[end] = math.Inf(-1)
	}
	for from, part := range parts {
		for k, p := range tensor.Data[float32](part) {
			if end := from + k + 1; best[from]+float64(p) > best[end] {
				best[end], last[end] = best[from]+float64(p), k+1
			}
		}
	}
	var reversed []int
	for end := n; end > 0; end -= last[end] {
		reversed = append(reversed, last[end])
	}
	lengths := make([]int, len(reversed))
	for i, k := range reversed {
		lengths[len(lengths)-1-i] = k
	}
	return lengths
}

// parts returns, for each place, the logarithms of the probabilities of the words of length
// 1, 2, … that begin there.
func (m *WordSeg) parts(letters, words *tensor.Tensor) []*tensor.Tensor {
	n := letters.Dim(0) //fxvet:ignore fxdata: every length has a graph of its own
	text := m.Embedding.Forward(letters)
	parts := make([]*tensor.Tensor, n)
	h := text.Narrow(0, 0, 1).ZerosLike()
	c := h
	for from := range n {
		parts[from] = m.wordsAt(letters, text, words, from, h)
		h, c = m.Encoder.Forward(text.Narrow(0, from, 1), h, c)
	}
	return parts
}

// wordsAt returns the logarithms of the probabilities of words that begin at a place, where
// the text before has the state h.
func (m *WordSeg) wordsAt(letters, text, words *tensor.Tensor, from int, h *tensor.Tensor) *tensor.Tensor {
	most := min(m.config.MaxLength, letters.Dim(0)-from) //fxvet:ignore fxdata: every length has a graph of its own
	gate := m.Gate.Forward(h).LogSoftmax(-1)
	known := words.Select(0, from).Narrow(0, 0, most)
	entries := m.Word.Forward(m.Hidden.Forward(h).Tanh()).LogSoftmax(-1).IndexSelect(known, 1)
	entries = entries.MaskedFill(known.EqScalar(0), improbable)
	spelt := m.spelt(letters, text, from, most, h)
	return gate.Narrow(1, 0, 1).Add(entries).Logaddexp(gate.Narrow(1, 1, 1).Add(spelt)).Select(0, 0)
}

// spelt returns the logarithms of the probabilities that the next letters, up to most of them,
// are written and the word ends then: [1, most].
func (m *WordSeg) spelt(letters, text *tensor.Tensor, from, most int, h *tensor.Tensor) *tensor.Tensor {
	c := h.ZerosLike()
	h, c = m.Decoder.Forward(c, h, c) // a word begins without a letter
	next := m.Letter.Forward(h).LogSoftmax(-1)
	written := gathered(next, letters, from)
	ends := make([]*tensor.Tensor, most)
	for k := range most {
		h, c = m.Decoder.Forward(text.Narrow(0, from+k, 1), h, c)
		next = m.Letter.Forward(h).LogSoftmax(-1)
		ends[k] = written.Add(next.Narrow(1, 0, 1))
		if k+1 < most {
			written = written.Add(gathered(next, letters, from+k+1))
		}
	}
	return tensor.Cat(ends, 1)
}

// gathered is the element of next [1, letters] that the letter at a place names: [1, 1].
func gathered(next, letters *tensor.Tensor, place int) *tensor.Tensor {
	return next.IndexSelect(letters.Narrow(0, place, 1), 1)
}

// Lexicon is a list of words of the letters a to z, to each of which an entry of a WordSeg
// belongs: entry i+1 to word i.
type Lexicon []string

// Read returns the letters of a text of a to z, 1 for a to 26 for z, and for each place
// and length up to maxLength the entry of the word there, 0 where there is none: the operands
// of WordSeg.Forward.
func (l Lexicon) Read(text string, maxLength int) (letters, words *tensor.Tensor) {
	entry := map[string]int64{}
	for i, w := range l {
		entry[w] = int64(i + 1)
	}
	var at, of []int64
	for i := range len(text) {
		at = append(at, int64(text[i])-'a'+1)
		for k := 1; k <= maxLength; k++ {
			if i+k > len(text) {
				of = append(of, 0)
			} else {
				of = append(of, entry[text[i:i+k]])
			}
		}
	}
	return tensor.FromSlice(at, len(at)), tensor.FromSlice(of, len(at), maxLength)
}

// SegmentalLM is the segmental language model without a lexicon: a text's probability is the
// sum over all ways to cut it into segments of at most MaxLength characters, each of which is
// written character by character from the state of the text before it.
//
// Forward is a loop in Go, so a trace is of one length.
type SegmentalLM struct {
	Embedding *nn.Embedding // of characters and, last, the mark of a boundary
	Context   *nn.LSTM      // reads the text
	Init      *nn.Linear
	Segment   *nn.LSTMCell // writes a segment
	Out       *nn.Linear
	MaxLength int // of a segment
}

// NewSegmentalLM returns a model of so many characters with zero weights.
func NewSegmentalLM(characters, embedded, width, maxLength int) *SegmentalLM {
	return &SegmentalLM{
		Embedding: nn.NewEmbedding(characters+1, embedded, nn.NoInit()),
		Context:   nn.NewLSTM(embedded, width, nn.NoInit()),
		Init:      linear(width, width),
		Segment:   nn.NewLSTMCell(embedded, width, nn.NoInit()),
		Out:       linear(width, characters+1),
		MaxLength: maxLength,
	}
}

// Forward takes characters [S] (i64) to the logarithms of the probabilities of the text's first
// 0, 1, … S characters [S+1] and the negative of the last one.
func (m *SegmentalLM) Forward(chars *tensor.Tensor) (alpha, nll *tensor.Tensor) {
	n := chars.Dim(0) //fxvet:ignore fxdata: every length has a graph of its own
	mark := tensor.Full(1, m.Embedding.NumEmbeddings-1)
	text := m.Embedding.Forward(tensor.Cat([]*tensor.Tensor{mark, chars}, 0)) // the mark, then the characters
	context, _, _ := m.Context.Forward(text.Narrow(0, 0, n).Unsqueeze(1), nil, nil)
	states := m.Init.Forward(context.Select(1, 0)).Tanh()

	ends := make([][]*tensor.Tensor, n+1) // the ways to come to each place
	alphas := make([]*tensor.Tensor, n+1)
	alphas[0] = states.Select(0, 0).Select(0, 0).ZerosLike()
	for from := range n {
		if from > 0 {
			alphas[from] = tensor.Stack(ends[from], 0).Logsumexp(0)
		}
		for k, p := range m.segments(chars, text, from, states.Narrow(0, from, 1)) {
			ends[from+k+1] = append(ends[from+k+1], alphas[from].Add(p))
		}
	}
	alphas[n] = tensor.Stack(ends[n], 0).Logsumexp(0)
	return tensor.Stack(alphas, 0), alphas[n].Neg()
}

// segments returns the logarithms of the probabilities of the segments of 1, 2, … characters
// that begin at a place, where the text before has the state h [1, width].
func (m *SegmentalLM) segments(chars, text *tensor.Tensor, from int, h *tensor.Tensor) []*tensor.Tensor {
	most := min(m.MaxLength, chars.Dim(0)-from) //fxvet:ignore fxdata: every length has a graph of its own
	h, c := m.Segment.Forward(text.Narrow(0, 0, 1), h, h.ZerosLike())
	var written *tensor.Tensor
	segments := make([]*tensor.Tensor, most)
	for k := range segments {
		next := gathered(m.Out.Forward(h).LogSoftmax(-1), chars, from+k)
		if written != nil {
			next = written.Add(next)
		}
		written = next
		h, c = m.Segment.Forward(text.Narrow(0, from+k+1, 1), h, c)
		end := m.Out.Forward(h).LogSoftmax(-1).Select(1, m.Embedding.NumEmbeddings-1)
		segments[k] = written.Select(1, 0).Add(end).Select(0, 0)
	}
	return segments
}
