package tcp

// interest is what a descriptor is watched for; none: not watched.
type interest uint8

const (
	none     interest = 0
	readable interest = 1
	writable interest = 2
)

// fired is one descriptor that became ready. An error or a hang-up is both.
type fired struct {
	fd   int
	what interest
}

// maxFired bounds what one turn takes from the system; the rest comes in the next.
const maxFired = 64
