// Command arm64 says what machine code of arm64 does, without such a machine: it models the loops of kernels with NEON by
// LLVM's descriptions of cores, and counts the instructions of networks under emulation.
//
//	cd bench && go run ./arm64
//
// With -doc it writes docs/bench/arm64.md. It needs llvm-mca and llvm-mc (Debian's llvm-22), qemu-aarch64 (qemu-user,
// libc6-arm64-cross) and a C compiler, and says so where one is missing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	doc := flag.Bool("doc", false, "write docs/bench/arm64.md, whose networks have to be counted all")
	list := flag.String("networks", "all", "networks to count, separated by commas; none counts none")
	inside := flag.String("guest", "", "compute these `networks`, as the emulated program does")
	flag.Parse()
	err := run(*doc, *list, *inside)
	var missing missingError
	if errors.As(err, &missing) {
		fmt.Fprintln(os.Stderr, "arm64: skipped:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "arm64:", err)
		os.Exit(1)
	}
}

// missingError says which tool is not installed.
type missingError string

func (e missingError) Error() string { return string(e) }

func run(doc bool, list, inside string) error {
	if inside != "" {
		return guest(strings.Split(inside, ","))
	}
	names, err := named(list)
	if err != nil {
		return err
	}
	if doc && len(names) < len(networks) {
		return fmt.Errorf("-doc with -networks %s: the page has all networks; leave -networks away", list)
	}
	t, err := findTools()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gofx-arm64")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := writeModel(&b, t, p); err != nil {
		return err
	}
	if len(names) > 0 {
		if err := writeCounts(&b, p, dir, names); err != nil {
			return err
		}
	}
	if doc {
		return os.WriteFile(filepath.Join("..", "docs", "bench", "arm64.md"), []byte(b.String()), 0o600)
	}
	fmt.Print(b.String())
	return nil
}

// named returns the names of networks that a list has.
func named(list string) (names []string, err error) {
	var all []string
	for _, n := range networks {
		all = append(all, n.name())
	}
	switch list {
	case "all":
		return all, nil
	case "none":
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("-networks: there is no network %q, expected some of %s", name, strings.Join(all, ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

// need says which command is missing, and what has it.
func need(command, from string) error {
	if _, err := exec.LookPath(command); err != nil {
		return missingError(fmt.Sprintf("%s is not installed (%s)", command, from))
	}
	return nil
}
