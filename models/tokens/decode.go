package tokens

import (
	"strings"
	"unicode/utf8"
)

// Decode returns the text of tokens. Control tokens have none. Bytes that are no UTF-8 stay as they are.
func (v *Vocabulary) Decode(tokens []int64) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(v.text(t))
	}
	if v.prefix {
		return strings.TrimPrefix(b.String(), " ")
	}
	return b.String()
}

// text returns the text of a token, "" for numbers that are none.
func (v *Vocabulary) text(token int64) string {
	if token < 0 || token >= int64(len(v.texts)) {
		return ""
	}
	text := v.texts[token]
	switch kind := v.kinds[token]; {
	case kind == controlKind:
		return ""
	case kind == definedKind:
		return text
	case v.overBytes:
		if plain, ok := unnamed(text); ok {
			return plain
		}
		return text
	case kind == byteKind:
		for b, id := range v.bytes {
			if id == token {
				return string([]byte{byte(b)})
			}
		}
	}
	return strings.ReplaceAll(text, spaceMark, " ")
}

// Stream is the text of tokens that come one by one, after others. A character whose bytes are in several
// tokens comes with the last of them. It is not for several goroutines at once.
type Stream struct {
	v    *Vocabulary
	held string
}

// Stream returns a stream that has seen no token.
func (v *Vocabulary) Stream() *Stream { return &Stream{v: v} }

// Next returns the text that a token completes.
func (s *Stream) Next(token int64) string {
	text := s.held + s.v.text(token)
	n := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if last := text[len(text)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				n -= back
			}
			break
		}
	}
	s.held = text[n:]
	return text[:n]
}

// Rest returns the bytes of a character that no token has completed.
func (s *Stream) Rest() string {
	rest := s.held
	s.held = ""
	return rest
}
