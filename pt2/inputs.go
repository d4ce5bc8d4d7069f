package pt2

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Inputs and their sizes. A symbol of the file becomes the size of an axis that has it alone, the size that a
// given type has there, or follows from an axis that is a multiple of it.

// placeholders makes the inputs of the graph.
func (im *importer) placeholders(o Options) {
	users := im.users()
	im.strangers(o, users)
	types := map[string][]shape.Dim{}
	for _, in := range users {
		at := "input " + quote(in.name)
		im.caughtFail(at, func() { types[in.name] = im.sizesGiven(in, o.Inputs) })
	}
	for _, in := range users {
		for _, sz := range im.top.g.Tensors[in.name].Sizes {
			if name, ok := plainSymbol(sz); ok && types[in.name] == nil {
				if _, known := im.env[name]; !known {
					im.env[name] = shape.Sym(im.symbolLabels.Fresh(goname.Legal(name, "n")))
				}
			}
		}
	}
	for _, in := range users {
		at := "input " + quote(in.name)
		im.caughtFail(at, func() { im.placeholder(in, types[in.name]) })
	}
	for _, in := range im.File.inputs {
		if in.kind == fixed {
			im.caughtFail("input "+quote(in.name), func() { im.fixed(in) })
		}
	}
	if im.errs.Err() == nil {
		im.ranges()
	}
}

// users are the inputs that a call is given.
func (im *importer) users() (list []input) {
	for _, in := range im.File.inputs {
		if in.kind == userInput {
			list = append(list, in)
		}
	}
	return list
}

// strangers reports types that are given for no input.
func (im *importer) strangers(o Options, users []input) {
	var names []string
	for _, in := range users {
		names = append(names, quote(in.name))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Inputs)) {
		if !slices.Contains(names, quote(name)) {
			im.fail("", diag.New(CodeInput, "a type is given for "+quote(name)+", which is no input").WithHint("inputs are "+strings.Join(names, ", ")))
		}
	}
}

// plainSymbol returns the symbol that a size of the file is.
func plainSymbol(s symbolic) (string, bool) {
	if s.Expr == nil {
		return "", false
	}
	text, ok := strings.CutPrefix(s.Expr.Text, "Symbol('")
	name, rest, found := strings.Cut(text, "'")
	return name, ok && found && !strings.Contains(rest, "(") && strings.HasSuffix(rest, ")")
}

// sizesGiven checks the type that is given for an input and notes the values of the file's symbols;
// nil if none is given.
func (im *importer) sizesGiven(in input, types map[string]shape.Type) []shape.Dim {
	t, ok := types[in.name]
	if !ok {
		return nil
	}
	const hint = "give other sizes, with the file's element type and number of dimensions"
	m, tensor := im.top.g.Tensors[in.name]
	switch {
	case !tensor:
		panic(refuse(CodeInput, "a type is given for what is no tensor"))
	case t.Kind() != shape.Tensor || !t.Ranked():
		panic(refuse(CodeInput, "the type given is "+t.String()+", expected one with sizes").WithHint("write sizes as numbers or letters: f32[N,3]"))
	case t.DType() != array.Invalid && t.DType() != elementType(m.DType):
		panic(refuse(CodeInput, "the type given is "+t.String()+", the file has elements of "+elementType(m.DType).String()).WithHint(hint))
	case t.Rank() != len(m.Sizes):
		panic(refuse(CodeInput, "the type given is "+t.String()+", the file has "+count(len(m.Sizes), "dimension")).WithHint(hint))
	}
	dims := t.Dims().Slice()
	for i, sz := range m.Sizes {
		d := dims[i]
		if d.IsUnknown() {
			continue
		}
		name, plain := plainSymbol(sz)
		if have, known := im.env[name]; plain && !known {
			im.env[name] = d
		} else if plain && !have.Equal(d) && have.Symbols() == nil && d.Symbols() == nil {
			panic(refuse(CodeInput, "the type given is "+t.String()+", whose size "+strconv.Itoa(i)+" must be "+have.String()+": the file has one size there and in another input"))
		}
		if n, number := dimOf(sz, im.symbol).Int(); number && !d.Is(n) {
			panic(refuse(CodeInput, "the type given is "+t.String()+", whose size "+strconv.Itoa(i)+" is "+strconv.Itoa(n)+" in the file").
				WithHint("the program was exported for this size: export it with torch.export.Dim there (dynamic_shapes)"))
		}
	}
	return dims
}

