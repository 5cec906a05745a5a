package perftest

import "fmt"

// letters are ucx_perftest's letters that mean nothing here, with the reason.
var letters = map[string]string{
	"-m": "there is host memory only",
	"-i": "a message is one piece, there is no distance between pieces",
	"-l": "both ends of transport/self are in one worker, and one thread cannot wait for its own other end as a test does; --spawn measures between two processes of one host",
	"-o": "nothing at the target moves without its own progress over sockets",
	"-B": "memory is registered at once",
	"-6": "an address says which kind it is: write [::1]",
	"-I": "there is nothing more to print, and an Owned worker can always be woken",
	"-d": "lanes follow from the address of HOST; choose that",
	"-x": "write --transport",
	"-W": "how much may be unacknowledged is the endpoint's own business; -O is the window of operations",
	"-A": "an Owned worker has no thread beside the polling one; --shared has",
	"-M": "--owned is single, --shared is multi",
	"-C": "tag_bw receives by any tag, tag_lat by the exact one",
	"-U": "the server posts receives ahead; what comes unexpected is not measured",
	"-r": "a stream is read as its bytes come",
	"-e": "write --error-mode",
	"-z": "a put always goes to registered memory, and sources need none",
	"-P": "a program of one process does not know MPI",
}

// Refuse looks among arguments for ucx_perftest's letters that mean nothing here.
func Refuse(args []string) error {
	for _, a := range args {
		if a == "--" {
			return nil
		}
		if len(a) < 2 || a[0] != '-' || a[1] == '-' {
			continue
		}
		if why, ok := letters[a[:2]]; ok {
			return fmt.Errorf("%s: not here: %s", a[:2], why)
		}
	}
	return nil
}
