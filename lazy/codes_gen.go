package lazy

import "github.com/gofx-dev/gofx/diag"

const (
	Overlap   diag.Code = "FX1009"
	Closed    diag.Code = "FX1050"
	Forbidden diag.Code = "FX1051"
	BadOption diag.Code = "FX1052"
	Stale     diag.Code = "FX1010"
	Unseen    diag.Code = "FX1016"
)
