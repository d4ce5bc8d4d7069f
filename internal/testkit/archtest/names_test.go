package archtest

import (
	"go/ast"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Words that many rooms would like for a type of their own, and those that have them. What
// these types are is what the field means by the word; others say more.
var commonNames = map[string][]string{
	"Value": {
		"lowering",                        // a tensor where a target keeps it
		"lowering/xla/internal/stablehlo", // MLIR's word
		"op",                              // of a graph, while calls are made
		"op/expr",                         // of an expression: static single assignment
	},
	"Program": {
		"kernel/internal/program",      // straight-line code over elements
		"lazy",                         // a step of a session
		"lowering/gpu/internal/device", // OpenCL's word
		"lowering/xla",                 // a StableHLO program
		"tracer/record",                // what is recorded
	},
	"Split": {
		"kernel/internal/move", // the operator
		"lowering",             // of a graph over two targets
		"lowering/shard",       // of a tensor along the axes of a mesh
	},
}

func TestCommonNames_areOfFewRooms(t *testing.T) {
	rooms := map[string][]string{}
	for _, s := range handWritten(t) {
		if room := path.Dir(s.path); !strings.HasSuffix(s.path, "_test.go") && !isMachinery(room) {
			for name := range typeNames(s.file) {
				if commonNames[name] != nil {
					rooms[name] = append(rooms[name], room)
				}
			}
		}
	}
	for _, list := range rooms {
		slices.Sort(list)
	}
	require.Equal(t, commonNames, rooms, "give a new type a name that says what it is")
}

// typeNames yields the types that a file declares.
func typeNames(f *ast.File) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && !yield(t.Name.Name) {
					return
				}
			}
		}
	}
}

// awkward are words that documents may not use, and names of tests neither.
var awkward = regexp.MustCompile(`Behind|Beside[A-Z]|ButFor|What(Is|Are|Was)`)

func TestTestNames_arePlain(t *testing.T) {
	require.Regexp(t, awkward, "TestTypesBehindARewrite")
	seen := 0
	for _, s := range handWritten(t) {
		for name, fn := range s.functions {
			if test := fn.Name.Name; strings.HasPrefix(test, "Test") && strings.HasSuffix(s.path, "_test.go") {
				seen++
				require.NotRegexp(t, awkward, test, "%s: name the subject, and after an underscore the case", name)
			}
		}
	}
	require.Greater(t, seen, 1000)
}
