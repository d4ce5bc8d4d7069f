package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderrOf(err))
	}
	return string(out), nil
}

// stderrOf is what a program that failed has said.
func stderrOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return strings.TrimSpace(string(e.Stderr))
	}
	return ""
}

// clean refuses a tree that differs from its last commit: nobody could make its release again.
func clean(ctx context.Context, root string) error {
	out, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if out != "" {
		return fmt.Errorf("the tree differs from its last commit, want a clean one: commit or stash\n%s", strings.TrimSpace(out))
	}
	return nil
}

// committed is when the last commit was made: the time of everything in a release, so that it can be made again.
func committed(ctx context.Context, root string) (time.Time, error) {
	out, err := git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(out))
	return at.UTC(), err
}

// copyTree copies the files that git tracks, and those that it would track, as they lie in the tree.
func copyTree(ctx context.Context, root, to string) error {
	out, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		err := copyFile(filepath.Join(root, name), filepath.Join(to, name))
		if err != nil && !os.IsNotExist(err) { // deleted in the tree, and not yet in the index
			return err
		}
	}
	return nil
}

// copyFile copies a regular file with its permissions; others are left out, as in a module's zip.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// nested lists the folders below root that have a module of their own, relative to it. Modules in testdata are data.
func nested(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != root:
			dir, err := filepath.Rel(root, filepath.Dir(path))
			dirs = append(dirs, filepath.ToSlash(dir))
			return err
		}
		return nil
	})
	return dirs, err
}
