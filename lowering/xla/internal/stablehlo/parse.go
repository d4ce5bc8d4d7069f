package stablehlo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Parse reads the generic form that String writes: one module with one function. It checks
// names and structure; Verify checks the rest.
func Parse(src string) (p *Module, err error) {
	list, err := lex(src)
	if err != nil {
		return nil, err
	}
	r := &parser{list: list, values: map[string]*Value{}}
	defer func() {
		if e, ok := recover().(mistake); ok {
			p, err = nil, fmt.Errorf("line %d: %s", r.list[min(r.at, len(list)-1)].line, string(e))
		} else if e != "" {
			panic(e)
		}
	}()
	return r.program(), nil
}

// mistake is what a parser panics with.
type mistake string

type parser struct {
	list   []token
	at     int
	depth  int
	values map[string]*Value
}

const maxDepth = 200 // of nested regions and lists

func (r *parser) fail(format string, a ...any) { panic(mistake(fmt.Sprintf(format, a...))) }

func (r *parser) peek() token { return r.list[r.at] }

func (r *parser) next() token {
	t := r.list[r.at]
	if t.kind != 0 {
		r.at++
	}
	return t
}

// accept takes a token of that text if it is next.
func (r *parser) accept(text string) bool {
	if t := r.peek(); t.kind != 's' && t.text == text {
		r.next()
		return true
	}
	return false
}

func (r *parser) expect(text string) {
	if !r.accept(text) {
		r.fail("found %q, expected %q", r.peek().text, text)
	}
}

// sigil takes a name that begins with a character, and returns it.
func (r *parser) sigil(c string) string {
	t := r.next()
	if t.kind != 'w' || !strings.HasPrefix(t.text, c) {
		r.fail("found %q, expected a name with %s", t.text, c)
	}
	return t.text
}

func (r *parser) program() *Module {
	p := &Module{Main: &Region{}}
	r.expect("module")
	p.Name = r.sigil("@")[1:]
	if r.accept("attributes") {
		r.partitions(p)
	}
	r.expect("{")
	r.expect("func.func")
	r.accept("public")
	r.expect("@main")
	r.expect("(")
	p.Main.Args = r.arguments(")", p)
	r.expect("->")
	results := r.mainResults(p)
	r.expect("{")
	r.ops(p.Main)
	r.expect("}")
	if t := r.peek(); t.kind != 0 {
		r.fail("found %q after the module", t.text)
	}
	if got := p.Results(); fmt.Sprint(got) != fmt.Sprint(results) {
		r.fail("main returns %v, its type says %v", got, results)
	}
	return p
}

// arguments reads names with types up to a closing bracket, and of main's the attributes.
func (r *parser) arguments(end string, p *Module) (list []*Value) {
	for !r.accept(end) {
		if len(list) > 0 {
			r.expect(",")
		}
		name := r.sigil("%")
		r.expect(":")
		v := &Value{Type: r.typ()}
		r.define(name, v)
		list = append(list, v)
		if p != nil {
			r.attributesOf(p, len(list)-1)
		}
	}
	return list
}

func (r *parser) define(name string, v *Value) {
	if r.values[name] != nil {
		r.fail("%s is defined twice", name)
	}
	r.values[name] = v
}

// results reads one type or several in brackets.
func (r *parser) results() []Type {
	if !r.accept("(") {
		return []Type{r.typ()}
	}
	return r.types()
}

// types reads types up to the closing bracket.
func (r *parser) types() (list []Type) {
	for !r.accept(")") {
		if len(list) > 0 {
			r.expect(",")
		}
		list = append(list, r.typ())
	}
	return list
}

