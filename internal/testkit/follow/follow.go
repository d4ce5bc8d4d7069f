// Package follow does what a page tells its reader: it writes the files that the page shows, runs its commands
// in a shell, and compares what they print. Tests follow the guides in this checkout, and the trial of a release
// follows them with the release.
package follow

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Reader is a user who follows a page.
type Reader struct {
	Dir string   // the folder of the reader's module
	Env []string // the environment of the commands
	// Then returns commands that the page does not have and that run after one of its own; nil for none.
	Then func(line string) []string

	Files, Commands, Outputs int // how many were written, run and compared

	out string // of the last command
}

// home stands for the folder of the module in what a page says that commands print.
const home = "/home/gopher/shop"

var (
	fence  = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	goFile = regexp.MustCompile("`([\\w/]+\\.(?:go|fx))`")
)

// Follow carries out the blocks of a page, or of one of its parts.
func (r *Reader) Follow(page string) error {
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(page, -1) {
		if before := page[at:m[0]]; !strings.HasSuffix(before, "-->\n") { // a quotation
			if err := r.block(before, page[m[2]:m[3]], page[m[4]:m[5]]); err != nil {
				return err
			}
		}
		at = m[1]
	}
	return nil
}

// block carries out a block; before is the text before it.
func (r *Reader) block(before, language, text string) error {
	last := before[strings.LastIndex(strings.TrimSpace(before), "\n\n")+1:]
	switch {
	case language == "go" || language == "fx":
		names := goFile.FindAllStringSubmatch(last, -1)
		if len(names) == 0 {
			return fmt.Errorf("no name of a file stands before\n%s", text)
		}
		path := filepath.Join(r.Dir, names[len(names)-1][1])
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		r.Files++
		return os.WriteFile(path, []byte(text), 0o666)
	case language == "sh":
		for line := range strings.Lines(text) {
			if err := r.command(strings.TrimSpace(line)); err != nil {
				return err
			}
		}
		return nil
	case strings.HasSuffix(strings.TrimSpace(last), "prints"):
		r.Outputs++
		if got, want := strings.TrimSpace(r.out), strings.TrimSpace(text); got != want {
			return fmt.Errorf("the page says that the command prints\n%s\nit prints\n%s", want, got)
		}
		return nil
	}
	return fmt.Errorf("a block is neither a file, nor commands, nor what they print:\n%s", text)
}

// command runs a command of the page, and those that follow from it.
func (r *Reader) command(line string) error {
	r.Commands++
	if err := r.Shell(line); err != nil || r.Then == nil {
		return err
	}
	for _, more := range r.Then(line) {
		if err := r.Shell(more); err != nil {
			return err
		}
	}
	return nil
}

// Shell runs a command in the reader's folder.
func (r *Reader) Shell(line string) error {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", line, err, out.String())
	}
	r.out = strings.ReplaceAll(out.String(), r.Dir, home)
	return nil
}
