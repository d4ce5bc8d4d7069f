package compiled

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/compiled/ints"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/rolls"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/zoo"
)

var update = flag.Bool("update", false, "write docs/compile-cases.md")

const root = "../../../"

const pagePath = root + "docs/compile-cases.md"

// find returns the program of a name, nil where it is that of a test.
func find(name string) *program {
	for i := range programs {
		if programs[i].name == name {
			return &programs[i]
		}
	}
	return nil
}

// page is docs/compile-cases.md.
func page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Programs of compiled functions\n\nWritten by `go test ./internal/testkit/compiled -run Page -update`. [compile.md](compile.md) says what compiled functions are; the rows name the programs and tests that hold them.\n\n")
	fmt.Fprintf(&b, "## Programs\n\n`internal/testkit/compiled` has %d programs. Each is called as it is, compiled, and in a lazy session, in three worlds that are alike. Words of the worlds are changed between calls, each one that the program\n"+
		"reads and some of the others, and after each call results, arguments, globals and which values are one are compared. The numbers of records, hits and misses of six calls are asserted program by program.\n\n| class | programs | with a record | run as they are |\n|---|---|---|---|\n", len(programs))
	for _, class := range append(slices.Sorted(maps.Keys(shares)), "break") {
		n, with := 0, 0
		for _, p := range programs {
			if p.class == class {
				if n++; p.want.records > 0 {
					with++
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", class, n, with, n-with)
	}
	networks(&b)
	recorded(&b, "Loops", "rolls", "`internal/testkit/compiled/rolls` has loops of Go, called with 2 to 13 rounds: a loop that rolls has one record.", rolls.Records)
	recorded(&b, "Comparisons of sizes and numbers", "ints", "`internal/testkit/compiled/ints` compares sizes and numbers, and gives sizes to operators as ints. Each program is called with the sizes, or numbers, 1 to 64; those of a record for each keep what they are given from becoming a symbol or an input.", ints.Records)
	section(&b, "Features of MagPy", features)
	fmt.Fprintf(&b, "\n## Cases of MagPy's tests\n\nProgram names stand with the records of six equal calls. For programs that look at data the graphs of a lazy session are told.\n")
	for _, g := range cases {
		fmt.Fprintf(&b, "\n### %s\n", g.group)
		table(&b, g.rows)
	}
	section(&b, "Pitfalls", pitfalls)
	section(&b, "Workloads", workloads)
	return b.String()
}

// networks tells how networks are captured.
func networks(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Networks\n\n`internal/testkit/compiled/zoo` has small networks of the kinds that MagPy was measured on. The table has the graphs of six calls: of a trace, of a lazy session, and the records of a compiled function. A trace refuses\n"+
		"a network that keeps a traced tensor in a field. Each word that a table lists is changed and is a miss, each other one is a hit.\n\n| network | trace | lazy | compiled |\n|---|---|---|---|\n")
	for _, n := range slices.Sorted(maps.Keys(zoo.Captured)) {
		c := zoo.Captured[n]
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", n, c.Trace, c.Lazy, c.Compile)
	}
}

// recorded lists the programs of a room in their order, with what they say of themselves and their records.
func recorded(b *strings.Builder, title, folder, intro string, records map[string]int) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| program | about | records |\n|---|---|---|\n", title, intro)
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, "programs.go"), nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || records[f.Name.Name] == 0 {
			continue
		}
		about := strings.Join(strings.Fields(strings.TrimPrefix(f.Doc.Text(), f.Name.Name+" ")), " ")
		fmt.Fprintf(b, "| `%s` | %s | %d |\n", f.Name.Name, strings.TrimSuffix(about, "."), records[f.Name.Name])
	}
}

func section(b *strings.Builder, title string, rows []row) {
	fmt.Fprintf(b, "\n## %s\n", title)
	table(b, rows)
}

func table(b *strings.Builder, rows []row) {
	fmt.Fprintf(b, "\n| row | about | held by |\n|---|---|---|\n")
	for _, r := range rows {
		held := []string{"none: " + r.none}
		if r.held != "" {
			held = nil
			for _, name := range strings.Split(r.held, ", ") {
				held = append(held, "`"+name+"`"+becomes(name))
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", strings.ReplaceAll(r.id, "_", "\\_"), r.about, strings.Join(held, ", "))
	}
}

// becomes says what becomes of a program.
func becomes(name string) string {
	p := find(name)
	switch n := segments[name]; {
	case n > 0:
		return fmt.Sprintf(" (0, %d graphs)", n)
	case p != nil:
		return fmt.Sprintf(" (%d)", p.want.records)
	}
	return ""
}

func TestPageIsCurrent(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile(pagePath, []byte(page()), 0o666))
		return
	}
	text, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	require.True(t, page() == string(text), "go test ./internal/testkit/compiled -run Page -update")
}

// TestPage_isComplete holds that every row has a program or test that exists, or a reason.
func TestPage_isComplete(t *testing.T) {
	tests := map[string]map[string]bool{}
	exists := func(name string) bool {
		if network, ok := strings.CutPrefix(name, "zoo/"); ok {
			_, ok = zoo.Captured[network]
			return ok
		}
		folder, test, ok := strings.Cut(name, ".")
		if !ok {
			return find(name) != nil
		}
		if tests[folder] == nil {
			tests[folder] = testsOf(t, filepath.Join(root, filepath.FromSlash(folder)))
		}
		return tests[folder][test]
	}
	all := slices.Concat(features, pitfalls, workloads)
	n, none := 0, 0
	for _, g := range cases {
		for _, r := range g.rows {
			if n++; r.none != "" {
				none++
			}
			if slices.Contains(withoutRecords, r.id) {
				name, _, _ := strings.Cut(r.held, ", ")
				if r.id == "static_cf" {
					name = "BreakNorm"
				}
				require.Positive(t, segments[name], r.id)
			}
		}
		all = append(all, g.rows...)
	}
	seen := map[string]bool{}
	for _, r := range all {
		require.False(t, seen[r.id], r.id)
		seen[r.id] = true
		require.NotEqual(t, r.held == "", r.none == "", "%s has a test or a reason", r.id)
		for _, name := range strings.Split(r.held, ", ") {
			require.True(t, name == "" || exists(name), "%s: there is no %s", r.id, name)
		}
	}
	require.Equal(t, []int{25, 17, 128}, []int{len(features), len(pitfalls), n})
	require.LessOrEqual(t, none, 20)
	for _, id := range withoutRecords {
		require.True(t, seen[id], id)
	}
}

// Programs that look at data on their way have no record; a session makes graphs of what lies between.
func TestSegments(t *testing.T) {
	for name, n := range segments {
		p := find(name)
		require.Equal(t, counts{0, 0, 6}, p.want, name)
		j := newJudge(t, p)
		for i := range 6 {
			j.all(fmt.Sprint("call ", i))
		}
		require.Equal(t, n, j.session.Stats().Graphs, name)
	}
}

// testsOf lists the tests, benchmarks and examples in a folder.
func testsOf(t *testing.T, folder string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
