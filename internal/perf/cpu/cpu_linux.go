package cpu

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CanPin says whether this system can bind to processors.
const CanPin = true

// pin binds the calling thread.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("can't run on cpu %d: %w", cpu, err)
	}
	return nil
}

// pinAll binds all threads of this process; those that are started later inherit it.
func pinAll(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
			return fmt.Errorf("can't run on cpu %d: %w", cpu, err)
		}
	}
	return nil
}

// allowed are the processors that this process may use, in order.
func allowed() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := range maxCPUs {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// core names what a processor shares with its siblings; "" if the system does not say.
func core(cpu int) string {
	text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	if err != nil {
		return ""
	}
	return string(text)
}
