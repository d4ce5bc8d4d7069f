package safetensors

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/scan"
)

// scanner reads the subset of JSON that headers consist of: objects, strings
// and lists of non-negative integers. Strings without escapes are slices of the
// text, so that reading allocates in proportion to it.
type scanner struct {
	scan.Text
	buf [maxRank]int64 // for lists
}

// newScanner reads on at a byte of a header.
func newScanner(header string, at int) *scanner {
	return &scanner{Text: scan.Text{S: header, I: at, What: "header", Blanks: " \t\n\r", Fault: func(at int, msg string) error {
		return fault(CodeSyntax, prefixLen+int64(at), msg)
	}}}
}

func (p *scanner) fail(at int, c diag.Code, msg string) {
	if p.Err == nil {
		p.Err = fault(c, prefixLen+int64(at), msg)
	}
}

// fault returns the error for a mistake at a byte of the file.
func fault(c diag.Code, at int64, msg string) *diag.Error {
	return diag.New(c, "safetensors: byte "+digits(at)+": "+msg)
}

// object calls f for each key; f reads the value. at is the key's place.
func (p *scanner) object(f func(key string, at int)) {
	p.Need('{')
	if p.Accept('}') {
		return
	}
	for p.Err == nil {
		p.Peek()
		at := p.I
		key := p.str()
		p.Need(':')
		if p.Err != nil {
			return
		}
		f(key, at)
		if !p.Accept(',') {
			p.Need('}')
			return
		}
	}
}

// ints reads a list of at most len(buf) integers into buf.
func (p *scanner) ints(buf []int64) []int64 {
	p.Need('[')
	n := buf[:0]
	if p.Accept(']') {
		return n
	}
	for p.Err == nil {
		if len(n) == len(buf) {
			p.Fail(p.I, "list has more than "+digits(int64(len(buf)))+" numbers, expected fewer")
			return nil
		}
		n = append(n, p.int())
		if !p.Accept(',') {
			p.Need(']')
			break
		}
	}
	return n
}

func (p *scanner) int() int64 {
	p.Peek()
	start := p.I
	for p.I < len(p.S) && p.S[p.I] >= '0' && p.S[p.I] <= '9' {
		p.I++
	}
	text := p.S[start:p.I]
	if text == "" {
		p.Expected("a non-negative integer")
		return 0
	}
	if len(text) > 1 && text[0] == '0' {
		p.Fail(start, "number starts with 0, expected no leading zeros")
		return 0
	}
	n := int64(0)
	for i := range len(text) {
		d := int64(text[i] - '0')
		if n > (math.MaxInt64-d)/10 {
			p.Fail(start, "number of "+digits(int64(len(text)))+" digits is out of range, expected at most 9223372036854775807")
			return 0
		}
		n = 10*n + d
	}
	return n
}

// str reads a string.
func (p *scanner) str() string {
	p.Need('"')
	if p.Err != nil {
		return ""
	}
	start := p.I
	for ; p.I < len(p.S); p.I++ {
		switch c := p.S[p.I]; {
		case c == '"':
			p.I++
			return p.valid(p.S[start:p.I-1], start)
		case c == '\\':
			return p.valid(p.escaped(start), start)
		case c < 0x20:
			p.Fail(p.I, "control character in a string, expected an escape")
			return ""
		}
	}
	p.Expected("'\"'")
	return ""
}

func (p *scanner) valid(s string, at int) string {
	if p.Err == nil && !utf8.ValidString(s) {
		p.Fail(at, "string is not UTF-8, expected UTF-8")
	}
	return s
}

// escaped goes on with a string at its first backslash. A decoded escape is never
// longer than the escape, so one allocation suffices.
func (p *scanner) escaped(start int) string {
	end := p.I
	for end < len(p.S) && p.S[end] != '"' {
		if p.S[end] == '\\' {
			end++
		}
		end++
	}
	b := append(make([]byte, 0, min(end, len(p.S))-start), p.S[start:p.I]...)
	for p.I < len(p.S) {
		c := p.S[p.I]
		p.I++
		switch {
		case c == '"':
			return unsafe.String(unsafe.SliceData(b), len(b))
		case c < 0x20:
			p.Fail(p.I-1, "control character in a string, expected an escape")
			return ""
		case c != '\\':
			b = append(b, c)
		default:
			if b = p.escape(b); p.Err != nil {
				return ""
			}
		}
	}
	p.Expected("'\"'")
	return ""
}

// escapes are the letters that may follow a backslash, except u; their meanings
// have the same indexes.
const (
	escapes  = "\"\\/bfnrt"
	meanings = "\"\\/\b\f\n\r\t"
)

// escape appends the character that the letter after a backslash stands for.
func (p *scanner) escape(b []byte) []byte {
	if p.I == len(p.S) {
		p.Expected("an escape")
		return b
	}
	c := p.S[p.I]
	p.I++
	if i := strings.IndexByte(escapes, c); i >= 0 {
		return append(b, meanings[i])
	}
	if c != 'u' {
		p.I--
		p.Expected("an escape")
		return b
	}
	r := p.hex4()
	if utf16.IsSurrogate(r) {
		var low rune
		if p.I+1 < len(p.S) && p.S[p.I] == '\\' && p.S[p.I+1] == 'u' {
			p.I += 2
			low = p.hex4()
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			p.Fail(p.I, "half of a surrogate pair, expected both halves")
		}
	}
	return utf8.AppendRune(b, r)
}

func (p *scanner) hex4() rune {
	if p.I+4 > len(p.S) {
		p.I = len(p.S)
		p.Expected("four hexadecimal digits")
		return 0
	}
	n, ok := parseHex(p.S[p.I : p.I+4])
	if !ok {
		p.Expected("four hexadecimal digits")
	}
	p.I += 4
	return rune(n)
}

// parseHex reads hexadecimal digits of either case.
func parseHex(s string) (n uint32, ok bool) {
	for i := range len(s) {
		c := s[i] | 0x20
		switch {
		case c >= '0' && c <= '9' && s[i] == c:
			n = n<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// appendString appends s as JSON, with the escapes of the reference writer.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 && strings.IndexByte(meanings, c) >= 0:
			b = append(b, '\\', escapes[strings.IndexByte(meanings, c)])
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
