package meter

// ranks are where a curve of percentiles has its points: ten for each of the nines, so that it can be drawn over their number.
//
//	0 … 50 … 90 | 91 … 99 | 99.1 … 99.9 | 99.91 …
func ranks() (list []float64) {
	list = append(list, 0)
	for step := 10.0; step >= 0.001; step /= 10 {
		for i := 1.0; i <= 9; i++ {
			list = append(list, 100-10*step+i*step)
		}
	}
	return append(list, 100)
}

// Percentiles are the times of all that was taken, ascending, 0 % first and 100 % last. A rank above which there is no operation any more is left out: it would
// be the maximum, as the last one is.
func (m *Meter) Percentiles() (list []Point) {
	if m.ops == 0 {
		return nil
	}
	for _, rank := range ranks() {
		if rank < 100 && (100-rank)/100*float64(m.ops) < 1 {
			continue
		}
		list = append(list, Point{Rank: Rounded(rank), Micros: Rounded(m.percentile(rank))})
	}
	return list
}

// Merge adds what another one has taken, as if both had run one loop side by side: they begin when the first of them began, and end with the last. A
// Skip of either is taken for time that both had.
func (m *Meter) Merge(o *Meter) {
	if o.ops == 0 {
		return
	}
	if m.ops == 0 {
		m.clock, m.start, m.last, m.minimum = o.clock, o.start, o.last, o.minimum
	}
	begun, end := m.clock.Add(m.start), m.clock.Add(m.last)
	if t := o.clock.Add(o.start); t.Before(begun) {
		begun = t
	}
	if t := o.clock.Add(o.last); t.After(end) {
		end = t
	}
	m.start, m.last = begun.Sub(m.clock), end.Sub(m.clock)
	m.hist.Merge(o.hist)
	m.ops += o.ops
	m.minimum, m.maximum = min(m.minimum, o.minimum), max(m.maximum, o.maximum)
}
