package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

// outcomesPath is the output of torchfx.py, by version of PyTorch.
const outcomesPath = "testdata/torchfx.json"

// older and newer are the versions that the page compares.
const older, newer = "1.13", "2.15"

// situation is one that torch.fx has been put into.
type situation struct {
	ID       string            `json:"id"`
	Input    string            `json:"input"`
	Outcomes map[string]string `json:"outcomes"` // by version
}

// situations are those that the page shows.
func situations() []*situation {
	var list []*situation
	b, err := os.ReadFile(outcomesPath)
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		panic(err)
	}
	return list
}

// TestTorchFXStillDoesSo puts the torch.fx of this machine into the situations.
func TestTorchFXStillDoesSo(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") == "" && !*update {
		t.Skip("it runs every situation in PyTorch; GOFX_NIGHTLY=1 does it")
	}
	list := situations()
	for version, find := range map[string]func(t *testing.T) string{
		older: func(t *testing.T) string {
			if err := exec.Command("/usr/bin/python3", "-c", "import torch").Run(); err != nil {
				t.Skip("the distribution's Python has no PyTorch")
			}
			return "/usr/bin/python3"
		},
		newer: func(t *testing.T) string { return pyenv.Need(t, "torch") },
	} {
		t.Run(version, func(t *testing.T) {
			said, found := interview(t, find(t))
			if !strings.HasPrefix(said, version+".") {
				t.Skipf("this is PyTorch %s", said)
			}
			if *update {
				list = merged(list, version, found)
				return
			}
			require.Len(t, found, len(list))
			for i, s := range found {
				require.Equal(t, list[i].ID, s.ID)
				require.Equal(t, list[i].Outcomes[version], s.Outcome, "%s, %s", s.ID, s.Input)
			}
		})
	}
	if *update {
		b, err := json.MarshalIndent(list, "", "\t")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(outcomesPath, append(b, '\n'), 0o666))
	}
}

// said is a line of torchfx.py.
type said struct{ Version, ID, Input, Outcome string }

// interview runs torchfx.py.
func interview(t *testing.T, python string) (version string, found []said) {
	var log bytes.Buffer
	cmd := exec.Command(python, "testdata/torchfx.py")
	cmd.Stderr = &log
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	require.NoError(t, err, log.String())
	for line := range bytes.Lines(out) {
		var s said
		require.NoError(t, json.Unmarshal(line, &s))
		if s.Version != "" {
			version = s.Version
			continue
		}
		found = append(found, s)
	}
	return version, found
}

// merged enters the outcomes of a version; rows are those of the script, in its order.
func merged(list []*situation, version string, found []said) (fresh []*situation) {
	known := map[string]*situation{}
	for _, s := range list {
		known[s.ID] = s
	}
	for _, f := range found {
		s := known[f.ID]
		if s == nil {
			s = &situation{ID: f.ID, Outcomes: map[string]string{}}
		}
		s.Input, s.Outcomes[version] = f.Input, f.Outcome
		fresh = append(fresh, s)
	}
	return fresh
}

// TestSituationsAreThoseOfBehaviours: a number belongs to a row of the tables.
func TestSituationsAreThoseOfBehaviours(t *testing.T) {
	known := map[string]bool{}
	for _, s := range table() {
		for _, r := range s.rows {
			known[strings.TrimRight(r.id, "abcdefghijklm")] = true
		}
	}
	changed := 0
	for _, s := range situations() {
		require.True(t, known[strings.TrimRight(s.ID, "abcdefghijklm")], s.ID)
		require.NotEmpty(t, s.Outcomes[older], s.ID)
		if s.Outcomes[older] != s.Outcomes[newer] {
			changed++
		}
	}
	require.Greater(t, changed, 10)
}

// changesPage lists the changes in torch.fx.
func changesPage(b *strings.Builder) {
	list := situations()
	var changed []*situation
	for _, s := range list {
		if s.Outcomes[older] != s.Outcomes[newer] {
			changed = append(changed, s)
		}
	}
	fmt.Fprintf(b, "\n## Changes of torch.fx\n\n`internal/testkit/parity/testdata/torchfx.py` puts torch.fx into %d situations of these behaviours. PyTorch %s does in %d of them what %s does.\n"+
		"These are the others; what gofx does stands above, at the number. An outcome is a value or the class of the error. %s runs on Python 3.11 here, whose bytecode it does not\n"+
		"know. `GOFX_NIGHTLY=1 go test ./internal/testkit/parity -run TorchFX` runs the script again.\n\n| | input | %s | %s |\n|---|---|---|---|\n",
		len(list), newer, len(list)-len(changed), older, older, older, newer)
	for _, s := range changed {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", s.ID, cell(s.Input), code(s.Outcomes[older]), code(s.Outcomes[newer]))
	}
}

// code is an outcome inside of a table.
func code(s string) string {
	if s == "" {
		return "nothing"
	}
	return "`" + cell(s) + "`"
}
