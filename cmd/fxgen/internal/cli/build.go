package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/keep"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
)

// built runs a job with the engine module or gen: it generates code into a
// temporary folder, builds a program around it and runs that.
func (a *app) built(ctx context.Context, s *source, j *work.Job) (*work.Result, error) {
	feed := feedOf(j)
	made, err := a.do(ctx, s, &feed)
	if err != nil {
		return nil, err
	}
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	h, err := findHome(ctx, s.folder())
	if err != nil {
		return nil, err
	}
	defer a.busy("building and running " + s.name)()
	p := program{dir: dir, home: h, style: feed.Style}
	model := p.add("model", made)
	if err := p.build(ctx); err != nil {
		return nil, err
	}
	if j.Verb == work.Bench {
		res, err := p.run(ctx, model, j)
		if err != nil {
			return nil, err
		}
		return a.benchResult(s, j, made, res)
	}
	out, err := p.outputs(ctx, model, j)
	if err != nil {
		return nil, err
	}
	res := &work.Result{InputNames: made.InputNames, OutputNames: made.OutputNames}
	return res, work.Report(j, res, out)
}

// feedOf is the job that gives the input for building a program of a job's engine.
func feedOf(j *work.Job) work.Job {
	feed := *j
	feed.Verb, feed.Package, feed.OwnState = work.Feed, "model", true
	if feed.Style = work.Kernel; j.Engine == "module" {
		feed.Style = work.Module
	} else {
		feed.WeightsMode = "external"
	}
	return feed
}

