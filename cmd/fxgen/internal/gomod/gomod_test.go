package gomod

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLacks_otherComplaints(t *testing.T) {
	require.Empty(t, Lacks("# example.com/m\n./m.go:3:5: undefined: x\n"))
	require.Equal(t, "x.go:3:2: no required module provides package a.b/c; to add it:", Lacks("go: finding\n\tx.go:3:2: no required module provides package a.b/c; to add it:\n\tgo get a.b/c\n"))
}

func TestSkewed(t *testing.T) {
	require.NoError(t, skewed("v0.2.0", &module{Version: "v0.2.0"}))
	require.NoError(t, skewed("(devel)", &module{Version: "v0.2.0"}))
	require.NoError(t, skewed("v0.2.0", &module{Version: "v0.0.0", Replace: &struct{}{}}))
	require.EqualError(t, skewed("v0.2.0", &module{Version: "v0.1.0"}), "fxgen is v0.2.0, go.mod requires github.com/gofx-dev/gofx v0.1.0")
}

// TestComplete_keepsWhatTheUserHas completes a go.mod whose replacements and requirements hold:
// the path of a replacement stays relative to the module. Of a module that gofx requires in a later
// version, that one counts.
func TestComplete_keepsWhatTheUserHas(t *testing.T) {
	top := t.TempDir()
	checkout, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	dir, folder := filepath.Join(top, "user"), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o666))
	}
	write("other/go.mod", "module example.com/other\n\ngo 1.26.0\n")
	write("cmp/go.mod", "module github.com/google/go-cmp\n\ngo 1.26.0\n")
	write("user/go.mod", "module example.com/user\n\ngo 1.26.0\n\nrequire (\n\t"+Path+" v0.0.0\n\texample.com/other v1.0.0\n\tgithub.com/google/go-cmp v0.1.0\n)\n\n"+
		"replace (\n\t"+Path+" => "+checkout+"\n\texample.com/other => ../other\n\tgithub.com/google/go-cmp v0.1.0 => ../cmp\n)\n")
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	download := exec.Command("go", "mod", "download") // a build alone leaves out the go.mod of modules that it does not need
	download.Dir = checkout
	require.NoError(t, download.Run())
	env := append(os.Environ(), "GOWORK=", "GOFLAGS=", "GOPROXY=off", "GOSUMDB=off")
	flags, err := Complete(t.Context(), dir, env, folder)
	require.NoError(t, err)
	cmd := exec.Command("go", append(append([]string{"list"}, flags...), "-m", "-json", "example.com/other", "github.com/google/go-cmp")...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), filepath.Join(top, "other"))
	require.NotContains(t, string(out), "v0.1.0")
	sums, err := os.ReadFile(filepath.Join(folder, "go.sum"))
	require.NoError(t, err)
	require.Contains(t, string(sums), "github.com/dave/jennifer ")
	after, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.NoFileExists(t, filepath.Join(dir, "go.sum"))

	write("user/go.work", "go 1.26.0\n\nuse .\n")
	_, err = Complete(t.Context(), dir, env, folder)
	require.ErrorContains(t, err, "workspace")
	require.NoError(t, os.Remove(filepath.Join(dir, "go.work")))
	write("user/go.mod", "module example.com/user\n\ngo 1.26.0\n")
	_, err = Complete(context.Background(), dir, env, folder)
	require.Error(t, err, "gofx is not required")
}

// TestModuleIsWhatTheGoCommandSays reads a version and a replacement.
func TestModuleIsWhatTheGoCommandSays(t *testing.T) {
	var m module
	require.NoError(t, json.Unmarshal([]byte(`{"Path": "p", "Version": "v0.0.0", "Dir": "d", "GoMod": "d/go.mod", "Replace": {"Path": "../.."}}`), &m))
	require.NotNil(t, m.Replace)
	require.Equal(t, "d/go.mod", m.GoMod)
}

// TestStampNamesTheVariable: the linker sets nothing, and says nothing, where a name is wrong.
func TestStampNamesTheVariable(t *testing.T) {
	built = "v1.2.3"
	defer func() { built = "" }()
	require.Equal(t, "v1.2.3", Version())
	require.Equal(t, "-ldflags=-X="+reflect.TypeFor[module]().PkgPath()+".built=v1.2.3", Stamp())
}
