package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The checked-in files are what the generator writes.
func TestUpToDate(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "kernel", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs from what the generator writes: run go generate in kernel", name)
		}
	}
}
