package sandboxinit

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A crowd is a program with far more processes than useful work needs. It is barred from one
// CPU, which is left to the server and the user's other programs. On the other CPUs each of
// its sessions gets as much time as the server, however many sessions there are.
const (
	crowdShare = 4           // a crowd has at least 1/4 of the limit of processes
	leastCrowd = 256         // and so many processes, which the largest builds do not reach
	crowdLook  = 200_000_000 // ns between two looks
)

// watchCrowd has the init look for a crowd, if there are at least two CPUs.
func (p *plan) watchCrowd(limit int) {
	var own unix.CPUSet
	if unix.SchedGetaffinity(0, &own) != nil || own.Count() < 2 {
		return
	}
	last := 0
	for cpu := range len(own) * 64 {
		if own.IsSet(cpu) {
			last = cpu
		}
	}
	own.Clear(last)
	p.processors, p.proc = own, cstring("/proc")
	p.crowd = max(uint32(max(limit, 0)/crowdShare), leastCrowd)
}

// look looks for a crowd, at most every crowdLook.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) look() {
	syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC_COARSE, uintptr(unsafe.Pointer(&p.clock)), 0)
	now := p.clock.Sec*1_000_000_000 + p.clock.Nsec
	if now-p.looked < crowdLook {
		return
	}
	p.looked = now
	if p.eachProcess(false) >= p.crowd {
		p.eachProcess(true)
	}
}

// eachProcess counts the processes of the namespace. With keep it bars them from the CPU.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) eachProcess(keep bool) (count uint32) {
	fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, nothing, uintptr(unsafe.Pointer(p.proc)), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return 0
	}
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_GETDENTS64, fd, uintptr(unsafe.Pointer(&p.scratch)), uintptr(len(p.scratch)))
		if errno != 0 || n == 0 || n > uintptr(len(p.scratch)) {
			break
		}
		for at := uintptr(0); at+direntName < n; {
			length := uintptr(p.scratch[at+direntLength]) | uintptr(p.scratch[at+direntLength+1])<<8
			id := uintptr(0)
			for i := at + direntName; i < n && p.scratch[i] >= '0' && p.scratch[i] <= '9'; i++ {
				id = id*10 + uintptr(p.scratch[i]-'0')
			}
			if id > 1 {
				if count++; keep {
					syscall.RawSyscall(unix.SYS_SCHED_SETAFFINITY, id, unsafe.Sizeof(p.processors), uintptr(unsafe.Pointer(&p.processors)))
				}
			}
			if length == 0 {
				break
			}
			at += length
		}
	}
	syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	return count
}

// Offsets in a directory entry, on the architectures that have a filter.
const (
	direntLength = 16
	direntName   = 19
)
