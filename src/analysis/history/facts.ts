import { plural } from '../../measure/units.js';
import { factTitles, valuesOf, type WorldFacts } from '../../results/host-facts.js';
import type { RunSetup } from '../../results/index-entry.js';
import { withoutEffect } from '../compare/set-up.js';
import { namesOf } from '../hosts/differences.js';

/** Something that a run file records besides its figures, and that was not the same any more. */
export interface ChangedFact {
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

/** A fact by its name; objects are taken apart, so that whatever a later version records is compared as well. */
type Facts = ReadonlyMap<string, string>;

const irrelevant = new Set([
  'benchmark',
  'world.hostOfRank',
  ...[...withoutEffect].map((key) => `settings.${key}`),
]);

const names: Readonly<Record<string, string>> = {
  'world.ranks': 'ranks',
  'world.hosts': 'hosts',
  'world.launcher': 'launcher',
  'fabric.library': 'libfabric file',
  'fabric.version': 'libfabric',
  'fabric.provider': 'provider',
  'fabric.channels': 'channels',
};

const kept = new WeakMap<RunSetup, Facts>();

export function factsOf(setup: RunSetup): Facts {
  const known = kept.get(setup);
  if (known !== undefined) return known;
  const facts = new Map<string, string>();
  collect(setup.header, '', facts, setup.header.world.hosts);
  kept.set(setup, facts);
  return facts;
}

function collect(
  value: unknown,
  path: string,
  facts: Map<string, string>,
  hosts: readonly string[],
): void {
  if (irrelevant.has(path)) return;
  if (path.startsWith(ofHosts)) facts.set(path, factText(value as WorldFacts[string], hosts));
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) {
      collect(inner, path === '' ? key : `${path}.${key}`, facts, hosts);
    }
  } else facts.set(path, textOf(value));
}

const ofHosts = 'world.facts.';

/** One text where all hosts agree, else the hosts of each value: `9000 on 3 hosts, 1500 on h2`. */
function factText(fact: WorldFacts[string], hosts: readonly string[]): string {
  if (typeof fact === 'string') return fact;
  const who = (own: readonly string[]) =>
    2 * own.length > hosts.length ? plural(own.length, 'host') : namesOf(own);
  return valuesOf(fact, hosts)
    .map(({ value, hosts: own }) => `${value} on ${who(own)}`)
    .join(', ');
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value)
    .filter((inner) => inner !== null)
    .map(textOf)
    .join(' ');
}

function nameOf(path: string): string {
  if (path.startsWith(ofHosts)) {
    const key = path.slice(ofHosts.length);
    return (factTitles as Readonly<Record<string, string>>)[key] ?? key;
  }
  return names[path] ?? path.replace(/^(settings|world|fabric)\./, '');
}

/** So many runs on each side say what was usual there: one of them may be an exception, or on the wrong side. */
const looked = 5;
const usualShare = 0.6;

/**
 * What differs between the runs before a change and those after it. Facts that differ from run to run, as host lists
 * of a queueing system do, are left out.
 */
export function changedFacts(
  before: readonly RunSetup[],
  after: readonly RunSetup[],
): ChangedFact[] {
  const [old, fresh] = [usual(before.slice(-looked)), usual(after.slice(0, looked))];
  const paths = new Set([...old.keys(), ...fresh.keys()]);
  const changed = [...paths].flatMap((path) => {
    const [from, to] = [old.get(path), fresh.get(path)];
    if (from === to || from === '' || to === '') return [];
    // Versions did not record everything at all times.
    if (from === undefined || to === undefined) return [];
    return [{ what: nameOf(path), from, to }];
  });
  // The version of libfabric is a fact of the fabric and of the hosts.
  return changed.filter(({ what }, i) => changed.findIndex((one) => one.what === what) === i);
}

/** The value of each fact in most of these runs; empty where there is no such value. */
function usual(setups: readonly RunSetup[]): Map<string, string> {
  const counts = new Map<string, Map<string, number>>();
  for (const setup of setups) {
    for (const [path, value] of factsOf(setup)) {
      const own = counts.get(path) ?? new Map<string, number>();
      counts.set(path, own.set(value, (own.get(value) ?? 0) + 1));
    }
  }
  return new Map(
    [...counts].map(([path, own]) => {
      const [value, count] = [...own].reduce((a, b) => (b[1] > a[1] ? b : a));
      return [path, count >= usualShare * setups.length ? value : ''];
    }),
  );
}
