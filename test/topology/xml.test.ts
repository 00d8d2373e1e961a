import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WeftError } from '../../src/errors.js';
import { readXml } from '../../src/topology/xml.js';

const read = (text: string) => readXml(text, 'file.xml', 256);

describe('XML', () => {
  test('elements nest, and attributes are what they stand for', () => {
    const root = read(
      `\ufeff<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc.dtd">\n<!-- <not> this -->\n` +
        `<topology version='2.0'><object name="a &amp; &#x42;&#67; &lt;&quot;"/><info></info ></topology>\n<!-- end -->`,
    );
    expect(root.name).toBe('topology');
    expect(root.attributes.get('version')).toBe('2.0');
    expect(root.children.map(({ name }) => name)).toEqual(['object', 'info']);
    expect(root.children[0]!.attributes.get('name')).toBe('a & BC <"');
  });

  test.each([
    ['nothing', '', 'no element'],
    ['JSON', '{"a": 1}', 'text outside'],
    ['half a file', '<topology>\n<object type="Machine">', 'file.xml:2: .* ends inside <object>'],
    ['half a tag', '<topology>\n<object type="Mach', 'file.xml:2'],
    ['crossed tags', '<a><b></a></b>', '</a> where <b> is open'],
    ['a tag that was never opened', '</a>', 'nothing is open'],
    ['two roots', '<a/><b/>', 'after the end'],
    ['an attribute twice', '<a b="1" b="2"/>', 'b is given twice'],
    ['an attribute without quotes', '<a b=1/>', '<a b=1'],
    ['an unknown entity', '<a b="&nbsp;"/>', '&nbsp; is not a known entity'],
    ['a bare ampersand', '<a b="x & y"/>', 'not a known entity'],
    ['entities of its own', '<!DOCTYPE a [<!ENTITY b "c">]><a b="&b;"/>', '<!DOCTYPE'],
    ['a comment without end', '<a><!-- ', 'inside a comment'],
    ['bytes', '\u0000\u0001\u0002', 'text outside'],
  ])('%s is refused with the reason', (_, text, reason) => {
    expect(() => read(text)).toThrow(new RegExp(reason));
    expect(() => read(text)).toThrow(WeftError);
  });

  test('a file nested without end is refused, not followed', () => {
    expect(() => read('<a>'.repeat(1_000_000))).toThrow('nested more than 256 deep');
  });

  test('whatever the text, it is read or refused', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '/',
      'a',
      '=',
      '"',
      ' ',
      '&',
      ';',
      '<!--',
      '-->',
      '<a>',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        try {
          return read(parts.join('')).name.length > 0;
        } catch (error) {
          return error instanceof WeftError;
        }
      }),
    );
  });
});
