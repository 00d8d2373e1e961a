import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { notesOf } from '../../src/analysis/compare/notes.js';
import { judge } from '../../src/analysis/verdict/judge.js';
import { isEmulated } from '../../src/fabric/emulated.js';
import { chartsOf } from '../../src/report/charts.js';
import { renderReport } from '../../src/report/html.js';
import { machineOf } from '../../src/report/measured.js';
import { runNames } from '../../src/report/run-names.js';
import { fabricName } from '../../src/results/fabric-name.js';
import { formatRun, formats } from '../../src/results/formats/format-run.js';
import { formatNcclJson } from '../../src/results/formats/nccl-json.js';
import { formatMetrics, formatVerdict } from '../../src/results/formats/verdict.js';
import { headerSchema, type Run } from '../../src/results/schema.js';
import { header, writeRun } from './fixtures.js';

const efa: Run = { ...writeRun(), fabric: { ...header.fabric, provider: 'efa' } };
const emulated: Run = { ...efa, fabric: { ...efa.fabric, emulated: true } };

/** Every text that could leave this machine without the run file. */
const texts: [string, (run: Run) => string][] = [
  ...formats
    .filter((format) => format !== 'json')
    .map((format): [string, (run: Run) => string] => [format, (run) => formatRun(run, format)]),
  ['nccl JSON', formatNcclJson],
  ['the report', (run) => renderReport([run])],
  ['the run’s facts', (run) => JSON.stringify(machineOf(run))],
];

describe('a run on emulated devices', () => {
  test('is one by the firmware of its device, and by nothing else', () => {
    expect(isEmulated('weft-emulated-p5')).toBe(true);
    for (const other of [undefined, '', '0.0.0.0', '20.31.1014']) {
      expect(isEmulated(other)).toBe(false);
    }
  });

  test.each(texts)('%s says so, and of hardware does not', (_, text) => {
    expect(text(emulated)).toContain('emulated EFA');
    expect(text(efa)).not.toMatch(/emulated/i);
  });

  test('JSON and run files have a key of their own', () => {
    expect(JSON.parse(formatRun(emulated, 'json')).fabric).toMatchObject({
      provider: 'efa',
      emulated: true,
    });
    expect(headerSchema.parse({ ...header, fabric: emulated.fabric }).fabric.emulated).toBe(true);
    expect(headerSchema.parse(header).fabric).not.toHaveProperty('emulated');
  });

  test('every figure of it, also one that travels alone', () => {
    const titles = chartsOf([emulated]).map(({ title }) => title);
    expect(titles.length).toBeGreaterThan(0);
    for (const title of titles) expect(title).toContain('emulated EFA');
    expect(chartsOf([efa])[0]!.title).not.toContain('emulated');
  });

  test('is told apart from hardware where runs are compared', () => {
    expect(runNames([efa, { ...emulated, id: 'other' }])).toEqual(['efa', 'emulated EFA']);
    expect(notesOf(compareRuns([emulated], [efa])).join('\n')).toContain(
      'different set-up: provider: emulated EFA in A, efa in B',
    );
  });

  test('passes no check as hardware', () => {
    const [of, hardware] = [emulated, efa].map((run) => judge({ kind: 'none' }, [run], []));
    expect(of).toMatchObject({ emulated: true });
    expect(formatVerdict(of!)).toMatch(/^verdict: \w+ on emulated devices/);
    expect(formatMetrics(of!, new Date())).toContain('\nweft_check_emulated 1\n');
    expect(formatVerdict(hardware!) + formatMetrics(hardware!, new Date())).not.toContain(
      'emulated',
    );
  });

  test('of efa-direct it says that, too', () => {
    expect(fabricName({ ...emulated.fabric, provider: 'efa-direct' })).toBe('emulated EFA-direct');
  });
});

test('sends in place of RDMA writes are named', () => {
  const run: Run = { ...efa, fabric: { ...efa.fabric, emulatedWrites: true } };
  expect(formatRun(run, 'table')).toContain('emulated writes: the provider sends messages');
  expect(formatRun(efa, 'table')).not.toContain('emulated writes');
});
