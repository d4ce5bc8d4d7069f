package work

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
)

// maxStack bounds the stack of a model that calls itself for ever: the runtime's
// own limit is more memory than many machines have to spare.
const maxStack = 256 << 20

// Serve does the job in the file job.json of a folder and writes the result there.
func Serve(s *Source, dir string) error {
	var j Job
	if err := exchange.Requested(dir, &j); err != nil {
		return err
	}
	debug.SetMaxStack(maxStack)
	s.Stuck = func(err error) {
		if err := exchange.Fail(dir, err); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	return exchange.Send(dir, func() (*Result, error) { return Do(context.Background(), s, &j) })
}

// Choice says which of the things in a test binary the job of an exchange is about.
type Choice struct {
	Name     string
	Captured string            // the key of the function or of the constructor, "" for File and Model
	Method   string            // of modules, Forward when empty
	Params   []string          // names in the signature
	Outputs  []string          // the same of the results
	File     string            // a graph's file or folder
	Model    string            // a built-in network
	Passes   map[string]string // where the passes of -passes are declared, by the names given there
}

// FolderVariable is the environment variable that names the folder of the exchange.
const FolderVariable = "FXGEN_JOB"

const choiceFile = "choice.json"

// Choose writes the choice of an exchange.
func Choose(dir string, c *Choice) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, choiceFile), text, 0o666)
}

// Chosen reads it.
func Chosen(dir string) (*Choice, error) {
	text, err := os.ReadFile(filepath.Join(dir, choiceFile))
	if err != nil {
		return nil, err
	}
	var c Choice
	return &c, json.Unmarshal(text, &c)
}

// temporary are the variables that say where temporary files go, on some system.
var temporary = []string{"TMPDIR", "TMP", "TEMP"}

// TemporaryIn has programs with an environment put temporary files into a folder.
func TemporaryIn(env []string, folder string) []string {
	for _, name := range temporary {
		env = append(env, name+"="+folder)
	}
	return env
}
