package work

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tracer"
)

// maxStack bounds the stack of a model that calls itself for ever: the runtime's
// own limit is more memory than many machines have to spare.
const maxStack = 256 << 20

// Serve does the job in the file job.json of a folder and writes the result there.
func Serve(s *Source, dir string) error {
	var j Job
	if err := exchange.Requested(dir, &j); err != nil {
		return err
	}
	debug.SetMaxStack(maxStack)
	s.Stuck = func(err error) {
		if err := exchange.Fail(dir, err); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	return exchange.Send(dir, func() (*Result, error) { return Do(context.Background(), s, &j) })
}

// Choice says which of the things in a test binary the job of an exchange is about.
type Choice struct {
	Name     string
	Captured string            // the key of the function or of the constructor, "" for File and Model
	Gives    bool              // the function returns a graph
	Method   string            // of modules, Forward when empty
	Params   []string          // names in the signature
	Outputs  []string          // the same of the results
	File     string            // a graph's file or folder
	Model    string            // a built-in network
	Passes   map[string]string // where the passes of -passes are declared, by the names given there
}

// FolderVariable is the environment variable that names the folder of the exchange.
const FolderVariable = "FXGEN_JOB"

const choiceFile = "choice.json"

// Choose writes the choice of an exchange.
func Choose(dir string, c *Choice) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, choiceFile), text, 0o666)
}

// Chosen reads it.
func Chosen(dir string) (*Choice, error) {
	text, err := os.ReadFile(filepath.Join(dir, choiceFile))
	if err != nil {
		return nil, err
	}
	var c Choice
	return &c, json.Unmarshal(text, &c)
}

// temporary are the variables that say where temporary files go, on some system.
var temporary = []string{"TMPDIR", "TMP", "TEMP"}

// TemporaryIn has programs with an environment put temporary files into a folder.
func TemporaryIn(env []string, folder string) []string {
	for _, name := range temporary {
		env = append(env, name+"="+folder)
	}
	return env
}

// withGraph is the source with its graph, where it is a file, or a function that returns one.
func (s *Source) withGraph(ctx context.Context, j *Job) (_ *Source, err error) {
	if s.File != "" {
		if s, err = Open(s.File, j); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Gives != nil:
		return s.graphGiven(j)
	case s.onnx != nil:
		return s.imported(j)
	case s.pt2 != nil:
		return s.importedPT2(j)
	case s.llama != nil:
		return s.capturedLlama(ctx, j)
	}
	return s, nil
}

// graphGiven is the source with the graph that the user's function returns. It is called twice, for
// generated code must not differ from call to call.
func (s *Source) graphGiven(j *Job) (*Source, error) {
	defer s.watch(j)()
	first, err := s.graphOf()
	if err != nil {
		return nil, err
	}
	again, err := s.graphOf()
	if err != nil {
		return nil, err
	}
	if err := tracer.Compare(first, again, j.Verb == Gen && j.Weights == ""); err != nil {
		return nil, err
	}
	out := *s
	out.Gives, out.Graph = nil, first
	return &out, nil
}

// graphOf calls the user's function.
func (s *Source) graphOf() (m *graph.Module, err error) {
	err = exchange.Recover(func() error {
		given, err := s.Gives()
		if err != nil {
			return err
		}
		if h, ok := given.(interface{ Graph() *fx.GraphModule }); ok && !isNil(given) {
			given = h.Graph()
		}
		gm, ok := given.(*fx.GraphModule)
		if !ok || gm == nil {
			return diag.New(BadConstructor, s.Name+" returned no graph").WithHint("make it return a *fx.GraphModule or a step of training, or an error")
		}
		m = gm.Module
		return graph.Lint(m.Graph).Err()
	})
	return m, err
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
