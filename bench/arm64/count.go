package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed plugin/count.c
var plugin []byte

// counted is what ran in a section.
type counted struct {
	instructions uint64
	of           map[kind]uint64
	functions    map[string]uint64 // instructions
}

// share returns the part of the instructions that are of the kinds.
func (c *counted) share(kinds ...kind) float64 {
	n := uint64(0)
	for _, k := range kinds {
		n += c.of[k]
	}
	return float64(n) / float64(max(c.instructions, 1))
}

// most returns the n functions with the most instructions, the most first.
func (c *counted) most(n int) []string {
	names := make([]string, 0, len(c.functions))
	for name := range c.functions {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := c.functions[a], c.functions[b]; x != y {
			return int(min(1, max(-1, int64(y-x))))
		}
		return strings.Compare(a, b)
	})
	return names[:min(n, len(names))]
}

// libraries is where Debian's libc6-arm64-cross has what programs of arm64 open at run time.
const libraries = "/usr/aarch64-linux-gnu"

// count runs this command, built for arm64, under the emulator, and returns what its sections ran.
func count(p *program, dir string, names []string) (map[int]*counted, error) {
	for command, from := range map[string]string{"qemu-aarch64": "Debian's qemu-user", "cc": "a C compiler, for the plugin that counts"} {
		if err := need(command, from); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(dir, "counts")
	if err != nil {
		return nil, err
	}
	source, object, file := filepath.Join(dir, "count.c"), filepath.Join(dir, "count.so"), filepath.Join(dir, "counts")
	if err := os.WriteFile(source, plugin, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("cc", "-O2", "-shared", "-fPIC", "-o", object, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the plugin that counts: %w\n%s", err, out)
	}
	cmd := exec.Command("qemu-aarch64", "-plugin", object+",out="+file, p.path, "-guest", strings.Join(names, ","))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "QEMU_LD_PREFIX="+libraries)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("qemu-aarch64: %w\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCounts(f, p)
}

// readCounts reads what plugin/count.c writes. Sections that nobody reads are left out.
func readCounts(r io.Reader, p *program) (map[int]*counted, error) {
	sections := map[int]*counted{}
	var c *counted
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for i := 1; lines.Scan(); i++ {
		f := strings.Fields(lines.Text())
		if len(f) == 2 && f[0] == "section" {
			k, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, fmt.Errorf("line %d of the counts: %w", i, err)
			}
			c = &counted{of: map[kind]uint64{}, functions: map[string]uint64{}}
			if k != noSection {
				sections[k] = c
			}
			continue
		}
		if c == nil || len(f) < 3 {
			return nil, fmt.Errorf("line %d of the counts: got %q, want a section, or a count, an address and instructions", i, lines.Text())
		}
		if err := c.add(f, p); err != nil {
			return nil, fmt.Errorf("line %d of the counts: %w", i, err)
		}
	}
	return sections, lines.Err()
}

// add counts a block: how often it ran, its address, its instructions.
func (c *counted) add(fields []string, p *program) error {
	times, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return err
	}
	address, err := strconv.ParseUint(fields[1], 16, 64)
	if err != nil {
		return err
	}
	for _, f := range fields[2:] {
		word, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			return err
		}
		c.of[kindOf(uint32(word))] += times
	}
	n := times * uint64(len(fields)-2)
	c.instructions += n
	c.functions[p.at(address)] += n
	return nil
}
