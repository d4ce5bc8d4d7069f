// Package licences has the licences of everything that is linked into fxgen and into fxdraw, the program that fxgen
// builds for drawings: their names and their texts. A generator writes the table; a test finds modules that it lacks.
//
// Read licences.go.
package licences

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

//go:generate go run ../generators/licences

// Module is the licence of a module.
type Module struct {
	Path    string `json:"path"`    // Std for Go's own library
	Version string `json:"version"` // whose texts these are, "" where gofx's own version decides
	Licence string `json:"licence"` // an expression of SPDX
	Program string `json:"program"` // fxgen, or fxdraw where fxgen does not have it
	Texts   []Text `json:"texts"`
}

// Text is a file of a module.
type Text struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// Std is the path of Go's library and runtime.
const Std = "std"

//go:embed modules.json
var table []byte

var all = sync.OnceValue(func() (list []Module) {
	if err := json.Unmarshal(table, &list); err != nil {
		panic(fmt.Sprint("internal/licences/modules.json: ", err)) // embedded, and read by the tests
	}
	return list
})

// All lists the modules by path.
func All() []Module { return slices.Clone(all()) }

// Of returns the licence of a module.
func Of(path string) (m Module, ok bool) {
	i := slices.IndexFunc(all(), func(m Module) bool { return m.Path == path })
	if i < 0 {
		return Module{}, false
	}
	return all()[i], true
}
