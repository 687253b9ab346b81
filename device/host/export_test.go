package host

// Folder is the private folder.
func (d *Device) Folder() string { return d.dir }
