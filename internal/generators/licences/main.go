// Command licences writes the table of package internal/licences: the licences of all modules that are linked into
// fxgen and fxdraw on any system, with the texts that the modules have.
//
//	go run ./internal/generators/licences
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/licences"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

func main() {
	root, err := repo.Root()
	if err == nil {
		var text []byte
		if text, err = generate(root); err == nil {
			err = os.WriteFile(filepath.Join(root, "internal", "licences", "modules.json"), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// generate returns the table.
func generate(root string) ([]byte, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	var list []licences.Module
	for _, l := range modules {
		m := licences.Module{Path: l.Path, Version: l.Version, Program: l.Program}
		if m.Texts, err = texts(l.Dir); err != nil {
			return nil, err
		}
		if m.Licence, err = identified(l.Path, m.Texts); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	err = e.Encode(list)
	return b.Bytes(), err
}

// fileName is how files with licences are called.
var fileName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-][a-z0-9]+)?$`)

// texts are the files with licences at the root of a module, and in its folder for them.
func texts(dir string) (list []licences.Text, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if f.Type().IsRegular() && fileName.MatchString(f.Name()) {
			names = append(names, f.Name())
		}
	}
	for _, pattern := range []string{"licenses/*.txt", "licences/*.txt"} {
		more, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range more {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		list = append(list, licences.Text{File: name, Text: strings.ToValidUTF8(string(text), "\uFFFD")})
	}
	return list, nil
}

// Words by which a text is known; the first entry of which a text has all words counts.
var known = []struct {
	id    string
	words []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"Apache-2.0", []string{"Licensed under the Apache License, Version 2.0"}},
	{"FTL", []string{"The FreeType Project LICENSE"}},
	{"GPL-2.0-or-later", []string{"GNU GENERAL PUBLIC LICENSE", "Version 2, June 1991"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "Neither the name"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms", "this list of conditions"}},
	{"MIT", []string{"Permission is hereby granted, free of charge", "without restriction"}},
}

// declared are licences that no word of a file tells: of choices between several, and of parts.
var declared = map[string]string{
	"github.com/golang/freetype":   "FTL OR GPL-2.0-or-later", // its LICENSE leaves the choice
	"github.com/goccy/go-graphviz": "MIT AND " + licenceOfDot, // graphviz.wasm is Graphviz's code
}

// licenceOfDot is the licence of Graphviz, whose code go-graphviz holds as WebAssembly; its README names it.
const licenceOfDot = "EPL-1.0"

// identified returns the licence that a module's texts are.
func identified(path string, list []licences.Text) (string, error) {
	if id := declared[path]; id != "" {
		return id, nil
	}
	var ids []string
	for _, t := range list {
		if id := idOf(t.Text); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%s has no licence that is known here, want an entry in known or in declared", path)
	}
	return strings.Join(ids, " AND "), nil
}

func idOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, k := range known {
		if !slices.ContainsFunc(k.words, func(w string) bool { return !strings.Contains(text, w) }) {
			return k.id
		}
	}
	return ""
}
