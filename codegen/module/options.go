package module

import (
	"cmp"
	"go/token"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
)

// Options says how module-style code looks. The zero value works.
type Options struct {
	// Package is the name of the generated package, Path its import path:
	// declarations of that package are then named without an import, unexported
	// names included. Path may be empty when none of them is needed.
	Package, Path string
	// File is the name of the generated file, "model.go" by default.
	File string
	// Func names the generated function or method, "Forward" by default; Type the
	// struct of a model that has state of its own, "Model" by default.
	Func, Type string
	// Root is the Go module (a pointer) from which the graph was captured. With it
	// the code is a function of that module: func Forward(m *Net, x ...), as long
	// as every tensor and leaf that the graph uses is still the module's own and
	// can be reached from m. Otherwise the code has state of its own.
	Root any
	// Results are the result types of the captured function. With them results of
	// the user's types are built exactly; without them only structs whose fields
	// are all tensors are, and generated types stand for the others.
	Results []reflect.Type
	// Eject leaves out the header that forbids editing.
	Eject bool
	// Weights adds the file weights.safetensors with the values of the state, when
	// the code has state of its own.
	Weights bool
	// MaxStatements bounds a generated function, 200 by default; longer ones are
	// split by the scopes of the model.
	MaxStatements int
	// About is put into the comments of the package; nil for nothing.
	About *gosrc.About
	// Tests adds a test of the code, and an example; nil for none. Code that is a
	// function of the user's module has none.
	Tests *gosrc.Tests
}

// complete fills in the options left open.
func (o *Options) complete() {
	o.Package, o.Func = cmp.Or(o.Package, "model"), cmp.Or(o.Func, "Forward")
	o.Type, o.File = cmp.Or(o.Type, "Model"), cmp.Or(o.File, "model.go")
	if o.About == nil {
		o.About = &gosrc.About{}
	}
	if o.MaxStatements <= 0 {
		o.MaxStatements = 200
	}
}

// check refuses names that no Go file can have or declare.
func (o *Options) check() diag.List {
	var errs diag.List
	bad := func(what, name string) {
		errs = append(errs, diag.New(gosrc.CodeOptions, what+" is "+strconv.Quote(name)+", expected a Go identifier that nothing else has").
			WithHint("choose another name, or leave it empty"))
	}
	if !gosrc.Package(o.Package) {
		bad("the package name", o.Package)
	}
	taken := map[string]bool{"_": true, "init": true, "main": o.Package == "main"}
	for _, name := range goname.Predeclared {
		taken[name] = taken[name] || name != "main"
	}
	for _, x := range [][2]string{{"the function's name", o.Func}, {"the type's name", o.Type}, {"the constructor's name", "New" + o.Type}, {"the loader's name", "Load" + o.Type}, {"the constant's name", o.Type + originName}} {
		if !token.IsIdentifier(x[1]) || taken[x[1]] {
			bad(x[0], x[1])
		}
		taken[x[1]] = true
	}
	if err := gosrc.CheckFile(o.File); err != nil {
		errs = append(errs, err)
	}
	return errs
}
