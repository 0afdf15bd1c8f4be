package registry
