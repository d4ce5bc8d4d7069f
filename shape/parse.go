package shape

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/scan"
)

// Limits of text from outside.
const (
	maxText  = 1 << 16 // bytes of one type
	maxDepth = 64      // nested parentheses
)

// ParseDim reads the form of Dim.String: numbers, symbols, + - * //, parentheses, min(a,b)
// and max(a,b), or "?" alone. Spaces are allowed. The error is a *diag.Error with CodeText
// whose message names the column.
func ParseDim(s string) (Dim, error) {
	p, err := newParser(s)
	if err != nil {
		return Dim{}, err
	}
	d := p.dim()
	return d, p.finish()
}

// ParseDims reads the form of Dims.String: "[N,3,?]". Errors are as in ParseDim.
func ParseDims(s string) (Dims, error) {
	return parse(s, (*parser).dims)
}

// ParseType reads the form of Type.String: "f32[N,3,224,224]", "f32[*]",
// "?[N]", "(f32[2], i64[2])", "?". Errors are as in ParseDim.
func ParseType(s string) (Type, error) {
	return parse(s, (*parser).typ)
}

// parse reads all of s; with an error the result is the zero value.
func parse[T any](s string, read func(*parser) T) (T, error) {
	var zero T
	p, err := newParser(s)
	if err != nil {
		return zero, err
	}
	v := read(p)
	if err := p.finish(); err != nil {
		return zero, err
	}
	return v, nil
}

// ScanType reads the type at the start of s and returns how many bytes it took,
// for texts that go on after it. Errors are as in ParseDim.
func ScanType(s string) (t Type, n int, err error) {
	p, err := newParser(s[:min(len(s), maxText)])
	if err != nil {
		return Type{}, 0, err
	}
	t = p.typ()
	if p.Err != nil {
		return Type{}, 0, p.Err
	}
	return t, p.I, nil
}

// parser is a recursive descent over s; the first error stops it.
type parser struct {
	scan.Text
	depth int
}

func newParser(s string) (*parser, error) {
	if len(s) > maxText {
		return nil, diag.New(CodeText, "text has "+strconv.Itoa(len(s))+" bytes, expected at most "+strconv.Itoa(maxText))
	}
	return &parser{Text: scan.Text{S: s, What: "text", Blanks: " \t", Fault: fault}}, nil
}

// fault returns the error for a mistake at byte i.
func fault(i int, msg string) error {
	return diag.New(CodeText, "column "+strconv.Itoa(i+1)+": "+msg)
}

func (p *parser) finish() error {
	if p.Peek() != 0 || p.Err == nil && p.I < len(p.S) {
		p.Expected("nothing more")
	}
	return p.Err
}

// enter counts a level of nesting; the caller leaves it again.
func (p *parser) enter() bool {
	if p.depth == maxDepth {
		p.Fail(p.I, "text nests deeper than "+strconv.Itoa(maxDepth)+" levels, expected fewer")
		return false
	}
	p.depth++
	return true
}

func (p *parser) typ() Type {
	if p.Peek() == '(' {
		return p.tuple()
	}
	start := p.I
	if p.Accept('?') {
		if p.I < len(p.S) && p.S[p.I] == '[' {
			return p.tensor(array.Invalid)
		}
		return Type{}
	}
	name := p.ident()
	if name == "" {
		p.Expected("an element type, '?' or '('")
		return Type{}
	}
	d, ok := array.ParseDType(name)
	if !ok {
		p.Fail(start, "element type is "+strconv.Quote(clip(name))+", expected one of f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, bool")
		return Type{}
	}
	return p.tensor(d)
}

func (p *parser) tensor(d array.DType) Type {
	open := p.I
	p.Need('[')
	if p.Accept('*') {
		p.Need(']')
		return Unranked(d)
	}
	p.I = min(open, p.I)
	dims := p.dims()
	for _, size := range dims.Slice() {
		if n, ok := size.Int(); ok && n < 0 && p.Err == nil {
			p.Fail(open, "size "+size.String()+" is negative, expected 0 or more")
		}
	}
	return TensorType(d, dims)
}

