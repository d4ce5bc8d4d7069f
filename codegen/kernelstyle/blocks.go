package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/kernelstyle/outline"
	"github.com/gofx-dev/gofx/internal/goname"
)

// block is a repeated block with the names that it is printed with: a function, a
// struct of its values, a struct of its weights, and in the state and the weights
// of the model an array of these structs with one element for each call.
type block struct {
	*outline.Block
	name    string    // function; the types are named after it
	field   string    // in the state
	tensors string    // field in the weights
	locals  []string  // fields of the values
	weights []*weight // fields of the weights; paths are behind the scope
	params  []string  // for values from outside
	inside  refs      // how the function reaches the buffers of the first call
}

// newBlock names a block, and moves its buffers to where its calls find them.
func newBlock(pkg *pkg, cut *outline.Block) *block {
	first := cut.Calls[0]
	hint := scopeName(first.Scope)
	made := &block{Block: cut, inside: refs{}}
	made.name = pkg.top.Unique(pkg.prefix + goname.Upper(hint))
	pkg.top.Reserve(made.valuesType(), made.weightsType())
	made.field = pkg.fields.Lower(hint)
	made.tensors = pkg.weightFields.Unique(made.field)
	short := func(k int) string {
		return strings.TrimPrefix(pkg.valueName(k), strings.ReplaceAll(first.Scope, ".", "_")+"_")
	}
	fields := newSet("layout", "layout2", "bind")
	for i, k := range first.Locals {
		field := fields.Lower(short(k))
		made.locals = append(made.locals, field)
		made.inside[k] = jen.Op("&").Id("b").Dot(field)
		for n, c := range cut.Calls {
			pkg.refs[c.Locals[i]] = jen.Op("&").Id("s").Dot(made.field).Index(jen.Lit(n)).Dot(field)
			delete(pkg.held, c.Locals[i])
		}
	}
	made.takeWeights(pkg)
	params := newSet("s", "b", "w", "scope")
	for _, k := range first.Outer {
		param := params.Lower(short(k))
		made.params = append(made.params, param)
		made.inside[k] = jen.Id(param)
	}
	return made
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

func (b *block) valuesType() string  { return b.name + "Values" }
func (b *block) weightsType() string { return b.name + "Weights" }

// call prints the call of the block with the buffers of call n.
func (b *block) call(n int, refs refs) jen.Code {
	c := &b.Calls[n]
	args := []jen.Code{jen.Id("s"), gosrc.Quoted(c.Scope + ".")}
	if len(b.locals) > 0 {
		args = append(args, jen.Op("&").Id("s").Dot(b.field).Index(jen.Lit(n)))
	}
	if len(b.weights) > 0 {
		args = append(args, jen.Op("&").Id("w").Dot(b.tensors).Index(jen.Lit(n)))
	}
	return jen.Id(b.name).Call(append(args, refs.list(c.Outer)...)...)
}

// open prints the beginning of the block's function.
func (b *block) open(n *names) *jen.Statement {
	params := []jen.Code{n.stateParam(), jen.Id("scope").String()}
	if len(b.locals) > 0 {
		params = append(params, jen.Id("b").Op("*").Id(b.valuesType()))
	}
	if len(b.weights) > 0 {
		params = append(params, jen.Id("w").Op("*").Id(b.weightsType()))
	}
	if len(b.params) > 0 {
		params = append(params, jen.List(ids(b.params)...).Add(arrayPointer()))
	}
	return jen.Func().Id(b.name).Params(params...)
}

// bindCall prints the statement that takes the weights of all calls.
func (b *block) bindCall() jen.Code {
	var paths []jen.Code
	for _, c := range b.Calls {
		paths = append(paths, gosrc.Quoted(c.Scope+"."))
	}
	return jen.For(jen.List(jen.Id("i"), jen.Id("path")).Op(":=").Range().Index().String().Values(paths...)).Block(
		jen.Id("w").Dot(b.tensors).Index(jen.Id("i")).Dot("bind").Call(jen.Id("l"), jen.Id("path")))
}

// printWeights prints the struct of the block's weights and what fills it.
func (b *block) printWeights(files *goFiles) {
	typ := b.weightsType()
	fields, lines := bindLines(b.weights, func(path string) jen.Code { return jen.Id("path").Op("+").Add(gosrc.Quoted(path)) })
	list := gosrc.Fields(fields, arrayPointer())
	files.declare(typ+" are the tensors of one call of "+b.name+".", len(list)+2, jen.Type().Id(typ).Struct(list...))
	files.function(lines, func(i int) (string, *jen.Statement) {
		name := numbered("bind", i)
		return name + " takes tensors from l, whose names begin with path.",
			jen.Func().Params(jen.Id("w").Op("*").Id(typ)).Id(name).Params(loaderParam(), jen.Id("path").String())
	}, func(i int) jen.Code { return jen.Id("w").Dot(numbered("bind", i)).Call(jen.Id("l"), jen.Id("path")) })
	if b.packs() {
		printPack(files, jen.Id("w").Op("*").Id(typ), packLines(b.weights))
	}
}

// packs reports whether tensors of the block are packed.
func (b *block) packs() bool {
	return slices.ContainsFunc(b.weights, func(w *weight) bool { return w.pack != nil })
}

// packCall prints the statement that packs the weights of all calls.
func (b *block) packCall() jen.Code {
	all := jen.Id("w").Dot(b.tensors)
	return jen.For(jen.Id("i").Op(":=").Range().Add(all)).Block(jen.Add(all).Index(jen.Id("i")).Dot("pack").Call(jen.Id("work")))
}
