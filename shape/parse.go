package shape

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// CodeText is the code of a dimension, shape or type text that cannot be read.
const CodeText diag.Code = "FX7002"

// Limits of text from outside.
const (
	maxText  = 1 << 16 // bytes of one type
	maxDepth = 64      // nested parentheses
)

// ParseDim reads what Dim.String writes: numbers, symbols, + - * // and
// parentheses, or "?" alone. Spaces are allowed. The error is a *diag.Error with
// CodeText whose message names the column.
func ParseDim(s string) (Dim, error) {
	p, err := newParser(s)
	if err != nil {
		return Dim{}, err
	}
	d := p.dim()
	return d, p.finish()
}

// ParseDims reads what Dims.String writes: "[N,3,?]". Errors are as in ParseDim.
func ParseDims(s string) (Dims, error) {
	p, err := newParser(s)
	if err != nil {
		return Dims{}, err
	}
	d := p.dims()
	if err := p.finish(); err != nil {
		return Dims{}, err
	}
	return d, nil
}

// ParseType reads what Type.String writes: "f32[N,3,224,224]", "f32[*]",
// "?[N]", "(f32[2], i64[2])", "?". Errors are as in ParseDim.
func ParseType(s string) (Type, error) {
	p, err := newParser(s)
	if err != nil {
		return Type{}, err
	}
	t := p.typ()
	if err := p.finish(); err != nil {
		return Type{}, err
	}
	return t, nil
}

// ScanType reads the type at the start of s and returns how many bytes it took,
// for texts that go on behind it. Errors are as in ParseDim.
func ScanType(s string) (t Type, n int, err error) {
	p, err := newParser(s[:min(len(s), maxText)])
	if err != nil {
		return Type{}, 0, err
	}
	t = p.typ()
	if p.err != nil {
		return Type{}, 0, p.err
	}
	return t, p.i, nil
}

// parser is a recursive descent over s; the first error stops it.
type parser struct {
	s     string
	i     int
	depth int
	err   error
}

func newParser(s string) (*parser, error) {
	if len(s) > maxText {
		return nil, diag.New(CodeText, "text has "+strconv.Itoa(len(s))+" bytes, expected at most "+strconv.Itoa(maxText))
	}
	return &parser{s: s}, nil
}

// fail records the first error, at byte i.
func (p *parser) fail(i int, msg string) {
	if p.err == nil {
		p.err = diag.New(CodeText, "column "+strconv.Itoa(i+1)+": "+msg)
	}
}

// expected records that what stands at the current byte is not what was expected.
func (p *parser) expected(what string) {
	got := "the end of the text"
	if p.i < len(p.s) {
		got = strconv.QuoteToASCII(p.s[p.i : p.i+1])
	}
	p.fail(p.i, "found "+got+", expected "+what)
}

func (p *parser) finish() error {
	if p.peek() != 0 || p.err == nil && p.i < len(p.s) {
		p.expected("nothing more")
	}
	return p.err
}

