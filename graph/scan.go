package graph

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// scan reads one line of the text form. The first mistake is reported and ends
// the line: every later read returns nothing.
type scan struct {
	p      *parser
	s      string
	i      int
	line   int
	failed bool
}

// pos returns the place of byte i of the line.
func (c *scan) pos(i int) diag.Pos { return diag.Pos{File: c.p.file, Line: c.line, Col: i + 1} }

// fail reports a mistake at byte i, unless the line has one already.
func (c *scan) fail(i int, code diag.Code, msg string) *diag.Error {
	e := &diag.Error{Code: code, Pos: c.pos(i), Msg: msg}
	if !c.failed {
		c.failed = true
		c.p.report(e)
	}
	return e
}

// expected reports that what stands here is not what was expected.
func (c *scan) expected(what string) {
	if c.failed {
		return
	}
	got := "the end of the line"
	if c.peek() != 0 {
		got = strconv.QuoteToASCII(c.s[c.i : c.i+1])
	}
	c.fail(c.i, SyntaxError, "found "+got+", expected "+what)
}

// peek skips blanks and returns the next byte; 0 at the end of the line, at a
// comment and after a mistake. A comment is // after a blank or at the start.
func (c *scan) peek() byte {
	for c.i < len(c.s) && blank(c.s[c.i]) {
		c.i++
	}
	if c.failed || c.i >= len(c.s) || c.comment(c.i) {
		return 0
	}
	return c.s[c.i]
}

