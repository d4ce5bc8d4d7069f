package state

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

type actor interface{ act() }

type inner struct{ Slope float64 }

type acting struct {
	In   inner
	List []*inner
}

func (*acting) act() {}

type witnessArgs struct {
	P *part
	A actor
}

// netTable speaks of part, which an argument leads to, and of acting and inner, which only an interface does.
func netTable() *Table {
	return &Table{Func: "f", Fields: []Field{
		{Type: here + "part", Name: "N", FieldType: "int", Access: Load},
		{Type: here + "inner", Name: "Slope", FieldType: "float64", Access: Load},
		{Type: here + "acting", Name: "List", FieldType: "[]*" + here + "inner", Access: Load | Len},
	}, Elems: []Elem{{Type: "[]*" + here + "inner", Access: Load | Len}}, Dynamic: []string{"*" + here + "acting"}}
}

func schemaOf(t *Table) *Schema {
	return NewSchema(t, reflect.TypeFor[witnessArgs](), reflect.TypeFor[results]())
}

func staleness(t *testing.T, table *Table) string {
	t.Helper()
	var err error
	func() {
		defer diag.Catch(&err)
		schemaOf(table)
	}()
	if err == nil {
		return ""
	}
	e, ok := err.(*diag.Error)
	require.True(t, ok)
	require.Equal(t, Stale, e.Code)
	require.Equal(t, "run fxgen compile again", e.Hint)
	return e.Msg
}

// A name that no type of the program has would be words without a guard: the constructor panics.
func TestNamesOfATableAreConfirmed(t *testing.T) {
	acts := []reflect.Type{reflect.TypeFor[*acting]()}
	for name, c := range map[string]struct {
		change func(*Table)
		want   string
	}{
		"all found": {func(*Table) {}, ""},
		"type of an argument misspelt": {func(x *Table) { x.Fields[0].Type = here + "prat" },
			"the table speaks of the type " + here + "prat, which the program does not have"},
		"field misspelt":               {func(x *Table) { x.Fields[0].Name = "M" }, "the type " + here + "part has no field M"},
		"field of another type":        {func(x *Table) { x.Fields[0].FieldType = "int64" }, "the field " + here + "part.N is a int, in the table a int64"},
		"type in an interface":         {func(x *Table) { x.Fields[1].Type = here + "iner" }, "the table speaks of the type " + here + "iner, which the program does not have"},
		"field within an interface":    {func(x *Table) { x.Fields[1].Name = "Slop" }, "the type " + here + "inner has no field Slop"},
		"elements misspelt":            {func(x *Table) { x.Elems[0].Type = "[]" + here + "inner" }, "the table speaks of the type []" + here + "inner, which the program does not have"},
		"no witness":                   {func(x *Table) { x.Types = nil }, "the table speaks of the type []*" + here + "inner, which the program does not have"},
		"a field of what is no struct": {func(x *Table) { x.Fields[0].Type = "int" }, "the type int is no struct, in the table it is one"},
		"variable of another type": {func(x *Table) { x.Globals = []Global{{Name: "v", Type: "int32", Ptr: new(int)}} },
			"the variable v is a int, in the table a int32"},
		"no call has a record":    {func(x *Table) { x.Fields[0].Type, x.Opaque = here+"prat", []Place{{What: "a call"}} }, ""},
		"no call has one, either": {func(x *Table) { x.Fields[0].Type, x.Observes = here+"prat", []Place{{What: "a call"}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := netTable()
			table.Types = acts
			c.change(table)
			require.Equal(t, c.want, staleness(t, table))
		})
	}
}

// What generated code cannot name is looked for in the values that interfaces hold.
func TestHiddenNamesAreConfirmedByWalks(t *testing.T) {
	walk := func(table *Table) (*Image, *Refusal) {
		in, out := &witnessArgs{&part{}, &acting{List: []*inner{{2}}}}, &results{}
		return schemaOf(table).Walk(unsafe.Pointer(in), unsafe.Pointer(out), nil)
	}
	table := netTable()
	all := []string{here + "acting", here + "inner", "[]*" + here + "inner"}
	table.Hidden = []Hidden{{"*" + here + "acting", all}}
	m, why := walk(table)
	require.Nil(t, why)
	require.True(t, func() bool {
		for _, s := range m.steps {
			if s.path == "A.List[0].Slope" || s.path == "A.In.Slope" {
				return true
			}
		}
		return false
	}(), "the words are guarded")

	for i := range table.Fields {
		if table.Fields[i].Type == here+"inner" {
			table.Fields[i].Type = here + "iner"
		}
	}
	require.Contains(t, staleness(t, table), here+"iner", "the entry is no hidden one")
	table.Hidden[0].Names = []string{here + "acting", here + "iner", "[]*" + here + "inner"}
	_, why = walk(table)
	require.Equal(t, "A holds a *"+here+"acting, and the table speaks of the type "+here+"iner within it, which it does not have: run fxgen compile again", why.Why)

	table = netTable()
	table.Hidden = []Hidden{{"", all}}
	_, why = walk(table)
	require.Nil(t, why, "a value may lead to what none was known to lead to")
}

func TestHiddenNamesInTheTestOfAProgram(t *testing.T) {
	table := &Table{Hidden: []Hidden{{"*main.a", []string{"main.b", "[]main.c"}}}, Globals: []Global{{Name: "main.v", Type: "*main.T"}}}
	got := table.inTest("example.com/x")
	require.Equal(t, []Hidden{{"*example.com/x.a", []string{"example.com/x.b", "[]example.com/x.c"}}}, got.Hidden)
	require.Equal(t, "*example.com/x.T", got.Globals[0].Type)
	require.Equal(t, []Hidden{{"*main.a", []string{"main.b", "[]main.c"}}}, table.Hidden)
}
