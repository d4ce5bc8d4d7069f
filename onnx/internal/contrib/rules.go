package contrib

import (
	"github.com/gofx-dev/gofx/onnx/internal/rule"
)

// Rules are the operators by name.
var Rules = rule.Merge(ownRules, contribAttentionRules, contribQuantRules, inverseRules)
