// Every system package Weft asks for, by the first profile that needs it. Names are those of Debian 12 and
// Ubuntu 24.04; `probe` finds the same thing on a distribution whose package names we do not know: a
// program on PATH, or one of several files. `optional` ones are left out where the distribution lacks them.
const header = (name) =>
  ['/usr/include', '/usr/local/include'].map((folder) => `${folder}/${name}`);

export const packageTable = [
  {
    name: 'libfabric-dev',
    profile: 'run',
    why: 'libfabric 1.17 or newer and its headers, for every transfer',
    probe: { files: header('rdma/fabric.h') },
  },
  {
    name: 'g++',
    profile: 'run',
    why: 'compiles the native part (C++20)',
    probe: { program: 'g++' },
  },
  {
    name: 'slurm-wlm',
    profile: 'test',
    why: 'srun, for the launcher tests',
    probe: { program: 'srun' },
  },
  {
    name: 'openmpi-bin',
    profile: 'test',
    why: "Open MPI's mpirun, for the launcher tests",
    probe: { program: 'ompi_info' },
  },
  {
    name: 'mpich',
    profile: 'test',
    why: "MPICH's mpirun, for the launcher tests",
    probe: { program: 'mpiexec.hydra' },
  },
  {
    name: 'openssh-server',
    profile: 'test',
    why: 'sshd, for the tests of mpirun on several hosts',
    probe: { program: 'sshd' },
  },
  {
    name: 'iproute2',
    profile: 'test',
    why: 'ip and tc, for the lab',
    probe: { program: 'ip' },
  },
  {
    name: 'nftables',
    profile: 'test',
    why: 'packet loss in the lab',
    probe: { program: 'nft' },
  },
  {
    name: 'faketime',
    profile: 'test',
    why: 'another clock, for the tests of the preflight and of faults',
    probe: { program: 'faketime' },
  },
  {
    name: 'e2fsprogs',
    profile: 'test',
    why: 'mkfs.ext4, for the tests of disks that fail',
    probe: { files: ['/usr/sbin/mkfs.ext4', '/sbin/mkfs.ext4'] },
  },
  {
    name: 'chromium',
    profile: 'test',
    why: 'a browser, for the tests of reports and the live page',
    probe: { program: 'chromium' },
  },
  {
    name: 'python3-simgrid',
    profile: 'test',
    why: 'a network simulator that the model of fabrics is checked against',
    probe: {
      files: ['311', '312'].map(
        (version) =>
          `/usr/lib/python3/dist-packages/simgrid.cpython-${version}-x86_64-linux-gnu.so`,
      ),
    },
  },
  {
    name: 'xz-utils',
    profile: 'test',
    why: 'compresses the bundle',
    probe: { program: 'xz' },
  },
  {
    name: 'gcc',
    profile: 'test',
    why: 'compiles the C programs in comparisons/',
    probe: { program: 'gcc' },
  },
  {
    name: 'libc6-dev',
    profile: 'test',
    why: 'headers for the C programs in comparisons/',
    probe: { files: header('stdio.h') },
  },
  {
    name: 'libopenmpi-dev',
    profile: 'test',
    why: 'Open MPI headers, for the mpi backend of all-to-all-single',
    probe: { program: 'mpicxx' },
  },
  {
    name: 'libmpich-dev',
    profile: 'test',
    why: 'MPICH headers, for the mpi backend under MPICH',
    probe: { program: 'mpicxx.mpich' },
  },
  {
    name: 'libgloo-dev',
    profile: 'test',
    why: 'gloo, for the gloo backend of all-to-all-single',
    probe: { files: header('gloo/alltoall.h') },
  },
  {
    name: 'libibverbs-dev',
    profile: 'test',
    why: 'headers of verbs, for the emulated EFA device',
    probe: { files: header('infiniband/efadv.h') },
  },
  {
    name: 'libfabric-bin',
    profile: 'test',
    why: 'fi_pingpong, for the tests of the emulated EFA device and for comparisons',
    probe: { program: 'fi_pingpong' },
  },
  {
    name: 'iperf3',
    profile: 'bench',
    why: 'reference for TCP bandwidth in the lab',
    probe: { program: 'iperf3' },
  },
  {
    name: 'python3-torch',
    profile: 'bench',
    why: 'gloo through PyTorch, for the all-to-all comparison',
    probe: { files: ['/usr/lib/python3/dist-packages/torch/__init__.py'] },
    optional: true,
  },
];

const order = ['run', 'test', 'bench'];

export function packagesFor(profile) {
  return packageTable.filter((row) => order.indexOf(row.profile) <= order.indexOf(profile));
}
