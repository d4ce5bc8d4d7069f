package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
)

const modulePath = gomod.Path

// home is a module in which programs that use gofx can be built: the user's own
// where it requires gofx, else the checkout or the version that this program was
// built from.
type home struct {
	dir  string
	path string // the module's
	own  bool   // it is the source of this program
}

// findHome looks for a module from dir upwards.
func findHome(ctx context.Context, dir string) (h home, err error) {
	if h, ok := mainModule(ctx, dir); ok {
		return h, nil
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		root := filepath.Join(filepath.Dir(file), "../../../..")
		if h, ok := mainModule(ctx, root); ok && h.path == modulePath {
			h.own = true
			return h, nil
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return home{}, errors.New("no go command was found, which builds what this needs: install Go and put it into PATH, or write a form that needs none, as .html and .dot are")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || !strings.HasPrefix(info.Main.Version, "v") {
		return home{}, errors.New("no module with gofx to build in: run fxgen in a module whose go.mod requires " + modulePath)
	}
	return home{}, errors.New("no module with gofx to build in: run go get -tool " + modulePath + "/cmd/fxgen@" + info.Main.Version + " in your module")
}

// mainModule returns the module that a folder is in, if it is gofx or requires it.
func mainModule(ctx context.Context, dir string) (home, bool) {
	cmd := proc.Command(ctx, "go", "list", "-mod=readonly", "-m", "-json", modulePath)
	cmd.Dir = dir
	var text bytes.Buffer
	cmd.Stdout = &text
	err := proc.Run(ctx, cmd)
	var m struct {
		Path, Dir string
		Main      bool
	}
	if err != nil || json.Unmarshal(text.Bytes(), &m) != nil || m.Dir == "" {
		return home{}, false
	}
	if m.Main {
		return home{dir: m.Dir, path: m.Path}, true
	}
	cmd = proc.Command(ctx, "go", "list", "-mod=readonly", "-m", "-json")
	cmd.Dir = dir
	text.Reset()
	cmd.Stdout = &text
	if proc.Run(ctx, cmd) != nil {
		return home{}, false
	}
	d := json.NewDecoder(&text)
	if d.Decode(&m) != nil || m.Dir == "" {
		return home{}, false
	}
	return home{dir: m.Dir, path: m.Path}, true
}

// overlay shows files to the go command in a folder that does not exist.
type overlay struct {
	dir     string // where the files are
	replace map[string]string
	parts   []string // of a key, one for each added file
}

// add writes a file and enters it at a path of the module.
func (o *overlay) add(at, name string, data []byte) error {
	file := filepath.Join(o.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	o.replace[at] = file
	o.parts = append(o.parts, at, string(data))
	return os.WriteFile(file, data, 0o666)
}

// write writes the overlay's description and returns its path.
func (o *overlay) write() (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o666)
}
