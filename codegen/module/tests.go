package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// testedBy reports whether tests of the code can call it: without a module of the
// user's, which they would have to make.
func (p *printer) testedBy() bool { return p.Tests != nil && (p.self == nil || p.method) }

// callsOf says how tests call the unit.
func (p *printer) callsOf(u *unit) gosrc.Calls {
	c := gosrc.Calls{Package: p.Package, File: strings.TrimSuffix(p.File, ".go"), Name: p.Func, Entry: p.Func, Eject: p.Eject, Call: p.Func}
	if p.method {
		c.Name, c.Entry, c.Call = p.Type, p.Type+"_"+p.Func, "m."+p.Func
		c.Make, c.Weights, c.Again = "Load"+p.Type, weightsFile, true
	}
	if !p.method && !gosrc.Exported(p.Func) {
		c.Entry = "_" + p.Func // of the package, with a suffix
	}
	for i, n := range p.m.Graph.Inputs() {
		dtype := jen.Add(gosrc.DType(n.Type().DType())).GoString()
		c.Inputs = append(c.Inputs, gosrc.Argument{Name: u.params[i].name, Given: "tensor.New(ARRAY)", Zeros: "tensor.New(array.New(" + dtype + ", SIZES))"})
	}
	out := p.m.Graph.Output()
	plain := true
	if st := out.Structure(); st != nil && st.Kind != graph.LeafValue {
		plain = st.Kind == graph.Results
		for i, f := range st.Fields {
			plain = plain && f.Kind == graph.LeafValue && f.Index == i
		}
	}
	for i := range u.exprs {
		name := "result"
		if plain && out.Arg(i) != nil {
			name = goname.Lower(out.Arg(i).Name())
		}
		c.Results = append(c.Results, name)
	}
	if plain {
		c.Parts = c.Results
	}
	return c
}

// aboutPackage is the comment of a package whose model says something of itself.
func (p *printer) aboutPackage(file *jen.File) {
	lines := p.About.Lines()
	if lines == nil {
		return
	}
	file.PackageComment("// Package " + p.Package + " computes " + commentName(p.m.Graph.Name) + ".")
	file.PackageComment("//")
	for _, line := range lines {
		file.PackageComment("//\t" + line)
	}
}
