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

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// row is one behaviour. It has a test and the functions that the test rests on, or
// says why Go has none.
type row struct {
	// id is the number of the behaviour, with a letter where it takes several rows.
	id      string
	input   string // the action
	outcome string // its result
	test    func(t *testing.T)
	on      []any  // functions; see name
	none    string // why there is no test
}

// section is an area of the table.
type section struct {
	id   string
	rows []row
}

var sections []section

// area enters rows of an area, such as "2.2", see behaviours; every file of rows calls it
// once, in init.
func area(id string, rows ...[]row) {
	if !slices.ContainsFunc(behaviours, func(b numbers) bool { return b.id == id }) {
		panic("there is no area " + id)
	}
	sections = append(sections, section{id, slices.Concat(rows...)})
}

// table returns the areas in the order of their sections, and the rows of each, of
// several files, in the order of their numbers.
func table() []section {
	var list []section
	for _, b := range behaviours {
		s := section{id: b.id}
		for _, o := range sections {
			if o.id == b.id {
				s.rows = append(s.rows, o.rows...)
			}
		}
		list = append(list, s)
		slices.SortStableFunc(s.rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.number(), b.number()), strings.Compare(a.id, b.id))
		})
	}
	return list
}

// numbers are an area of the inventory and its behaviours.
type numbers struct {
	id, title   string
	first, last int
}

// behaviours are the areas of the inventory with the numbers of their first and last
// behaviour.
var behaviours = []numbers{
	{"2.1", "Tracing and Proxy", 1, 40},
	{"2.2", "Node and Graph", 41, 65},
	{"2.3", "GraphModule, code generation, persistence", 66, 81},
	{"2.4", "Interpreter and Transformer", 82, 90},
	{"2.5", "Rewriting and matching", 91, 103},
	{"2.6", "Passes", 104, 117},
	{"2.7", "Split, partition, minimise, devices", 118, 126},
	{"2.8", "Types and symbolic shapes", 127, 135},
	{"2.9", "Quantisation: workflow", 136, 166},
	{"2.10", "Quantisation: observers and tools", 167, 179},
}

// maxNone bounds the behaviours that Go has no use for.
const maxNone = 29

// minTested is how many behaviours have a test at least.
const minTested = 150

// count returns how many behaviours have a test, how many a reason only, and which have
// neither.
func count() (tested, none int, open []int) {
	with, without := map[int]bool{}, map[int]bool{}
	for _, s := range sections {
		for _, r := range s.rows {
			if r.test != nil {
				with[r.number()] = true
			} else {
				without[r.number()] = true
			}
		}
	}
	for i := behaviours[0].first; i <= behaviours[len(behaviours)-1].last; i++ {
		switch {
		case with[i]:
			tested++
		case without[i]:
			none++
		default:
			open = append(open, i)
		}
	}
	return tested, none, open
}

func TestBehaviours(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range table() {
		for _, r := range s.rows {
			require.False(t, seen[r.id], "two rows are called %s", r.id)
			seen[r.id] = true
			require.True(t, slices.ContainsFunc(behaviours, func(b numbers) bool {
				return b.id == s.id && b.first <= r.number() && r.number() <= b.last
			}), "row %s is none of area %s", r.id, s.id)
			require.Equal(t, r.test == nil, r.none != "", "row %s needs a test or a reason, and not both", r.id)
			require.NotEmpty(t, r.input, r.id)
			if r.test == nil {
				continue
			}
			require.NotEmpty(t, r.outcome, r.id)
			require.NotEmpty(t, r.on, "row %s rests on nothing", r.id)
			t.Run(r.id, r.test)
		}
	}
	tested, none, open := count()
	require.Empty(t, open, "behaviours without a row")
	require.GreaterOrEqual(t, tested, minTested)
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

// name returns a function's name in this module, "graph.(*Node).SetArg": the
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
	require.Equal(t, "internal/testkit/parity.row.number", name(row.number))
	require.Equal(t, "internal/testkit/parity.area", name(area))
	require.Equal(t, 44, row{id: "44b"}.number())
}
