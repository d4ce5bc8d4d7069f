//go:build card

package cardtest

import _ "embed"

//go:embed build/suite
var embedded []byte
