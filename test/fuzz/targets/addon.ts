import { loadLibrary } from '../../../src/fabric/library.js';
import { isNativeFault } from '../../../src/native/addon.js';
import type { Dice } from '../dice.js';
import type { Target } from '../target.js';
import { command, type Handle, Late, native, type Template, templates } from './addon-calls.js';
import { Thrown, type Value, wrongValue } from './addon-values.js';

/** Of what a call left behind, the end: a promise, or a task. What takes its time is told to end. */
async function ended(value: unknown, self?: Handle): Promise<void> {
  const task = value as { done?: unknown; abort?: () => void } | null | undefined;
  const done = task?.done ?? value;
  if (!(done instanceof Promise)) return;
  const timer = setTimeout(() => (task?.abort ? task.abort() : self?.abort?.()), 20);
  await done.finally(() => clearTimeout(timer));
}

interface Step {
  readonly template: Template;
  readonly wrong: readonly { readonly path: readonly string[]; readonly value: Value }[];
  readonly closedFirst: boolean;
}

const stepOf = (dice: Dice): Step => {
  const template = dice.pick(templates);
  const wrong = Array.from({ length: dice.length(3) }, () => ({
    path: pathIn(template.args(), dice),
    value: wrongValue(dice, template.method),
  }));
  return { template, wrong, closedFirst: dice.chance(0.15) };
};

/** To a value of a list, or one further in. */
function pathIn(value: unknown, dice: Dice): string[] {
  const plain =
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    Object.getPrototypeOf(value) === Object.prototype;
  const keys = plain ? Object.keys(value as object) : [];
  if (keys.length === 0) return ['0'];
  const key = dice.pick(keys);
  const inside = (value as Record<string, unknown>)[key];
  const further = typeof inside === 'object' && inside !== null && dice.chance(0.6);
  const more = further ? pathIn(inside, dice) : [];
  const known = further && Object.hasOwn(inside, more[0]!);
  return known ? [key, ...more] : [key];
}

function put(into: unknown, [key, ...rest]: readonly string[], value: unknown): void {
  const object = into as Record<string, unknown>;
  try {
    if (rest.length > 0) put(object[key!], rest, value);
    else object[key!] = value;
  } catch {
    // an array of numbers takes nothing else
  }
}

/** Objects that later calls of the same input use again. */
export async function perform({ template, wrong, closedFirst }: Step, kept: Map<string, Handle>) {
  const { of, method } = template;
  const args = template.args();
  for (const { path, value } of wrong) put(args, path, value.make(kept));
  const given = args.map((one) => (one instanceof Late ? one.make() : one));
  if (of === undefined) {
    const called = native()[method]!;
    return ended(/^[A-Z]/.test(method) ? void new called(...given) : called(...given));
  }
  let self = kept.get(of.type);
  if (self === undefined) {
    self = new (native()[of.type]!)(...of.args());
    kept.set(of.type, self);
    of.prepare?.(self);
  }
  if (method === 'post') command.set(given.filter((one) => typeof one === 'number').slice(0, 10));
  if (closedFirst) self.close?.();
  return ended(self[method]!(...given), self);
}

const isTyped = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof Thrown ||
  isNativeFault(error) ||
  // V8's, of a view or an array that is too long.
  error instanceof RangeError;

export const addonCalls: Target = {
  name: 'addon',
  share: 45,
  open: async () => {
    loadLibrary();
    return () => {};
  },
  make: (dice) => {
    const steps = Array.from({ length: 1 + dice.length(8) }, () => stepOf(dice));
    return {
      shown: steps
        .map(({ template: { of, method }, wrong, closedFirst }) =>
          JSON.stringify({
            call: of === undefined ? method : `${of.type}.${method}`,
            wrong: wrong.map(({ path, value }) => `${path.join('.')} = ${value.name}`),
            closedFirst,
          }),
        )
        .join('\n'),
      run: async () => {
        const kept = new Map<string, Handle>();
        let refusal: unknown;
        for (const step of steps) {
          try {
            await perform(step, kept);
          } catch (error) {
            if (!isTyped(error)) throw error;
            refusal = error;
          }
        }
        for (const self of kept.values()) self.close?.();
        if (refusal !== undefined) throw refusal;
      },
      isRefusal: isTyped,
    };
  },
};
