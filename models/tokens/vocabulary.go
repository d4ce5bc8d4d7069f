package tokens

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/diag"
)

// Vocabulary is the tokens of a language model. Many goroutines may share one.
type Vocabulary struct {
	texts  []string // as the file has them
	kinds  []int32
	scores []float32
	plain  map[string]int64 // tokens that text is made of

	overBytes bool
	words     words
	ranks     map[[2]string]float64 // of pairs, over bytes

	prefix  bool // texts begin with a space, by scores
	bytes   [256]int64
	unknown int64 // -1 for none

	fixed   marks // tokens that stand for their text wherever it is
	control marks // and those that only marked texts may have

	begin, end []int64
	stops      map[int64]bool
}

// The kinds of tokens in files.
const (
	unknownKind = 2
	controlKind = 3
	definedKind = 4
	unusedKind  = 5
	byteKind    = 6
)

// Load reads the vocabulary of a GGUF file, which may be closed afterwards. The error is FX8046
// if the file has none, or one that is cut or joined by rules that are unknown.
func Load(f *gguf.File) (*Vocabulary, error) {
	r := &reader{File: f}
	v := &Vocabulary{unknown: -1, plain: map[string]int64{}, stops: map[int64]bool{}}
	v.texts = list[string](r, "tokens", -1)
	v.kinds = list[int32](r, "token_type", len(v.texts))
	switch model := value(r, "model", ""); model {
	case "gpt2":
		v.overBytes = true
	case "llama":
		v.scores = list[float32](r, "scores", len(v.texts))
	default:
		r.fail("key " + keyOf("model") + " is " + diag.Quote(model) + ", expected gpt2 or llama")
	}
	if r.err != nil {
		return nil, r.err
	}
	v.enter(r)
	if v.overBytes {
		v.readPairs(r)
	} else {
		v.readPieces(r)
	}
	v.readEnds(r)
	if r.err != nil {
		return nil, r.err
	}
	return v, nil
}

// enter makes the tables of the tokens' texts.
func (v *Vocabulary) enter(r *reader) {
	for i, text := range v.texts {
		id := int64(i)
		switch v.kinds[i] {
		case unknownKind:
			v.unknown = id
		case controlKind:
			v.control.add(text, id)
		case definedKind:
			v.fixed.add(text, id)
			v.control.add(text, id)
		case byteKind:
		default:
			if _, twice := v.plain[text]; twice {
				r.fail("token " + strconv.Itoa(i) + ", " + diag.Quote(text) + ", occurs twice, expected once")
			}
			v.plain[text] = id
		}
	}
	v.fixed.sort()
	v.control.sort()
}

// readPairs reads what a vocabulary over bytes has: the cut of texts, and the order of pairs.
func (v *Vocabulary) readPairs(r *reader) {
	name := value(r, "pre", "")
	var ok bool
	if v.words, ok = cuts[name]; !ok {
		r.fail("key " + keyOf("pre") + " is " + diag.Quote(name) + ", expected one of " + strings.Join(slices.Sorted(maps.Keys(cuts)), ", "))
	}
	for b := range 256 {
		if _, ok := v.plain[byteRune[b]]; !ok {
			r.fail("no token is the byte " + strconv.Itoa(b) + ", expected one of each")
			return
		}
	}
	merges := list[string](r, "merges", -1)
	v.ranks = make(map[[2]string]float64, len(merges))
	for i, m := range merges {
		left, right, ok := strings.Cut(m, " ")
		if _, known := v.plain[left+right]; !ok || !known {
			r.fail("pair " + strconv.Itoa(i) + ", " + diag.Quote(m) + ", makes no token, expected one")
			return
		}
		if _, twice := v.ranks[[2]string{left, right}]; !twice {
			v.ranks[[2]string{left, right}] = float64(i)
		}
	}
}

// readPieces reads what a vocabulary by scores has: the tokens of bytes.
func (v *Vocabulary) readPieces(r *reader) {
	v.prefix = value(r, "add_space_prefix", true)
	for b := range v.bytes {
		v.bytes[b] = -1
	}
	for i, text := range v.texts {
		if v.kinds[i] != byteKind {
			continue
		}
		hex, ok := strings.CutPrefix(strings.TrimSuffix(text, ">"), "<0x")
		b, err := strconv.ParseUint(hex, 16, 8)
		if !ok || err != nil {
			r.fail("token " + strconv.Itoa(i) + " of a byte is " + diag.Quote(text) + ", expected <0x00> to <0xFF>")
			return
		}
		v.bytes[b] = int64(i)
	}
	if b := slices.Index(v.bytes[:], -1); b >= 0 && v.unknown < 0 {
		r.fail("no token is the byte " + strconv.Itoa(b) + " and none is for what is unknown, expected one")
	}
	for i, s := range v.scores {
		if s != s {
			r.fail("the score of token " + strconv.Itoa(i) + " is NaN, expected a number")
			return
		}
	}
}

// endTexts are tokens that end an answer and for which some files have no key.
var endTexts = []string{"<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<end_of_turn>"}

// readEnds reads the tokens that begin and end texts.
func (v *Vocabulary) readEnds(r *reader) {
	token := func(name string) (id int64, ok bool) {
		n, ok := r.Value(keyOf(name))
		i, is := n.(uint32)
		if ok && (!is || int64(i) >= int64(len(v.texts))) {
			r.fail("key " + keyOf(name) + " is no token, expected a number below " + strconv.Itoa(len(v.texts)))
			return 0, false
		}
		return int64(i), ok
	}
	if id, ok := token("bos_token_id"); value(r, "add_bos_token", !v.overBytes || v.words.begin) && ok {
		v.begin = []int64{id}
	}
	if id, ok := token("eos_token_id"); ok {
		v.stops[id] = true
		if value(r, "add_eos_token", false) {
			v.end = []int64{id}
		}
	}
	for _, name := range []string{"eot_token_id", "eom_token_id"} {
		if id, ok := token(name); ok {
			v.stops[id] = true
		}
	}
	for i, text := range v.texts {
		if v.kinds[i] == controlKind && slices.Contains(endTexts, text) {
			v.stops[int64(i)] = true
		}
	}
}

// Len returns the number of tokens.
func (v *Vocabulary) Len() int { return len(v.texts) }

// Begin returns the tokens that a text begins with, none or one.
func (v *Vocabulary) Begin() []int64 { return slices.Clone(v.begin) }

// Stops reports whether a token ends a text or an answer.
func (v *Vocabulary) Stops(token int64) bool { return v.stops[token] }
