package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// maxSteps is the most steps of one function; with comments and blank lines
// that stays below 400 lines.
const maxSteps = 130

// minChunk is the fewest steps of a scope that get a function of their own when a
// model is cut.
const minChunk = 40

// minRepeat is the fewest steps of a repeated block that get a function.
const minRepeat = 4

// item is a line of a function: a step, or the call of a repeated block.
type item struct {
	step  int // the first step that the item stands for
	block *block
	inst  int
}

// block is a run of steps that occurs several times with other weights.
type block struct {
	fn     string // function; the types are named after it
	field  string // in the state and in the weights
	insts  []instance
	locals []string // fields of the block's values
	// weights are the fields of the block's weights, as suffixes of paths.
	weights []weight
	params  []string // parameters for values from outside
	inside  map[int]*jen.Statement
}

// instance is one occurrence of a block: steps [first, last).
type instance struct {
	first, last int
	prefix      string // scope
	canon       canon
}

// canon numbers the buffers that a run of steps mentions, by kind in the order of
// their first mention, which makes runs comparable.
type canon struct {
	locals, weights, outer []int
	text                   string
}

// outline finds repeated blocks and prepares the steps. Scopes of the same depth
// are compared, outermost first.
func (g *kernelGen) outline() {
	g.prepareSteps()
	g.fillScopes()
	uses := g.uses()
	taken := make([]bool, len(g.p.Steps))
	for depth := 1; ; depth++ {
		bySig := map[string][]instance{}
		var order []string
		deeper := false
		for _, r := range g.runs(0, len(g.p.Steps), depth) {
			if r.prefix == "" || taken[r.first] {
				continue
			}
			deeper = true
			if n := r.last - r.first; n < minRepeat || n > maxSteps {
				continue
			}
			r.canon = g.canonical(r, uses)
			if len(bySig[r.canon.text]) == 0 {
				order = append(order, r.canon.text)
			}
			bySig[r.canon.text] = append(bySig[r.canon.text], r)
		}
		for _, sig := range order {
			if list := bySig[sig]; len(list) > 1 {
				g.addBlock(list)
				for _, r := range list {
					for i := r.first; i < r.last; i++ {
						taken[i] = true
					}
				}
			}
		}
		if !deeper {
			return
		}
	}
}

// scopePrefix returns the first depth parts of a step's scope; "" when the scope
// has fewer.
func (g *kernelGen) scopePrefix(i, depth int) string {
	path := g.scopes[i]
	at := 0
	for range depth {
		if at > 0 {
			at++
		}
		if at >= len(path) {
			return ""
		}
		n := strings.IndexByte(path[at:], '.')
		if n < 0 {
			n = len(path) - at
		}
		at += n
	}
	return path[:at]
}

// fillScopes sets the scope by which each step is grouped: its own, or for steps
// without one what the steps around them have in common. Modules that users call
// directly leave no scope but that of the modules within them.
func (g *kernelGen) fillScopes() {
	g.scopes = make([]string, len(g.p.Steps))
	for i := range g.scopes {
		g.scopes[i] = g.p.Steps[i].Scope.Path
	}
	for i := 0; i < len(g.scopes); {
		if g.scopes[i] != "" {
			i++
			continue
		}
		from := i
		for i < len(g.scopes) && g.scopes[i] == "" {
			i++
		}
		if from == 0 || i == len(g.scopes) {
			continue
		}
		common := commonScope(g.scopes[from-1], g.scopes[i])
		for k := from; k < i; k++ {
			g.scopes[k] = common
		}
	}
}

// commonScope returns the longest scope that holds both.
func commonScope(a, b string) string {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return strings.Join(x[:n], ".")
}

// runs cuts steps into runs of one scope of a depth.
func (g *kernelGen) runs(from, to, depth int) []instance {
	var list []instance
	for i := from; i < to; {
		r := instance{first: i, prefix: g.scopePrefix(i, depth)}
		for i++; i < to && g.scopePrefix(i, depth) == r.prefix; i++ {
		}
		r.last = i
		list = append(list, r)
	}
	return list
}

