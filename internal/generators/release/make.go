package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maker makes a release.
type maker struct {
	root, version, out, platforms string
	apply                         bool
	log                           io.Writer
}

func (m *maker) say(format string, args ...any) { fmt.Fprintf(m.log, format+"\n", args...) }

// make writes everything into the folder.
func (m *maker) make(ctx context.Context) error {
	if err := checkVersion(m.version); err != nil {
		return err
	}
	targets, err := parsePlatforms(m.platforms)
	if err != nil {
		return err
	}
	if err := clean(ctx, m.root); err != nil {
		return err
	}
	if old, err := os.ReadDir(m.out); err == nil && len(old) > 0 {
		return fmt.Errorf("the folder %s is not empty, want an empty or a missing one", m.out)
	}
	if m.out, err = filepath.Abs(m.out); err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "gofx-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	at, err := committed(ctx, m.root)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, m.root, tree); err != nil {
		return err
	}
	changed, err := m.cut(tree, at)
	if err != nil {
		return err
	}
	modules, err := writeProxy(ctx, tree, filepath.Join(m.out, "proxy"), m.version, at)
	if err != nil {
		return err
	}
	if err := m.tags(modules); err != nil {
		return err
	}
	if len(targets) > 0 {
		if err := m.binaries(ctx, tree, targets, at); err != nil {
			return err
		}
	}
	return m.hand(tree, changed)
}

// cut cuts the change log and sets requirements, in the tree's copy. It returns the files that it has changed.
func (m *maker) cut(tree string, at time.Time) (changed []string, err error) {
	path := filepath.Join(tree, changeLog)
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	log, notes, err := cut(string(old), m.version, at)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, []byte(log), 0o666); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.out, 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(m.out, "notes.md"), []byte(absolute(notes, m.version)), 0o666); err != nil {
		return nil, err
	}
	changed, err = setRequirements(tree, m.version)
	return append(changed, changeLog), err
}

// tags names the tags.
func (m *maker) tags(modules []published) error {
	var tags strings.Builder
	for _, p := range modules {
		tags.WriteString(p.tag() + "\n")
	}
	m.say("tags to set on the commit of the release: %s", strings.Join(strings.Fields(tags.String()), ", "))
	return os.WriteFile(filepath.Join(m.out, "TAGS"), []byte(tags.String()), 0o666)
}

// hand writes the files of the tree that the release changes into the folder, and with -apply into the working tree.
func (m *maker) hand(tree string, changed []string) error {
	slices.Sort(changed)
	for _, name := range changed {
		places := []string{filepath.Join(m.out, "changed", name)}
		if m.apply {
			places = append(places, filepath.Join(m.root, name))
		}
		for _, to := range places {
			if err := copyFile(filepath.Join(tree, name), to); err != nil {
				return err
			}
		}
	}
	where := "changed: copy its files into the tree, or give -apply, and commit"
	if m.apply {
		where = "the working tree: commit them"
	}
	m.say("%d changed files are in %s", len(changed), where)
	return nil
}
