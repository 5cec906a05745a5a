package order

// List is first in, first out, but for what comes back: that goes in front. The zero value is empty.
type List[T any] struct{ items []T }

// Len is how many there are, All are they, in order.
func (l *List[T]) Len() int { return len(l.items) }
func (l *List[T]) All() []T { return l.items }

// Push appends one.
func (l *List[T]) Push(v T) { l.items = append(l.items, v) }

// Pop takes the first one out.
func (l *List[T]) Pop() (v T) {
	v, l.items[0] = l.items[0], v
	l.items = l.items[1:]
	return v
}

// Prepend puts all of another list in front.
func (l *List[T]) Prepend(o *List[T]) {
	if len(o.items) > 0 {
		l.items = append(o.items, l.items...)
	}
}