// uses returns the first and the last step that mentions each buffer.
func (g *kernelGen) uses() [][2]int {
	u := make([][2]int, len(g.p.Buffers))
	for i := range u {
		u[i] = [2]int{-1, -1}
	}
	for i := range g.p.Steps {
		for _, list := range [2][]int{g.p.Steps[i].Out, g.p.Steps[i].In} {
			for _, k := range list {
				if k >= 0 {
					if u[k][0] < 0 {
						u[k][0] = i
					}
					u[k][1] = i
				}
			}
		}
	}
	return u
}

// canonical describes a run so that equal texts mean equal code.
func (g *kernelGen) canonical(r instance, uses [][2]int) canon {
	var c canon
	var b strings.Builder
	seen := map[int]string{}
	name := func(k int) string {
		if k < 0 {
			return "nil"
		}
		if seen[k] != "" {
			return seen[k]
		}
		x := &g.p.Buffers[k]
		within := uses[k][0] >= r.first && uses[k][1] < r.last
		suffix, own := strings.CutPrefix(x.Path, r.prefix+".")
		switch {
		case within && (x.Kind == plan.Temp || x.Kind == plan.View):
			seen[k] = "l" + strconv.Itoa(len(c.locals)) + x.Kind.String()
			c.locals = append(c.locals, k)
		case within && x.Kind == plan.Weight && own:
			seen[k] = "w" + strconv.Quote(suffix)
			c.weights = append(c.weights, k)
		default:
			seen[k] = "x" + strconv.Itoa(len(c.outer))
			c.outer = append(c.outer, k)
		}
		b.WriteString(seen[k] + " " + x.Type.String() + "\n")
		return seen[k]
	}
	for i := r.first; i < r.last; i++ {
		s := &g.p.Steps[i]
		line := g.steps[i].text + " " + strconv.FormatBool(s.View) + " " + s.Op + " " + s.Scope.Type + " " + strings.TrimPrefix(s.Scope.Path, r.prefix)
		for _, k := range s.Out {
			line += " " + name(k)
		}
		line += " ="
		for _, k := range s.In {
			line += " " + name(k)
		}
		b.WriteString(line + "\n")
	}
	c.text = b.String()
	return c
}

// addBlock makes a block of runs that are equal but for their buffers.
func (g *kernelGen) addBlock(list []instance) {
	base := blockName(list[0].prefix)
	b := &block{insts: list, inside: map[int]*jen.Statement{}}
	b.fn = g.top.Unique(g.prefix + goname.Upper(base))
	g.top.Reserve(b.fn+"Values", b.fn+"Weights")
	b.field = g.fields.Lower(base)
	first := list[0]
	short := func(k int) string {
		plain := strings.NewReplacer(".", "_").Replace(first.prefix) + "_"
		return goname.Lower(strings.TrimPrefix(g.valueName(k), plain))
	}
	local := goname.NewSet()
	local.Reserve(goNames...)
	local.Reserve("layout", "layout2", "bind")
	for i, k := range first.canon.locals {
		field := local.Unique(short(k))
		b.locals = append(b.locals, field)
		b.inside[k] = jen.Op("&").Id("b").Dot(field)
		for n, r := range list {
			g.refs[r.canon.locals[i]] = jen.Op("&").Id("s").Dot(b.field).Index(jen.Lit(n)).Dot(field)
			delete(g.held, r.canon.locals[i])
		}
	}
	byBuffer := map[int]int{}
	for i, w := range g.weights {
		byBuffer[w.buffer] = i
	}
	fields := goname.NewSet()
	fields.Reserve(goNames...)
	fields.Reserve("bind", "bind2")
	for i, k := range first.canon.weights {
		w := g.weights[byBuffer[k]]
		w.path = strings.TrimPrefix(w.path, first.prefix+".")
		w.field = fields.Lower(w.path)
		b.weights = append(b.weights, w)
		b.inside[k] = jen.Id("w").Dot(w.field)
		for n, r := range list {
			g.weights[byBuffer[r.canon.weights[i]]].block = true
			g.refs[r.canon.weights[i]] = jen.Id("w").Dot(b.field).Index(jen.Lit(n)).Dot(w.field)
		}
	}
	params := goname.NewSet()
	params.Reserve(goNames...)
	params.Reserve("s", "b", "w", "scope")
	for _, k := range first.canon.outer {
		p := params.Unique(short(k))
		b.params = append(b.params, p)
		b.inside[k] = jen.Id(p)
	}
	g.blocks = append(g.blocks, b)
}

