// Package all lists the kernel families.
package all

import (
	"stenciltune/kernels"
	"stenciltune/kernels/global"
	"stenciltune/kernels/pipeline"
	"stenciltune/kernels/slide"
	"stenciltune/kernels/smalltile"
	"stenciltune/kernels/stream"
	"stenciltune/kernels/sweep"
	"stenciltune/kernels/tile"
)

// Families lists every family, simplest first: between schedules that tie, the
// earlier family wins.
func Families() []kernels.Family {
	return []kernels.Family{global.Family{}, smalltile.Family{}, tile.Family{}, slide.Family{}, sweep.Family{}, pipeline.Family{}, stream.Family{}}
}
