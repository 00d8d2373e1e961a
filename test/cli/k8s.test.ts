import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Desk } from '../benchmarks/weft.js';

test('YAML and JSON hold the same objects, each with a token of its own', async () => {
  using desk = new Desk();
  const line = 'k8s --nodes 2 --image weft:1 --format';
  const { stdout: yaml } = await desk.weft(`${line} yaml -- all2all -b 1M`);
  const { stdout: json } = await desk.weft(`${line} json -- weft all2all -b 1M`);
  const [secret, ...others] = parseAllDocuments(yaml).map((document) => document.toJS());
  const { kind, items } = JSON.parse(json);
  expect(kind).toBe('List');
  expect(items.slice(1)).toEqual(others);
  expect(others.at(-1).spec.template.spec.containers[0].command).toEqual([
    ...['weft', 'all2all', '-b', '1M'],
  ]);
  expect(secret.stringData.token).toMatch(/^[0-9a-f]{64}$/);
  expect(secret.stringData.token).not.toBe(items[0].stringData.token);
  expect(yaml).toMatch(/^# A random token, generated when this file was printed\./);
  expect(yaml).toMatch(/^# Run files are lost with the pod/m);
});
