package repo

import (
	"bytes"
	"os"
	"path/filepath"
)

// WriteModule makes dir a module of the given path that uses this one as it lies
// here, with its dependencies.
func WriteModule(dir, path string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	mod = append(bytes.Replace(mod, []byte("module "+Module), []byte("module "+path), 1),
		"\nrequire "+Module+" v0.0.0\n\nreplace "+Module+" => "+root+"\n"...)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}
