/**
 * Whether a device is emulated, by the firmware it reports: libfabric and sysfs both hand it out. The only place
 * that asks; everything else treats such a device as hardware.
 */
export const isEmulated = (firmware: string | undefined): boolean =>
  firmware?.startsWith('weft-emulated') ?? false;
