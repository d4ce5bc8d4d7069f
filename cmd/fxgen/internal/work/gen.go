package work

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// Styles of generated code.
const (
	Kernel = "kernel"
	Module = "module"
)

// gen writes Go source into the result.
func (c *captured) gen(ctx context.Context, j *Job, res *Result) error {
	tests, err := c.certify(ctx, j, res)
	if err != nil {
		return err
	}
	var files *codegen.Files
	if j.Style == Module {
		files, err = c.genModule(j, tests)
	} else {
		files, err = c.genKernel(j, tests)
	}
	if err != nil {
		return err
	}
	if !c.ofModule(j) {
		c.warnOfWeights(j, res)
	}
	for _, f := range files.List {
		res.Files = append(res.Files, File{f.Name, f.Data})
	}
	return nil
}

func (c *captured) genKernel(j *Job, tests *codegen.Tests) (*codegen.Files, error) {
	o := lowering.Options{MaxBytes: j.MaxBytes}
	ready, err := lowering.Prepare(c.gm, o)
	if err != nil {
		return nil, err
	}
	p, err := cpu.Plan(ready, o)
	if err != nil {
		return nil, err
	}
	return codegen.Kernel(p, ready.Values(), codegen.KernelOptions{Package: j.Package, Type: j.Type, File: j.File,
		Weights: codegen.WeightsMode(j.WeightsMode), Eject: j.Eject, Outputs: c.src.Outputs,
		About: c.about(j), Tests: tests})
}

func (c *captured) genModule(j *Job, tests *codegen.Tests) (*codegen.Files, error) {
	o := codegen.ModuleOptions{Package: j.Package, Path: j.PackagePath, Func: j.Func, Type: j.Type, Eject: j.Eject, Weights: true,
		About: c.about(j), Tests: tests}
	if j.File != "" {
		o.File = j.File + ".go"
	}
	if c.ofModule(j) {
		o.Root = c.module
		fn, err := c.function()
		if err != nil {
			return nil, err
		}
		for i := range fn.Type().NumOut() {
			if t := fn.Type().Out(i); t != errorType {
				o.Results = append(o.Results, t)
			}
		}
	}
	return codegen.Module(c.gm, o)
}

// ofModule reports whether code of module style is a function of the user's module.
func (c *captured) ofModule(j *Job) bool {
	return c.src.Model == nil && c.src.Graph == nil && j.Verb == Gen && !j.OwnState && j.Style == Module
}

// feed writes Go source and the inputs of a run, for the engines that build.
func (c *captured) feed(ctx context.Context, j *Job, res *Result) error {
	in, dims, err := c.values(j)
	if err != nil {
		return err
	}
	if err := c.gen(ctx, j, res); err != nil {
		return err
	}
	if j.Style == Kernel && dims != nil {
		r, _, err := c.runner(&Job{Engine: Plan})
		if err != nil {
			return err
		}
		res.PeakBytes = r.peak(dims)
		r.close()
	}
	for i, n := range c.gm.Graph.Inputs() {
		a := in[i]
		if a == nil {
			def, ok := n.Default().(*array.Array)
			if !ok {
				return diag.New(BadValue, "the default of input "+n.Target()+" is no array").WithHint("give a value with -in")
			}
			a = def
		}
		b, err := EncodeArray(a)
		if err != nil {
			return err
		}
		res.Files = append(res.Files, File{InputFile(i), b})
		res.InputTypes = append(res.InputTypes, a.DType().String())
		res.Shapes = append(res.Shapes, append([]int{}, a.Shape()...))
	}
	return nil
}

// InputFile and OutputFile name the values of a built program.
func InputFile(i int) string { return "in" + strconv.Itoa(i) + ".value" }

// OutputFile names an output of a built program.
func OutputFile(i int) string { return "out" + strconv.Itoa(i) + ".value" }

// IsSource reports whether a file of the verb Feed is part of the package.
func IsSource(name string) bool {
	return !(strings.HasPrefix(name, "in") && strings.HasSuffix(name, ".value"))
}

// origin says where the values of the parameters come from, in words that do not depend on
// the machine, and whether nobody has chosen them. "" where there are none.
func (c *captured) origin(j *Job) (text string, unchosen bool) {
	some := false
	for _, p := range c.gm.Params() {
		some = some || !p.Buffer
	}
	seed, synthetic := strings.CutPrefix(j.Weights, "synthetic:")
	if j.Weights == "synthetic" {
		seed, synthetic = j.seed(), true
	}
	const random = ", values that mean nothing"
	switch {
	case len(c.gm.Params()) == 0:
		return "", false
	case synthetic:
		return "synthetic:" + seed + random, false
	case j.Weights != "":
		return filepath.Base(j.Weights), false
	case c.src.Model != nil:
		return "synthetic:" + j.seed() + random, some
	case c.src.New != nil:
		return "the constructor of " + c.src.Name, some
	case c.src.onnx != nil:
		return c.src.Name, false
	case c.src.Graph != nil:
		return "the graph " + c.src.Name, false
	}
	return "the function " + c.src.Name, false
}

// about is what is known of the model for the comments of its package.
func (c *captured) about(j *Job) *codegen.About {
	about := c.src.about()
	about.Weights, _ = c.origin(j)
	return about
}

// warnOfWeights notes that what is written has weights that nobody has chosen: the usual
// cause is a forgotten flag.
func (c *captured) warnOfWeights(j *Job, res *Result) {
	text, unchosen := c.origin(j)
	if !unchosen {
		return
	}
	if c.src.Model == nil {
		text += ", random initial values unless it loads others"
	}
	res.Notes.Add(&diag.Error{Note: true, Msg: "no -weights is given, what is written has weights from " + text,
		Hint: "give -weights FILE, or -weights synthetic:SEED for values that mean nothing"})
}
