package tokens

import (
	"regexp"
	"unicode/utf8"
)

// byteRune are the characters that stand for bytes in vocabularies over bytes: printable bytes of
// Latin-1 stand for themselves, the others have the characters from 256 on.
var (
	byteRune [256]string
	runeByte = map[rune]byte{}
)

func init() {
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r = next
			next++
		}
		byteRune[b] = string(r)
		runeByte[r] = byte(b)
	}
}

// named writes a text by the names of its bytes.
func named(text string) string {
	out := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		out = append(out, byteRune[text[i]]...)
	}
	return string(out)
}

// unnamed returns the bytes that a token names; ok is false if it has other characters.
func unnamed(token string) (text string, ok bool) {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := runeByte[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}

// words is how a vocabulary over bytes cuts texts before it joins bytes.
type words struct {
	// patterns cut one after the other. The last group of one, if it has any, is white space, of which
	// the last character belongs to what follows. Go's regular expressions cannot look ahead.
	patterns []*regexp.Regexp
	whole    bool // a word that is a token is this token, whatever is joined
	begin    bool // texts begin with a token where the file does not say
}

// Parts of the patterns: white space, letters and numbers of Unicode.
const (
	space  = `\s\v\x{85}\p{Z}`
	blank  = `([` + space + `]+)`
	other  = `[^` + space + `\p{L}\p{N}]+`
	suffix = `'s|'t|'re|'ve|'m|'ll|'d`
	before = `(?i:` + suffix + `)|[^\r\n\p{L}\p{N}]?\p{L}+|` // numbers
	after  = `| ?` + other + `[\r\n]*|[` + space + `]*[\r\n]+|` + blank
)

var (
	gpt2   = regexp.MustCompile(suffix + `| ?\p{L}+| ?\p{N}+| ?` + other + `|` + blank)
	llama3 = regexp.MustCompile(before + `\p{N}{1,3}` + after)
	qwen2  = regexp.MustCompile(before + `\p{N}` + after)
	digit  = regexp.MustCompile(`\p{N}`)
)

// cuts are the ways to cut by the names that files have for them.
var cuts = map[string]words{
	"gpt-2":            {patterns: []*regexp.Regexp{gpt2}},
	"smollm":           {patterns: []*regexp.Regexp{digit, gpt2}},
	"llama-bpe":        {patterns: []*regexp.Regexp{llama3}, whole: true, begin: true},
	"qwen2":            {patterns: []*regexp.Regexp{qwen2}},
	"deepseek-r1-qwen": {patterns: []*regexp.Regexp{qwen2}},
}

// cut calls f with the words of a text, in order.
func (w words) cut(text string, f func(word string)) { cutBy(w.patterns, text, f) }

func cutBy(patterns []*regexp.Regexp, text string, f func(word string)) {
	if len(patterns) == 0 {
		if text != "" {
			f(text)
		}
		return
	}
	p, rest := patterns[0], patterns[1:]
	for text != "" {
		at := p.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		cutBy(rest, text[:at[0]], f)
		end := at[1]
		if last := at[len(at)-1]; len(at) > 2 && last == end && end < len(text) {
			if _, n := utf8.DecodeLastRuneInString(text[at[0]:end]); n < end-at[0] {
				end -= n
			}
		}
		cutBy(rest, text[at[0]:end], f)
		text = text[end:]
	}
	cutBy(rest, text, f)
}
