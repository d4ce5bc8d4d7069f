package tables

import (
	"go/types"
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/effects"
)

// witnesses prints the types that confirm the names of a table where arguments, results and globals do not lead to them,
// and the names of types that generated code cannot name.
func (m *maker) witnesses(x *target, s *effects.Summary) (list, hidden []jen.Code) {
	if len(s.Opaque)+len(told(s.Observes)) > 0 { // the table is not compared
		return nil, nil
	}
	known, wanted := m.given(x, s), map[string]bool{}
	for _, name := range tableNames(s) {
		wanted[name] = !known[name]
	}
	show := func(name string) {
		if t := s.Types[name]; !known[name] && m.hidden(t) == "" && len(leads(t, wanted, known)) > 0 {
			effects.Within(t, known)
			list = append(list, jen.Qual("reflect", "TypeFor").Types(m.typeCode(t)).Call())
		}
	}
	for _, name := range slices.Concat(s.Dynamic, tableNames(s)) {
		show(name)
	}
	hide := func(dynamic string, names []string) {
		var codes []jen.Code
		for _, n := range names {
			codes = append(codes, gosrc.Quoted(n))
			wanted[n] = false
		}
		hidden = append(hidden, row(field{"Dynamic", quoted(dynamic)}, field{"Names", jen.Index().String().Values(codes...)}))
	}
	left := maps.Clone(wanted)
	for _, d := range s.Dynamic {
		if names := leads(s.Types[d], left, known); len(names) > 0 {
			hide(d, names)
		}
	}
	var nowhere []string
	for _, name := range tableNames(s) {
		if wanted[name] && !known[name] {
			nowhere = append(nowhere, name)
		}
	}
	if len(nowhere) > 0 {
		hide("", nowhere)
	}
	return list, hidden
}

// leads lists the wanted names, but those that are known, to which a type leads.
func leads(t types.Type, wanted, known map[string]bool) (list []string) {
	in := map[string]bool{}
	effects.Within(t, in)
	for name := range in {
		if wanted[name] && !known[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// given are the names of the types that arguments, results and variables lead to.
func (m *maker) given(x *target, s *effects.Summary) map[string]bool {
	known := map[string]bool{}
	if x.recv != nil {
		effects.Within(x.recv, known)
	}
	for _, list := range []*types.Tuple{x.sig.Params(), x.sig.Results()} {
		for v := range list.Variables() {
			effects.Within(v.Type(), known)
		}
	}
	for _, g := range s.Globals {
		effects.Within(g.Var.Type(), known)
	}
	return known
}

// tableNames are the names of types in Fields and Elems.
func tableNames(s *effects.Summary) (list []string) {
	for _, f := range s.Fields {
		list = append(list, f.Type)
	}
	for _, e := range s.Elems {
		list = append(list, e.Type)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