// outputs runs a part and reads its results.
func (p *program) outputs(ctx context.Context, m *part, j *work.Job) ([]*array.Array, error) {
	res, err := p.run(ctx, m, j)
	if err != nil {
		return nil, err
	}
	var out []*array.Array
	for _, file := range res.OutputNames {
		b, err := os.ReadFile(filepath.Join(p.dir, m.name, file))
		if err != nil {
			return nil, err
		}
		x, err := exchange.Decode(b)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if want := len(m.made.OutputNames); len(out) != want {
		return nil, diag.Bug(fmt.Sprintf("the generated code returned %d tensors, the graph has %d outputs", len(out), want))
	}
	return out, nil
}

// folder is where the source's module is looked for.
func (s *source) folder() string {
	if s.pkg != nil {
		if dir := s.pkg.Dir(); dir != "" {
			return dir
		}
	}
	return "."
}

// benchResult completes the measurement of a built program.
func (a *app) benchResult(s *source, j *work.Job, made, ran *work.Result) (*work.Result, error) {
	var b exchange.Times
	if err := json.Unmarshal([]byte(ran.Text), &b); err != nil {
		return nil, err
	}
	b.Model, b.Engine, b.PeakBytes, b.Shapes = s.name, j.Engine, made.PeakBytes, map[string][]int{}
	for i, name := range made.InputNames {
		b.Shapes[name] = made.Shapes[i]
	}
	res := &work.Result{}
	return res, b.Report(j.JSON, res)
}

// program is generated packages with a main function around them, which runs the one
// whose folder it is given.
type program struct {
	dir   string
	home  home
	style string
	parts []*part
}

// part is a package of a program, with its inputs.
type part struct {
	name string // of its folder
	made *work.Result
}

func (p *program) add(name string, made *work.Result) *part {
	m := &part{name, made}
	p.parts = append(p.parts, m)
	return m
}

// folder of the module in which the program seems to be; it never exists.
const programFolder = "zz_fxgen_program"

func (p *program) build(ctx context.Context) error {
	o := overlay{dir: p.dir, replace: map[string]string{}, parts: []string{"program", p.home.dir}}
	at := filepath.Join(p.home.dir, programFolder)
	for _, m := range p.parts {
		for _, f := range m.made.Files {
			var err error
			if name := filepath.Join(m.name, f.Name); work.IsSource(f.Name) {
				err = o.add(filepath.Join(at, name), name, f.Data)
			} else {
				err = os.WriteFile(filepath.Join(p.dir, name), f.Data, 0o666)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := o.add(filepath.Join(at, "main.go"), "main.go", p.main()); err != nil {
		return err
	}
	file, err := o.write()
	if err != nil {
		return err
	}
	out, err := (&keep.Binary{
		Key: lowering.Key(o.parts...), Args: []string{"build", "-overlay", file}, Of: p.home.path + "/" + programFolder, Dir: p.home.dir, Env: capture.GoEnv(p.dir),
	}).Build(ctx, p.binary())
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		if e := capture.Unready(string(out), err, p.home.dir); e != nil {
			return e
		}
		if !capture.NamesLines(string(out)) {
			return capture.Unbuilt("the program around the generated code", string(out), err)
		}
		e := diag.Bug("the generated code does not build")
		e.Err = fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
		return e
	}
	return nil
}

const open = "\tf, size := d.Open(\"weights.safetensors\")\n\td.Check(nil)\n"

// binary is the program's file; Windows wants the ending.
func (p *program) binary() string { return filepath.Join(p.dir, "program.exe") }

// main is the program's source.
func (p *program) main() []byte {
	var b, calls, table strings.Builder
	imports := []string{`"` + modulePath + `/cmd/fxgen/drive"`}
	if p.style == work.Kernel {
		imports = append(imports, `"context"`, `"`+modulePath+`/array"`)
	}
	for _, m := range p.parts {
		imports = append(imports, m.name+` "`+p.home.path+"/"+programFolder+"/"+m.name+`"`)
		fmt.Fprintf(&table, "\t\t%q: run_%s,\n", m.name, m.name)
		m.call(&calls, p.style)
	}
	fmt.Fprintf(&b, "package main\n\nimport (\n\t%s\n)\n\nfunc main() {\n\td := drive.NewDriver()\n\td.Part(map[string]func(*drive.Driver){\n%s\t})\n}\n%s",
		strings.Join(imports, "\n\t"), table.String(), calls.String())
	if p.style == work.Kernel {
		b.WriteString("\nvar _ array.Half // of inputs, which not every model has\n")
	}
	return []byte(b.String())
}

// call writes the function that calls a package.
func (m *part) call(b *strings.Builder, style string) {
	var args []string
	for i, t := range m.made.InputTypes {
		if style == work.Kernel {
			args = append(args, fmt.Sprintf("array.Dense[%s]{Array: d.Array(%d)}", goElem(t), i))
		} else {
			args = append(args, fmt.Sprintf("d.Tensor(%d)", i))
		}
	}
	call := m.name + ".Forward("
	var prepare string
	switch {
	case style == work.Kernel:
		prepare = open + "\tm, err := " + m.name + ".Load(f, size)\n\td.Check(err)\n\tctx := context.Background()\n"
		call = "m.Forward(ctx, "
		if m.keepsState() {
			prepare += "\tstate, err := m.NewState()\n\td.Check(err)\n"
			call += "state, "
		}
	case m.hasState():
		prepare = open + "\tm, err := " + m.name + ".LoadModel(f, size)\n\td.Check(err)\n"
		call = "m.Forward("
	}
	fmt.Fprintf(b, "\nfunc run_%s(d *drive.Driver) {\n%s", m.name, prepare)
	for i, x := range args {
		fmt.Fprintf(b, "\tx%d := %s\n", i, x)
		args[i] = fmt.Sprintf("x%d", i)
	}
	call += strings.Join(args, ", ") + ")"
	if len(m.made.OutputNames) == 0 { // the function has no results
		fmt.Fprintf(b, "\td.Run(func() error { %s; return d.Keep() })\n}\n", call)
		return
	}
	fmt.Fprintf(b, "\td.Run(func() error { return d.Keep(%s) })\n}\n", call)
}

// keepsState reports whether a model of kernel style takes a state of the caller.
func (m *part) keepsState() bool {
	for _, f := range m.made.Files {
		if bytes.Contains(f.Data, []byte(") NewState() (*")) {
			return true
		}
	}
	return false
}

func (m *part) hasState() bool {
	for _, f := range m.made.Files {
		if strings.HasSuffix(f.Name, ".safetensors") {
			return true
		}
	}
	return false
}

// goElem is the Go type of the elements of a dense array.
func goElem(dtype string) string {
	d, _ := array.ParseDType(dtype)
	name, qualified := gosrc.ElemName(d)
	if qualified {
		return "array." + name
	}
	return name
}

func (p *program) run(ctx context.Context, m *part, j *work.Job) (*work.Result, error) {
	dir := filepath.Join(p.dir, m.name)
	if err := exchange.Request(dir, j); err != nil {
		return nil, err
	}
	cmd := proc.Command(ctx, p.binary(), dir)
	out, runErr := proc.Output(ctx, cmd)
	if ctx.Err() != nil {
		return nil, runErr
	}
	res, missing, err := exchange.Receive(dir)
	if missing {
		e := diag.Bug("the generated program left no result")
		e.Err = fmt.Errorf("%v\n%s", runErr, bytes.TrimSpace(out))
		return nil, e
	}
	return res, err
}
