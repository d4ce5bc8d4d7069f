package userpkg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// Folder says why a pattern that is a path cannot be a package; nil when the go command
// is to judge.
func Folder(pattern string) error {
	if !filepath.IsAbs(pattern) && pattern != "." && pattern != ".." && !strings.HasPrefix(pattern, "./") && !strings.HasPrefix(pattern, "../") {
		return nil
	}
	info, err := os.Stat(pattern)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad("there is no folder "+pattern, "the part before # is the folder of a package, ./net for instance")
	case err != nil:
		return unreadable(pattern, err)
	case !info.IsDir():
		return bad(pattern+" is a file, expected the folder of a package", "name its folder: "+filepath.ToSlash(filepath.Dir(pattern))+"#Name")
	}
	list, err := os.ReadDir(pattern)
	if err != nil {
		return unreadable("folder "+pattern, err)
	}
	code, tests := 0, 0
	for _, e := range list {
		switch {
		case strings.HasSuffix(e.Name(), "_test.go"):
			tests++
		case strings.HasSuffix(e.Name(), ".go"):
			code++
		}
	}
	switch {
	case code == 0 && tests > 0:
		return bad(pattern+" holds Go tests alone", "move the network into a file whose name does not end with _test.go")
	case code == 0:
		return bad(pattern+" holds no Go files", "name the folder of the package that the network is in")
	}
	return module(pattern)
}

// module looks for the go.mod that a folder belongs to.
func module(pattern string) error {
	start, err := filepath.Abs(pattern)
	if err != nil {
		return nil
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return nil
		}
		if dir == filepath.Dir(dir) {
			return diag.New(NoPackage, pattern+" belongs to no module: neither it nor a folder above it has a go.mod").
				WithHint("run go mod init NAME in the module's folder, then go get -tool github.com/gofx-dev/gofx/cmd/fxgen and go mod tidy")
		}
	}
}

func bad(msg, hint string) *diag.Error { return diag.New(NoPackage, msg).WithHint(hint) }

// unreadable is the error of a folder that the operating system does not give.
func unreadable(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return bad("cannot read "+name+": "+err.Error(), "check the path and its permissions")
}
