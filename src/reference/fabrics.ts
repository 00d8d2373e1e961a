import type { FabricModel } from '../simulate/fabric-model.js';
import { labFabric } from './lab-fabric.js';
import { p5Fabric } from './p5-fabric.js';

/** The models that come with Weft. */
export const fabrics: readonly FabricModel[] = [p5Fabric, labFabric];
