package safetensors

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
)

// scanner reads the subset of JSON that headers consist of: objects, strings
// and lists of non-negative integers. Strings without escapes are slices of the
// text, so that reading allocates in proportion to it.
type scanner struct {
	s    string
	i    int
	base int64 // offset of s in the file
	err  error
	buf  [maxRank]int64 // for lists
}

func (p *scanner) fail(at int, c diag.Code, msg string) {
	if p.err == nil {
		p.err = fault(c, p.base+int64(at), msg)
	}
}

// fault returns the error for a mistake at a byte of the file.
func fault(c diag.Code, at int64, msg string) *diag.Error {
	return diag.New(c, "safetensors: byte "+strconv.FormatInt(at, 10)+": "+msg)
}

// peek skips white space and returns the next byte, 0 at the end and after an error.
func (p *scanner) peek() byte {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
			continue
		}
		break
	}
	if p.err != nil || p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *scanner) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

func (p *scanner) need(c byte) {
	if !p.accept(c) {
		p.expected("'" + string(rune(c)) + "'")
	}
}

func (p *scanner) expected(what string) {
	got := "the end of the header"
	if p.i < len(p.s) {
		got = diag.Quote(p.s[p.i : p.i+1])
	}
	p.fail(p.i, CodeSyntax, "found "+got+", expected "+what)
}

// object calls f for each key; f reads the value. at is the key's place.
func (p *scanner) object(f func(key string, at int)) {
	p.need('{')
	if p.accept('}') {
		return
	}
	for p.err == nil {
		p.peek()
		at := p.i
		key := p.str()
		p.need(':')
		if p.err != nil {
			return
		}
		f(key, at)
		if !p.accept(',') {
			p.need('}')
			return
		}
	}
}

// ints reads a list of at most len(buf) integers into buf.
func (p *scanner) ints(buf []int64) []int64 {
	p.need('[')
	n := buf[:0]
	if p.accept(']') {
		return n
	}
	for p.err == nil {
		if len(n) == len(buf) {
			p.fail(p.i, CodeSyntax, "list has more than "+strconv.Itoa(len(buf))+" numbers, expected fewer")
			return nil
		}
		n = append(n, p.int())
		if !p.accept(',') {
			p.need(']')
			break
		}
	}
	return n
}

func (p *scanner) int() int64 {
	p.peek()
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	text := p.s[start:p.i]
	if text == "" {
		p.expected("a non-negative integer")
		return 0
	}
	if len(text) > 1 && text[0] == '0' {
		p.fail(start, CodeSyntax, "number starts with 0, expected no leading zeros")
		return 0
	}
	n := int64(0)
	for i := range len(text) {
		d := int64(text[i] - '0')
		if n > (math.MaxInt64-d)/10 {
			p.fail(start, CodeSyntax, "number of "+strconv.Itoa(len(text))+" digits is out of range, expected at most 9223372036854775807")
			return 0
		}
		n = 10*n + d
	}
	return n
}

// str reads a string.
func (p *scanner) str() string {
	p.need('"')
	if p.err != nil {
		return ""
	}
	start := p.i
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.valid(p.s[start:p.i-1], start)
		case c == '\\':
			return p.valid(p.escaped(start), start)
		case c < 0x20:
			p.fail(p.i, CodeSyntax, "control character in a string, expected an escape")
			return ""
		}
	}
	p.expected("'\"'")
	return ""
}

func (p *scanner) valid(s string, at int) string {
	if p.err == nil && !utf8.ValidString(s) {
		p.fail(at, CodeSyntax, "string is not UTF-8, expected UTF-8")
	}
	return s
}

// escaped goes on with a string at its first backslash. What an escape stands for
// is never longer than the escape, so one allocation does.
func (p *scanner) escaped(start int) string {
	end := p.i
	for end < len(p.s) && p.s[end] != '"' {
		if p.s[end] == '\\' {
			end++
		}
		end++
	}
	b := append(make([]byte, 0, min(end, len(p.s))-start), p.s[start:p.i]...)
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			return unsafe.String(unsafe.SliceData(b), len(b))
		case c < 0x20:
			p.fail(p.i-1, CodeSyntax, "control character in a string, expected an escape")
			return ""
		case c != '\\':
			b = append(b, c)
		default:
			if b = p.escape(b); p.err != nil {
				return ""
			}
		}
	}
	p.expected("'\"'")
	return ""
}

// escape appends what stands behind a backslash.
func (p *scanner) escape(b []byte) []byte {
	if p.i == len(p.s) {
		p.expected("an escape")
		return b
	}
	c := p.s[p.i]
	p.i++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'u':
		r := p.hex4()
		if utf16.IsSurrogate(r) {
			var low rune
			if p.i+1 < len(p.s) && p.s[p.i] == '\\' && p.s[p.i+1] == 'u' {
				p.i += 2
				low = p.hex4()
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				p.fail(p.i, CodeSyntax, "half of a surrogate pair, expected both halves")
			}
		}
		return utf8.AppendRune(b, r)
	}
	p.i--
	p.expected("an escape")
	return b
}

func (p *scanner) hex4() rune {
	if p.i+4 > len(p.s) {
		p.i = len(p.s)
		p.expected("four hexadecimal digits")
		return 0
	}
	n, ok := parseHex(p.s[p.i : p.i+4])
	if !ok {
		p.expected("four hexadecimal digits")
	}
	p.i += 4
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

// appendString appends s as JSON.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
