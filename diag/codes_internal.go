package diag

// internalCodes explains the codes FX9xxx: broken invariants of gofx itself.
var internalCodes = []Info{
	{
		Code: Internal, Title: "internal error",
		Cause:   "an invariant of gofx does not hold; the input is not to blame",
		Cure:    "report it with the input that shows it",
		Example: "none: every input that shows it is a bug",
	},
}
