//go:build !cgo

package main

const figuresBuilt = false
