import { expect, test } from 'vitest';
import { countedOf } from '../../scripts/leak-reports.mjs';

const addon = '/weft/build/sanitize/weft.node';
const allocation =
  '    #0 0x1 in operator new(unsigned long) ../../asan.cpp:95 </usr/lib/libasan.so.8>';
const own = `    #1 0x2 in weft::makePlan() native/plan.cc:12 <${addon}>`;
const library = '    #1 0x3 in std::string::_M_create() ??:? </usr/lib/libstdc++.so.6>';
const node = '    #2 0x4 in napi_module_register_by_symbol (/usr/bin/node+0x1) </usr/bin/node>';

const report = (...frames: string[]) =>
  [
    '=================================================================',
    '==1==ERROR: LeakSanitizer: detected memory leaks\n',
    ['Direct leak of 32 byte(s) in 1 object(s) allocated from:', ...frames].join('\n'),
    'SUMMARY: AddressSanitizer: 32 byte(s) leaked in 1 allocation(s).',
  ].join('\n\n');

test('what the addon allocated on the thread of JavaScript counts', () => {
  expect(countedOf(report(allocation, own, node), addon)).toContain('makePlan');
  expect(countedOf(report(allocation, library, own, node), addon)).toContain('makePlan');
});

test('what Node allocated does not count, also where the addon asked for it', () => {
  expect(countedOf(report(allocation, node), addon)).toBe('');
  expect(countedOf(report(allocation, node, own, node), addon)).toBe('');
  expect(countedOf(report(allocation, library), addon)).toBe('');
});

test('any other report counts as a whole', () => {
  const text = '==1==ERROR: AddressSanitizer: heap-use-after-free';
  expect(countedOf(text, addon)).toBe(text);
  expect(countedOf('native/a.cc:1: runtime error: shift', addon)).toContain('runtime error');
});
