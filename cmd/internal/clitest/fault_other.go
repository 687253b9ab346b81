//go:build !linux

package clitest

func failOperations() {}
