package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommandsOfThePagesMeanTheSameInEveryShell: zsh, the shell of a Mac, takes brackets that
// no quotes protect for a pattern, and refuses the line where no file matches. What begins with
// go or fxgen is run with both of these replaced by one that says its arguments; the other
// commands are parsed.
func TestCommandsOfThePagesMeanTheSameInEveryShell(t *testing.T) {
	all := pages(t)
	more, err := filepath.Glob(filepath.Join(top, "examples", "*", "README.md"))
	require.NoError(t, err)
	for _, path := range more {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		all[path] = string(b)
	}
	said := map[string]map[string]string{} // of shells, of pages
	for _, shell := range [][]string{{"bash", "--norc"}, {"zsh", "-f"}} {
		t.Run(shell[0], func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skip(err.Error())
			}
			said[shell[0]] = map[string]string{}
			for path, page := range all {
				text := strings.Join(blocks(page, "sh"), "\n")
				if text == "" {
					continue
				}
				out, err := exec.Command(shell[0], append(shell[1:], "-n", "-c", text)...).CombinedOutput()
				require.Empty(t, string(out), path) // zsh's exit code follows from a "!" that it does not run
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
					require.NoError(t, err)
				}
				said[shell[0]][path] = spoken(t, shell, path, text)
			}
		})
	}
	require.Contains(t, said["bash"][filepath.Join(top, "docs", "tutorial.md")], "\nx=f32[N,1,8,8]\n")
	if !t.Failed() && said["zsh"] != nil {
		require.Equal(t, said["bash"], said["zsh"])
	}
}

// spoken runs the lines that begin with go or fxgen, and returns the arguments they had.
func spoken(t *testing.T, shell []string, path, text string) string {
	script := "set -e\ngo() { printf '%s\\n' \"$@\"; }\nfxgen() { go \"$@\"; }\n"
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimPrefix(line, "! ")
		if (strings.HasPrefix(line, "go ") || strings.HasPrefix(line, "fxgen ")) && !strings.ContainsAny(strings.ReplaceAll(line, "||", ""), ">|") {
			script += line
		}
	}
	cmd := exec.Command(shell[0], append(shell[1:], "-c", script)...)
	cmd.Dir = top
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s\n%s", path, script, out)
	return string(out)
}
