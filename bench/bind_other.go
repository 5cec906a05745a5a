//go:build !linux

package main

const canBind = false

func bindProcess(string) error { return nil }
