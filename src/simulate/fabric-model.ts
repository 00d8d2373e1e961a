import { z } from 'zod';

export const fabricSchemaName = 'weft.fabric/1';

const positive = z.number().positive();
const notNegative = z.number().nonnegative();

/** What a fit finds. docs/model.md has the equations. */
const parametersSchema = z.strictObject({
  /** What one NIC carries in one direction. */
  nicGbps: positive,
  /** From the end of a write's transfer to its completion. */
  writeMicroseconds: notNegative,
  /** From the end of a message's transfer to its receipt. */
  sendMicroseconds: notNegative,
  /** CPU time to post one chunk; chunks are posted one after the other. */
  chunkMicroseconds: notNegative,
  /** CPU time to complete a write on each further channel towards the same peer. */
  splitMicroseconds: notNegative,
  /** Share of `nicGbps` that each direction reaches while a NIC sends and receives. */
  duplexEfficiency: positive.max(1),
  /** What all NICs of a rank carry together to and from host memory, both ways added; absent: no limit. */
  hostGbps: positive.optional(),
  /** Added once to an iteration in which a rank sends and receives host memory over several NICs. */
  hostMicroseconds: notNegative,
});

const intervalSchema = z.tuple([z.number(), z.number()]).readonly();

/** In the order in which they are shown. */
export const parameterNames = Object.keys(parametersSchema.shape) as ParameterName[];

/** How sure a fit is of its parameters, and how far its rows are from the model. */
const fitSchema = z.object({
  rows: z.int().positive(),
  /** 95 % intervals of the parameters that were fitted. */
  intervals: z.partialRecord(z.enum(parameterNames), intervalSchema),
  /** Typical size of the rows' residuals (log of predicted over measured time) by benchmark. */
  spread: z.record(z.string(), notNegative),
});

const modelSchema = z.object({
  schema: z.literal(fabricSchemaName),
  name: z.string(),
  /** Where the figures it was fitted to come from. */
  source: z.string(),
  nicsPerRank: z.int().positive(),
  /** Nominal rate of a NIC: what percentages are of. */
  lineRateGbps: positive,
  /** False: its hosts have none, so nothing is predicted of GPU memory. */
  gpus: z.boolean().optional(),
  /** Transfers are cut into chunks of this size. */
  chunkBytes: z.int().positive(),
  parameters: parametersSchema,
  /** Rates that some NICs of a rank share, in one direction, such as that of a PCIe bridge. */
  limits: z
    .array(
      z.strictObject({ name: z.string(), nics: z.array(z.int().nonnegative()), gbps: positive }),
    )
    .optional(),
  fit: fitSchema.optional(),
});

export type ParameterName = keyof z.infer<typeof parametersSchema>;
export type FabricParameters = z.infer<typeof parametersSchema>;
/** A model of a fabric: a few physical parameters, and how sure they are. */
export type FabricModel = z.infer<typeof modelSchema>;
export type FabricFit = NonNullable<FabricModel['fit']>;

/** Throws a ZodError where the value is not a model. */
export const parseFabricModel = (value: unknown): FabricModel => modelSchema.parse(value);

/** Switches above the hosts: leaves with hosts below them, and spines that join the leaves. */
export interface SwitchTier {
  readonly hostsPerLeaf: number;
  /** Rate into a leaf from its hosts over its rate to the spines; 1: the spines carry everything. */
  readonly oversubscription: number;
  /** Each flow on one path by a hash, or each packet on any path. */
  readonly routing: 'ecmp' | 'spray';
  readonly seed: number;
}

/** A NIC that runs at a share of its rate, in both directions. */
export interface NicFault {
  readonly host: number;
  /** Of the host: ranks of a host have theirs one after the other. */
  readonly nic: number;
  readonly rate: number;
}