func (c *scan) comment(i int) bool {
	return strings.HasPrefix(c.s[i:], "//") && (i == 0 || blank(c.s[i-1]))
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' }

func (c *scan) accept(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.i++
	return true
}

func (c *scan) need(b byte) {
	if !c.accept(b) {
		c.expected("'" + string(rune(b)) + "'")
	}
}

// end demands that nothing more stands on the line.
func (c *scan) end() {
	if c.peek() != 0 {
		c.expected("the end of the line")
	}
}

// keyword takes the given word if it stands here.
func (c *scan) keyword(w string) bool {
	c.peek()
	if c.failed || !strings.HasPrefix(c.s[c.i:], w) {
		return false
	}
	if j := c.i + len(w); j < len(c.s) && wordByte(c.s[j]) {
		return false
	}
	c.i += len(w)
	return true
}

// first returns the word at the start of the line without taking it.
func (c *scan) first() string {
	c.peek()
	j := c.i
	for j < len(c.s) && nameByte(c.s[j]) {
		j++
	}
	return c.s[c.i:j]
}

// word reads a bare or quoted word; bare tells which it was.
func (c *scan) word(what string) (w string, bare bool) {
	if c.peek() == '"' {
		return c.quoted(what), false
	}
	start := c.i
	for !c.failed && c.i < len(c.s) && wordByte(c.s[c.i]) && !strings.HasPrefix(c.s[c.i:], "//") {
		c.i++
	}
	if c.i == start {
		c.expected(what)
	}
	return c.s[start:c.i], true
}

// quoted reads a string in double quotes.
func (c *scan) quoted(what string) string {
	if c.peek() != '"' {
		c.expected(what)
		return ""
	}
	for k := c.i + 1; k < len(c.s); k++ {
		b := c.s[k]
		if b == '"' {
			s := c.s[c.i+1 : k]
			c.i = k + 1
			return s
		}
		if b == '\\' || b < ' ' || b > '~' {
			break // not as plain as most
		}
	}
	q, err := strconv.QuotedPrefix(c.s[c.i:])
	if err != nil {
		c.fail(c.i, SyntaxError, "string is not closed or has a wrong escape, expected Go's syntax of strings")
		return ""
	}
	c.i += len(q)
	s, _ := strconv.Unquote(q)
	return s
}

// value reads %name and returns the name.
func (c *scan) value() string {
	c.need('%')
	start := c.i
	for !c.failed && c.i < len(c.s) && nameByte(c.s[c.i]) {
		c.i++
	}
	if name := c.s[start:c.i]; name != "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	c.i = start
	c.expected("a name: letters, digits and underscores")
	return ""
}

// number reads an int.
func (c *scan) number(what string) int {
	c.peek()
	start := c.i
	if c.i < len(c.s) && c.s[c.i] == '-' {
		c.i++
	}
	for !c.failed && c.i < len(c.s) && c.s[c.i] >= '0' && c.s[c.i] <= '9' {
		c.i++
	}
	n, err := strconv.ParseInt(c.s[start:c.i], 10, 32)
	if err != nil {
		c.i = start
		c.expected(what)
	}
	return int(n)
}

// typ reads a type.
func (c *scan) typ() shape.Type {
	c.peek()
	if c.failed {
		return shape.Type{}
	}
	text := c.s[c.i:]
	if end := strings.IndexByte(text, ']') + 1; end > 0 && end <= maxKnownText && text[0] != '(' {
		text = text[:end]
		if t, ok := c.p.types[text]; ok {
			c.i += end
			c.p.spend(c, typeBytes(t))
			return t
		}
	}
	t, n, err := shape.ScanType(c.s[c.i:])
	if err != nil {
		c.shapeError(c.i, err)
		return shape.Type{}
	}
	if n == len(text) && n <= maxKnownText {
		c.p.types[text] = t
	}
	c.i += n
	c.p.spend(c, typeBytes(t))
	return t
}

// maxKnownText bounds the texts of types and attributes that are read once for all that are alike.
const maxKnownText = 64

// shapeError reports a mistake that package shape found in a part of the line.
func (c *scan) shapeError(at int, err error) {
	var l diag.List
	l.Add(err)
	c.fail(at, l[0].Code, l[0].Msg)
}

// relation reads a relation of sizes up to the given end or the end of the line.
func (c *scan) relation(end string) shape.Relation {
	c.peek()
	start := c.i
	s, ok := c.claim(end).(guard.Size)
	if !ok && !c.failed {
		c.fail(start, SyntaxError, "found the type of an input, expected a relation of sizes")
	}
	return s.Relation
}

// claim reads a guard up to the given end or the end of the line.
func (c *scan) claim(end string) guard.Guard {
	c.peek()
	j := c.i
	for j < len(c.s) && !c.comment(j) && !strings.HasPrefix(c.s[j:], end) {
		if quoted, err := strconv.QuotedPrefix(c.s[j:]); err == nil {
			j += len(quoted) - 1
		}
		j++
	}
	if c.failed {
		return guard.Size{}
	}
	g, err := guard.Parse(strings.TrimRight(c.s[c.i:j], " \t\r"))
	if err != nil {
		c.shapeError(c.i, err)
	}
	if s, ok := g.(guard.Size); ok {
		c.p.spend(c, costBytes*(expensive(s.A)+expensive(s.B)))
	}
	c.i = j
	return g
}

// attrs reads {name=literal, ...} when it stands here and is no block: names and
// the texts of the literals, appended to what is given.
func (c *scan) attrs(names, literals []string) ([]string, []string) {
	if c.peek() != '{' || c.opensBlock() {
		return names, literals
	}
	c.i++
	if c.accept('}') {
		return names, literals
	}
	for !c.failed {
		name, _ := c.word("the name of an attribute")
		c.need('=')
		lit := c.literalText()
		if c.failed {
			break
		}
		names, literals = append(names, name), append(literals, lit)
		if !c.accept(',') {
			c.need('}')
			break
		}
	}
	return names, literals
}

// opensBlock reports whether the { here is the last thing on the line.
func (c *scan) opensBlock() bool {
	d := scan{p: c.p, s: c.s, i: c.i + 1}
	return d.peek() == 0
}

// literalText returns the text up to the comma or brace that ends an attribute.
func (c *scan) literalText() string {
	c.peek()
	start, depth := c.i, 0
	for ; c.i < len(c.s); c.i++ {
		switch b := c.s[c.i]; b {
		case '"':
			q, err := strconv.QuotedPrefix(c.s[c.i:])
			if err != nil {
				c.fail(c.i, SyntaxError, "string is not closed or has a wrong escape, expected Go's syntax of strings")
				return ""
			}
			c.i += len(q) - 1
		case '[', '(', '{':
			depth++
		case ']', ')', '}', ',':
			if depth == 0 {
				return strings.TrimSpace(c.s[start:c.i])
			}
			if b != ',' {
				depth--
			}
		}
	}
	c.expected("',' or '}' after the attribute")
	return ""
}

// clip shortens hostile text for messages.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// A few bytes of text can ask for much: a call for thousands of results, a size for
// a product of sums, which is stored expanded. What a text is not long enough for
// by itself is charged, in bytes, against a budget that grows with the text.
const (
	budgetBase   = 1 << 20
	budgetFactor = 128

	memberBytes = 192 // of a result of several, and what goes by while it is made
	dimBytes    = 64  // of a dimension of it
	costBytes   = 160 // of one unit of shape.Dim.Cost
	freeCost    = 8   // the expressions of which every text has many
	freeRank    = 8
)

// spend charges bytes; when the budget is used up, reading ends.
func (p *parser) spend(c *scan, bytes int) bool {
	if bytes <= p.left {
		p.left -= bytes
		return true
	}
	c.fail(0, TextLimit, "types and sizes up to here take more memory than a text of this length may, expected fewer results and shorter expressions").
		WithHint("take apart what has many results, name sizes by symbols of their own")
	p.left, p.full = 0, true
	return false
}

// results charges the results of a call of several before they are made.
func (b *body) results(line *scan, o *op.Op, attrs any, args []*Node) bool {
	if o == nil || !o.Codec().Accepts(attrs) {
		return true
	}
	n, tuple := o.NumResults(attrs)
	if !tuple || n <= 0 {
		return true
	}
	rank := 0
	for _, a := range args {
		if a != nil {
			rank = max(rank, a.typ.Rank())
		}
	}
	each := memberBytes + dimBytes*rank
	return b.p.spend(line, each*min(n, 1+b.p.left/each))
}

// sizes charges the expressions in the attributes of a call.
func (b *body) sizes(c *scan, o *op.Op, attrs any) bool {
	if o == nil || !o.Codec().Accepts(attrs) || !o.Codec().HasDims() {
		return true
	}
	cost := 0
	o.Codec().Symbols(attrs, func(d shape.Dim) { cost += expensive(d) })
	return b.p.spend(c, 6*costBytes*cost)
}

// inferred charges the type of a node; expressions are new when no operand has them.
func (b *body) inferred(c *scan, n *Node) bool {
	t := n.typ
	for i := range n.args {
		if d := n.args[i].def; d != nil && d.typ.Dims().Same(t.Dims()) {
			return b.p.spend(c, dimBytes*max(0, t.Rank()-freeRank))
		}
	}
	return b.p.spend(c, typeBytes(t))
}

// typeBytes is what a type takes beyond that of most values.
func typeBytes(t shape.Type) int {
	bytes := dimBytes * max(0, t.Rank()-freeRank)
	for i := range t.Dims().Len() {
		bytes += costBytes * expensive(t.Dim(i))
	}
	for i := range t.Len() {
		bytes += typeBytes(t.Member(i))
	}
	return bytes
}

func expensive(d shape.Dim) int { return max(0, d.Cost()-freeCost) }
