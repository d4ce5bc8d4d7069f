package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// apidiffTool is the program that compares packages, in the version that judges here.
const apidiffTool = "golang.org/x/exp/cmd/apidiff@v0.0.0-20261113113407-e3970619a1a4"

// breaking begins the entries of the change log that tell of incompatible changes.
const breaking = "- **Breaking:**"

// compatible compares the exported names of the tree with those of a revision, the last release where none is named.
// Incompatible changes need an entry in the part of the change log that no release has yet.
func compatible(ctx context.Context, w io.Writer, root, against string) error {
	if against == "" {
		tags, err := git(ctx, root, "tag", "--list", "v*")
		if err != nil {
			return err
		}
		if against = last(strings.Fields(tags)); against == "" {
			_, err := fmt.Fprintln(w, "no release has a tag yet: nothing to compare the exported names with")
			return err
		}
	}
	dir, err := os.MkdirTemp("", "gofx-apidiff-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := git(ctx, root, "worktree", "add", "--detach", dir, against); err != nil {
		return err
	}
	defer func() { _, _ = git(context.WithoutCancel(ctx), root, "worktree", "remove", "--force", dir) }()
	changes, err := incompatible(ctx, dir, root)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(root, changeLog))
	if err != nil {
		return err
	}
	return judge(w, against, changes, string(log))
}

// judge prints incompatible changes, and refuses those of which the change log says nothing.
func judge(w io.Writer, against, changes, log string) error {
	if changes == "" {
		_, err := fmt.Fprintf(w, "the exported names are compatible with those of %s\n", against)
		return err
	}
	if _, err := fmt.Fprintf(w, "incompatible with %s:\n%s\n", against, changes); err != nil {
		return err
	}
	list := sections(log)
	if len(list) > 1 && list[1].heading == unreleased && strings.Contains("\n"+list[1].text, "\n"+breaking) {
		return nil
	}
	return fmt.Errorf("the part %q of %s has no entry that begins with %q, want one that tells users of the changes and their cure", "## "+unreleased, changeLog, breaking)
}

// last returns the highest version of a release, "" for none.
func last(tags []string) (highest string) {
	for _, tag := range tags {
		if semver.IsValid(tag) && semver.Prerelease(tag) == "" && (highest == "" || semver.Compare(tag, highest) > 0) {
			highest = tag
		}
	}
	return highest
}

// incompatible lists what a program that uses the module in folder before would miss in the one in folder after.
func incompatible(ctx context.Context, before, after string) (string, error) {
	data, err := os.CreateTemp("", "gofx-api-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(data.Name()) }()
	if err := data.Close(); err != nil {
		return "", err
	}
	path, err := modulePath(before)
	if err != nil {
		return "", err
	}
	if _, err := apidiff(ctx, before, "-m", "-w", data.Name(), path); err != nil {
		return "", err
	}
	out, err := apidiff(ctx, after, "-m", "-incompatible", data.Name(), path)
	return strings.TrimSpace(out), err
}

// modulePath asks the go command for the path of the module in a folder.
func modulePath(dir string) (string, error) {
	cmd := exec.Command("go", "list", "-m")
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// apidiff runs the program in a folder: the one that is installed, else by go run.
func apidiff(ctx context.Context, dir string, args ...string) (string, error) {
	name := "apidiff"
	if _, err := exec.LookPath(name); err != nil {
		name, args = "go", append([]string{"run", apidiffTool}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", errors.Join(fmt.Errorf("apidiff %s: %w", strings.Join(args, " "), err), errors.New(stderrOf(err)))
	}
	return string(out), nil
}
