package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sizes that the design allows: lines of a hand-written file and of a
// function, parameters of a function, hand-written files of a room without its tests,
// methods of a type.
const (
	maxFile    = 500
	maxFunc    = 80
	maxParams  = 6
	maxFiles   = 25
	maxMethods = 60 // of a type
)

// Larger entries, with their size, which they must not exceed. A smaller size
// must be entered here too, so that the list stays true.
var (
	longFiles  = map[string]int{}
	longFuncs  = map[string]int{}
	largeRooms = map[string]int{}
	largeTypes = map[string]int{
		"graph.Node": 111, "op/expr.Builder": 75, // their methods are the API
	}
)

// catalogue is the room of operators: one family in one file each, however many.
var catalogue = map[string]bool{"op/std": true}

// Prototypes of assembly take register values: the functions of kernels with
// many parameters are counted apart, until they take structs.
const kernelParams = 140

// source is a hand-written file.
type source struct {
	path  string
	lines int
	fset  *token.FileSet
	file  *ast.File
}

var parsed []source // by the first test that asks

// handWritten returns the files of the tree that no program has written.
func handWritten(t *testing.T) []source {
	t.Helper()
	if parsed == nil {
		parsed = parseAll(t)
	}
	return parsed
}

func parseAll(t *testing.T) (all []source) {
	t.Helper()
	top := root(t)
	require.NoError(t, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		switch {
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		if !ast.IsGenerated(f) {
			rel, err := filepath.Rel(top, name)
			require.NoError(t, err)
			all = append(all, source{filepath.ToSlash(rel), bytes.Count(text, []byte("\n")), fset, f})
		}
		return nil
	}))
	require.Greater(t, len(all), 300, "the tree was not found")
	return all
}

// functions yields the functions of a file with their first words, "path name".
func (s source) functions(yield func(name string, fn *ast.FuncDecl) bool) {
	for _, decl := range s.file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && !yield(s.path+" "+fn.Name.Name, fn) {
			return
		}
	}
}

// compare returns the entries larger than allowed, except for known exceptions,
// and the exceptions that are not true.
func compare(what string, limit int, have, known map[string]int) (wrong []string) {
	for name, n := range have {
		if allowed, ok := known[name]; n > limit && (!ok || n > allowed) {
			wrong = append(wrong, fmt.Sprintf("%s has %d %s, the design allows %d", name, n, what, max(limit, allowed)))
		}
	}
	for name := range known {
		if n := have[name]; n <= limit {
			wrong = append(wrong, fmt.Sprintf("%s has %d %s: take it off the list of exceptions", name, n, what))
		}
	}
	return wrong
}

func TestFilesAndFunctionsStayInBudget(t *testing.T) {
	files, funcs := map[string]int{}, map[string]int{}
	for _, s := range handWritten(t) {
		files[s.path] = s.lines
		for name, fn := range s.functions {
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			funcs[name] = max(funcs[name], lines)
		}
	}
	require.Empty(t, compare("lines", maxFile, files, longFiles))
	require.Empty(t, compare("lines", maxFunc, funcs, longFuncs))
}

func TestRoomsStayInBudget(t *testing.T) {
	rooms := map[string]int{}
	for _, s := range handWritten(t) {
		if !strings.HasSuffix(s.path, "_test.go") {
			rooms[path.Dir(s.path)]++
		}
	}
	for room := range catalogue {
		require.Greater(t, rooms[room], maxFiles, "the exception is not needed")
		delete(rooms, room)
	}
	require.Empty(t, compare("hand-written files", maxFiles, rooms, largeRooms))
}

// receiver returns the name of the type that a method belongs to, "" for functions.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// A type with many methods is several types that share their fields.
func TestTypesStayInBudget(t *testing.T) {
	methods := map[string]int{}
	for _, s := range handWritten(t) {
		if strings.HasSuffix(s.path, "_test.go") || isMachinery(path.Dir(s.path)) {
			continue
		}
		for _, fn := range s.functions {
			if on := receiver(fn); on != "" {
				methods[path.Dir(s.path)+"."+on]++
			}
		}
	}
	require.Contains(t, methods, "tracer/record.Recorder", "methods of generic types count")
	require.Empty(t, compare("methods", maxMethods, methods, largeTypes))
}

func TestFewFunctionsTakeManyParameters(t *testing.T) {
	var many []string
	total, kernels := 0, 0
	for _, s := range handWritten(t) {
		for name, fn := range s.functions {
			count := 0
			for _, p := range fn.Type.Params.List {
				count += max(1, len(p.Names))
			}
			inKernel := strings.HasPrefix(s.path, "kernel/")
			switch {
			case inKernel && count > maxParams:
				kernels++
			case count > maxParams:
				many = append(many, name)
			}
			if !inKernel {
				total++
			}
		}
	}
	require.LessOrEqual(t, 100*len(many), total, "more than 1 %% of %d functions take more than %d parameters: %v", total, maxParams, many)
	require.LessOrEqual(t, kernels, kernelParams, "functions of kernels with more than %d parameters", maxParams)
}

func TestBudgetsCanBeExceeded(t *testing.T) {
	require.Len(t, compare("lines", 10, map[string]int{"new": 11, "kept": 20, "grown": 31, "small": 10}, map[string]int{"kept": 20, "grown": 30}), 2)
	require.Len(t, compare("lines", 10, map[string]int{"better": 9}, map[string]int{"better": 12}), 1, "an exception that is not needed")
}
