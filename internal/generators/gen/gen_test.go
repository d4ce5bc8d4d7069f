package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

func tensorDir(t *testing.T) string {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	return filepath.Join(root, "tensor")
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	require.NoError(t, repo.WithGenerated("tensor", Generate, (*repo.Generated).Current))
}

func TestGeneratedFilesAreDeterministicAndShort(t *testing.T) {
	first, err := Generate(tensorDir(t))
	require.NoError(t, err)
	second, err := Generate(tensorDir(t))
	require.NoError(t, err)
	require.Equal(t, first, second)
	for name, src := range first.Files {
		require.True(t, bytes.HasPrefix(src, []byte(header)), name)
		require.LessOrEqual(t, bytes.Count(src, []byte("\n")), 600, name)
	}
}

// Users read the comments: each begins with the name it documents, ends a
// sentence and keeps to the width.
func TestComments(t *testing.T) {
	files, err := Generate(tensorDir(t))
	require.NoError(t, err)
	n := 0
	for name, src := range files.Files {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n++
			doc := fn.Doc.Text()
			require.True(t, strings.HasPrefix(doc, fn.Name.Name+" "), "%s: %s", fn.Name.Name, doc)
			first, _, _ := strings.Cut(doc, "\n\n")
			require.Regexp(t, `[.]\s*$`, first)
			for _, line := range strings.Split(doc, "\n") {
				require.LessOrEqual(t, len([]rune(line)), width, line)
			}
		}
	}
	require.Greater(t, n, 2*len(api.Ops())-20)
	for _, o := range api.Ops() {
		for _, f := range api.Of(o) {
			words := strings.FieldsFunc(strings.Join(docOf(f, false), " "), func(r rune) bool { return !isWord(r) })
			for _, a := range o.Codec().Fields(o.Codec().Zero()) {
				if strings.Contains(a.Name, "_") {
					require.NotContains(t, words, a.Name, "the text form's name in the comment of %s", f.Name)
				}
			}
		}
	}
}

func TestCollisionsAreListed(t *testing.T) {
	dir := t.TempDir()
	src := "package tensor\n\ntype Tensor struct{}\n\nfunc Relu() {}\n\nvar Add, Unrelated int\n\nfunc (x *Tensor) MulInPlace() {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hand.go"), []byte(src), 0o644))
	_, err := Generate(dir)
	require.Error(t, err)
	require.Equal(t, `operator add needs the name Add, which package tensor declares already
operator mul needs the name Tensor.MulInPlace, which package tensor declares already
operator relu needs the name Relu, which package tensor declares already`, err.Error())
}

func TestSource(t *testing.T) {
	for _, c := range []struct{ op, form, want string }{
		{"sub", "RSubScalar", `// RSubScalar is [Sub] with the number v in place of x, and x in place of other.
//
// The optional [SubAttrs], at most one, sets Alpha.
func RSubScalar(x *Tensor, v any, opts ...SubAttrs) *Tensor {
	attrs := options(std.Sub, opts)
	attrs.Other = scalarOf(v, std.Sub)
	attrs.Reverse = true
	return call(std.Sub, attrs, false, sizeArgs{}, x)[0]
}
`},
		{"cat", "Cat", `// Cat joins tensors along a dimension; all other sizes agree.
func Cat(tensors []*Tensor, dim int) *Tensor {
	return call(std.Cat, DimAttrs{Dim: dim}, false, sizeArgs{}, tensors...)[0]
}
`},
		{"narrow", "Narrow", `// Narrow takes length elements of one dimension, from start on.
//
// start and length may be ints or [Size] values.
func Narrow(x *Tensor, dim int, start, length any) *Tensor {
	var sized sizeArgs
	attrs := NarrowAttrs{Dim: dim, Start: sized.dim(start), Length: sized.dim(length)}
	return call(std.Narrow, attrs, false, sized, x)[0]
}
`},
		{"norm", "Norm", `// Norm is the p-norm over dimensions, the Euclidean one unless p says
// otherwise.
//
// p is a Go number or bool, or nil for none.
func Norm(x *Tensor, p any, dim ...int) *Tensor {
	return call(std.Norm, NormAttrs{P: scalarOf(p, std.Norm), Dim: Ints(dim...)}, false, sizeArgs{}, x)[0]
}
`},
		{"rand", "RandWith", `// RandWith is [Rand] with options after size, in one [SizeAttrs].
//
// size is a list of ints or [Size] values, or a single one. attrs sets DType.
func RandWith(key *Tensor, size any, attrs SizeAttrs) *Tensor {
	var sized sizeArgs
	onlyOptions(std.Rand, attrs)
	attrs.Size = sized.list(size)
	return call(std.Rand, attrs, false, sized, key)[0]
}
`},
		{"max_dim", "MaxDim", `// MaxDim takes the greatest elements along a dimension and the indices of the
// first ones; NaN wins.
//
// The optional [MinMaxAttrs], at most one, sets KeepDim.
func MaxDim(x *Tensor, dim int, opts ...MinMaxAttrs) (values, indices *Tensor) {
	attrs := options(std.MaxDim, opts)
	attrs.Dim = dim
	res := call(std.MaxDim, attrs, false, sizeArgs{}, x)
	return res[0], res[1]
}
`},
	} {
		var found []*api.Func
		for _, f := range api.Of(op.Lookup(c.op)) {
			if f.Name == c.form {
				found = append(found, f)
			}
		}
		require.Len(t, found, 1, c.form)
		src, err := render([]decl{function(found[0])})
		require.NoError(t, err)
		_, src, _ = bytes.Cut(src, []byte("\n// "+c.form))
		require.Equal(t, c.want, "// "+c.form+string(src))
	}
}

// The name of a struct shows its fields, which go doc does not show for a struct of
// another package.
func TestStructsShowTheirFields(t *testing.T) {
	files, err := Generate(tensorDir(t))
	require.NoError(t, err)
	named := map[string]bool{}
	for name, src := range files.Files {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			spec := g.Specs[0].(*ast.TypeSpec)
			require.True(t, spec.Assign.IsValid())
			require.True(t, strings.HasPrefix(g.Doc.Text(), spec.Name.Name+" "), spec.Name.Name)
			named[spec.Name.Name] = true
			for _, o := range api.Ops() {
				if api.Of(o)[0].AttrsType() != spec.Name.Name {
					continue
				}
				for _, a := range o.Codec().Fields(o.Codec().Zero()) {
					require.Regexp(t, `(?m)^\t`+a.GoName+` +`+reflect.TypeOf(a.Value).String(), g.Doc.Text())
				}
			}
		}
	}
	for _, o := range api.Ops() {
		if name := api.Of(o)[0].AttrsType(); name != "" {
			require.True(t, named[name], "%s of %s has no name in tensor", name, o.Name)
		}
	}
	pool := string(files.Files["pool_gen.go"])
	require.Contains(t, pool, `//	KernelSize op.Ints // the argument kernelSize
//	Stride     op.Ints
`)
	require.Contains(t, pool, "// [Ints] makes values of fields.\n")
	require.Contains(t, string(files.Files["activation_gen.go"]), "//	Approximate string // \"tanh\"\n")
}
