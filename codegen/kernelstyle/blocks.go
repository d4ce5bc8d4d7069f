package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/kernelstyle/outline"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// block is a repeated block with the names that it is printed with: a function, a
// struct of its values, a struct of its weights, and in the state and the weights
// of the model an array of these structs with one element for each call.
type block struct {
	*outline.Block
	fn      string // function; the types are named after it
	field   string // in the state
	tensors string // in the weights
	fields  []value
	weights []*weight // fields of the weights; paths follow the scope
	params  []param
	inside  refs // how the function reaches the buffers of the first call
}

// value is a field of a block's values, with the buffer that it is in each call.
type value struct {
	field   string
	buffers []int
}

// param is a parameter of a block's function: a buffer from outside.
type param struct {
	name  string
	outer int // in the lists of buffers from outside
}

// cutBlock decides which values a block keeps for its calls: those that nothing
// else mentions, and those that it makes for others. A value that is a result of
// the model in some calls is also a parameter, as are values from outside.
func cutBlock(m *model, cut *outline.Block) *block {
	made := &block{Block: cut, inside: refs{}}
	for i := range cut.Calls[0].Locals {
		made.keep(func(c *outline.Call) int { return c.Locals[i] })
	}
	for i, first := range cut.Calls[0].Outer {
		kinds := map[plan.Kind]int{}
		for _, c := range cut.Calls {
			kinds[m.Buffers[c.Outer[i]].Kind]++
		}
		kept := made.makes(m, first) && kinds[plan.Temp]+kinds[plan.View] > 0
		switch {
		case !kept || kinds[plan.Temp]+kinds[plan.Output] < len(cut.Calls) && kinds[plan.View] < len(cut.Calls):
			made.params = append(made.params, param{outer: i})
			continue
		case kinds[plan.Output] > 0:
			made.params = append(made.params, param{outer: i})
		}
		made.keep(func(c *outline.Call) int { return c.Outer[i] })
	}
	return made
}

// keep adds a field.
func (b *block) keep(of func(c *outline.Call) int) {
	var v value
	for n := range b.Calls {
		v.buffers = append(v.buffers, of(&b.Calls[n]))
	}
	b.fields = append(b.fields, v)
}

// makes reports whether the steps of the first call compute a buffer, before they
// read it.
func (b *block) makes(m *model, k int) bool {
	for i := b.Calls[0].First; i < b.Calls[0].Last; i++ {
		if slices.Contains(m.Steps[i].In, k) {
			return false
		}
		if slices.Contains(m.Steps[i].Out, k) {
			return true
		}
	}
	return false
}

// name names a block and the values it keeps, and tells where calls find the buffers.
func (b *block) name(pkg *pkg) {
	first := b.Calls[0]
	hint := scopeName(first.Scope)
	for b.fn = ""; b.fn == "" || pkg.top.Has(b.valuesType()) || pkg.top.Has(b.weightsType()) || pkg.top.Has(b.paths()); {
		b.fn = pkg.top.Unique(pkg.prefix + goname.Upper(hint))
	}
	pkg.top.Reserve(b.valuesType(), b.weightsType(), b.paths())
	b.field = pkg.fields.Lower(hint)
	b.tensors = pkg.weightFields.Unique(b.field)
	fields := newSet("layout", "layout2", "bind")
	for i := range b.fields {
		v := &b.fields[i]
		v.field = fields.Lower(b.hint(pkg, v.buffers[0]))
		b.inside[v.buffers[0]] = jen.Op("&").Id("b").Dot(v.field)
		for n, k := range v.buffers {
			if isValue(pkg.model, k) {
				pkg.refs[k] = jen.Op("&").Id("s").Dot(b.field).Index(jen.Lit(n)).Dot(v.field)
			}
		}
	}
	b.takeWeights(pkg)
}

// nameParams names the parameters, when everything that the function mentions has
// its name.
func (b *block) nameParams(pkg *pkg) {
	params := newSet("s", "b", "w", "i", "all")
	params.Include(pkg.top)
	for i := range b.params {
		p := &b.params[i]
		p.name = params.Lower(b.paramHint(pkg, p.outer))
		b.inside[b.Calls[0].Outer[p.outer]] = jen.Id(p.name)
	}
}

// hint is the base of a name for a buffer of the first call within the block.
func (b *block) hint(pkg *pkg, k int) string {
	hint := pkg.hints.of(k)
	if pkg.Buffers[k].Kind == plan.Weight {
		hint = pkg.Buffers[k].Path
	}
	return strings.TrimPrefix(hint, b.Calls[0].Scope+".")
}

// paramHint is the base of a parameter's name: its role within the block, or the
// common argument of all calls; x if arguments differ.
func (b *block) paramHint(pkg *pkg, outer int) string {
	k := b.Calls[0].Outer[outer]
	same := !slices.ContainsFunc(b.Calls, func(c outline.Call) bool { return c.Outer[outer] != k })
	if same || pkg.Buffers[k].Kind == plan.Weight || b.makes(pkg.model, k) {
		return b.hint(pkg, k)
	}
	return "x"
}

// takeWeights makes the weights of all calls the block's own.
func (b *block) takeWeights(pkg *pkg) {
	of := func(k int) *weight { return pkg.byForm[form(&pkg.Buffers[k])] }
	first := b.Calls[0]
	fields := newSet("bind", "bind2", "pack", "pack2")
	for i, k := range first.Weights {
		w := *of(k)
		w.from = &w // a tensor in two forms is no block's own
		w.path = strings.TrimPrefix(w.path, first.Scope+".")
		w.field = fields.Lower(w.path)
		b.weights = append(b.weights, &w)
		b.inside[k] = jen.Id("w").Dot(w.field)
		for n, c := range b.Calls {
			of(c.Weights[i]).block = true
			pkg.refs[c.Weights[i]] = jen.Id("w").Dot(b.tensors).Index(jen.Lit(n)).Dot(w.field)
		}
	}
}