// blockName joins the parts of a scope that are no numbers.
func blockName(prefix string) string {
	var parts []string
	for _, p := range strings.Split(prefix, ".") {
		if strings.Trim(p, "0123456789") != "" {
			parts = append(parts, p)
		}
	}
	if parts == nil {
		return "block"
	}
	return strings.Join(parts, "_")
}

func (b *block) weightsType() string { return b.fn + "Weights" }

// bindCall prints the statement that takes the weights of all instances.
func (b *block) bindCall() jen.Code {
	var paths []jen.Code
	for _, r := range b.insts {
		paths = append(paths, quoted(r.prefix+"."))
	}
	return jen.For(jen.List(jen.Id("i"), jen.Id("path")).Op(":=").Range().Index().String().Values(paths...)).Block(
		jen.Id("w").Dot(b.field).Index(jen.Id("i")).Dot("bind").Call(jen.Id("l"), jen.Id("path")))
}

// printWeights prints the struct of a block's weights and what fills it.
func (b *block) printWeights(files *goFiles) {
	t := b.weightsType()
	var fields []string
	var lines []jen.Code
	for _, w := range b.weights {
		fields = append(fields, w.field)
		lines = append(lines, bindLine(jen.Id("w").Dot(w.field), jen.Id("path").Op("+").Add(quoted(w.path)), w.array))
	}
	list := structFields(fields, arrayPointer())
	files.declare(t+" are the tensors of one call of "+b.fn+".", len(list)+2, jen.Type().Id(t).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("bind", i)
		return name + " takes tensors from l, whose names begin with path.",
			jen.Func().Params(jen.Id("w").Op("*").Id(t)).Id(name).Params(loaderParam(), jen.Id("path").String())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l"), jen.Id("path")) })
}

// call prints the call of instance n.
func (b *block) call(g *kernelGen, n int) jen.Code {
	r := &b.insts[n]
	args := []jen.Code{jen.Id("s"), quoted(r.prefix + ".")}
	if len(b.locals) > 0 {
		args = append(args, jen.Op("&").Id("s").Dot(b.field).Index(jen.Lit(n)))
	}
	if len(b.weights) > 0 {
		args = append(args, jen.Op("&").Id("w").Dot(b.field).Index(jen.Lit(n)))
	}
	for _, k := range r.canon.outer {
		args = append(args, g.refs[k])
	}
	return jen.Id(b.fn).Call(args...)
}

// print prints the block's types and functions.
func (b *block) print(g *kernelGen, files *goFiles) {
	values := b.fn + "Values"
	params := []jen.Code{g.stateParam(), jen.Id("scope").String()}
	if len(b.locals) > 0 {
		list := structFields(b.locals, fromArray("Array"))
		files.declare(values+" are the values of one call of "+b.fn+".", len(list)+2, jen.Type().Id(values).Struct(list...))
		b.printLayout(g, files)
		params = append(params, jen.Id("b").Op("*").Id(values))
	}
	if len(b.weights) > 0 {
		params = append(params, jen.Id("w").Op("*").Id(b.weightsType()))
	}
	if len(b.params) > 0 {
		params = append(params, jen.List(ids(b.params)...).Add(arrayPointer()))
	}
	var names []string
	for _, r := range b.insts {
		names = append(names, r.prefix)
	}
	var items []item
	for i := b.insts[0].first; i < b.insts[0].last; i++ {
		items = append(items, item{step: i})
	}
	body := []jen.Code{jen.Id("s").Dot("Within").Call(jen.Id("scope"))}
	body = append(body, g.itemLines(items, b.insts[0].prefix, func(k int) *jen.Statement { return b.inside[k] })...)
	body = append(body, jen.Id("s").Dot("Within").Call(jen.Lit("")))
	files.declare(b.fn+" computes "+comment(strings.Join(names, ", "))+".", len(body)+2, jen.Func().Id(b.fn).Params(params...).Block(body...))
}

// printLayout prints the method that places a block's values.
func (b *block) printLayout(g *kernelGen, files *goFiles) {
	var lines []jen.Code
	at := 0
	for i, k := range b.insts[0].canon.locals {
		x, ref := &g.p.Buffers[k], jen.Op("&").Id("b").Dot(b.locals[i])
		if x.Kind == plan.Temp {
			lines = append(lines, g.placeLine(ref, jen.Id("at").Index(jen.Lit(at)), x))
			at++
		} else {
			lines = append(lines, g.headerLine(ref, x))
		}
	}
	params := append([]jen.Code{g.stateParam(), jen.Id("at").Op("*").Index(jen.Lit(at)).Int()}, g.symbolParams()...)
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("layout", i)
		return name + " gives the values their sizes and places.", jen.Func().Params(jen.Id("b").Op("*").Id(b.fn + "Values")).Id(name).Params(params...)
	}, func(i int) jen.Code {
		return jen.Id("b").Dot(numbered("layout", i)).Call(append([]jen.Code{jen.Id("s"), jen.Id("at")}, ids(g.symbolNames())...)...)
	})
}

