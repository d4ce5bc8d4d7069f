package kernelstyle

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// structured reports whether the results are returned in a struct.
func (m *model) structured() bool {
	st := m.Structure
	if st == nil || st.Kind == graph.LeafValue {
		return false
	}
	if st.Kind != graph.Results {
		return true
	}
	for i, f := range st.Fields {
		if f == nil || f.Kind != graph.LeafValue || f.Index != i {
			return true
		}
	}
	return len(st.Fields) != len(m.Outputs)
}

// results prints the structs of results that mirror the model's results. A plan
// has a flat list of results; targets tell where in the structs each goes.
type results struct {
	*pkg
	file    *goFile
	targets []target
}

// target is where a result goes in the struct of results r.
type target struct {
	to  *jen.Statement
	out int
}

func (r *results) print() {
	if r.structured() {
		r.printStruct(r.owned("Result"), r.Structure, jen.Id("r"))
	}
}

// dense prints the type of an argument or result.
func (m *model) dense(k int) *jen.Statement {
	return fromArray("Dense").Types(gosrc.Elem(m.Buffers[k].Type.DType()))
}

// printStruct prints one struct, whose value at reaches; nested structs get types
// of their own.
func (r *results) printStruct(typ string, st *graph.Structure, at *jen.Statement) {
	var fields []jen.Code
	used := goname.NewSet()
	for i, field := range st.Fields {
		if field == nil || field.Kind == graph.NoValue {
			continue
		}
		name := used.Unique(r.fieldName(typ, st, i))
		to := at.Clone().Dot(name)
		switch {
		case field.Kind == graph.LeafValue:
			fields = append(fields, jen.Id(name).Add(r.dense(r.Outputs[field.Index])))
			r.targets = append(r.targets, target{to, field.Index})
		case field.Kind == graph.SliceOf && r.uniform(field):
			fields = append(fields, jen.Id(name).Index(jen.Lit(len(field.Fields))).Add(r.dense(r.Outputs[field.Fields[0].Index])))
			for k, leaf := range field.Fields {
				r.targets = append(r.targets, target{to.Clone().Index(jen.Lit(k)), leaf.Index})
			}
		default:
			sub := r.top.Unique(typ + name)
			fields = append(fields, jen.Id(name).Id(sub))
			r.printStruct(sub, field, to)
		}
	}
	r.file.declare(typ+" holds results of "+r.typ+".Forward.", len(fields)+2, jen.Type().Id(typ).Struct(fields...))
}

// fieldName names a field after the user's, or after the result that it is.
func (r *results) fieldName(typ string, st *graph.Structure, i int) string {
	f := st.Fields[i]
	switch {
	case i < len(st.Keys) && st.Keys[i] != "":
		return goname.Upper(st.Keys[i])
	case f.Kind == graph.LeafValue && typ == r.owned("Result") && r.opts.output(f.Index) != "":
		return goname.Upper(r.opts.output(f.Index))
	}
	return "Value" + strconv.Itoa(i)
}

// uniform reports whether a slice holds tensors of one element type alone.
func (r *results) uniform(f *graph.Structure) bool {
	for _, x := range f.Fields {
		if x == nil || x.Kind != graph.LeafValue || r.Buffers[r.Outputs[x.Index]].Type.DType() != r.Buffers[r.Outputs[f.Fields[0].Index]].Type.DType() {
			return false
		}
	}
	return len(f.Fields) > 0
}