// placeholder makes one input.
func (im *importer) placeholder(in input, given []shape.Dim) {
	m, ok := im.top.g.Tensors[in.name]
	at := "input " + quote(in.name)
	name := im.labels.Fresh(goname.Legal(in.name, "input"))
	if !ok {
		if in.arg.kind != "as_sym_int" && in.arg.kind != "as_int" {
			panic(refuse(CodeProgram, "the input is "+quote(in.arg.kind)+", expected a tensor or a size"))
		}
		if in.arg.name() == "" {
			return // a number that the program was exported for
		}
		n := im.top.cur.Placeholder(name, shape.TensorType(array.I64, shape.Dims{}), nil)
		v := &value{node: n}
		im.top.define(at, in.name, v)
		im.learn(im.top.g.Ints[in.name], im.top.sizeOf(v))
		return
	}
	dims, defines := im.axes(in.name, m, given)
	n := im.top.cur.Placeholder(name, shape.TensorType(elementType(m.DType), shape.Of(dims...)), nil)
	for i, sym := range defines {
		if sym != "" {
			im.mod.Graph.DefineSymbol(sym, n, i)
		}
	}
	user := in
	o := &origin{input: &user}
	s := &alias.Storage[*graph.Node]{Of: o, Value: n, Loose: im.order(m) != shape.True}
	im.origins, im.storages = append(im.origins, o), append(im.storages, s)
	im.top.define(at, in.name, &value{ref: alias.Whole(s)})
}

// order tells whether the elements of a value lie in row-major order, by the strides that the file says.
func (im *importer) order(m tensorMeta) shape.Truth {
	if len(m.Sizes) != len(m.Strides) {
		return shape.Open
	}
	want, truth := one, shape.True
	for i := len(m.Sizes) - 1; i >= 0; i-- {
		size, stride := dimOf(m.Sizes[i], im.symbol), dimOf(m.Strides[i], im.symbol)
		n, number := size.Int()
		switch {
		case size.IsUnknown() || stride.IsUnknown():
			return shape.Open
		case size.Is(1) || stride.Equal(want):
		case number && n > 1 && shape.Equality(stride, want).Truth() == shape.False:
			return shape.False
		default:
			truth = shape.Open
		}
		want = want.Mul(size)
	}
	return truth
}

// axes are the sizes of an input, and the symbol that each defines.
func (im *importer) axes(name string, m tensorMeta, given []shape.Dim) (dims []shape.Dim, defines []string) {
	dims, defines = make([]shape.Dim, len(m.Sizes)), make([]string, len(m.Sizes))
	for i, sz := range m.Sizes {
		if given != nil && !given[i].IsUnknown() {
			dims[i] = given[i]
			if want := dimOf(sz, im.symbol); !want.IsUnknown() {
				im.require(shape.Equality(want, given[i]), exprText(sz)+" == "+given[i].String())
			} else {
				im.solve(sz, given[i])
			}
		} else if dims[i] = dimOf(sz, im.symbol); dims[i].IsUnknown() {
			a := shape.Sym(im.symbolLabels.Fresh(goname.Legal(name, "input") + "_" + strconv.Itoa(i)))
			im.solve(sz, a)
			dims[i] = a
		}
		if s, ok := dims[i].IsSymbol(); ok {
			defines[i] = s
			continue
		}
	}
	return dims, defines
}

// solve lets a symbol of the file follow from an axis that is k of it and c.
func (im *importer) solve(sz symbolic, axis shape.Dim) {
	unknown := ""
	d := dimOf(sz, func(name string) shape.Dim {
		if have, ok := im.env[name]; ok {
			return have
		}
		if unknown == "" || unknown == name {
			unknown = name
			return shape.Sym("unknown")
		}
		return shape.Unknown
	})
	at := func(n int) shape.Dim {
		return d.Bind(func(s string) shape.Dim {
			if s == "unknown" {
				return shape.Const(n)
			}
			return shape.Sym(s)
		})
	}
	if unknown != "" && !d.IsUnknown() {
		c := at(0)
		k, ok := at(1).Sub(c).Int()
		if ok && k > 0 && at(1000).Equal(c.Add(shape.Const(1000*k))) {
			rest := axis.Sub(c)
			im.env[unknown] = rest.FloorDivInt(k)
			im.require(shape.AtLeast(rest, zero), exprText(sz))
			if k > 1 {
				im.require(shape.Multiple(rest, shape.Const(k)), exprText(sz))
			}
			return
		}
	}
	panic(refuse(CodeInput, "size "+quote(exprText(sz))+" of the input follows from sizes that no input has by itself").
		WithHint("export the program with a torch.export.Dim of its own for an axis of each size"))
}

