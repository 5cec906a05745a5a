package info

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/openbraid/braid/internal/info"
)

func (p *printer) build(b *info.Build) {
	p.part("build")
	source := "not known: built outside of a repository, or with -buildvcs=false"
	if b.Revision != "" {
		source = b.Revision
		if b.Modified {
			source += ", changed since"
		}
	}
	p.table([][]string{
		{"version", b.Version}, {"source", source}, {"wire", b.Wire + " (peers must have the same first number)"}, {"go", b.Go}, {"system", b.OS + "/" + b.Arch},
	})
}

func (p *printer) transports(list []info.Transport) {
	p.part("transports")
	rows := [][]string{{"NAME", "USED", "REACHES", "LARGEST FRAME", "NO COPY FROM", "WHY"}}
	for _, t := range list {
		reaches, used := "other processes and hosts", "yes"
		if t.Local {
			reaches = "listeners of its own worker"
		} else if t.Here {
			reaches = "processes of this host and user"
		}
		if !t.Used {
			used = "no"
		}
		uncopied := "never"
		if t.ZeroCopy > 0 {
			uncopied = strconv.Itoa(t.ZeroCopy)
		}
		rows = append(rows, []string{t.Name, used, reaches, strconv.Itoa(t.MaxFrame), uncopied, t.Why})
	}
	p.table(rows)
}

func (p *printer) rails(list []info.Rail) {
	p.part("rails")
	rows := [][]string{{"INTERFACE", "ADDRESS", "MTU", "SPEED", "LANES", "WHY NOT, OR WHERE ONLY"}}
	for _, r := range list {
		address, lanes, speed := r.Address+"/"+strconv.Itoa(r.Bits), "no", "not known"
		if r.Address == "" {
			address = "-"
		}
		if r.Usable {
			lanes = "yes"
		}
		if r.Mbits > 0 {
			speed = strconv.Itoa(r.Mbits) + " Mb/s"
		}
		rows = append(rows, []string{r.Interface, address, strconv.Itoa(r.MTU), speed, lanes, r.Reason})
	}
	p.table(rows)
}

func (p *printer) limits(list []info.Limit) {
	p.part("limits of this system")
	var rows [][]string
	for _, l := range list {
		rows = append(rows, []string{strings.ReplaceAll(l.Name, "_", " "), strings.TrimSpace(strconv.FormatInt(l.Value, 10) + " " + l.Unit), l.Text})
	}
	p.table(rows)
}

// config is a line for each setting.
func (p *printer) config(list []info.Setting) {
	p.part("settings")
	rows := [][]string{{"KEY", "VALUE", "FROM", "DEFAULT", "UNIT", "WHAT IT IS"}}
	for _, s := range list {
		rows = append(rows, []string{s.Key, dash(s.Value), from(s), dash(s.Default), dash(s.Unit), s.Text})
	}
	p.table(rows)
}

// full is everything about some settings.
func (p *printer) full(list []info.Setting) {
	for _, s := range list {
		p.part(s.Key + " = " + s.Value)
		value := s.Grammar
		if s.Auto != "" {
			value += ": " + s.Auto
		}
		rows := [][]string{{"what it is", s.Text}, {"value", value}, {"default", dash(s.Default)}, {"from", from(s)}, {"variable", s.Variable}}
		if s.Option != "" {
			rows = append(rows, []string{"in Go", "braid.Options." + s.Option})
		}
		p.table(rows)
	}
}

// from is where a value was said.
func from(s info.Setting) string {
	if s.Where == "" {
		return s.Origin
	}
	return s.Where
}

// dash stands where there is nothing, so that columns stay columns for other programs.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (p *printer) devices(d *info.Devices) {
	p.part("devices")
	used := "none is used"
	if d.Used {
		used = "used"
	}
	p.line("RDMA: %s; %s: %s", cmp.Or(strings.Join(d.RDMA, ", "), "none here"), used, d.Why)
	if len(d.Ports) == 0 {
		return
	}
	rows := [][]string{{"DEVICE", "PORT", "STATE", "MTU", "ADDRESSES", "WHY NOT"}}
	for _, x := range d.Ports {
		rows = append(rows, []string{x.Device, strconv.Itoa(x.Port), x.State, strconv.Itoa(x.MTU), cmp.Or(strings.Join(x.Addresses, " "), "-"), x.Reason})
	}
	p.table(rows)
}
