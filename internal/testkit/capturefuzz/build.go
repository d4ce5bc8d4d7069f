package capturefuzz

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// The path lies below this module's, so that programs may import its internal
// packages.
const modulePath = "github.com/gofx-dev/gofx/internal/testkit/capturerun"

// Batch is a Go module in a folder of its own with the programs that are judged
// together.
type Batch struct {
	Dir      string
	Overlay  string // file for go build -overlay, "" for none
	Generate bool   // judge generated code, too
	Programs []*Program
	// Broken are the compiler's messages of programs that are no Go, by ID; they are
	// left out.
	Broken map[int]string
}

// Judge builds the programs, runs them and returns the verdicts.
func (b *Batch) Judge() ([]judge.Verdict, error) {
	if err := b.module(); err != nil {
		return nil, err
	}
	b.Broken = map[int]string{}
	for _, p := range b.Programs {
		if err := b.write("prog/"+p.File(), p.Source()); err != nil {
			return nil, err
		}
	}
	err := b.write("run/main.go", "package main\n\nimport (\n\t_ \""+modulePath+"/prog\"\n\t\"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge\"\n)\n\nfunc main() { judge.Main() }\n")
	if err != nil {
		return nil, err
	}
	gen := filepath.Join(b.Dir, "generated")
	if err := errors.Join(os.RemoveAll(gen), os.MkdirAll(gen, 0o777)); err != nil {
		return nil, err
	}
	args := []string{}
	if b.Generate {
		args = append(args, "-gen", gen)
	}
	list, err := b.command("run", args...)
	if err != nil || !b.Generate {
		return list, err
	}
	more, err := b.generated(gen)
	return append(list, more...), err
}

func (b *Batch) write(name, text string) error {
	path := filepath.Join(b.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// module writes go.mod and go.sum, and empties the folder of programs.
func (b *Batch) module() error {
	return errors.Join(os.RemoveAll(filepath.Join(b.Dir, "prog")), os.MkdirAll(b.Dir, 0o777), repo.WriteModule(b.Dir, modulePath))
}

// command builds the command of a folder, leaving out programs that do not
// compile, and runs it.
func (b *Batch) command(folder string, args ...string) ([]judge.Verdict, error) {
	binary := filepath.Join(b.Dir, folder+".exe")
	for {
		build := []string{"build", "-ldflags=-s -w", "-gcflags=" + modulePath + "/...=-e", "-o", binary}
		if b.Overlay != "" {
			build = append(build, "-overlay", b.Overlay)
		}
		out, err := b.tool("go", append(build, "./"+folder)...)
		if err == nil {
			break
		}
		if !b.leaveOut(string(out)) {
			return nil, fmt.Errorf("go build: %w\n%s", err, cut(string(out)))
		}
	}
	verdicts := filepath.Join(b.Dir, folder+".json")
	out, err := b.tool(binary, append([]string{"-out", verdicts}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("the programs: %w\n%s", err, cut(string(out)))
	}
	return read(verdicts)
}

func cut(s string) string { return s[:min(len(s), 6000)] }

func (b *Batch) tool(name string, args ...string) ([]byte, error) {
	return b.toolIn(b.Dir, name, args...)
}

func (b *Batch) toolIn(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}

var compileError = regexp.MustCompile(`(?m)^prog/p(\d+)\.go:.*$`)

// leaveOut removes the programs of which the compiler complains.
func (b *Batch) leaveOut(out string) (removed bool) {
	for _, m := range compileError.FindAllStringSubmatch(out, -1) {
		id, _ := strconv.Atoi(m[1])
		if _, known := b.Broken[id]; !known {
			b.Broken[id] = m[0]
			removed = os.Remove(filepath.Join(b.Dir, "prog", fmt.Sprintf("p%05d.go", id))) == nil || removed
		}
	}
	return removed
}

func read(file string) (list []judge.Verdict, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var v judge.Verdict
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// generated builds and judges the code that was generated from the programs.
func (b *Batch) generated(gen string) ([]judge.Verdict, error) {
	entries, err := filepath.Glob(filepath.Join(gen, "*.entry"))
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	imports := map[string]string{}
	var table strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(e)
		if err != nil {
			return nil, err
		}
		style := strings.TrimRight(strings.TrimSuffix(filepath.Base(e), ".entry"), "0123456789")
		imports[style] = fmt.Sprintf("\t%q\n", modulePath+"/generated/"+style)
		table.WriteString("\t\t" + string(text))
	}
	var b2 strings.Builder
	b2.WriteString("package main\n\nimport (\n")
	for _, style := range []string{"gen", "module"} {
		b2.WriteString(imports[style])
	}
	b2.WriteString("\t_ \"" + modulePath + "/prog\"\n\t\"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge\"\n)\n\nfunc main() {\n\tjudge.Main(\n" + table.String() + "\t)\n}\n")
	if err := b.write("again/main.go", b2.String()); err != nil {
		return nil, err
	}
	return b.command("again")
}
