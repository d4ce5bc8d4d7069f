package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/generators/godecl"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// Generated is generated code of a program, as the second command enters it.
type Generated struct {
	ID      int
	Style   string // module or gen
	Capture string
	// New makes a model with the weights that it was generated with, and returns it
	// (nil where it has no state) and its function.
	New func() (model any, forward any)
}

// The codes by which code generation documents graphs that it does not print.
var styleCodes = map[string][]diag.Code{
	"module": {codegen.OpaqueFunc, codegen.LostSize},
	"gen":    append([]diag.Code{codegen.CodeHost, codegen.CodeSize}, planCodes...),
}

// printAll writes a graph as Go in both styles, into one package for all
// programs: a package's declarations get names of their own.
func printAll(p Entry, c captureWay, t *traced, dir string) (list []Verdict) {
	for _, style := range []string{"module", "gen"} {
		name := fmt.Sprintf("%s%d", style, p.ID)
		files, err := printed(p, t, style)
		if err == nil {
			err = place(filepath.Join(dir, style), name, files)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".entry"), []byte(entry(p, c, files, style, dir)), 0o666)
		}
		if err == nil {
			continue
		}
		e := engine{exclude: styleCodes[style]}
		k, code, detail := e.failure(err, false, &run{}, false)
		list = append(list, Verdict{ID: p.ID, Capture: c.name, Engine: style, Kind: k, Code: code, Detail: detail})
	}
	return list
}

func printed(p Entry, t *traced, style string) (*codegen.Files, error) {
	if style == "module" {
		return codegen.Module(t.gm.Module, codegen.ModuleOptions{Package: style, Weights: true,
			Func: fmt.Sprintf("Forward%d", p.ID), Type: fmt.Sprintf("Model%d", p.ID)})
	}
	ready, err := lowering.Prepare(t.gm.Module, lowering.Options{})
	if err != nil {
		return nil, err
	}
	plan, err := cpu.Plan(ready, lowering.Options{})
	if err != nil {
		return nil, err
	}
	return codegen.Kernel(plan, ready.Values(), codegen.KernelOptions{Package: style, Type: fmt.Sprintf("Model%d", p.ID), Weights: codegen.WeightsLiteral})
}

// place writes files below dir. Names that they declare at top level end in the
// program's name, because other programs are in the same package.
func place(dir, name string, files *codegen.Files) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	own := map[string]bool{}
	for _, f := range files.List {
		if !strings.HasSuffix(f.Name, ".go") {
			if err := os.WriteFile(filepath.Join(dir, name+".safetensors"), f.Data, 0o666); err != nil {
				return err
			}
			continue
		}
		file, err := parser.ParseFile(fset, f.Name, f.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
		godecl.Names(file, own)
	}
	for i, file := range parsed {
		rename(file, own, "_"+name)
		var b bytes.Buffer
		if err := format.Node(&b, fset, file); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_%d.go", name, i)), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// rename gives the package's own names an ending wherever they stand, but not
// where they are fields or methods.
func rename(file *ast.File, own map[string]bool, end string) {
	skip := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			skip[n.Sel] = true
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				skip[id] = true
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					skip[id] = true
				}
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				skip[n.Name] = true
			}
		case *ast.Ident:
			if own[n.Name] && !skip[n] {
				n.Name += end
			}
		}
		return true
	})
}

// entry is the Go expression of a Generated.
func entry(p Entry, c captureWay, files *codegen.Files, style, dir string) string {
	end := fmt.Sprintf("_%s%d", style, p.ID)
	src := ""
	for _, f := range files.List {
		src += string(f.Data)
	}
	body := fmt.Sprintf("return nil, %s.Forward%d%s", style, p.ID, end)
	if load := fmt.Sprintf("LoadModel%d", p.ID); style == "module" && strings.Contains(src, "\nfunc "+load+"(") {
		body = fmt.Sprintf("m := judge.Load(%q, module.%s%s); return m, m.Forward%d", filepath.Join(dir, style, fmt.Sprintf("%s%d.safetensors", style, p.ID)), load, end, p.ID)
	} else if style == "gen" {
		body = fmt.Sprintf("m := judge.Must(gen.NewModel%d%s()); return m, m.Forward", p.ID, end)
	}
	return fmt.Sprintf("judge.Generated{ID: %d, Style: %q, Capture: %q, New: func() (any, any) { %s }},\n", p.ID, style, c.name, body)
}

// Load reads a model of module style from the file of its weights.
func Load[T any](path string, load func(io.ReaderAt, int64) (T, error)) T {
	data := Must(os.ReadFile(path))
	return Must(load(bytes.NewReader(data), int64(len(data))))
}

// Must returns v; an error ends the program.
func Must[T any](v T, err error) T {
	check(err)
	return v
}

// judgeGenerated runs generated code.
func judgeGenerated(ctx context.Context, p Entry, g Generated) (list []Verdict) {
	var c captureWay
	for _, w := range captures {
		if w.name == g.Capture {
			c = w
		}
	}
	e := engine{name: g.Style}
	for _, n := range c.sizes(p) {
		model, forward := g.New()
		f, state := reflect.ValueOf(forward), begin(model)
		got := repeat(p, n, func(in []*array.Array) ([]*array.Array, error) { return callGenerated(ctx, f, state, in) }, func() map[string]*array.Array {
			switch {
			case state != nil:
				return saved(state)
			case model == nil || g.Style == "gen":
				return nil
			}
			return arraysOf(named(Instance{Target: model}))
		})
		want := eager(p, n)
		k, code, detail := e.verdict(got, want, c.mayRefuse(p, n))
		if k == Missed && g.Style == "gen" && unused(ctx, p, c, n, want) {
			k, code = Excluded, "unused"
		}
		list = append(list, Verdict{ID: p.ID, Capture: g.Capture, Engine: g.Style, Size: n, Kind: k, Code: code, Detail: detail})
		if k.Bad() {
			break
		}
	}
	return list
}

// keeper is the state of a model of kernel style.
type keeper interface{ Save(io.Writer) error }

// begin makes the state of a model of kernel style, nil where it has none.
func begin(model any) keeper {
	if model == nil {
		return nil
	}
	m := reflect.ValueOf(model).MethodByName("NewState")
	if !m.IsValid() {
		return nil
	}
	made := m.Call(nil)
	err, _ := made[1].Interface().(error)
	check(err)
	return made[0].Interface().(keeper)
}

// saved are the tensors of a state, as a file has them.
func saved(state keeper) map[string]*array.Array {
	var b bytes.Buffer
	check(state.Save(&b))
	f := Must(safetensors.Parse(b.Bytes()))
	all := map[string]*array.Array{}
	for _, name := range f.Names() {
		all[name] = Must(f.Get(name))
	}
	return all
}

// callGenerated calls a function of tensors, or one of a context, a state where the
// model has one, and dense arrays.
func callGenerated(ctx context.Context, f reflect.Value, state keeper, in []*array.Array) (out []*array.Array, err error) {
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = reflect.New(f.Type().In(i)).Elem()
		if state != nil && i == 1 {
			args[i].Set(reflect.ValueOf(state))
			continue
		}
		switch x := args[i].Addr().Interface().(type) {
		case *context.Context:
			*x = ctx
			continue
		case **tensor.Tensor:
			*x = tensor.New(in[0])
		default:
			args[i].Field(0).Set(reflect.ValueOf(in[0]))
		}
		in = in[1:]
	}
	for _, r := range f.Call(args) {
		if e, ok := r.Interface().(error); ok && e != nil {
			err = errors.Join(err, e)
		}
		out = flatten(out, r)
	}
	return out, err
}
