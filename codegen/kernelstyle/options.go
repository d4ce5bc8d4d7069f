package kernelstyle

import (
	"cmp"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
)

// WeightsMode says where a generated package has its weights.
type WeightsMode string

// The places of weights.
const (
	// WeightsAuto is WeightsLiteral for models of at most 4096 elements, else WeightsEmbed.
	WeightsAuto WeightsMode = "auto"
	// WeightsEmbed puts a safetensors file next to the source; the binary embeds it.
	WeightsEmbed WeightsMode = "embed"
	// WeightsExternal puts a safetensors file next to the source; the program loads
	// it at run time, or another file of the same schema.
	WeightsExternal WeightsMode = "external"
	// WeightsLiteral prints the numbers into the source.
	WeightsLiteral WeightsMode = "literal"
	// WeightsGiven leaves the weights to the program: it gives the tensors to New by their names,
	// and again to Bind once it has written them. The package reads no files and imports kernel
	// and array alone. A safetensors file next to the source has the tensors of the plan.
	WeightsGiven WeightsMode = "given"
)

// literalLimit is the most elements that WeightsAuto prints.
const literalLimit = 4096

// Options are the choices of Print.
type Options struct {
	Package string // package name; "" is "model"
	// Type names the model's type; "" is "Model". Other exported names follow from
	// it: New, Load, PeakBytes, WeightsOrigin and Result for Model, NewNet, LoadNet and so on for Net.
	Type string
	// File is the beginning of the files' names; "" is the type's name in lower case.
	File    string
	Weights WeightsMode // "" is WeightsAuto
	// Part makes the model one of several in its package: its comment stands at its type, and it has
	// Call, for programs that know inputs and results by their numbers. A part has no State, and
	// its weights are WeightsGiven, without a file.
	Part bool
	// Eject leaves out the header that marks generated code: the code is to be
	// edited by hand.
	Eject bool
	// Outputs names the results in order; "" or a missing name leaves the choice to
	// the structure that the model returns, else to the graph.
	Outputs []string
	// About is put into the comments of the package; nil for nothing.
	About *gosrc.About
	// Tests adds a test of the package, and an example; nil for none.
	Tests *gosrc.Tests
}

// complete fills in the options left open, except the place of the weights.
func (o *Options) complete() {
	o.Package = cmp.Or(o.Package, "model")
	o.Type = cmp.Or(o.Type, "Model")
	o.File = cmp.Or(o.File, strings.ToLower(o.Type))
	o.Weights = cmp.Or(o.Weights, WeightsAuto)
	if o.About == nil {
		o.About = &gosrc.About{}
	}
}

// check refuses options that no package can be printed with.
func (o *Options) check() diag.List {
	var errs diag.List
	bad := func(msg, hint string) { errs = append(errs, diag.New(CodeOptions, msg).WithHint(hint)) }
	ascii := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0 }
	if !gosrc.Package(o.Package) || !ascii(o.Package) {
		bad("the package name is "+strconv.Quote(o.Package)+", expected a Go identifier", "choose a short lower-case name")
	}
	if !token.IsIdentifier(o.Type) || !token.IsExported(o.Type) || !ascii(o.Type) {
		bad("the type name is "+strconv.Quote(o.Type)+", expected an exported Go identifier", "begin the name with a capital letter")
	}
	if err := gosrc.CheckFile(o.File + ".go"); err != nil {
		errs = append(errs, err)
	}
	if !slices.Contains([]WeightsMode{WeightsAuto, WeightsEmbed, WeightsExternal, WeightsLiteral, WeightsGiven}, o.Weights) {
		bad("the weights mode is "+strconv.Quote(string(o.Weights))+", expected auto, embed, external, literal or given", "leave it empty for auto")
	}
	if o.Part && o.Weights != WeightsGiven {
		bad("the weights mode of a part is "+strconv.Quote(string(o.Weights))+", expected given", "leave Part out")
	}
	return errs
}

// weightsFile is the name of the file with the weights.
func (o *Options) weightsFile() string {
	if o.File == "model" {
		return "weights.safetensors"
	}
	return o.File + "_weights.safetensors"
}

// output is the name that the user gives to a result, "" for none.
func (o *Options) output(i int) string {
	if i < len(o.Outputs) {
		return o.Outputs[i]
	}
	return ""
}