func (p *parser) tuple() Type {
	p.Need('(')
	if !p.enter() {
		return Type{}
	}
	defer func() { p.depth-- }()
	var members []Type
	if p.Accept(')') {
		return TupleType()
	}
	for p.Err == nil {
		members = append(members, p.typ())
		if !p.Accept(',') {
			p.Need(')')
			break
		}
	}
	return TupleType(members...)
}

func (p *parser) dims() Dims {
	p.Need('[')
	if p.Accept(']') {
		return Dims{}
	}
	var d []Dim
	for p.Err == nil {
		d = append(d, p.dim())
		if !p.Accept(',') {
			p.Need(']')
			break
		}
	}
	return Dims{d}
}

func (p *parser) dim() Dim {
	if p.Accept('?') {
		return Unknown
	}
	return p.sum()
}

// sum reads terms joined by + and -; a leading - negates the first term.
func (p *parser) sum() Dim {
	var d Dim
	if p.Accept('-') {
		at := p.I
		d = p.known(at, Dim{}.Sub(p.product()))
	} else {
		d = p.product()
	}
	for p.Err == nil {
		at := p.I
		switch p.Peek() {
		case '+':
			p.I++
			d = p.known(at, d.Add(p.product()))
		case '-':
			p.I++
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
	for p.Err == nil {
		at := p.I
		switch {
		case p.Accept('*'):
			d = p.known(at, d.Mul(p.factor()))
		case p.Peek() == '/':
			p.I++
			if p.I == len(p.S) || p.S[p.I] != '/' {
				p.Expected("'//'")
				return d
			}
			p.I++
			den := p.factor()
			if den.Is(0) {
				p.Fail(at, "expression divides by zero, expected another divisor")
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
	if p.Err == nil && d.IsUnknown() {
		p.Fail(at, "expression is too large, expected 64-bit coefficients and at most "+strconv.Itoa(maxTerms)+" terms")
	}
	return d
}

func (p *parser) factor() Dim {
	switch c := p.Peek(); {
	case c == '(':
		p.I++
		if !p.enter() {
			return Dim{}
		}
		d := p.sum()
		p.Need(')')
		p.depth--
		return d
	case isDigit(c):
		return p.number()
	case isLetter(c):
		start := p.I
		name := p.ident()
		if len(name) > maxName {
			p.Fail(start, "symbol has "+strconv.Itoa(len(name))+" bytes, expected at most "+strconv.Itoa(maxName))
			return Dim{}
		}
		if (name == "min" || name == "max") && p.Peek() == '(' {
			return p.extreme(start, name == "min")
		}
		return Sym(name)
	}
	p.Expected("a number, a symbol or '('")
	return Dim{}
}

// extreme reads the two sides of a minimum or maximum.
func (p *parser) extreme(start int, least bool) Dim {
	p.I++
	if !p.enter() {
		return Dim{}
	}
	defer func() { p.depth-- }()
	a := p.sum()
	p.Need(',')
	b := p.sum()
	p.Need(')')
	if p.Err != nil {
		return Dim{}
	}
	if least {
		return p.known(start, a.Min(b))
	}
	return p.known(start, a.Max(b))
}

func (p *parser) number() Dim {
	start := p.I
	for p.I < len(p.S) && isDigit(p.S[p.I]) {
		p.I++
	}
	n, err := strconv.ParseUint(p.S[start:p.I], 10, 64)
	if err != nil || n > math.MaxInt64 {
		p.Fail(start, "number "+clip(p.S[start:p.I])+" is out of range, expected at most 9223372036854775807")
		return Dim{}
	}
	return Dim{n: int64(n)}
}

// ident reads letters, digits and underscores; "" when there is no letter.
func (p *parser) ident() string {
	if !isLetter(p.Peek()) {
		return ""
	}
	start := p.I
	for p.I < len(p.S) && (isLetter(p.S[p.I]) || isDigit(p.S[p.I])) {
		p.I++
	}
	return p.S[start:p.I]
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
