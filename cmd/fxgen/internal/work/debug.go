package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

// observe runs the graph and returns its values: the values as JSON, their arrays as
// files. An engine that is not part of a graph's run gives results only.
func (c *captured) observe(ctx context.Context, j *Job, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	var list []debug.Observation
	switch {
	case j.Engine == Eager || j.Engine == Lazy || j.Engine == accel.GPU || j.Engine == accel.XLA:
		if list, err = c.results(ctx, j, res); err != nil {
			return err
		}
	case j.Node != "":
		a, err := debug.Observe(ctx, c.gm, in, engineFor(j), j.Node)
		if err != nil {
			return err
		}
		list = []debug.Observation{{Name: j.Node, Array: a}}
	case j.Engine != Interp && j.Engine != Plan && j.Engine != Int8:
		return noEngine(j.Engine)
	default:
		if list, err = debug.Values(ctx, c.gm, in, engineFor(j)); err != nil {
			return err
		}
	}
	return Observed(res, list)
}

// results runs an engine that shows nothing but results.
func (c *captured) results(ctx context.Context, j *Job, res *Result) ([]debug.Observation, error) {
	all := *j
	all.Verb, all.All = Run, true
	if err := c.run(ctx, &all, res); err != nil {
		return nil, err
	}
	return Results(res)
}

// Results makes values of the files of a run.
func Results(res *Result) (list []debug.Observation, err error) {
	for i, f := range res.Files {
		a, err := exchange.Decode(f.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, debug.Observation{Name: f.Name, Op: "output", Result: i + 1, Array: a})
	}
	res.Files, res.Text = nil, ""
	return list, nil
}

// Observed puts values into a result; Received takes them out.
func Observed(res *Result, list []debug.Observation) error {
	res.Files = nil
	for _, v := range list {
		var b []byte
		if v.Array != nil {
			var err error
			if b, err = exchange.Encode(v.Array); err != nil {
				return err
			}
		}
		res.Files = append(res.Files, File{Name: v.Name, Data: b})
	}
	text, err := json.Marshal(list)
	res.Text = string(text)
	return err
}

