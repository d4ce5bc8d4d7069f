package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/licences"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// Module is a module that is linked into a program.
type Module struct{ Path, Version, Dir, Program string }

// systems are those of the binaries of a release. A release fails where a binary has a module that the table lacks, for
// a reason of its processor for instance.
var systems = []string{"linux", "darwin", "windows"}

// linked lists the modules of fxgen, then those that fxdraw alone has, by path.
func linked(root string) (list []Module, err error) {
	seen := map[string]bool{}
	for _, program := range []string{"fxgen", "fxdraw"} {
		folder := "./cmd/fxgen"
		if program == "fxdraw" {
			folder += "/fxdraw"
		}
		for _, system := range systems {
			found, err := modulesOf(root, system, folder)
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				if m.Program = program; !seen[m.Path] {
					seen[m.Path] = true
					list = append(list, m)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// modulesOf asks the go command for the modules of a program on a system.
func modulesOf(root, system, folder string) (list []Module, err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Standard,Root,Module", folder)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(out); ; {
		var p struct {
			Standard bool
			Root     string // of Go itself
			Module   *Module
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, cmd.Wait())
		}
		switch {
		case p.Standard:
			list = append(list, Module{Path: licences.Std, Dir: p.Root})
		case p.Module.Path == repo.Module:
			list = append(list, Module{Path: repo.Module, Dir: root})
		default:
			list = append(list, Module{Path: p.Module.Path, Version: p.Module.Version, Dir: filepath.Clean(p.Module.Dir)})
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list %s on %s: %w\n%s", folder, system, err, said.String())
	}
	return list, nil
}
