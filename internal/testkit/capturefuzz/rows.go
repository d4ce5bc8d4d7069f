package capturefuzz

// rows is the grammar: the kinds of statements.
var rows []row

// blockRows are the kinds that occur inside closures, loops and regions.
var blockRows []row

func init() {
	blockRows = []row{
		{"expr", 14, oneExpr},
		{"view", 10, oneView},
		{"write", 26, oneWrite},
		{"view-write", 14, viewWrite},
		{"overlap", 2, overlap},
		{"factory", 6, factory},
		{"alias", 3, variable},
		{"slice", 3, holder},
		{"clone", 2, clone},
		{"cond", 2, cond},
		{"mixed-write", 1, mixedWrite},
		{"loop", 2, loop},
	}
	rows = append([]row{
		{"factory", 14, factory},
		{"edit-data", 7, editData},
		{"edit-slice", 5, editSlice},
		{"go-slice", 4, twice},
		{"list-view", 3, listView},
		{"tuple", 3, tuple},
		{"rebind", 3, rebind},
		{"holder", 5, holder},
		{"swap", 2, swap},
		{"closure", 4, closure},
		{"getter", 2, getter},
		{"defer", 1, later},
		{"early-return", 3, early},
		{"loop", 4, loop},
		{"cond", 5, cond},
		{"while", 4, while},
		{"scan", 4, scan},
		{"clone", 3, clone},
		{"on", 3, on},
		{"observe", 2, observe},
		{"leaf", 4, callLeaf},
		{"keep", 1, keep},
	}, blockRows...)
}
