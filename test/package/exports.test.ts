import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const { exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
const entries: string[] = Object.values<{ types?: string }>(exports)
  .map(({ types }) => types)
  .filter((types) => types !== undefined)
  .map((types) => resolve(root, types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts')));

const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

const isAlias = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Alias) !== 0;

test.each(entries)('everything that %s exports has a comment', (entry) => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
  const names = checker.getExportsOfModule(module).map((symbol) => {
    const target = isAlias(symbol) ? checker.getAliasedSymbol(symbol) : symbol;
    return [symbol.name, target.getDocumentationComment(checker).length > 0] as const;
  });
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter(([, commented]) => !commented).map(([name]) => name)).toEqual([]);
});
