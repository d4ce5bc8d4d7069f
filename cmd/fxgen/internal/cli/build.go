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
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/userpkg"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
)

// built runs a job with the engine module or gen: it generates code into a
// temporary folder, builds a program around it and runs that.
func (a *app) built(ctx context.Context, s *source, j *work.Job) (*work.Result, error) {
	feed := *j
	feed.Verb, feed.Package, feed.OwnState = work.Feed, "model", true
	if feed.Style = work.Kernel; j.Engine == "module" {
		feed.Style = work.Module
	} else {
		feed.WeightsMode = "external"
	}
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
	p := program{dir: dir, home: h, style: feed.Style, made: made}
	if err := p.build(ctx); err != nil {
		return nil, err
	}
	res, err := p.run(ctx, j)
	if err != nil {
		return nil, err
	}
	if j.Verb == work.Bench {
		return a.benchResult(s, j, made, res)
	}
	var out []*array.Array
	for _, file := range res.OutputNames {
		x, err := npy.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if len(out) != len(made.OutputNames) {
		return nil, diag.Bug(fmt.Sprintf("the generated code returned %d tensors, the graph has %d outputs", len(out), len(made.OutputNames)))
	}
	res = &work.Result{OutputNames: made.OutputNames}
	return res, work.Report(j, res, out)
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
	var b work.BenchJSON
	if err := json.Unmarshal([]byte(ran.Text), &b); err != nil {
		return nil, err
	}
	b.Model, b.Engine, b.PeakBytes, b.Shapes = s.name, j.Engine, made.PeakBytes, map[string][]int{}
	for i, name := range made.InputNames {
		b.Shapes[name] = made.Shapes[i]
	}
	res := &work.Result{}
	return res, b.Report(j, res)
}

// program is generated code with a main function around it.
type program struct {
	dir   string
	home  home
	style string
	made  *work.Result
}

// folder of the module in which the program seems to be; it never exists.
const programFolder = "zz_fxgen_program"

func (p *program) build(ctx context.Context) error {
	o := overlay{dir: p.dir, replace: map[string]string{}}
	at := filepath.Join(p.home.dir, programFolder)
	for _, f := range p.made.Files {
		var err error
		if work.IsSource(f.Name) {
			err = o.add(filepath.Join(at, "model", f.Name), filepath.Join("model", f.Name), f.Data)
		} else {
			err = os.WriteFile(filepath.Join(p.dir, f.Name), f.Data, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if err := o.add(filepath.Join(at, "main.go"), "main.go", p.main()); err != nil {
		return err
	}
	file, err := o.write()
	if err != nil {
		return err
	}
	cmd := proc.Command(ctx, "go", "build", "-overlay", file, "-o", p.binary(), p.home.path+"/"+programFolder)
	cmd.Dir = p.home.dir
	cmd.Env = append(userpkg.HostEnv(), "GOTMPDIR="+p.dir)
	out, err := proc.Output(ctx, cmd)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		if e := userpkg.Unready(string(out), p.home.dir); e != nil {
			return e
		}
		e := diag.Bug("the generated code does not build")
		e.Err = fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
		return e
	}
	return nil
}

const open = "\tf, size := d.Open(\"model/weights.safetensors\")\n\td.Check(nil)\n"

// binary is the program's file; Windows wants the ending.
func (p *program) binary() string { return filepath.Join(p.dir, "program.exe") }

// main is the program's source.
func (p *program) main() []byte {
	var args []string
	for i, t := range p.made.InputTypes {
		if p.style == work.Kernel {
			args = append(args, fmt.Sprintf("array.Dense[%s]{Array: d.Array(%d)}", goElem(t), i))
		} else {
			args = append(args, fmt.Sprintf("d.Tensor(%d)", i))
		}
	}
	var b strings.Builder
	imports := []string{`"` + modulePath + `/cmd/fxgen/harness"`, `"` + p.home.path + "/" + programFolder + `/model"`}
	call := "model.Forward("
	var prepare string
	switch {
	case p.style == work.Kernel:
		imports = append(imports, `"context"`, `"`+modulePath+`/array"`)
		prepare = open + "\tm, err := model.Load(f, size)\n\td.Check(err)\n\tctx := context.Background()\n"
		call = "m.Forward(ctx, "
		if p.keepsState() {
			prepare += "\tstate, err := m.NewState()\n\td.Check(err)\n"
			call += "state, "
		}
	case p.hasState():
		prepare = open + "\tm, err := model.LoadModel(f, size)\n\td.Check(err)\n"
		call = "m.Forward("
	}
	fmt.Fprintf(&b, "package main\n\nimport (\n\t%s\n)\n\nfunc main() {\n\td := harness.NewDriver()\n%s", strings.Join(imports, "\n\t"), prepare)
	for i, x := range args {
		fmt.Fprintf(&b, "\tx%d := %s\n", i, x)
		args[i] = fmt.Sprintf("x%d", i)
	}
	fmt.Fprintf(&b, "\td.Run(func() error { return d.Keep(%s%s)) })\n}\n", call, strings.Join(args, ", "))
	return []byte(b.String())
}

// keepsState reports whether a model of kernel style takes a state of the caller.
func (p *program) keepsState() bool {
	for _, f := range p.made.Files {
		if bytes.Contains(f.Data, []byte(") NewState() (*")) {
			return true
		}
	}
	return false
}

func (p *program) hasState() bool {
	for _, f := range p.made.Files {
		if strings.HasSuffix(f.Name, ".safetensors") {
			return true
		}
	}
	return false
}

// goElem is the Go type of the elements of a dense array.
func goElem(dtype string) string {
	switch dtype {
	case "bool":
		return "bool"
	case "f16":
		return "array.Half"
	case "bf16":
		return "array.BFloat"
	}
	name := strings.NewReplacer("f", "float", "i", "int", "u", "uint").Replace(dtype[:1]) + dtype[1:]
	return name
}

func (p *program) run(ctx context.Context, j *work.Job) (*work.Result, error) {
	if err := work.Request(p.dir, j); err != nil {
		return nil, err
	}
	cmd := proc.Command(ctx, p.binary(), p.dir)
	out, runErr := proc.Output(ctx, cmd)
	if ctx.Err() != nil {
		return nil, runErr
	}
	res, missing, err := work.Receive(p.dir)
	if missing {
		e := diag.Bug("the generated program left no result")
		e.Err = fmt.Errorf("%v\n%s", runErr, bytes.TrimSpace(out))
		return nil, e
	}
	return res, err
}
