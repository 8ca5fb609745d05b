//go:build !linux

package wake

const instances = openFiles
