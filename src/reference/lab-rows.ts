/**
 * Times in a lab of 2 hosts × 4 NICs at 100mbit (MTU 9000, queue 500 ms), measured on 16 November 2026 over `tcp;ofi_rxm`
 * of libfabric 1.17 on Linux 6.18 with 2 vCPUs: means of 5 iterations. The rows of 256 bytes are the medians of three
 * runs; they pass within the burst of the rate limit and show what a transfer costs besides its bytes.
 */
export const labRows = `\
benchmark,nodes,config,size_bytes,lat_us
write,2,SinglePin,524288,41954.48
write,2,SinglePin,1048576,84205.58
write,2,SinglePin,2097152,168718.50
write,2,SinglePin,4194304,338111.25
write,2,SinglePin,8388608,676015.49
write,2,MultiPin,2097152,42062.86
write,2,MultiPin,4194304,84375.25
write,2,MultiPin,8388608,168855.58
sendrecv,2,SinglePin,524288,81821.36
sendrecv,2,SinglePin,1048576,166317.70
sendrecv,2,SinglePin,2097152,335239.09
sendrecv,2,SinglePin,4194304,673239.33
all2all,2,SinglePin,524288,42102.04
all2all,2,SinglePin,1048576,84506.90
all2all,2,SinglePin,2097152,169368.45
all2all,2,SinglePin,4194304,339139.42
all2all,2,MultiPin,2097152,42624.50
all2all,2,MultiPin,4194304,84637.26
write,2,SinglePin,256,95.79
write,2,MultiPin,256,185.19
sendrecv,2,SinglePin,256,92.22
`;

/** The rows over several channels, or both ways, that the fit used. */
export const labRowsAlso: readonly string[] = ['all2all:SinglePin:4M', 'write:MultiPin:256'];
