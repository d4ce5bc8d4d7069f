package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/internal/licences"
)

// bill is a bill of materials in CycloneDX's form.
type bill struct {
	Format       string      `json:"bomFormat"`
	Spec         string      `json:"specVersion"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
	Dependencies []depends   `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// billOf lists what a binary is made of, by what the go command has written into it. It refuses a binary with a module
// whose licence nobody has looked at.
func billOf(path string, at time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b, err := billFrom(info, at)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	b.Metadata.Component.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	return indented(b)
}

// indented writes a document with a line for each value.
func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// billFrom makes the bill of a program of which the go command says this.
func billFrom(info *debug.BuildInfo, at time.Time) (*bill, error) {
	main, err := componentOf(&info.Main)
	if err != nil {
		return nil, err
	}
	main.Type, main.Name = "application", info.Path[strings.LastIndex(info.Path, "/")+1:]
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || strings.HasPrefix(s.Key, "-") {
			main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b := &bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{at.Format(time.RFC3339), main}}
	all := depends{Ref: main.Ref}
	std := &debug.Module{Path: licences.Std, Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range append([]*debug.Module{std}, info.Deps...) {
		c, err := componentOf(m)
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, c)
		all.On = append(all.On, c.Ref)
	}
	b.Dependencies = []depends{all}
	return b, nil
}

// componentOf describes a module.
func componentOf(m *debug.Module) (component, error) {
	if m.Replace != nil {
		return component{}, fmt.Errorf("%s is replaced by %s, want none replaced in a release", m.Path, m.Replace.Path)
	}
	l, ok := licences.Of(m.Path)
	if !ok {
		return component{}, fmt.Errorf("the licence of %s is unknown, run go generate ./internal/licences", m.Path)
	}
	if l.Version != "" && l.Version != m.Version {
		return component{}, fmt.Errorf("%s is linked in version %s, its licence was read in %s: run go generate ./internal/licences", m.Path, m.Version, l.Version)
	}
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url, Licenses: []license{{l.Licence}}}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c, nil
}
