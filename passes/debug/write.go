package debug

import (
	"encoding/base64"
	"go/format"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// TestFile says how the test of a minimal case is written.
type TestFile struct {
	Package string // the name of the package, "net_test"
	Name    string // of the test, "TestMinimised"
	// Fails is a Go expression of type debug.Failure, and Imports the import paths of
	// what it names besides this package; "name path" gives one a name.
	Fails   string
	Imports []string
}

// maxEmbedded bounds the bytes of the values that a written test holds.
const maxEmbedded = 1 << 20

// Write writes a Go test that fails as the case does, and passes once the mistake is
// mended: the graph in the text form, tensors by a formula except for those whose values
// matter, and the check. It compiles where the packages of f.Imports, and those that the
// graph's operators are defined in, can be imported.
func Write(m *Minimal, f TestFile) ([]byte, error) {
	tensors, err := m.literal()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("package " + f.Package + "\n\nimport (\n\t\"context\"\n\t\"testing\"\n\n")
	for _, path := range append(m.imports(f.Imports), f.Imports...) {
		name, p, named := strings.Cut(path, " ")
		if !named {
			name, p = "", path
		}
		b.WriteString("\t" + name + " " + strconv.Quote(p) + "\n")
	}
	b.WriteString("\t" + strconv.Quote(modulePath+"/passes/debug") + "\n)\n\n")
	b.WriteString("// " + f.Name + " fails as what it was made from did:\n//\n")
	for line := range strings.Lines(m.Err.Error()) {
		b.WriteString("//\t" + strings.TrimRight(line, "\n") + "\n")
	}
	text := graph.Print(m.Module, graph.PrintOptions{Positions: true, BaseNames: true})
	b.WriteString("func " + f.Name + "(t *testing.T) {\n\tconst text = " + quoted(text) + "\n")
	b.WriteString("\tc, err := debug.Read(text, " + tensors + ")\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n")
	b.WriteString("\tvar fails debug.Failure = " + f.Fails + "\n")
	b.WriteString("\tif err := fails(context.Background(), c); err != nil {\n\t\tt.Error(err)\n\t}\n}\n")
	src, err := format.Source([]byte(b.String()))
	if err != nil {
		return nil, diag.New(BadCase, "the test is no Go source: "+err.Error()).WithHint("see TestFile.Fails, Package and Name")
	}
	return src, nil
}

const modulePath = "github.com/gofx-dev/gofx"

// quoted returns a literal of several lines, where the text can stand in one.
func quoted(text string) string {
	if strings.ContainsAny(text, "`\r") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

// imports lists the packages that define the graph's operators.
func (m *Minimal) imports(given []string) (list []string) {
	add := func(path string) {
		used := func(p string) bool { return p == path || strings.HasSuffix(p, " "+path) }
		if !slices.ContainsFunc(given, used) && !slices.ContainsFunc(list, used) {
			list = append(list, "_ "+path)
		}
	}
	for n := range m.Module.All() {
		if o := n.Op(); o != nil && !o.Structural() {
			path := modulePath + "/op/std"
			if i := strings.LastIndex(o.Key(), "."); i > 0 {
				path = o.Key()[:i]
			}
			add(path)
		}
	}
	slices.Sort(list)
	return list
}

// literal returns the Tensors that Read needs: of those that matter the values, of those
// whose sizes the graph does not know the types.
func (m *Minimal) literal() (string, error) {
	types := map[string]shape.Type{}
	for _, p := range m.Module.Params() {
		types[p.Path] = p.TypeOf()
	}
	for _, p := range m.Module.Graph.Inputs() {
		types[p.String()] = p.Type()
	}
	var b strings.Builder
	total := 0
	for _, t := range m.slots() {
		typ := shape.TypeOf(t.value)
		text := strconv.Quote(t.name) + ": " + strconv.Quote(typ.String())
		if slices.Contains(m.Kept, t.name) {
			data := array.Bytes(array.Contiguous(t.value))
			if total += len(data); total > maxEmbedded {
				return "", diag.New(BadCase, "tensor "+strconv.Quote(t.name)+" of "+strconv.Itoa(len(data))+" bytes is too large for a test, and its values matter").
					WithHint("give smaller inputs and weights with which it fails")
			}
			text = strconv.Quote(t.name) + ": " + strconv.Quote(typ.String()+" "+base64.StdEncoding.EncodeToString(data))
		} else if _, _, known := types[t.name].Concrete(); known {
			continue
		}
		b.WriteString(text + ",\n")
	}
	if b.Len() == 0 {
		return "nil", nil
	}
	return "debug.Tensors{\n" + b.String() + "}", nil
}
