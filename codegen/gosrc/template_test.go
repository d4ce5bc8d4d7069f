package gosrc_test

import (
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen/gosrc"
)

func TestTemplatesReplaceNamesAndImportPackages(t *testing.T) {
	f := jen.NewFile("p")
	f.Add(gosrc.Template(`
// Load makes a Model.
func (m *Model) Load(PARAMS) *array.Array {
	LINES
	m.Load(Model.New, m.Model)
	NONE
	return m.array.New(VALUE)
}`, map[string]any{
		"Model": "Net", "Load": "LoadNet", "PARAMS": jen.List(jen.Id("a").Int(), jen.Id("r").Qual("io", "Reader")), "VALUE": jen.Lit(3), "NONE": []jen.Code{},
		"LINES": []jen.Code{jen.Id("f").Call(), jen.Id("g").Call()},
	}))
	require.Equal(t, `package p

import (
	array "github.com/gofx-dev/gofx/array"
	"io"
)

// LoadNet makes a Net.
func (m *Net) LoadNet(a int, r io.Reader) *array.Array {
	f()
	g()
	m.Load(Net.New, m.Model)
	return m.array.New(3)
}
`, f.GoString())
}
