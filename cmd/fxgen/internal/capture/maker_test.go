package capture

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// makersText has modules of all kinds and their constructors.
const makersText = `package a

import "github.com/gofx-dev/gofx/tensor"

type Net[T int | float64] struct{ Scale T }

func (m *Net[T]) Forward(x *tensor.Tensor) *tensor.Tensor { return x }

func NewNet[T int | float64](s T) *Net[T] { return &Net[T]{s} }

type (
	Floats          = Net[float64]
	FloatsPointer   = *Net[float64]
	Same[T float64] = Net[T]
	Plain           struct{}
	Other           = Plain
	Layer           interface{ Forward(x *tensor.Tensor) *tensor.Tensor }
)

func NewFloats() *Floats              { return &Floats{2} }
func NewFloatsPointer() FloatsPointer { return &Floats{2} }

func (Plain) Forward(x *tensor.Tensor) *tensor.Tensor { return x }

func NewPlain() Plain              { return Plain{} }
func TryPlain(bool) (Plain, error) { return Plain{}, nil }
func TryOther() (*Other, error)    { return &Other{}, nil }
func NewOther() *Plain             { return nil }
func MakeLayer() Layer             { return Plain{} }
func TryLayer() (Layer, error)     { return Plain{}, nil }
func Three() (*Plain, int, error)  { return nil, 0, nil }
func Number() int                  { return 1 }

type (
	List    []int
	Func    func(x *tensor.Tensor) *tensor.Tensor
	Options struct{ n int }
)

func (List) Forward(x *tensor.Tensor) *tensor.Tensor     { return x }
func (f Func) Forward(x *tensor.Tensor) *tensor.Tensor   { return f(x) }
func (*Options) Forward(x *tensor.Tensor) *tensor.Tensor { return x }

func NewList() List                                   { return nil }
func NewOptions(with ...func(*Options)) *Options      { return &Options{} }
func OptionsOf(n int, with ...func(*Options)) Options { return Options{n} }
`

// universe imports nothing but a package of tensors.
type universe struct{ tensor *types.Package }

func (u universe) Import(path string) (*types.Package, error) {
	if path == tensorPath {
		return u.tensor, nil
	}
	return importer.Default().Import(path)
}

func TestConstructors(t *testing.T) {
	fset := token.NewFileSet()
	check := func(u universe, path string, texts ...string) (*types.Package, []*ast.File, error) {
		var files []*ast.File
		for _, text := range texts {
			f, err := parser.ParseFile(fset, path+".go", text, 0)
			require.NoError(t, err, text)
			files = append(files, f)
		}
		c := types.Config{Importer: u}
		p, err := c.Check(path, fset, files, nil)
		return p, files, err
	}
	tensors, _, err := check(universe{}, tensorPath, "package tensor\ntype Tensor struct{}")
	require.NoError(t, err)
	u := universe{tensors}
	pkg, _, err := check(u, "example.com/a", makersText)
	require.NoError(t, err)

	for _, test := range []struct{ name, expr, body, err string }{
		{"Floats", "", "m := NewFloats(); return m, nil", ""},
		{"FloatsPointer", "", "m := NewFloatsPointer(); return m, nil", ""},
		{"Floats", "NewNet[float64](3)", "m := NewNet[float64](3); return m, nil", ""},
		{"Floats", "Net[float64]{3}", "m := Net[float64]{3}; return &m, nil", ""},
		{"Floats", "NewNet(3)", "", "-new NewNet(3) gives *Net[int], expected *Floats"},
		{"Net", "", "", "Net is a generic type, expected one with type arguments"},
		{"Net", "NewNet(3)", "m := NewNet(3); return m, nil", ""},
		{"Net", "Net[int]{}", "m := Net[int]{}; return &m, nil", ""},
		{"Net", "&Plain{}", "", "-new &Plain{} gives Plain, expected an instance of Net"},
		{"Same", "", "", "Same is a generic type"},
		{"Same", "NewNet(3.0)", "m := NewNet(3.0); return m, nil", ""},
		{"Plain", "", "m := NewPlain(); return &m, nil", ""},
		{"Plain", "TryPlain(true)", "m, err := TryPlain(true); return &m, err", ""},
		{"Plain", "TryPlain()", "", "not enough arguments in call to TryPlain"},
		{"Plain", "TryOther()", "m, err := TryOther(); return m, err", ""},
		{"Plain", "Three()", "", "-new Three() returns (*Plain, int, error), expected *Plain or (*Plain, error)"},
		{"Plain", "Number()", "", "-new Number() gives int, expected *Plain"},
		{"Plain", "MakeLayer()", `m := MakeLayer(); if _, ok := m.(*Plain); m != nil && !ok { return nil, fxgen_fmt.Errorf("it gives a %T, expected *Plain", m) }; return m, nil`, ""},
		{"FloatsPointer", "TryLayer()", `m, err := TryLayer(); if _, ok := m.(FloatsPointer); m != nil && !ok { return nil, fxgen_fmt.Errorf("it gives a %T, expected FloatsPointer", m) }; return m, err`, ""},
		{"Other", "", "m := NewOther(); return m, nil", ""},
		{"List", "", "", "List is a []int, expected a struct"},
		{"Func", "Func(nil)", "", "expected a struct"},
		{"Options", "", "m := NewOptions(); return m, nil", ""},
		{"Options", "OptionsOf(2)", "m := OptionsOf(2); return &m, nil", ""},
		{"Options", "OptionsOf()", "", "not enough arguments"},
		{"Layer", "MakeLayer()", "", "Layer is an interface"},
	} {
		l := &loaded{pkg: &packages.Package{Name: "a", PkgPath: "example.com/a", Types: pkg, Fset: fset}}
		err := l.find(&Target{Pattern: "./a", Name: test.name, New: test.expr})
		if test.err != "" {
			require.ErrorContains(t, err, test.err, "%+v", test)
			continue
		}
		require.NoError(t, err, "%+v", test)
		require.Equal(t, test.body, l.how.body(l.newExpr), test.name)
		_, _, err = check(u, "example.com/a", makersText, string(l.names()))
		require.NoError(t, err, "%+v: the package shows what it has", test)
	}

	l := &loaded{pkg: &packages.Package{Name: "a", PkgPath: "example.com/a", Types: pkg, Fset: fset}}
	err = l.find(&Target{Pattern: "./a", Name: "Plain", New: "TryPlain()"})
	require.ErrorContains(t, err, "such as NewOther, NewPlain, TryOther, TryPlain(...)", "what makes one, pointer or not")
	require.Equal(t, making{value: true}, l.makers()["NewPlain()"])
	require.Equal(t, making{err: true}, l.makers()["TryOther()"])
	require.NotContains(t, l.makers(), "MakeLayer()")
}
