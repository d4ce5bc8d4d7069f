package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// userEnv is the environment of a user of the release: gofx comes from the folder of the proxy, other modules from this
// machine where it has them, else from the user's proxy. Sums are checked, except those of gofx, which nobody has
// published. What is downloaded, installed and kept lies in dir; the build cache is the one of this machine.
func userEnv(ctx context.Context, proxy, dir string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOPROXY", "GOMODCACHE", "GOCACHE", "GONOSUMDB").Output()
	if err != nil {
		return nil, err
	}
	var has struct{ GOPROXY, GOMODCACHE, GOCACHE, GONOSUMDB string }
	if err := json.Unmarshal(out, &has); err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "bin")
	return append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOBIN="+bin, "GOPATH="+filepath.Join(dir, "path"),
		"GOMODCACHE="+filepath.Join(dir, "mod"), "GOCACHE="+has.GOCACHE, "FXGEN_CACHE="+filepath.Join(dir, "programs"),
		"GOPROXY="+fileURL(proxy)+","+fileURL(filepath.Join(has.GOMODCACHE, "cache", "download"))+","+has.GOPROXY,
		"GONOSUMDB="+strings.TrimPrefix(has.GONOSUMDB+","+repo.Module, ","),
		"GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "NO_COLOR=1"), nil
}

// fileURL names a folder as the go command wants it in GOPROXY.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	return "file://" + path
}

// removeAll removes a folder with a module cache, whose folders are read-only.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // RemoveAll tells what cannot be removed
		}
		return nil
	})
	return os.RemoveAll(dir)
}
