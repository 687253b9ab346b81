// Package cache holds everything that stays on disk: the store, with its journal
// of every outcome and the best config of every problem, and the config itself,
// the JSON document that other builds read, with its JSON Schema. Tunes on several
// machines may share a journal: see Store.Share.
//
// Caveats first. The store is a bbolt file, or a database. The file never shrinks and it belongs to
// one kind of processor (its integers are in native byte order). It is opened
// for each operation and closed again, so several processes may use it, each
// waiting for the other a moment; batch what is to be written, since every write
// costs two fsyncs. The pages of the file are proven sound before bbolt sees
// them, and every value carries its own checksum: a damaged file is refused, a
// damaged record is skipped and counted, and neither is ever changed or deleted.
//
// The package never prints and never decides what to run next; what it wants the
// user to know is returned by Store.Warnings. Seconds and bytes throughout.
package cache
