// Package life is the life of a connection through shared memory, as a table. transport/shm imports it.
package life
