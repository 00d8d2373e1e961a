import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { fabrics } from '../reference/fabrics.js';
import { type FabricModel, parseFabricModel } from '../simulate/fabric-model.js';

/** A model that comes with Weft, or the one in a file. */
export function fabricModel(name: string): FabricModel {
  const shipped = fabrics.find((fabric) => fabric.name === name);
  if (shipped) return shipped;
  try {
    return parseFabricModel(JSON.parse(readFileSync(name, 'utf8')));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new WeftError('BAD_USAGE', `cannot read a fabric model from ${name}: ${why}`, {
      hint: `Models: ${fabrics.map((fabric) => fabric.name).join(', ')}, or the path of a file that weft predict fit wrote.`,
      cause,
    });
  }
}
