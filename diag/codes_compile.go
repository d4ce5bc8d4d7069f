package diag

// compileCodes are the codes of compile mode.
var compileCodes = []Info{
	{
		//gofx:code compile/state.Stale
		Code: "FX1070", Title: "the table of a compiled function is not that of the code",
		Cause: "A type of the program has other fields than when fxgen compile was run.",
		Cure:  "Run fxgen compile again.",
		Example: `func staleTable() {
	t := state.Table{Func: "example.com/app.F", Fields: []state.Field{{Type: "example.com/app.Model", Name: "Gone", FieldType: "int"}}}
	compile.New(t, func(in *struct{ M *Model }, _ *struct{}) {})
}`,
	},
	{
		//gofx:code compile.NotRecorded
		Code: "FX1071", Title: "a compiled function runs as it is, under Strict",
		Cause: "The table lists code of which nothing is known, or a call met memory that it does not list, looked at data, or made what no record can make again.",
		Cure:  "Do what the message says at the line that it names, or leave Strict out: the results are the same.",
		Example: `func opaque(x *tensor.Tensor) {
	t := state.Table{Func: "example.com/app.F", Opaque: []state.Place{{Line: "f.go:9", What: "os.Getenv", Why: "reads the environment"}}}
	f := compile.New(t, func(in *struct{ X *tensor.Tensor }, out *struct{ R *tensor.Tensor }) { out.R = in.X.Relu() }, compile.Strict())
	f.Call(struct{ X *tensor.Tensor }{x})
}`,
	},
	{
		//gofx:code compile.Differs
		Code: "FX1072", Title: "a compiled function would have done another thing than its record says",
		Cause: "A call under Audit whose record fits has computed another graph, or has stored something else: the table does not list all that the function reads.",
		Cure:  "Run fxgen compile again; if the table is fresh, report the function.",
		Example: `func hidden(x *tensor.Tensor) {
	scale := 1.0
	f := compile.New(state.Table{Func: "example.com/app.F"}, func(in *struct{ X *tensor.Tensor }, out *struct{ R *tensor.Tensor }) {
		out.R, scale = in.X.MulScalar(scale), scale+1
	}, compile.Audit(1))
	for range 2 {
		f.Call(struct{ X *tensor.Tensor }{x})
	}
}`,
	},
}