// peek skips spaces and returns the next byte, 0 at the end and after an error.
func (p *parser) peek() byte {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
	if p.err != nil || p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

func (p *parser) need(c byte) {
	if !p.accept(c) {
		p.expected("'" + string(rune(c)) + "'")
	}
}

// enter counts a level of nesting; the caller leaves it again.
func (p *parser) enter() bool {
	if p.depth == maxDepth {
		p.fail(p.i, "text nests deeper than "+strconv.Itoa(maxDepth)+" levels, expected fewer")
		return false
	}
	p.depth++
	return true
}

func (p *parser) typ() Type {
	if p.peek() == '(' {
		return p.tuple()
	}
	start := p.i
	if p.accept('?') {
		if p.i < len(p.s) && p.s[p.i] == '[' {
			return p.tensor(array.Invalid)
		}
		return Type{}
	}
	name := p.ident()
	if name == "" {
		p.expected("an element type, '?' or '('")
		return Type{}
	}
	d, ok := array.ParseDType(name)
	if !ok {
		p.fail(start, "element type is "+strconv.Quote(clip(name))+", expected one of f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, bool")
		return Type{}
	}
	return p.tensor(d)
}

func (p *parser) tensor(d array.DType) Type {
	open := p.i
	p.need('[')
	if p.accept('*') {
		p.need(']')
		return Unranked(d)
	}
	p.i = min(open, p.i)
	return TensorType(d, p.dims())
}

func (p *parser) tuple() Type {
	p.need('(')
	if !p.enter() {
		return Type{}
	}
	defer func() { p.depth-- }()
	var members []Type
	if p.accept(')') {
		return TupleType()
	}
	for p.err == nil {
		members = append(members, p.typ())
		if !p.accept(',') {
			p.need(')')
			break
		}
	}
	return TupleType(members...)
}

func (p *parser) dims() Dims {
	p.need('[')
	if p.accept(']') {
		return Dims{}
	}
	var d []Dim
	for p.err == nil {
		d = append(d, p.dim())
		if !p.accept(',') {
			p.need(']')
			break
		}
	}
	return Dims{d}
}

func (p *parser) dim() Dim {
	if p.accept('?') {
		return Unknown
	}
	return p.sum()
}

// sum reads terms joined by + and -; a leading - negates the first term.
func (p *parser) sum() Dim {
	var d Dim
	if p.accept('-') {
		at := p.i
		d = p.known(at, Dim{}.Sub(p.product()))
	} else {
		d = p.product()
	}
	for p.err == nil {
		at := p.i
		switch p.peek() {
		case '+':
			p.i++
			d = p.known(at, d.Add(p.product()))
		case '-':
			p.i++
			d = p.known(at, d.Sub(p.product()))
		default:
			return d
		}
	}
	return d
}

// product reads factors joined by * and //, from left to right.
func (p *parser) product() Dim {
	d := p.factor()
	for p.err == nil {
		at := p.i
		switch {
		case p.accept('*'):
			d = p.known(at, d.Mul(p.factor()))
		case p.peek() == '/':
			p.i++
			if p.i == len(p.s) || p.s[p.i] != '/' {
				p.expected("'//'")
				return d
			}
			p.i++
			den := p.factor()
			if den.Is(0) {
				p.fail(at, "expression divides by zero, expected another divisor")
			}
			d = p.known(at, d.FloorDiv(den))
		default:
			return d
		}
	}
	return d
}

// known reports an expression whose arithmetic went beyond the limits.
func (p *parser) known(at int, d Dim) Dim {
	if p.err == nil && d.IsUnknown() {
		p.fail(at, "expression is too large, expected 64-bit coefficients and at most "+strconv.Itoa(maxTerms)+" terms")
	}
	return d
}

func (p *parser) factor() Dim {
	switch c := p.peek(); {
	case c == '(':
		p.i++
		if !p.enter() {
			return Dim{}
		}
		d := p.sum()
		p.need(')')
		p.depth--
		return d
	case isDigit(c):
		return p.number()
	case isLetter(c):
		start := p.i
		name := p.ident()
		if len(name) > maxName {
			p.fail(start, "symbol has "+strconv.Itoa(len(name))+" bytes, expected at most "+strconv.Itoa(maxName))
			return Dim{}
		}
		return Sym(name)
	}
	p.expected("a number, a symbol or '('")
	return Dim{}
}

func (p *parser) number() Dim {
	start := p.i
	for p.i < len(p.s) && isDigit(p.s[p.i]) {
		p.i++
	}
	n, err := strconv.ParseUint(p.s[start:p.i], 10, 64)
	if err != nil || n > math.MaxInt64 {
		p.fail(start, "number "+clip(p.s[start:p.i])+" is out of range, expected at most 9223372036854775807")
		return Dim{}
	}
	return Dim{n: int64(n)}
}

// ident reads letters, digits and underscores; "" when there is no letter.
func (p *parser) ident() string {
	if !isLetter(p.peek()) {
		return ""
	}
	start := p.i
	for p.i < len(p.s) && (isLetter(p.s[p.i]) || isDigit(p.s[p.i])) {
		p.i++
	}
	return p.s[start:p.i]
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// clip shortens hostile text for messages.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
