"""Lab machines: Debian in QEMU, with a kernel, a boot loader and NUMA nodes of their own."""