// blockAround returns the block, and its call, that a step is part of; nil for none.
func (g *pkg) blockAround(step int) (*block, *outline.Call) {
	for _, b := range g.blocks {
		for n := range b.Calls {
			if c := &b.Calls[n]; c.First <= step && step < c.Last {
				return b, c
			}
		}
	}
	return nil, nil
}

// scopeName joins the parts of a scope that are no numbers.
func scopeName(scope string) string {
	var parts []string
	for _, p := range strings.Split(scope, ".") {
		if strings.Trim(p, "0123456789") != "" {
			parts = append(parts, p)
		}
	}
	if parts == nil {
		return "block"
	}
	return strings.Join(parts, "_")
}

func (b *block) valuesType() string  { return b.fn + "Values" }
func (b *block) weightsType() string { return b.fn + "Weights" }
func (b *block) paths() string       { return b.fn + "Paths" }

// array is the type of an array with one element for each call.
func (b *block) array(typ string) *jen.Statement {
	return jen.Index(jen.Len(jen.Id(b.paths()))).Id(typ)
}

// pattern is a text for the scopes of all calls.
func (b *block) pattern() string {
	var scopes []string
	for _, c := range b.Calls {
		scopes = append(scopes, c.Scope)
	}
	return scopePattern(scopes)
}

// printPaths prints where in the model the calls are.
func (b *block) printPaths(files *goFiles) {
	name := b.paths()
	files.declare(name+" are the modules "+gosrc.Comment(b.pattern())+" that "+b.fn+" computes, in order.", len(b.Calls)+2,
		jen.Var().Id(name).Op("=").Index(jen.Op("...")).String().CustomFunc(gosrc.Multiline(), func(g *jen.Group) {
			for _, c := range b.Calls {
				g.Add(gosrc.Quoted(c.Scope + "."))
			}
		}))
}

// call prints the call of the block with the buffers of call n.
func (b *block) call(n int, refs refs) jen.Code {
	args := []jen.Code{jen.Id("s"), jen.Id("w"), jen.Lit(n)}
	for _, p := range b.params {
		args = append(args, refs[b.Calls[n].Outer[p.outer]])
	}
	return jen.Id(b.fn).Call(args...)
}

// open prints the function of the block with a body.
func (b *block) open(n *names, body []jen.Code) *jen.Statement {
	params := []jen.Code{n.stateParam(), jen.Id("all").Op("*").Id(n.weightsType), jen.Id("i").Int()}
	if len(b.params) > 0 {
		var list []string
		for _, p := range b.params {
			list = append(list, p.name)
		}
		params = append(params, jen.List(ids(list)...).Add(arrayPointer()))
	}
	at := func(of, field string) *jen.Statement { return jen.Op("&").Id(of).Dot(field).Index(jen.Id("i")) }
	var head []jen.Code
	switch values, weights := len(b.fields) > 0, len(b.weights) > 0; {
	case values && weights:
		head = append(head, jen.List(jen.Id("b"), jen.Id("w")).Op(":=").List(at("s", b.field), at("all", b.tensors)))
	case values:
		head = append(head, jen.Id("b").Op(":=").Add(at("s", b.field)))
	case weights:
		head = append(head, jen.Id("w").Op(":=").Add(at("all", b.tensors)))
	}
	head = append(head, jen.Id("s").Dot("Within").Call(jen.Id(b.paths()).Index(jen.Id("i"))))
	return jen.Func().Id(b.fn).Params(params...).Block(append(head, body...)...)
}

// bindCall prints the statement that takes the weights of all calls.
func (b *block) bindCall() jen.Code {
	return jen.For(jen.List(jen.Id("i"), jen.Id("path")).Op(":=").Range().Id(b.paths())).Block(
		jen.Id("w").Dot(b.tensors).Index(jen.Id("i")).Dot("bind").Call(jen.Id("l"), jen.Id("path")))
}

// printWeights prints the struct of the block's weights and the code that fills it.
func (b *block) printWeights(m *model, files *goFiles) {
	typ := b.weightsType()
	fields, lines := bindLines(b.weights, func(path string) jen.Code { return jen.Id("path").Op("+").Add(gosrc.Quoted(path)) })
	list := gosrc.Fields(fields, arrayPointer())
	files.declare(typ+" are the tensors of one call of "+b.fn+".", len(list)+2, jen.Type().Id(typ).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("bind", i)
		return name + " takes tensors from l, whose names begin with path.",
			jen.Func().Params(jen.Id("w").Op("*").Id(typ)).Id(name).Params(loaderParam(), jen.Id("path").String())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l"), jen.Id("path")) })
	if b.packs() {
		m.printPack(files, jen.Id("w").Op("*").Id(typ), m.packLines(b.weights))
	}
}

// packs reports whether tensors of the block are packed.
func (b *block) packs() bool {
	return slices.ContainsFunc(b.weights, func(w *weight) bool { return w.pack != nil })
}

// packCall prints the statement that packs the weights of all calls.
func (b *block) packCall(arg jen.Code) jen.Code {
	all := jen.Id("w").Dot(b.tensors)
	return jen.For(jen.Id("i").Op(":=").Range().Add(all)).Block(jen.Add(all).Index(jen.Id("i")).Dot("pack").Call(arg))
}
