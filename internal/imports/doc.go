// Package imports holds one test: that imports within the module point one way,
// and that each large dependency stays behind its fence.
package imports
