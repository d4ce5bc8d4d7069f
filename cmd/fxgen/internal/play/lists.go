package play

import (
	"slices"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
)

// Lists are what a page offers before anything is opened.
type Lists struct {
	Version string            `json:"version"`
	Models  []work.Item       `json:"models"`
	Passes  []work.Item       `json:"passes"`
	Default []string          `json:"default"` // the default pipeline
	Endings []string          `json:"endings"` // of files that are sources
	Causes  map[string]string `json:"causes"`  // of diagnostics, by code
}

// NewLists makes the lists.
func NewLists() *Lists {
	l := &Lists{Version: gomod.Version(), Models: work.Models(), Passes: work.Passes(), Default: work.Optimise(), Endings: slices.Clone(work.Endings), Causes: map[string]string{}}
	for _, i := range diag.Codes() {
		l.Causes[string(i.Code)] = i.Title + ": " + i.Cause
	}
	return l
}
