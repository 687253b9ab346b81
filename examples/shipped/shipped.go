// Package shipped holds the config that the examples fall back to where there is no
// GPU to tune on. go generate renews it where there is one.
package shipped

import _ "embed"

//go:generate sh -c "tune --quiet --stencil jacobi3d --device 0 > new 2>/dev/null && mv new jacobi3d.json || rm -f new"

// Jacobi3D is a config of jacobi3d, as tune printed it.
//
//go:embed jacobi3d.json
var Jacobi3D []byte
