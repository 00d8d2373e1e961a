/** Every way Weft can fail on purpose. `docs/errors.md` has a row for each. */
export const errorCodes = [
  'ABORTED', // the caller's AbortSignal fired, or another rank ended the job
  'ADDON_MISSING', // the native addon neither loads nor can be built here
  'BAD_FILE', // a file could not be read as what it should be
  'BAD_USAGE', // an option or environment variable has an impossible value
  'BUSY', // the object is in use by a running plan or an operation
  'CLOSED', // the object was closed
  'DATA_WRONG', // bytes arrived that were not sent
  'FABRIC_FAULT', // libfabric reported an error
  'GPU_DRIVER_TOO_OLD',
  'GPU_FAULT', // CUDA's driver reported an error, or the GPU was lost
  'LAUNCHER_CONFLICT', // the environment names two launchers, or half of one
  'LIBFABRIC_NOT_FOUND',
  'LIBFABRIC_TOO_OLD',
  'MEMORY_LIMIT', // memory could not be allocated or page-locked
  'NO_GPU', // no GPU, or no driver for it
  'NO_PROVIDER', // no provider or NIC fits what was asked for
  'PEER_LIBRARY', // gloo, MPI or NCCL reported an error
  'PEER_LOST', // a rank died or its connection broke
  'PORT_IN_USE',
  'PREFLIGHT', // a host is not fit for the job: another version, a limit that is too low
  'RENDEZVOUS_FAILED', // rank 0 could not be reached or refused us
  'TIMEOUT', // a deadline passed; the message names who is missing
  'UNREACHABLE', // a rail does not carry between two hosts
  'UNSUPPORTED', // this machine, kernel or provider cannot do it
] as const;

/** What a `WeftError` is about: one of a closed set, each with a row in docs/errors.md. */
export type ErrorCode = (typeof errorCodes)[number];

interface WeftErrorOptions {
  /** What the reader can do about it. */
  hint?: string;
  cause?: unknown;
}

/** The one error class: what failed (message), what to do (hint), why (cause). */
export class WeftError extends Error {
  override readonly name = 'WeftError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: WeftErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** Of EMFILE. Node raises its own limit to the hard one: that is the one to raise. */
export const openFilesHint =
  'Raise the hard limit on open files: `ulimit -n 65536`, nofile in /etc/security/limits.conf, or --ulimit nofile=65536 of Docker.';

/** Of ENFILE. */
export const openFilesOnHostHint =
  'All processes of this host together have too many files open: close some, or raise fs.file-max with sysctl.';

/** What an error says; what was thrown may be anything. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Whether this is a `WeftError`, of this code where one is given. */
export const isWeftError = (error: unknown, code?: ErrorCode): error is WeftError =>
  error instanceof WeftError && (code === undefined || error.code === code);
