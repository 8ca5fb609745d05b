// Package wake tells that something has changed in the state directory: by
// fsnotify, and by looking at intervals where that is not possible.
package wake
