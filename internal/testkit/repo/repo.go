// Package repo finds this repository's folder, for generators and tests, and makes
// modules that use it as a user's module does.
package repo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Module is the path of this module.
const Module = "github.com/gofx-dev/gofx"

// Root returns the folder of this module, which is at or above the working folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module "+Module+"\n")) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the working folder is not in module " + Module)
		}
		dir = up
	}
}
