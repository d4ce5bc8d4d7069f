package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
)

// program is this command as machine code of arm64.
type program struct {
	path    string
	symbols []elf.Symbol // functions by address
	text    []byte
	base    uint64 // address of text
}

// build builds this command for arm64.
func build(dir string) (*program, error) {
	path := filepath.Join(dir, "guest")
	cmd := exec.Command("go", "build", "-o", path, "github.com/gofx-dev/gofx/bench/arm64")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for arm64: %w\n%s", err, out)
	}
	return open(path)
}

// open reads the functions of a program.
func open(path string) (*program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text := f.Section(".text")
	if text == nil || f.Machine != elf.EM_AARCH64 {
		return nil, fmt.Errorf("%s: no machine code of arm64", path)
	}
	p := &program{path: path, base: text.Addr}
	if p.text, err = text.Data(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			p.symbols = append(p.symbols, s)
		}
	}
	slices.SortFunc(p.symbols, func(a, b elf.Symbol) int { return int(int64(a.Value) - int64(b.Value)) })
	return p, nil
}

// at names the function that has an instruction at an address.
func (p *program) at(address uint64) string {
	i := sort.Search(len(p.symbols), func(i int) bool { return p.symbols[i].Value > address }) - 1
	if i < 0 || address >= p.symbols[i].Value+p.symbols[i].Size {
		return "outside of functions"
	}
	return p.symbols[i].Name
}

// code returns the instructions of a function.
func (p *program) code(name string) ([]uint32, error) {
	i := slices.IndexFunc(p.symbols, func(s elf.Symbol) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no function %s", p.path, name)
	}
	s := p.symbols[i]
	at := s.Value - p.base
	if s.Value < p.base || at+s.Size > uint64(len(p.text)) {
		return nil, fmt.Errorf("%s: function %s lies outside of the machine code", p.path, name)
	}
	words := make([]uint32, s.Size/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(p.text[at+4*uint64(i):])
	}
	return words, nil
}
