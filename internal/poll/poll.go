package poll

// Interest is what a descriptor is watched for; None: not watched.
type Interest uint8

const (
	None     Interest = 0
	Readable Interest = 1 // also: an error, or the end
	Writable Interest = 2
)

// Ready is one descriptor that became ready. An error or a hang-up is both.
type Ready struct {
	FD   int
	What Interest
}

// most bounds what one turn takes from the system; the rest comes in the next.
const most = 64
