package trace

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// PNG draws the cells of the diagram, without words.
func (d *Diagram) PNG() ([]byte, error) {
	var palette color.Palette
	for _, s := range styles {
		palette = append(palette, color.RGBA{s.colour[0], s.colour[1], s.colour[2], 255})
	}
	scale := d.scale()
	img := image.NewPaletted(image.Rect(0, 0, scale*len(d.Columns), scale*d.elements()), palette)
	for t, column := range d.Columns {
		for row, s := range column {
			for y := range scale {
				for x := range scale {
					img.SetColorIndex(t*scale+x, row*scale+y, uint8(s))
				}
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}
