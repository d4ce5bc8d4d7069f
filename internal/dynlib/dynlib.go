package dynlib

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// Library is a loaded shared library.
type Library struct {
	name   string
	handle uintptr
}

// Name returns the name under which the library was found.
func (l *Library) Name() string { return l.name }

// Lookup returns the address of a function, 0 for one that the library lacks.
func (l *Library) Lookup(function string) uintptr { return lookup(l.handle, function) }

// Find sets the addresses of functions, and returns the first by name that the library lacks, "" for none.
func (l *Library) Find(functions map[string]*uintptr) (missing string) {
	for _, f := range slices.Sorted(maps.Keys(functions)) {
		if *functions[f] = l.Lookup(f); *functions[f] == 0 {
			return f
		}
	}
	return ""
}

// Open loads the first library of names that exists; a name without a path is
// searched for where the system's loader searches. The error holds the loader's
// message for each name on one line.
func Open(names ...string) (*Library, error) {
	if !loads {
		return nil, &MissingError{Reasons: []string{"this program opens no shared libraries: there is no loader for " +
			runtime.GOOS + "/" + runtime.GOARCH + ", or the build tag nodynlib was set"}}
	}
	missing := &MissingError{}
	for _, name := range names {
		handle, err := open(name)
		if err == nil {
			return &Library{name: name, handle: handle}, nil
		}
		missing.Reasons = append(missing.Reasons, reason(name, err))
	}
	return nil, missing
}

// MissingError says that none of the libraries could be loaded.
type MissingError struct {
	Reasons []string // one for each name that was tried
}

// Error returns the reasons in one line.
func (e *MissingError) Error() string {
	if len(e.Reasons) == 0 {
		return "no library is named"
	}
	return strings.Join(e.Reasons, "; ")
}

// reason puts a loader's message into one line that names the library once.
func reason(name string, err error) string {
	said := strings.Join(strings.Fields(err.Error()), " ")
	if strings.Contains(said, name) {
		return said
	}
	return name + ": " + said
}
