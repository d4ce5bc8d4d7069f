package oracle

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// python is Debian's: package python3-torch is made for it.
const python = "/usr/bin/python3"

//go:embed oracle.py helpers.py philox.py
var scripts embed.FS

// Available reports whether PyTorch can be asked, or why not.
func Available() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := exec.CommandContext(ctx, python, "-c", "import torch").Run(); err != nil {
		return errors.New("python3-torch is not installed: " + err.Error())
	}
	return nil
}

// Ask computes calls with PyTorch, all in one process, with files in dir.
func Ask(ctx context.Context, dir string, calls []Call) (map[string]Golden, error) {
	if err := Dump(dir, calls); err != nil {
		return nil, err
	}
	entries, err := scripts.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := scripts.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o644); err != nil {
			return nil, err
		}
	}
	results := filepath.Join(dir, "results")
	cmd := exec.CommandContext(ctx, python, filepath.Join(dir, "oracle.py"), dir, results, "exact")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("oracle.py: %w\n%s", err, stderr.Bytes())
	}
	return Load(results)
}