// layoutCall prints the statement that places the values of instance n.
func (b *block) layoutCall(g *kernelGen, n int) jen.Code {
	var at []jen.Code
	for _, k := range b.insts[n].canon.locals {
		if x := &g.p.Buffers[k]; x.Kind == plan.Temp {
			at = append(at, g.offset(x))
		}
	}
	args := append([]jen.Code{jen.Id("s"), jen.Op("&").Index(jen.Op("...")).Int().Values(at...)}, ids(g.symbolNames())...)
	return jen.Id("s").Dot(b.field).Index(jen.Lit(n)).Dot("layout").Call(args...)
}

// longOffset is the longest offset that is printed where it is used.
const longOffset = 24

// offset prints a buffer's place in the arena. Long ones are computed once.
func (g *kernelGen) offset(x *plan.Buffer) *jen.Statement {
	text := x.Offset.String()
	if len(text) <= longOffset {
		return g.dim(x.Offset)
	}
	i, ok := g.places[text]
	if !ok {
		i = len(g.offsets)
		g.places[text] = i
		g.offsets = append(g.offsets, x.Offset)
	}
	return jen.Id("s").Dot("places").Index(jen.Lit(i))
}

func (g *kernelGen) placeLine(ref, at *jen.Statement, x *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Place").Call(append([]jen.Code{ref, at}, g.typeArgs(x)...)...)
}

func (g *kernelGen) headerLine(ref *jen.Statement, x *plan.Buffer) jen.Code {
	return jen.Id("s").Dot("Header").Call(append([]jen.Code{ref}, g.typeArgs(x)...)...)
}

// typeArgs prints element type and sizes of a buffer as arguments.
func (g *kernelGen) typeArgs(x *plan.Buffer) []jen.Code {
	return append([]jen.Code{dtypeLit(x.Type.DType())}, g.dims(x.Type.Dims())...)
}

