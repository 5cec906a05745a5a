package books

// At makes one whose first number is given.
func At(number uint32, depth, pieces int) *Queue {
	q := New(depth, pieces)
	q.head, q.tail = number, number
	return q
}
