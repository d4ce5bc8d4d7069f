package codegen

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/codegen/graphtable"
	"github.com/gofx-dev/gofx/codegen/kernelstyle"
	"github.com/gofx-dev/gofx/codegen/module"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// Header is the first line of every generated file.
const Header = gosrc.Header

type (
	// File is one generated file.
	File = gosrc.File
	// Files are generated files in a fixed order.
	Files = gosrc.Files
	// ModuleOptions says how module-style code looks. The zero value works.
	ModuleOptions = module.Options
	// KernelOptions are the choices of Kernel. The zero value works.
	KernelOptions = kernelstyle.Options
	// About is the model's description by its author.
	About = gosrc.About
	// Tests are the options for tests of generated code.
	Tests = gosrc.Tests
	// TableOptions are the choices of Graphs. The zero value works.
	TableOptions = graphtable.Options
	// Planned is the plan of one of several graphs, with the arrays of its weights.
	Planned = graphtable.Planned
	// WeightsMode says where a generated package has its weights.
	WeightsMode = kernelstyle.WeightsMode
)

// The places of weights; see package kernelstyle.
const (
	WeightsAuto     = kernelstyle.WeightsAuto
	WeightsEmbed    = kernelstyle.WeightsEmbed
	WeightsExternal = kernelstyle.WeightsExternal
	WeightsLiteral  = kernelstyle.WeightsLiteral
	WeightsGiven    = kernelstyle.WeightsGiven
)

// Module prints a graph as Go over the tensor API: code that a person would write,
// that runs, and that can be traced again to an isomorphic graph. See module.Print.
func Module(m *graph.Module, o ModuleOptions) (*Files, error) { return module.Print(m, o) }

// Kernel prints a plan as a package that calls kernels: model, steps and weights.
// state holds the arrays of the plan's weights by path. See kernelstyle.Print.
func Kernel(p *plan.Plan, state map[string]*array.Array, o KernelOptions) (*Files, error) {
	return kernelstyle.Print(p, state, o)
}

// Graphs prints the graphs that a lazy session has recorded as a package with a model in kernel
// style for each, and the table that sessions take (lazy.Options.Generated). See graphtable.Print.
func Graphs(g *generated.Graphs, plans []Planned, o TableOptions) (files *Files, left map[int]error, err error) {
	return graphtable.Print(g, plans, o)
}
