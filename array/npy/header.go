package npy

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/scan"
)

// header is the text before the data.
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
	p := newScanner(string(text), start)
	if p.dict(); p.Err != nil {
		return nil, p.Err
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
	scan.Text
	base int // place of the text in the file
	h    header
}

func newScanner(text string, base int) *scanner {
	p := &scanner{base: base, h: header{end: base + len(text)}}
	p.Text = scan.Text{S: text, What: "header", Blanks: " \t\n\r", Fault: func(at int, msg string) error {
		return fault(CodeHeader, base+at, msg)
	}}
	return p
}

func (p *scanner) fail(at int, c diag.Code, msg string) {
	if p.Err == nil {
		p.Err = fault(c, p.base+at, msg)
	}
}

// dict reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } with the
// keys in any order, each once.
func (p *scanner) dict() {
	p.Need('{')
	seen := map[string]bool{}
	for p.Err == nil && !p.Accept('}') {
		p.Peek()
		at := p.I
		key := p.str()
		p.Need(':')
		if seen[key] {
			p.Fail(at, "key "+quote(key)+" occurs twice, expected once")
		}
		seen[key] = true
		switch p.Peek(); key {
		case "descr":
			p.descr()
		case "fortran_order":
			p.h.fortran = p.boolean()
		case "shape":
			p.shape()
		default:
			p.Fail(at, "found key "+quote(key)+", expected descr, fortran_order or shape")
		}
		if !p.Accept(',') {
			p.Need('}')
			break
		}
	}
	if len(seen) != 3 {
		p.Fail(p.I, "header lacks a key, expected descr, fortran_order and shape")
	}
	if p.Peek() != 0 || p.Err == nil && p.I < len(p.S) {
		p.Expected("nothing more")
	}
}

// str reads a string without escapes.
func (p *scanner) str() string {
	q := p.Peek()
	if q != '\'' && q != '"' {
		p.Expected("a string")
		return ""
	}
	p.I++
	for start := p.I; p.I < len(p.S); p.I++ {
		switch p.S[p.I] {
		case q:
			p.I++
			return p.S[start : p.I-1]
		case '\\':
			p.Expected("a string without escapes")
			return ""
		}
	}
	p.Expected("the end of the string")
	return ""
}

func (p *scanner) descr() {
	at := p.I
	if c := p.Peek(); c == '[' {
		p.fail(at, CodeDType, "element type is a structure, expected a number or bool")
		return
	}
	s := p.str()
	if p.Err != nil {
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
		if len(p.S)-p.I >= len(word) && p.S[p.I:p.I+len(word)] == word {
			p.I += len(word)
			return v
		}
	}
	p.Expected("True or False")
	return false
}

func (p *scanner) shape() {
	p.h.shapeAt = p.base + p.I
	p.h.shape = []int{}
	p.Need('(')
	for p.Err == nil && !p.Accept(')') {
		if len(p.h.shape) == maxRank {
			p.Fail(p.I, "shape has more than "+strconv.Itoa(maxRank)+" dimensions, expected fewer")
			return
		}
		p.Peek()
		at := p.I
		for p.I < len(p.S) && p.S[p.I] >= '0' && p.S[p.I] <= '9' {
			p.I++
		}
		if p.I == at {
			p.Expected("a non-negative integer")
			return
		}
		n, err := strconv.Atoi(p.S[at:p.I])
		if err != nil {
			p.Fail(at, "dimension of "+strconv.Itoa(p.I-at)+" digits is out of range, expected one in the range of int")
		}
		p.h.shape = append(p.h.shape, n)
		if !p.Accept(',') {
			p.Need(')')
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