// typ reads tensor<2x3xf32>.
func (r *parser) typ() Type {
	r.expect("tensor")
	r.expect("<")
	var text string
	var bounds []int
	for !r.accept(">") {
		if r.accept(",") {
			bounds = r.bounds()
			continue
		}
		t := r.next()
		if t.kind != 'w' && t.kind != 'n' && t.text != "?" {
			r.fail("found %q in a tensor type", t.text)
		}
		text += t.text
	}
	parts := strings.Split(text, "x")
	elem, ok := parseElem(parts[len(parts)-1])
	if !ok {
		r.fail("unknown element type %q", parts[len(parts)-1])
	}
	t := Type{Elem: elem, Dims: []int{}}
	if bounds != nil && len(bounds) != len(parts)-1 {
		r.fail("%d bounds of %d dimensions", len(bounds), len(parts)-1)
	}
	for i, p := range parts[:len(parts)-1] {
		n, err := strconv.Atoi(p)
		if p == "?" && bounds != nil && bounds[i] >= 0 {
			n, err = bounds[i], nil
			if t.Bounded == nil {
				t.Bounded = make([]bool, len(bounds))
			}
			t.Bounded[i] = true
		}
		if err != nil || n < 0 || p != "?" && bounds != nil && bounds[i] >= 0 {
			r.fail("%q is no size, or its bound none", p)
		}
		t.Dims = append(t.Dims, n)
	}
	if _, ok := array.NumElems(t.Dims); !ok {
		r.fail("%s has too many elements", t)
	}
	return t
}

// bounds reads #stablehlo.bounds<8, ?>; a dimension without one has -1.
func (r *parser) bounds() (list []int) {
	r.expect("#stablehlo.bounds")
	r.expect("<")
	for !r.accept(">") {
		if len(list) > 0 {
			r.expect(",")
		}
		if r.accept("?") {
			list = append(list, -1)
			continue
		}
		n := r.integer()
		if n < 0 {
			r.fail("%d is no bound", n)
		}
		list = append(list, n)
	}
	return list
}

// ops reads operations up to a closing brace.
func (r *parser) ops(region *Region) {
	if r.depth++; r.depth > maxDepth {
		r.fail("regions nest too deeply")
	}
	for !r.accept("}") {
		region.Ops = append(region.Ops, r.op())
	}
	r.depth--
}

func (r *parser) op() *Op {
	o := &Op{}
	var name string
	count := 0
	if strings.HasPrefix(r.peek().text, "%") && r.peek().kind == 'w' {
		name, count = r.next().text, 1
		if r.accept(":") {
			count = r.integer()
		}
		r.expect("=")
	}
	t := r.next()
	switch {
	case t.kind == 's' && (t.text == "func.return" || t.text == "stablehlo.return"):
		o.Name = "return"
	case t.kind == 's' && strings.HasPrefix(t.text, "stablehlo."):
		o.Name = strings.TrimPrefix(t.text, "stablehlo.")
	default:
		r.fail("found %q, expected an operation", t.text)
	}
	r.expect("(")
	for !r.accept(")") {
		if len(o.Operands) > 0 {
			r.expect(",")
		}
		n := r.sigil("%")
		v := r.values[n]
		if v == nil {
			r.fail("%s is not defined", n)
		}
		o.Operands = append(o.Operands, v)
	}
	if r.accept("(") {
		o.Regions = r.regions()
	}
	if r.accept("{") {
		o.Attrs = r.attrs()
	}
	r.expect(":")
	r.expect("(")
	if in := r.types(); fmt.Sprint(in) != fmt.Sprint(types(o.Operands)) {
		r.fail("operands are %v, the type says %v", types(o.Operands), in)
	}
	r.expect("->")
	r.named(o, name, count)
	return o
}

// named reads the result types and gives the results their names.
func (r *parser) named(o *Op, name string, count int) {
	for _, t := range r.results() {
		o.Results = append(o.Results, &Value{Type: t})
	}
	if len(o.Results) != count {
		r.fail("%d results are named, the type has %d", count, len(o.Results))
	}
	for i, v := range o.Results {
		if count == 1 {
			r.define(name, v)
		} else {
			r.define(name+"#"+strconv.Itoa(i), v)
		}
	}
}

func (r *parser) regions() (list []*Region) {
	for !r.accept(")") {
		if len(list) > 0 {
			r.expect(",")
		}
		r.expect("{")
		g := &Region{}
		if strings.HasPrefix(r.peek().text, "^") {
			r.next()
			if r.accept("(") {
				g.Args = r.arguments(")", nil)
			}
			r.expect(":")
		}
		r.ops(g)
		list = append(list, g)
	}
	return list
}
