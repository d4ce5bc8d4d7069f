//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// alone hides the plugins of this machine.
func alone(t *testing.T) {
	for _, env := range []string{"GOFX_PJRT_PLUGIN", "PJRT_NAMES_AND_LIBRARY_PATHS", "PJRT_PLUGIN_LIBRARY_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(env, "")
	}
	t.Setenv("HOME", t.TempDir())
	if len(pjrt.Available()) > 0 {
		t.Skip("plugins are installed on this machine")
	}
}

func TestPluginsAreFoundByTheirNames(t *testing.T) {
	alone(t)
	a, b := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(a, "pjrt_c_api_cpu_plugin.so"), filepath.Join(a, "pjrt-plugin-cuda.so"), filepath.Join(a, "libm.so"), filepath.Join(a, "pjrt_c_api__plugin.so"), filepath.Join(a, "pjrt_plugin_x.txt"),
		filepath.Join(b, "pjrt_plugin_cpu.so"), filepath.Join(b, "xla_rocm_plugin.so"), filepath.Join(b, "libtpu.so"), filepath.Join(b, "pjrt_c_api_cuda_plugin.so"),
	} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	t.Setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "mine:/opt/mine.so,broken")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", a+string(filepath.ListSeparator)+filepath.Join(a, "none"))
	loader := "LD_LIBRARY_PATH"
	if runtime.GOOS == "darwin" {
		loader = "DYLD_LIBRARY_PATH"
	}
	t.Setenv(loader, b)
	require.Equal(t, []pjrt.Found{
		{"mine", "/opt/mine.so"}, {"cpu", filepath.Join(a, "pjrt_c_api_cpu_plugin.so")}, {"cuda", filepath.Join(a, "pjrt-plugin-cuda.so")},
		{"rocm", filepath.Join(b, "xla_rocm_plugin.so")}, {"tpu", filepath.Join(b, "libtpu.so")},
	}, pjrt.Available())
	_, err := pjrt.Open("")
	require.ErrorIs(t, err, pjrt.NoPlugin)
	require.ErrorContains(t, err, "more than one PJRT plugin: mine, cpu, cuda, rocm, tpu")
	_, err = pjrt.Open("metal")
	require.ErrorContains(t, err, `no PJRT plugin called "metal" is found, there is mine, cpu, cuda, rocm, tpu`)
	_, err = pjrt.Open("cpu") // an empty file
	require.ErrorIs(t, err, pjrt.NoPlugin)
}

// Packages of Python bring plugins: JAX's below jax_plugins, others next to their modules.
func TestPluginsOfPythonsPackages(t *testing.T) {
	alone(t)
	env := t.TempDir()
	site := filepath.Join(env, "lib", "python3.11", "site-packages")
	for _, path := range []string{filepath.Join("jax_plugins", "xla_cuda12", "xla_cuda_plugin.so"), filepath.Join("some_cpu", "libpjrt_cpu.so"), filepath.Join("numpy", "linalg", "pjrt_plugin_deep.so"), "module.py"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(site, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(site, path), nil, 0o600))
	}
	require.Empty(t, pjrt.Available())
	want := []pjrt.Found{{"cpu", filepath.Join(site, "some_cpu", "libpjrt_cpu.so")}, {"cuda", filepath.Join(site, "jax_plugins", "xla_cuda12", "xla_cuda_plugin.so")}}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, env)
		require.ElementsMatch(t, want, pjrt.Available())
		t.Setenv(name, "")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".local"), 0o700))
	require.NoError(t, os.Rename(filepath.Join(env, "lib"), filepath.Join(home, ".local", "lib")))
	require.Len(t, pjrt.Available(), 2)
}

func TestOpenTakesNamesPathsAndTheEnvironment(t *testing.T) {
	path := build(t, "pjrt_c_api_fake_plugin.so")
	alone(t)
	_, err := pjrt.Open("")
	require.ErrorIs(t, err, pjrt.NoPlugin)
	open := func(name string) {
		p, err := pjrt.Open(name)
		require.NoError(t, err)
		require.Equal(t, path, p.Path())
	}
	open(path)
	t.Setenv("GOFX_PJRT_PLUGIN", path)
	open("")
	only := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(only, "pjrt_c_api_other_plugin.so")))
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", only)
	t.Setenv("GOFX_PJRT_PLUGIN", "other")
	p, err := pjrt.Open("")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(only, "pjrt_c_api_other_plugin.so"), p.Path())
	t.Setenv("GOFX_PJRT_PLUGIN", "")
	again, err := pjrt.Open("") // the only one there is
	require.NoError(t, err)
	require.Same(t, p, again)
	t.Chdir(filepath.Dir(path))
	open(filepath.Base(path))
}

func TestBrokenPlugins(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.so")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err := pjrt.Load(empty)
	require.ErrorIs(t, err, pjrt.NoPlugin)
	pipe := filepath.Join(t.TempDir(), "pipe.so")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, t.TempDir()} { // neither is waited for
		_, err = pjrt.Load(path)
		require.ErrorIs(t, err, pjrt.NoPlugin)
		require.ErrorContains(t, err, "it is no file")
	}
	for _, c := range []struct {
		flag, says string
		code       error
	}{
		{"-DFAKE_NO_EXPORT", "GetPjrtApi", pjrt.NoPlugin},
		{"-DFAKE_NO_TABLE", "gives no interface", pjrt.NoPlugin},
		{"-DFAKE_MAJOR=1", "has version 1.104 of the PJRT C API", pjrt.BadVersion},
		{"-DFAKE_MINOR=39", "expected major version 0, minor version 40 or later", pjrt.BadVersion},
		{"-DFAKE_NO_START", "PJRT_Plugin_Initialize failed: unavailable: no driver", pjrt.PluginFailed},
	} {
		for range 2 { // and it stays so
			_, err := pjrt.Load(build(t, "broken"+c.flag+".so", c.flag))
			require.ErrorIs(t, err, c.code, c.flag)
			require.ErrorContains(t, err, c.says)
		}
	}
}

// A plugin whose table ends early lacks functions, and says so when they are called.
func TestShortTable(t *testing.T) {
	p, err := pjrt.Load(build(t, "short.so", "-DFAKE_SHORT", "-DFAKE_MINOR=40"))
	require.NoError(t, err)
	c, err := p.NewClient()
	require.NoError(t, err)
	e, err := c.Compile(module("identity", "2xf32"), pjrt.CompileOptions{})
	require.NoError(t, err)
	require.Equal(t, []pjrt.Output{{}}, e.Outputs())
	require.NoError(t, c.Close())
}

// A plugin of a later version has structs with more fields, and refuses shorter ones.
func TestLaterVersion(t *testing.T) {
	p, err := pjrt.Load(build(t, "later.so", "-DFAKE_GROWN=24", "-DFAKE_MINOR=140"))
	require.NoError(t, err)
	require.NoError(t, everything(p))
}
