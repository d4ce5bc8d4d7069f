package parity

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/repo"
)

// row is one behaviour. It has a test and the functions that the test rests on, or
// says why Go has none.
type row struct {
	// id is the number of the behaviour, with a letter where it takes several rows.
	id      string
	input   string // what is done
	outcome string // what comes of it
	test    func(t *testing.T)
	on      []any  // functions; see name
	none    string // why there is no test
}

// section is an area of the table.
type section struct {
	id, title string
	rows      []row
}

var sections []section

// area enters the rows of an area; every file of rows calls it once, in init. id is
// the section of the inventory, such as "2.2".
func area(id, title string, rows ...[]row) {
	sections = append(sections, section{id, title, slices.Concat(rows...)})
}

// table returns the areas in the order of their sections, and the rows of each, of
// several files, in the order of their numbers.
func table() []section {
	var list []section
	for _, s := range sections {
		i := slices.IndexFunc(list, func(o section) bool { return o.id == s.id })
		if i < 0 {
			i, list = len(list), append(list, section{id: s.id, title: s.title})
		}
		list[i].rows = append(slices.Clip(list[i].rows), s.rows...)
	}
	slices.SortFunc(list, func(a, b section) int { return strings.Compare(a.id, b.id) })
	for _, s := range list {
		slices.SortStableFunc(s.rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.number(), b.number()), strings.Compare(a.id, b.id))
		})
	}
	return list
}

// maxNone bounds the behaviours that Go has no use for.
const maxNone = 29

func TestBehaviours(t *testing.T) {
	seen, none := map[string]bool{}, 0
	for _, s := range table() {
		for _, r := range s.rows {
			require.False(t, seen[r.id], "two rows are called %s", r.id)
			seen[r.id] = true
			require.Equal(t, r.test == nil, r.none != "", "row %s needs a test or a reason, and not both", r.id)
			require.NotEmpty(t, r.input, r.id)
			if r.test == nil {
				none++
				continue
			}
			require.NotEmpty(t, r.outcome, r.id)
			require.NotEmpty(t, r.on, "row %s rests on nothing", r.id)
			t.Run(r.id, r.test)
		}
	}
	require.LessOrEqual(t, none, maxNone)
}

// number is the behaviour that a row is about: "44" of "44b".
func (r row) number() int {
	n, _ := strconv.Atoi(strings.TrimRight(r.id, "abcdefghijklmnopqrstuvwxyz"))
	return n
}

// variable is something of this module that is no function, with its name; its value
// lets the compiler check that there is one.
type variable struct {
	name  string
	value any
}

// name returns what a function is called in this module, "graph.(*Node).SetArg": the
// compiler has checked that there is one.
func name(f any) string {
	if v, ok := f.(variable); ok {
		return v.name
	}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func {
		panic("a row rests on functions, not on a " + v.Type().String())
	}
	full := strings.TrimPrefix(runtime.FuncForPC(v.Pointer()).Name(), repo.Module+"/")
	return strings.Replace(full, "[...]", "", 1)
}

func TestNames(t *testing.T) {
	require.Equal(t, "internal/parity.row.number", name(row.number))
	require.Equal(t, "internal/parity.area", name(area))
	require.Equal(t, 44, row{id: "44b"}.number())
}
