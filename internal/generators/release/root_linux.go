package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// container does what the Dockerfile says, without a daemon that builds it: fxgen in a root with nothing else, and
// the folder work. Only root may change the root of a process; for others it says so and does nothing.
func (t *trial) container() error {
	if os.Geteuid() != 0 {
		_, err := fmt.Fprintln(t.log, "fxgen was not tried in an empty root: that needs the rights of root")
		return err
	}
	dir := filepath.Join(t.dir, "image")
	for _, folder := range []string{"bin", "tmp", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			return err
		}
	}
	if _, err := t.shell(t.dir, "GOBIN='"+filepath.Join(dir, "bin")+"' go install -tags "+staticTag+" "+command+"@"+trialVersion); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"gen", "-o", "mlp", "-weights", "synthetic:gofx-1", "mlp"},
		{"export", "-o", "mlp.onnx", "-weights", "synthetic:gofx-1", "mlp"},
		{"run", "mlp.onnx"}, {"draw", "-o", "mlp.html", "mlp.onnx"},
	} {
		cmd := exec.CommandContext(t.ctx, "/bin/fxgen", args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/work", []string{}, &syscall.SysProcAttr{Chroot: dir}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("fxgen %v in an empty root: %w\n%s", args, err, out)
		}
	}
	for _, name := range []string{"mlp/model.go", "mlp.onnx", "mlp.html"} {
		if _, err := os.Stat(filepath.Join(dir, "work", name)); err != nil {
			return err
		}
	}
	return nil
}
