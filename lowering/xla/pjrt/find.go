package pjrt

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Found is a plugin that lies where plugins are looked for. That a file is there does not
// say that it can be loaded.
type Found struct {
	Name string // "cpu", "cuda"
	Path string
}

// Open loads the plugin of a name ("cpu", "cuda", "tpu"), or at a path where name has a
// separator. An empty name stands for the environment's GOFX_PJRT_PLUGIN, which is a name
// or a path, and without it for the one plugin that [Available] lists. The error is
// NoPlugin where there is none, or more than one to choose from.
func Open(name string) (*Plugin, error) {
	if name == "" {
		name = os.Getenv("GOFX_PJRT_PLUGIN")
	}
	if strings.ContainsAny(name, `/\`) || name == filepath.Base(name) && isLibrary(name) {
		return Load(name)
	}
	all := Available()
	if name == "" {
		if len(all) == 1 {
			return Load(all[0].Path)
		}
		if len(all) > 1 {
			return nil, noPlugin("there is more than one PJRT plugin: "+names(all), "set GOFX_PJRT_PLUGIN to one of these names, or to a path", nil)
		}
		return nil, noPlugin("no PJRT plugin is found", "", nil)
	}
	for _, f := range all {
		if f.Name == name {
			return Load(f.Path)
		}
	}
	msg := "no PJRT plugin called " + strconv.Quote(name) + " is found"
	if len(all) > 0 {
		msg += ", there is " + names(all)
	}
	return nil, noPlugin(msg, "", nil)
}

func names(all []Found) string {
	var out []string
	for _, f := range all {
		out = append(out, f.Name)
	}
	return strings.Join(out, ", ")
}

func isLibrary(name string) bool {
	return slices.Contains([]string{".so", ".dylib", ".dll"}, filepath.Ext(name))
}

// Available lists the plugins that are found, one for a name, in the order of
// PJRT_NAMES_AND_LIBRARY_PATHS ("name:path,name:path", as for JAX), the folders in
// PJRT_PLUGIN_LIBRARY_PATH, those of the system's loader, the packages of the Python environment
// that is active (VIRTUAL_ENV, CONDA_PREFIX) and of the user's Python, and the usual folders. Files are
// known by their names: pjrt_c_api_NAME_plugin.so, pjrt-plugin-NAME.so, pjrt_plugin_NAME.so,
// libpjrt_NAME.so, JAX's xla_NAME_plugin.so, and libtpu.so. It loads nothing.
func Available() []Found {
	var out []Found
	add := func(f Found) {
		if !slices.ContainsFunc(out, func(g Found) bool { return g.Name == f.Name }) {
			out = append(out, f)
		}
	}
	for _, pair := range strings.Split(os.Getenv("PJRT_NAMES_AND_LIBRARY_PATHS"), ",") {
		if name, path, ok := strings.Cut(pair, ":"); ok && name != "" && path != "" {
			add(Found{name, path})
		}
	}
	for _, dir := range folders() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most of them do not exist
		}
		var here []Found
		for _, e := range entries {
			if name := pluginName(e.Name()); name != "" {
				here = append(here, Found{name, filepath.Join(dir, e.Name())})
			}
		}
		slices.SortFunc(here, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path)) })
		for _, f := range here {
			add(f)
		}
	}
	return out
}

func folders() []string {
	loader, usual := "LD_LIBRARY_PATH", []string{"/usr/local/lib", "/usr/local/lib/pjrt", "/usr/lib", "/usr/lib/pjrt"}
	if runtime.GOOS == "darwin" {
		loader = "DYLD_LIBRARY_PATH"
	}
	var out []string
	for _, env := range []string{"PJRT_PLUGIN_LIBRARY_PATH", loader} {
		for _, dir := range filepath.SplitList(os.Getenv(env)) {
			if dir != "" {
				out = append(out, dir)
			}
		}
	}
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(env); dir != "" {
			out = append(out, packages(filepath.Join(dir, "lib"))...)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		lib := filepath.Join(home, ".local", "lib")
		out = append(append(out, packages(lib)...), lib)
	}
	return append(out, usual...)
}

// packages lists the folders of Python's packages below a folder lib, JAX's plugins among them.
func packages(lib string) (out []string) {
	versions, err := os.ReadDir(lib)
	if err != nil {
		return nil
	}
	for _, v := range versions {
		site := filepath.Join(lib, v.Name(), "site-packages")
		if !strings.HasPrefix(v.Name(), "python") {
			continue
		}
		for _, dir := range []string{site, filepath.Join(site, "jax_plugins")} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, e := range entries {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// pluginName returns the name that a file has as a plugin, "" for other files.
func pluginName(file string) string {
	ext := ".so"
	if runtime.GOOS == "darwin" && strings.HasSuffix(file, ".dylib") {
		ext = ".dylib"
	}
	stem, ok := strings.CutSuffix(file, ext)
	if !ok {
		return ""
	}
	if stem == "libtpu" {
		return "tpu"
	}
	for _, form := range [][2]string{{"pjrt_c_api_", "_plugin"}, {"pjrt-plugin-", ""}, {"pjrt_plugin_", ""}, {"libpjrt_", ""}, {"xla_", "_plugin"}} {
		name, ok := strings.CutPrefix(stem, form[0])
		if !ok {
			continue
		}
		if name, ok = strings.CutSuffix(name, form[1]); ok && name != "" {
			return name
		}
	}
	return ""
}
