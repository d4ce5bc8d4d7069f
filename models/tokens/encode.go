package tokens

import (
	"slices"
	"strings"
)

// marks are the tokens that stand for their text wherever it occurs. Of two that begin at one
// place the longer one is meant.
type marks struct {
	first [256][]mark // by their first byte, the longest first
}

type mark struct {
	text string
	id   int64
}

func (m *marks) add(text string, id int64) {
	if text != "" {
		m.first[text[0]] = append(m.first[text[0]], mark{text, id})
	}
}

func (m *marks) sort() {
	for _, l := range m.first {
		slices.SortStableFunc(l, func(a, b mark) int { return len(b.text) - len(a.text) })
	}
}

// find returns the first mark in a text and where it is, -1 for none.
func (m *marks) find(text string) (at int, found mark) {
	for i := range len(text) {
		for _, k := range m.first[text[i]] {
			if strings.HasPrefix(text[i:], k.text) {
				return i, k
			}
		}
	}
	return -1, mark{}
}

// Encode returns the tokens of a text, as they stand in the middle of others: without those of
// Begin. The text of a control token is a text like any other.
func (v *Vocabulary) Encode(text string) []int64 { return v.encode(text, &v.fixed) }

// EncodeMarked returns the tokens of a text in which the texts of control tokens are these
// tokens: of a template for chats. What other people write does not belong into such a text,
// because they can write control tokens, too.
func (v *Vocabulary) EncodeMarked(text string) []int64 { return v.encode(text, &v.control) }

func (v *Vocabulary) encode(text string, m *marks) []int64 {
	var out []int64
	for text != "" {
		at, found := m.find(text)
		if at < 0 {
			return v.ordinary(out, text)
		}
		if at > 0 {
			out = v.ordinary(out, text[:at])
		}
		out = append(out, found.id)
		text = text[at+len(found.text):]
	}
	return out
}

// ordinary appends the tokens of a text without marks.
func (v *Vocabulary) ordinary(out []int64, text string) []int64 {
	if !v.overBytes {
		return v.pieces(out, text)
	}
	v.words.cut(text, func(word string) {
		word = named(word)
		if id, ok := v.plain[word]; ok && v.words.whole {
			out = append(out, id)
			return
		}
		join(word, func(left, right string) (float64, bool) {
			rank, ok := v.ranks[[2]string{left, right}]
			return rank, ok
		}, func(piece string) { out = append(out, v.plain[piece]) })
	})
	return out
}

// spaceMark stands for a space in vocabularies by scores.
const spaceMark = "\u2581"

// pieces appends the tokens of a text by scores.
func (v *Vocabulary) pieces(out []int64, text string) []int64 {
	text = strings.ReplaceAll(text, " ", spaceMark)
	if v.prefix {
		text = spaceMark + text
	}
	unused := map[string][2]string{} // of what tokens that texts do not have were joined
	join(text, func(left, right string) (float64, bool) {
		id, ok := v.plain[left+right]
		if !ok {
			return 0, false
		}
		if v.kinds[id] == unusedKind {
			unused[left+right] = [2]string{left, right}
		}
		return -float64(v.scores[id]), true
	}, func(piece string) { out = v.piece(out, piece, unused) })
	return out
}

func (v *Vocabulary) piece(out []int64, piece string, unused map[string][2]string) []int64 {
	id, ok := v.plain[piece]
	if ok && v.kinds[id] != unusedKind {
		return append(out, id)
	}
	if parts, joined := unused[piece]; joined {
		return v.piece(v.piece(out, parts[0], unused), parts[1], unused)
	}
	for i := range len(piece) {
		if v.bytes[piece[i]] < 0 {
			return append(out, v.unknown)
		}
	}
	for i := range len(piece) {
		out = append(out, v.bytes[piece[i]])
	}
	return out
}
