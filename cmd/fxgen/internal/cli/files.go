package cli

import (
	"bytes"
	"os"
	"path/filepath"
)

// target is a file to be written.
type target struct {
	path string
	data []byte
}

// stale returns the files whose contents on disk differ; missing ones count.
func stale(list []target) []target {
	var out []target
	for _, t := range list {
		if old, err := os.ReadFile(t.path); err != nil || !bytes.Equal(old, t.data) {
			out = append(out, t)
		}
	}
	return out
}

// writeFiles writes those files that differ from what is on disk: all beside their
// place first, then renamed, so that an error leaves the old ones.
func writeFiles(list []target) (err error) {
	var made []string
	defer func() {
		for _, tmp := range made {
			os.Remove(tmp)
		}
	}()
	changed := stale(list)
	for _, t := range changed {
		if err := os.MkdirAll(filepath.Dir(t.path), 0o777); err != nil {
			return err
		}
		f, err := os.CreateTemp(filepath.Dir(t.path), ".fxgen-*")
		if err != nil {
			return err
		}
		made = append(made, f.Name())
		_, err = f.Write(t.data)
		if e := f.Chmod(0o644); err == nil {
			err = e
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
	}
	for i, t := range changed {
		if err := os.Rename(made[i], t.path); err != nil {
			return err
		}
	}
	return nil
}