// symbolNames are the variables of the symbols.
func (g *kernelGen) symbolNames() []string {
	list := make([]string, len(g.p.Symbols))
	for i, s := range g.p.Symbols {
		list[i] = g.symbols[s.Name]
	}
	return list
}

// symbolParams are the symbols as parameters, none for none.
func (g *kernelGen) symbolParams() []jen.Code {
	if !g.symbolic {
		return nil
	}
	return []jen.Code{jen.List(ids(g.symbolNames())...).Int()}
}

// items lists the plan's steps with repeated blocks as one item each.
func (g *kernelGen) items() []item {
	at := map[int]item{}
	for _, b := range g.blocks {
		for n, r := range b.insts {
			at[r.first] = item{step: r.first, block: b, inst: n}
		}
	}
	var list []item
	for i := 0; i < len(g.p.Steps); i++ {
		it, ok := at[i]
		if !ok {
			list = append(list, item{step: i})
			continue
		}
		list = append(list, it)
		i = it.block.insts[it.inst].last - 1
	}
	return list
}

// chunk is the content of one function.
type chunk struct {
	items  []item
	prefix string // the scope that all items have in common, or ""
}

// chunks cuts items into functions of at most maxSteps: at the ends of scopes,
// outer ones first, and where one scope is too long, where the fewest values are
// in use.
func (g *kernelGen) chunks(items []item, depth int) []chunk {
	if len(items) <= maxSteps {
		return []chunk{{items: items, prefix: g.common(items)}}
	}
	var parts [][]item
	deeper := false
	for i := 0; i < len(items); {
		from, prefix := i, g.scopePrefix(items[i].step, depth)
		deeper = deeper || prefix != ""
		for i++; i < len(items) && g.scopePrefix(items[i].step, depth) == prefix; i++ {
		}
		parts = append(parts, items[from:i])
	}
	if !deeper {
		return g.cut(items)
	}
	var out []chunk
	var open []item
	flush := func() {
		if len(open) > 0 {
			out = append(out, chunk{items: open, prefix: g.common(open)})
			open = nil
		}
	}
	for _, p := range parts {
		if len(p) > maxSteps {
			flush()
			out = append(out, g.chunks(p, depth+1)...)
			continue
		}
		if len(open)+len(p) > maxSteps || len(open) >= minChunk {
			flush()
		}
		open = append(open, p...)
	}
	flush()
	return out
}

// common returns the longest scope that all items lie in.
func (g *kernelGen) common(items []item) string {
	best := ""
	for depth := 1; ; depth++ {
		p := g.scopePrefix(items[0].step, depth)
		if p == "" || p == best {
			return best
		}
		for _, it := range items {
			if g.scopePrefix(it.step, depth) != p {
				return best
			}
		}
		best = p
	}
}

// cut cuts a long run where few values are in use.
func (g *kernelGen) cut(items []item) []chunk {
	if g.widths == nil {
		g.widths = g.live()
	}
	var out []chunk
	for len(items) > maxSteps {
		best := maxSteps
		for n := maxSteps; n >= maxSteps/2; n-- {
			if g.widths[items[n].step] < g.widths[items[best].step] {
				best = n
			}
		}
		out = append(out, chunk{items: items[:best], prefix: g.common(items[:best])})
		items = items[best:]
	}
	return append(out, chunk{items: items, prefix: g.common(items)})
}

// live returns, for each step, how many values of earlier steps are in use
// when it begins.
func (g *kernelGen) live() []int {
	change := make([]int, len(g.p.Steps)+2)
	for i := range g.p.Buffers {
		if b := &g.p.Buffers[i]; b.Kind == plan.Temp && b.First >= 0 && b.First < b.Last {
			change[b.First+1]++
			change[b.Last+1]--
		}
	}
	n := 0
	for i := range change {
		n += change[i]
		change[i] = n
	}
	return change
}
