package npy

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// header is what stands in front of the data.
type header struct {
	dtype   array.DType
	swap    bool // byte order is not the machine's
	fortran bool
	shape   []int
	shapeAt int // place of the shape in the file
	end     int // place of the data in the file
}

// readHeader reads magic, version, length and the Python dictionary.
func readHeader(r io.Reader) (*header, error) {
	var b [12]byte
	if n, err := io.ReadFull(r, b[:8]); err != nil || string(b[:6]) != magic {
		return nil, fault(CodeMagic, 0, "file begins with "+strconv.QuoteToASCII(string(b[:min(n, 6)]))+", expected "+strconv.QuoteToASCII(magic))
	}
	width := 2
	switch b[6] {
	case 1:
	case 2, 3:
		width = 4
	default:
		return nil, fault(CodeMagic, 6, "version is "+strconv.Itoa(int(b[6]))+", expected 1, 2 or 3")
	}
	if n, err := io.ReadFull(r, b[8:8+width]); err != nil {
		return nil, short(8+n, err)
	}
	start := 8 + width
	size := binary.LittleEndian.Uint32(b[8:]) // version 1 leaves the upper bytes 0
	if size > maxHeader {
		return nil, fault(CodeHeader, 8, "header has "+strconv.FormatUint(uint64(size), 10)+" bytes, expected at most "+strconv.Itoa(maxHeader))
	}
	text := make([]byte, size)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, short(start+n, err)
	}
	p := &scanner{s: string(text), base: start, h: header{end: start + len(text)}}
	if p.dict(); p.err != nil {
		return nil, p.err
	}
	return &p.h, nil
}

func short(at int, err error) *diag.Error {
	e := fault(CodeRead, at, "header ends early")
	e.Err = err
	return e
}

// scanner reads the literal of a Python dictionary that headers consist of.
type scanner struct {
	s    string
	i    int
	base int
	err  error
	h    header
}

func (p *scanner) fail(at int, c diag.Code, msg string) {
	if p.err == nil {
		p.err = fault(c, p.base+at, msg)
	}
}

func (p *scanner) expected(what string) {
	got := "the end of the header"
	if p.i < len(p.s) {
		got = strconv.QuoteToASCII(p.s[p.i : p.i+1])
	}
	p.fail(p.i, CodeHeader, "found "+got+", expected "+what)
}

// peek skips white space and returns the next byte, 0 at the end and after an error.
func (p *scanner) peek() byte {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' || p.s[p.i] == '\r') {
		p.i++
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
		p.expected(strconv.QuoteRune(rune(c)))
	}
}

// dict reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } with the
// keys in any order, each once.
func (p *scanner) dict() {
	p.need('{')
	seen := map[string]bool{}
	for p.err == nil && !p.accept('}') {
		p.peek()
		at := p.i
		key := p.str()
		p.need(':')
		if seen[key] {
			p.fail(at, CodeHeader, "key "+quote(key)+" occurs twice, expected once")
		}
		seen[key] = true
		switch p.peek(); key {
		case "descr":
			p.descr()
		case "fortran_order":
			p.h.fortran = p.boolean()
		case "shape":
			p.shape()
		default:
			p.fail(at, CodeHeader, "found key "+quote(key)+", expected descr, fortran_order or shape")
		}
		if !p.accept(',') {
			p.need('}')
			break
		}
	}
	if len(seen) != 3 {
		p.fail(p.i, CodeHeader, "header lacks a key, expected descr, fortran_order and shape")
	}
	if p.peek() != 0 || p.err == nil && p.i < len(p.s) {
		p.expected("nothing more")
	}
}

// str reads a string without escapes.
func (p *scanner) str() string {
	q := p.peek()
	if q != '\'' && q != '"' {
		p.expected("a string")
		return ""
	}
	p.i++
	for start := p.i; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case q:
			p.i++
			return p.s[start : p.i-1]
		case '\\':
			p.expected("a string without escapes")
			return ""
		}
	}
	p.expected("the end of the string")
	return ""
}

func (p *scanner) descr() {
	at := p.i
	if c := p.peek(); c == '[' {
		p.fail(at, CodeDType, "element type is a structure, expected a number or bool")
		return
	}
	s := p.str()
	if p.err != nil {
		return
	}
	if len(s) == 3 {
		for _, d := range descrs {
			if d.name != s[1:] {
				continue
			}
			one := d.dtype.Size() == 1
			switch {
			case s[0] == '=' || s[0] == '|' && one:
			case s[0] == '<':
				p.h.swap = bigEndian()
			case s[0] == '>':
				p.h.swap = !bigEndian()
			default:
				continue
			}
			p.h.dtype = d.dtype
			return
		}
	}
	p.fail(at, CodeDType, "element type is "+quote(s)+", expected <, > or | with f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1")
}

func (p *scanner) boolean() bool {
	for word, v := range map[string]bool{"True": true, "False": false} {
		if len(p.s)-p.i >= len(word) && p.s[p.i:p.i+len(word)] == word {
			p.i += len(word)
			return v
		}
	}
	p.expected("True or False")
	return false
}

func (p *scanner) shape() {
	p.h.shapeAt = p.base + p.i
	p.h.shape = []int{}
	p.need('(')
	for p.err == nil && !p.accept(')') {
		if len(p.h.shape) == maxRank {
			p.fail(p.i, CodeHeader, "shape has more than "+strconv.Itoa(maxRank)+" dimensions, expected fewer")
			return
		}
		p.peek()
		at := p.i
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
		}
		if p.i == at {
			p.expected("a non-negative integer")
			return
		}
		n, err := strconv.Atoi(p.s[at:p.i])
		if err != nil {
			p.fail(at, CodeHeader, "dimension of "+strconv.Itoa(p.i-at)+" digits is out of range, expected one in the range of int")
		}
		p.h.shape = append(p.h.shape, n)
		if !p.accept(',') {
			p.need(')')
			break
		}
	}
}

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return strconv.QuoteToASCII(s)
}
