package state

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/effects"
)

// The names that tables are written with, and those that are looked up in them.
func TestNamesOfBothSides(t *testing.T) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "names_types_test.go", nil, 0)
	require.NoError(t, err)
	p, err := (&types.Config{}).Check("github.com/gofx-dev/gofx/compile/state", files, []*ast.File{f}, nil)
	require.NoError(t, err)
	written := p.Scope().Lookup("named").Type()
	read := reflect.TypeFor[named]()
	require.Equal(t, "github.com/gofx-dev/gofx/compile/state.named", nameOf(read))
	require.Equal(t, effects.TypeName(written), nameOf(read))
	s := written.Underlying().(*types.Struct)
	require.Equal(t, read.NumField(), s.NumFields())
	for i := range s.NumFields() {
		require.Equal(t, effects.TypeName(s.Field(i).Type()), nameOf(read.Field(i).Type))
	}
	require.Equal(t, "chan int", nameOf(reflect.TypeFor[chan int]()))
	require.Equal(t, "<-chan []int", nameOf(reflect.TypeFor[<-chan []int]()))
	require.Equal(t, "gopkg.in/yaml.v3.T", unescaped("gopkg.in/yaml%2ev3.T"))
}

func code(f any) unsafe.Pointer {
	return (*face)(unsafe.Pointer(&f)).data
}

func listed(n int) int { return n * 3 }

func make1(n int) func() int { return func() int { return n } }

//go:noinline
func make2[T any](v T) func() T { return func() T { return v } }

func (p *plain) get() int { return p.A }

type leaf struct{ n int }

func (l *leaf) first() int { return l.n + 1 }

// Functions are told apart by package, file and line.
func TestBodies(t *testing.T) {
	const here = "github.com/gofx-dev/gofx/compile/state"
	b, ok := bodyOf(code(listed))
	require.True(t, ok)
	require.Equal(t, Body{here, "names_test.go", 43}, b)
	b, ok = bodyOf(code(make1(2)))
	require.True(t, ok)
	require.Equal(t, Body{here, "names_test.go", 45}, b)
	for what, f := range map[string]any{
		"generic":      make2(3),
		"method value": (&plain{}).get,
	} {
		_, ok = bodyOf(code(f))
		require.False(t, ok, what)
	}
	_, _, own, _ := runtime.Caller(0)
	b, ok = bodyOf(code(func(l *leaf) int { return l.first() }))
	require.True(t, !ok || b.Line == own+1, "code of another function, which was inlined")
	b, ok = bodyOf(code(reflect.TypeFor[int]))
	require.False(t, ok && b.Package == here)
}
