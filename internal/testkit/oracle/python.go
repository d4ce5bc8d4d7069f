package oracle

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/graph"
)

// python is Debian's: package python3-torch is made for it.
const python = "/usr/bin/python3"

//go:embed *.py
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
	results := filepath.Join(dir, "results")
	if err := execute(ctx, dir, "oracle.py", dir, results, "exact"); err != nil {
		return nil, err
	}
	return Load(results)
}

// AskNetwork computes a graph with PyTorch; see DumpNetwork.
func AskNetwork(ctx context.Context, dir string, m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	if err := DumpNetwork(dir, m, in); err != nil {
		return nil, err
	}
	if err := execute(ctx, dir, "network.py", dir); err != nil {
		return nil, err
	}
	f, err := safetensors.ReadFile(filepath.Join(dir, "results.safetensors"))
	if err != nil {
		return nil, err
	}
	return tensors(f, "network")
}

// AskNetworkGradient computes a graph with PyTorch, and by autograd the gradient of its
// first output, a scalar, by weights that it reads, in the order of their paths: as it is, and
// computed in f64.
func AskNetworkGradient(ctx context.Context, dir string, m *graph.Module, in []*array.Array, paths []string) (out, grads, exact []*array.Array, err error) {
	if err := dumpNetwork(dir, m, in, paths); err != nil {
		return nil, nil, nil, err
	}
	if err := execute(ctx, dir, "network.py", dir); err != nil {
		return nil, nil, nil, err
	}
	f, err := safetensors.ReadFile(filepath.Join(dir, "results.safetensors"))
	if err != nil {
		return nil, nil, nil, err
	}
	for kind, to := range map[string]*[]*array.Array{"network": &out, "gradient": &grads, "exact": &exact} {
		if *to, err = tensors(f, kind); err != nil {
			return nil, nil, nil, err
		}
	}
	return out, grads, exact, nil
}

// execute runs one of the scripts, all of which are put into dir.
func execute(ctx context.Context, dir, script string, args ...string) error {
	if err := WriteScripts(dir); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, append([]string{filepath.Join(dir, script)}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, stderr.Bytes())
	}
	return nil
}

// WriteScripts puts the scripts into a folder.
func WriteScripts(dir string) error {
	entries, err := scripts.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := scripts.ReadFile(e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Script runs Python source, which finds in on its standard input, in JSON, and decodes what it
// prints, JSON too, into out.
func Script(ctx context.Context, source string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, "-c", source)
	cmd.Stdin = bytes.NewReader(text)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("script: %w\n%s", err, stderr.Bytes())
	}
	return json.Unmarshal(stdout.Bytes(), out)
}
