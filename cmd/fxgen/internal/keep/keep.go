// Package keep builds the programs that fxgen runs, and keeps them: linking takes
// longer than all the rest of most commands. The go command decides whether a kept
// program equals the one that it would build. It compares the identifiers of all
// inputs, without linking.
package keep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/lowering"
)

// Variable is the environment variable that names the folder of programs; "-" keeps none.
const Variable = "FXGEN_CACHE"

// Binary is a program to be built: by `go build`, or by `go test -c` where it is a test.
type Binary struct {
	Key  string   // of the part to look at first, as [lowering.Key] makes it
	Args []string // of the go command, up to the package
	Of   string   // the package
	Dir  string   // where the go command runs
	Env  []string
}

// Build builds the program as a file, and returns the output of the go command.
// The error is that of the command, or a [gomod.Skew]. Where go.mod lacks what the program
// needs, a copy has it ([gomod.Complete]).
func (p *Binary) Build(ctx context.Context, file string) ([]byte, error) {
	folder := lowering.UserFolder("fxgen", os.Getenv(Variable))
	kept := folder.Load(p.Key)
	if kept != nil {
		if err := os.WriteFile(file, kept, 0o700); err != nil {
			return nil, err
		}
	}
	out, err := proc.Output(ctx, p.command(ctx, file, nil))
	if err != nil && ctx.Err() == nil && gomod.Lacks(string(out)) != "" {
		flags, lacks := gomod.Complete(ctx, p.Dir, p.Env, filepath.Dir(file))
		if lacks != nil {
			return out, errors.Join(err, lacks)
		}
		out, err = proc.Output(ctx, p.command(ctx, file, flags))
	}
	if err != nil {
		return out, err
	}
	if made, err := os.ReadFile(file); err == nil && !bytes.Equal(made, kept) {
		folder.Save(p.Key, made)
	}
	return out, nil
}

// command is the go command that builds the program. Nobody debugs it: it is linked
// without symbols, in less time, where the user's flags do not say how to link. It
// does not say which commit it comes from, and is the same after the next one.
func (p *Binary) command(ctx context.Context, file string, more []string) *exec.Cmd {
	args := slices.Concat(p.Args, []string{"-buildvcs=false", "-o", file}, more)
	flags := proc.Command(ctx, "go", "env", "GOFLAGS")
	flags.Dir, flags.Env = p.Dir, p.Env
	if said, err := proc.Output(ctx, flags); err == nil && !strings.Contains(string(said), "-ldflags") {
		args = append(args, "-ldflags=-s -w")
	}
	cmd := proc.Command(ctx, "go", append(args, p.Of)...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	return cmd
}
