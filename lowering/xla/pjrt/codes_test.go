//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// The bodies of these functions are the examples of package diag; the test compares the
// texts and runs them.

func exampleFX5180(*pjrt.Client) error {
	_, err := pjrt.Load("/no/such/plugin.so")
	return err
}

func exampleFX5181(*pjrt.Client) error {
	_, err := pjrt.Load("pjrt_c_api_old_plugin.so")
	return err
}

func exampleFX5182(client *pjrt.Client) error {
	_, err := client.Compile("no program", pjrt.CompileOptions{})
	return err
}

func exampleFX5183(client *pjrt.Client) error {
	client.Close()
	_, err := client.Upload(context.Background(), array.New(array.F32, 2), nil)
	return err
}

func exampleFX5184(client *pjrt.Client) error {
	_, err := client.Compile("module", pjrt.CompileOptions{Devices: []int{7}})
	return err
}

func TestEveryCodeHasItsExample(t *testing.T) {
	f := load(t)
	examples := map[diag.Code]func(*pjrt.Client) error{
		"FX5180": exampleFX5180, "FX5181": exampleFX5181, "FX5182": exampleFX5182, "FX5183": exampleFX5183, "FX5184": exampleFX5184,
	}
	text := sources(t)
	t.Chdir(filepath.Dir(build(t, "pjrt_c_api_old_plugin.so", "-DFAKE_MINOR=39")))
	found := 0
	for _, info := range diag.Codes() {
		if !strings.HasPrefix(string(info.Code), "FX518") {
			continue
		}
		found++
		run := examples[info.Code]
		require.NotNil(t, run, info.Code)
		require.ErrorIs(t, run(f.client(t)), info.Code)
		require.Equal(t, text["example"+string(info.Code)], info.Example, info.Code)
	}
	require.Equal(t, len(examples), found)
}

// sources returns the bodies of the functions of this file.
func sources(t *testing.T) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "codes_test.go", nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			var b bytes.Buffer
			require.NoError(t, printer.Fprint(&b, set, fn.Body.List))
			out[fn.Name.Name] = strings.TrimSpace(b.String())
		}
	}
	return out
}