func exprText(s symbolic) string {
	if s.Expr == nil {
		return ""
	}
	return s.Expr.Text
}

// require enters a relation that the graph relies on; it is an error where no sizes have it. want says the
// relation as the file does.
func (im *importer) require(r shape.Relation, want string) {
	if r.Truth() == shape.True {
		return
	}
	if r.Truth() != shape.False && im.mod.Graph.Assume(r, nil) == nil {
		return
	}
	panic(refuse(CodeInput, "the program needs "+quote(want)+", which the sizes of its inputs do not have").
		WithHint("give other sizes, or export the program for these"))
}

// fixed enters a value that no tensor is and that the program was exported for.
func (im *importer) fixed(in input) {
	if in.arg.kind == "" || in.name == "" {
		return
	}
	if v := im.top.value(in.arg); v != nil && in.arg.name() == "" {
		im.top.define("input "+quote(in.name), in.name, v)
	}
}

// ranges enters the bounds of sizes. PyTorch assumes that sizes that are not fixed are at least 2,
// and does not check that in a run.
func (im *importer) ranges() {
	for _, name := range slices.Sorted(maps.Keys(im.prog.Ranges)) {
		d, ok := im.env[name]
		if !ok {
			continue // of data-dependent sizes, or an expression
		}
		r := im.prog.Ranges[name]
		im.caughtFail("", func() {
			if n, ok := bound(r.Min); ok && n > 2 {
				im.require(shape.AtLeast(d, shape.Const(n)), name+" >= "+strconv.Itoa(n))
			}
			if n, ok := bound(r.Max); ok && n < wide {
				im.require(shape.AtLeast(shape.Const(n), d), name+" <= "+strconv.Itoa(n))
			}
		})
	}
}

// bound reads a bound, false where there is none.
func bound(raw json.RawMessage) (int, bool) {
	f, ok := float(raw)
	if !ok || len(raw) == 0 || string(raw) == "null" || f > wide || f < -wide {
		return 0, false
	}
	return int(f), true
}

// guards enters the relations that the program asks for in a call.
func (im *importer) guards() {
	if len(im.prog.Guards) == 0 {
		return
	}
	places := map[string]string{}
	if s := im.call(); s != nil {
		paths, users := s.paths(), im.users()
		for i, p := range paths {
			if len(paths) == len(users) {
				places[p] = users[i].name
			}
		}
	}
	for _, text := range im.prog.Guards {
		im.caughtFail("", func() {
			p := &guardParser{text: text, size: func(path string, axis int) shape.Dim {
				name, ok := places[path]
				if !ok {
					name = joined(path)
				}
				v := im.top.values[name]
				switch {
				case v == nil || v.ref == nil && v.node == nil:
					return shape.Unknown
				case v.node != nil && axis < 0:
					return im.top.sizeOf(v)
				case v.ref == nil || axis < 0:
					return shape.Unknown
				}
				if t := im.top.read(v).Type(); t.Ranked() && axis < t.Rank() {
					return t.Dim(axis)
				}
				return shape.Unknown
			}}
			list, err := p.relations()
			if err != nil {
				panic(err)
			}
			for _, r := range list {
				if !im.isLate(r.A) && !im.isLate(r.B) { // values are not known when a run begins
					im.require(r, text)
				}
			}
		})
	}
}

// joined is the name that PyTorch gives the input at a path: L['args'][1]['a'] is args_1_a.
func joined(path string) string {
	words := strings.FieldsFunc(strings.TrimPrefix(path, "L"), func(r rune) bool { return strings.ContainsRune("[]'.", r) })
	return strings.TrimPrefix(strings.Join(words, "_"), "kwargs_")
}
