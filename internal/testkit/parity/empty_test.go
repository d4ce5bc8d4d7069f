package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/passes"
)

// emptied names the function that the test binary runs without, in its environment.
const emptied = "GOFX_PARITY_EMPTY"

// share of the pairs of a row and a function it rests on that must fail without the
// function.
const share = 0.95

// only limits the areas that TestRowsFailWithoutWhatTheyRestOn looks at.
var only = flag.String("area", "", "the area, such as 2.5, whose functions are emptied; all without")

// TestRowsFailWithoutWhatTheyRestOn builds the tests of this package once more, with an
// overlay in which every function that a row names returns at once when it is told to,
// and every pass does nothing, and runs the rows without each of them in turn.
func TestRowsFailWithoutWhatTheyRestOn(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") != "1" {
		t.Skip("builds the tests once more and runs them for every function: set GOFX_NIGHTLY=1")
	}
	rows := map[string][]string{} // ids by function
	places := map[string]any{}
	for _, s := range table() {
		if *only != "" && s.id != *only {
			continue
		}
		for _, r := range s.rows {
			for _, f := range r.on {
				rows[name(f)] = append(rows[name(f)], r.id)
				places[name(f)] = f
			}
		}
	}
	binary := filepath.Join(t.TempDir(), "parity.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-o", binary, "-overlay", overlay(t, places), ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	pairs, survived := 0, []string{}
	for f, ids := range rows {
		passed := without(t, binary, f, ids)
		pairs += len(ids)
		for _, id := range passed {
			survived = append(survived, id+" without "+f)
		}
	}
	slices.Sort(survived)
	t.Logf("%d of %d pairs fail; these pass: %v", pairs-len(survived), pairs, survived)
	require.LessOrEqual(t, float64(len(survived)), (1-share)*float64(pairs), "%v", survived)
}

// without runs rows one by one in a binary in which f is empty and returns those that
// pass all the same.
func without(t *testing.T, binary, f string, ids []string) (passed []string) {
	t.Helper()
	for _, id := range ids {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := exec.CommandContext(ctx, binary, "-test.run", "^TestBehaviours$/^"+id+"$")
		cmd.Env = append(os.Environ(), emptied+"="+f, "GOMEMLIMIT=2GiB")
		err := cmd.Run()
		cancel()
		var exit *exec.ExitError
		if err == nil {
			passed = append(passed, id)
		} else {
			require.True(t, errors.As(err, &exit), "%v", err)
		}
	}
	return passed
}

// overlay writes copies of the files with the functions, a file for each room that
// empties passes, and the file that says which files they replace.
func overlay(t *testing.T, places map[string]any) string {
	t.Helper()
	byFile, byRoom := map[string][]string{}, map[string][]string{} // functions, passes
	for f, v := range places {
		if v, ok := v.(variable); ok {
			root, err := repo.Root()
			require.NoError(t, err)
			require.IsType(t, passes.Pass{}, v.value, "%s is no function and no pass", f)
			room := filepath.Join(root, filepath.FromSlash(f[:strings.LastIndexByte(f, '.')]))
			byRoom[room] = append(byRoom[room], f)
			continue
		}
		fn := runtime.FuncForPC(reflect.ValueOf(v).Pointer())
		file, _ := fn.FileLine(fn.Entry())
		byFile[file] = append(byFile[file], f)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	write := func(target string, text []byte) {
		path := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		require.NoError(t, os.WriteFile(path, text, 0o666))
		replace[target] = path
	}
	for file, list := range byFile {
		write(file, empty(t, file, list))
		if room := filepath.Dir(file); byRoom[room] == nil {
			byRoom[room] = []string{}
		}
	}
	for room, list := range byRoom {
		write(filepath.Join(room, "parity_empty.go"), flagFile(filepath.Base(room), list))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, text, 0o666))
	return path
}

// flagFile is a file of a package that knows which passes are empty, and lets the
// passes among the package's variables do nothing.
func flagFile(pkg string, list []string) []byte {
	imports, text := "import \"os\"\n", ""
	if len(list) > 0 {
		imports = "import (\n\t\"os\"\n\t\"" + repo.Module + "/graph\"\n\t\"" + repo.Module + "/passes\"\n)\n"
	}
	for _, f := range list {
		name := f[strings.LastIndexByte(f, '.')+1:]
		text += "\nfunc init() {\n\tif parityEmpty == " + strconv.Quote(f) + " {\n\t\t" + name + " = passes.Pass{Name: " + name + ".Name, Doc: " + name +
			".Doc, Run: func(*passes.Ctx, *graph.Graph) (bool, error) { return false, nil }}\n\t}\n}\n"
	}
	return []byte("package " + pkg + "\n\n" + imports + "\nvar parityEmpty = os.Getenv(\"" + emptied + "\")\n" + text)
}

// empty lets the functions of a file return zero values when they are told to.
func empty(t *testing.T, file string, functions []string) []byte {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	root, err := repo.Root()
	require.NoError(t, err)
	room, err := filepath.Rel(root, filepath.Dir(file))
	require.NoError(t, err)
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	type insertion struct {
		at   int
		text string
	}
	var list []insertion
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !slices.Contains(functions, filepath.ToSlash(room)+"."+declared(fn)) {
			continue
		}
		list = append(list, insertion{fset.Position(fn.Body.Lbrace).Offset + 1,
			" if parityEmpty == " + strconv.Quote(filepath.ToSlash(room)+"."+declared(fn)) + " { return " + zeros(t, fset, fn.Type.Results) + " }; "})
	}
	require.Len(t, list, len(functions), "%s declares %v", file, functions)
	slices.SortFunc(list, func(a, b insertion) int { return b.at - a.at })
	for _, in := range list {
		source = slices.Insert(source, in.at, []byte(in.text)...)
	}
	return source
}

// declared is the name of a function in its room: "(*Node).SetArg".
func declared(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ, pointer := fn.Recv.List[0].Type, false
	if star, ok := typ.(*ast.StarExpr); ok {
		typ, pointer = star.X, true
	}
	if ix, ok := typ.(*ast.IndexExpr); ok {
		typ = ix.X
	}
	recv := typ.(*ast.Ident).Name
	if pointer {
		recv = "(*" + recv + ")"
	}
	return recv + "." + fn.Name.Name
}

// zeros are the results of an empty function.
func zeros(t *testing.T, fset *token.FileSet, results *ast.FieldList) string {
	t.Helper()
	var list []string
	if results != nil {
		for _, r := range results.List {
			var typ bytes.Buffer
			require.NoError(t, printer.Fprint(&typ, fset, r.Type))
			for range max(1, len(r.Names)) {
				list = append(list, "*new("+typ.String()+")")
			}
		}
	}
	return strings.Join(list, ", ")
}