// Received returns the values in a result of the verb Values.
func Received(res *Result) (list []debug.Observation, err error) {
	if err := json.Unmarshal([]byte(res.Text), &list); err != nil {
		return nil, err
	}
	for i := range list {
		if i < len(res.Files) && len(res.Files[i].Data) > 0 {
			if list[i].Array, err = exchange.Decode(res.Files[i].Data); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// engineFor makes the job's engine; nil stands for the interpreter.
func engineFor(j *Job) debug.EngineFor {
	if j.Engine != Plan && j.Engine != Int8 {
		return nil
	}
	return func(m *graph.Module) (debug.Engine, error) {
		return cpu.Compile(m, lowering.Options{Threads: j.Threads})
	}
}

// bisect finds the rewrite of the job's pipeline that breaks its check.
func (c *captured) bisect(ctx context.Context, j *Job, own map[string]passes.Pass, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	list, err := Pipeline(j.Passes, own)
	if err != nil {
		return err
	}
	o := passes.Options{Numeric: &passes.Numeric{Inputs: in, Rel: j.Rel, Abs: j.Abs}}
	var check func(context.Context, *graph.Module) error
	switch {
	case len(j.Check) > 0:
		if _, err := exec.LookPath(j.Check[0]); err != nil {
			return diag.New(BadValue, "-check "+j.Check[0]+": "+err.Error()).WithHint("give a program with its arguments; it gets the folder of a saved graph as the last one")
		}
		check = j.command
	case j.Engine != Interp:
		fails := debug.Differs(c.gm, *o.Numeric, engineFor(j))
		check = func(ctx context.Context, m *graph.Module) error { return fails(ctx, debug.Case{Module: m, Inputs: in}) }
	}
	found, err := debug.Bisect(ctx, c.gm, list, o, check)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(p passes.Pass) bool { return p.Name == found.Pass })
	res.Culprit = Culprit{Pass: found.Pass, Match: found.Match, Until: j.Passes[:at+1]}
	if j.JSON {
		d := culpritJSON{Model: c.src.Name, Pass: found.Pass, Match: found.Match, Error: found.Err.Error(), Runs: found.Runs}
		if e := found.Event; e != nil {
			d.Node, d.By, d.Pos, d.Why = e.Node.Name(), nameOf(e.By), e.Pos().String(), e.Why
		}
		return document(res, d)
	}
	res.Text = found.String() + "found in " + strconv.Itoa(found.Runs) + " runs of the pipeline\n"
	return nil
}

// culpritJSON is the document of bisect -json.
type culpritJSON struct {
	Model string `json:"model"`
	Pass  string `json:"pass"`
	Match int    `json:"match"`
	Node  string `json:"node,omitempty"`
	By    string `json:"by,omitempty"`
	Pos   string `json:"pos,omitempty"`
	Why   string `json:"why,omitempty"`
	Error string `json:"error"`
	Runs  int    `json:"runs"`
}

// command is a check by a program: it gets the folder of a saved graph as its last
// argument, and exits with 0 where that is right.
func (j *Job) command(ctx context.Context, m *graph.Module) error {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	folder := filepath.Join(dir, "graph")
	if err := graph.Save(folder, m); err != nil {
		return err
	}
	cmd := proc.Command(ctx, j.Check[0], append(j.Check[1:len(j.Check):len(j.Check)], folder)...)
	cmd.Dir = j.CheckDir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := proc.Run(ctx, cmd); err != nil {
		return errors.New(strings.TrimSpace(strings.Join(j.Check, " ") + ": " + err.Error() + "\n" + out.String()))
	}
	return nil
}

// shrink cuts the graph down as long as it fails under the job's passes and engine, and
// writes a test.
func (c *captured) shrink(ctx context.Context, j *Job, s *Source, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	list, err := Pipeline(j.Passes, s.Passes)
	if err != nil {
		return err
	}
	text, imports, err := j.failure(s)
	if err != nil {
		return err
	}
	o := passes.Options{Numeric: &passes.Numeric{Rel: j.Rel, Abs: j.Abs}}
	found, err := debug.Minimise(ctx, debug.Case{Module: c.gm, Inputs: in}, debug.Fails(list, o, engineFor(j)))
	if err != nil {
		return err
	}
	src, err := debug.Write(found, debug.TestFile{Package: j.Package, Name: j.Test, Fails: text, Imports: imports})
	if err != nil {
		return err
	}
	res.Files = []File{{Name: "minimised_test.go", Data: src}}
	res.Text = string(src)
	res.Notes.Add(&diag.Error{Note: true, Msg: fmt.Sprintf("%d nodes are left of %d, in %d tries", found.Module.Graph.Len(), c.gm.Graph.Len(), found.Tries)})
	return nil
}

const modulePath = "github.com/gofx-dev/gofx"

// failure returns the Go expression of the failure that shrink tries, and its imports.
func (j *Job) failure(s *Source) (text string, imports []string, err error) {
	imports = []string{modulePath + "/passes"}
	var builtin, list []string
	names := map[string]string{}
	for _, entry := range j.Passes {
		path, ok := s.Places[entry]
		if !ok {
			list = append(list, "builtin["+strconv.Itoa(len(builtin))+"]")
			builtin = append(builtin, entry)
			continue
		}
		i := strings.LastIndex(path, ".")
		pkg, name := path[:i], path[i+1:]
		if strings.ToUpper(name[:1]) != name[:1] {
			return "", nil, diag.New(BadValue, "-passes "+entry+": "+name+" is not exported, so that the test cannot name it").WithHint("write it with a capital letter")
		}
		if names[pkg] == "" {
			names[pkg] = "own" + strconv.Itoa(len(names))
			imports = append(imports, names[pkg]+" "+pkg)
		}
		list = append(list, names[pkg]+"."+name)
	}
	engine := "nil"
	if engineFor(j) != nil {
		engine = "func(m *graph.Module) (debug.Engine, error) { return cpu.Compile(m, lowering.Options{}) }"
		imports = append(imports, modulePath+"/graph", modulePath+"/lowering", modulePath+"/lowering/cpu")
	}
	body := ""
	pipeline := "builtin"
	if len(names) > 0 {
		pipeline = "[]passes.Pass{" + strings.Join(list, ", ") + "}"
	}
	if len(builtin) > 0 || len(names) == 0 { // a variable or an import that nothing uses does not compile
		imports = append(imports, modulePath+"/fx")
		body = "\tbuiltin, err := fx.Pipeline(" + strconv.Quote(strings.Join(builtin, ",")) + ")\n\tif err != nil {\n\t\treturn err\n\t}\n"
	}
	body += fmt.Sprintf("\to := passes.Options{Numeric: &passes.Numeric{Rel: %g, Abs: %g}}\n\treturn debug.Fails(%s, o, %s)(ctx, c)\n", j.Rel, j.Abs, pipeline, engine)
	text = "func(ctx context.Context, c debug.Case) error {\n" + body + "}"
	return text, imports, nil
}
