package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

// workflow is an example of how a repository has fxgen in its checks.
const workflow = "../../examples/digits/.github/workflows/fxgen.yml"

// TestWorkflowRuns runs the commands of the workflow, with models of another folder.
func TestWorkflowRuns(t *testing.T) {
	text, err := os.ReadFile(workflow)
	require.NoError(t, err)
	temp := t.TempDir()
	bin := fxgenBinary(t)
	lines := regexp.MustCompile(`(?m)^ +run: (.*)$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, lines, 3)
	for _, m := range lines {
		line, ok := strings.CutPrefix(m[1], "go tool -modfile=fxgen.mod fxgen ")
		require.True(t, ok, m[1])
		cmd := exec.Command("sh", "-c", bin+" "+line)
		cmd.Dir = filepath.Join(repo(t), "examples", "digits")
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "CASES=../../onnx/testdata/ml/logistic_*")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	files, err := os.ReadDir(temp)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	require.Equal(t, []string{"check.sarif", "net.html", "verify.sarif"}, names)
	require.Contains(t, string(text), "${{ runner.temp }}/net.html\n")
	require.Contains(t, string(text), "${{ runner.temp }}/*.sarif\n")
}

// TestWorkflowFitsItsSchema asks a validator that has the schema of workflows, of this one and of one that is wrong.
func TestWorkflowFitsItsSchema(t *testing.T) {
	python := pyenv.Need(t, "check_jsonschema")
	text, err := os.ReadFile(workflow)
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "wrong.yml")
	require.NoError(t, os.WriteFile(wrong, []byte(strings.Replace(string(text), "runs-on:", "run-on:", 1)), 0o666))
	check := func(file string) error {
		return exec.Command(python, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", file).Run()
	}
	require.NoError(t, check(workflow))
	require.Error(t, check(wrong))
}
