/** What a specifier means in a run. */
import { describe, expect, it } from '@jest/globals';
import { createResolver, normalizeKey } from '../../src/sandbox/child/resolve.ts';

const { resolve } = createResolver(
  ['lodash', '@scope/pkg', 'a'],
  [
    './a.ts',
    './lib/index.js',
    './lib/deep/../b.mjs',
    './c.js',
    './c.ts',
    './data.json',
    '../up.ts',
    './x.tsx',
  ],
);

describe('normalizeKey', () => {
  it.each([
    ['./a.ts', './a.ts'],
    ['./lib/../a.ts', './a.ts'],
    ['./lib/./b//c.ts', './lib/b/c.ts'],
    ['../x', '../x'],
    ['./lib/../../x', '../x'],
    ['../../x/../y', '../../y'],
    ['.', '.'],
    ['./lib/', './lib'],
    ['..', '..'],
  ])('%s is %s', (key, normal) => {
    expect(normalizeKey(key)).toBe(normal);
  });
});

describe('a bare specifier', () => {
  it.each(['lodash', '@scope/pkg', 'a'])('[runtime 13.2.1] resolves to an import: %s', (specifier) => {
    expect(resolve(specifier, undefined)).toEqual({ kind: 'import', specifier });
  });

  it.each([
    '__proto__',
    'constructor',
    'toString',
    'fs',
    'lodash/map',
    '',
    '#a',
    'sandbox',
    ' lodash',
    'Lodash',
    '.a',
    '...',
  ])('[runtime 13.2.1] is not resolved if it was not given: %j', (specifier) => {
    expect(resolve(specifier, './lib/index.js')).toMatchObject({ kind: 'unknown' });
  });

  it('resolves to an import of any given name', () => {
    const own = createResolver(['__proto__', 'constructor'], []);
    expect(own.resolve('__proto__', undefined)).toEqual({ kind: 'import', specifier: '__proto__' });
    expect(own.resolve('hasOwnProperty', undefined)).toMatchObject({ kind: 'unknown' });
  });
});

describe('a relative specifier', () => {
  it.each([
    ['./a.ts', undefined, './a.ts'],
    ['./a', undefined, './a.ts'],
    ['./a.js', undefined, './a.ts'],
    ['./x.jsx', undefined, './x.tsx'],
    ['./c', undefined, './c.ts'],
    ['./c.js', undefined, './c.js'],
    ['./lib', undefined, './lib/index.js'],
    ['./lib/', undefined, './lib/index.js'],
    ['./lib/b', undefined, './lib/b.mjs'],
    ['./data', undefined, './data.json'],
    ['./lib/../a', undefined, './a.ts'],
    ['../up', undefined, '../up.ts'],
    ['../a', './lib/index.js', './a.ts'],
    ['./b', './lib/index.js', './lib/b.mjs'],
    ['.', './lib/b.mjs', './lib/index.js'],
    ['..', './lib/deep/z.ts', './lib/index.js'],
    ['./work/../up', '../other.ts', '../up.ts'],
  ])('[definitions 19.4] %s from %s is %s', (specifier, referrer, key) => {
    expect(resolve(specifier, referrer)).toEqual({ kind: 'module', key });
  });

  it.each([
    './__proto__',
    './constructor',
    './lodash',
    './lib/deep',
    '../a',
    './a.ts?x',
    './data.js',
    './A.ts',
  ])('[runtime 13.2.1] is not resolved without such a module: %s', (specifier) => {
    expect(resolve(specifier, undefined)).toMatchObject({ kind: 'unknown' });
  });
});

describe('another specifier', () => {
  it.each([
    'https://x.org/a.js',
    'node:fs',
    'data:text/javascript,1',
    'file:///etc/passwd',
    'FILE:x',
    'c:/x',
    '/etc/passwd',
  ])('[runtime 13.2.1] is not resolved, given or not: %s', (specifier) => {
    expect(createResolver([specifier], [specifier]).resolve(specifier, undefined)).toMatchObject({
      kind: 'unknown',
    });
  });
});

describe('the message of an unresolved specifier', () => {
  const messageOf = (
    specifier: string,
    referrer?: string,
    imports: string[] = ['x', 'y'],
    modules = ['./a.ts'],
  ) => {
    const resolved = createResolver(imports, modules).resolve(specifier, referrer);
    return resolved.kind === 'unknown' ? resolved.message : undefined;
  };

  it('has the specifier, the importer, and the available names', () => {
    expect(messageOf('lodash', './a.ts')).toBe(
      "Cannot resolve 'lodash' from './a.ts': bare specifiers resolve from options.imports, which holds 'x', 'y'.",
    );
    expect(messageOf('./b')).toBe(
      "Cannot resolve './b': relative specifiers resolve from options.modules, which holds './a.ts'.",
    );
    expect(messageOf('z', undefined, [])).toContain('options.imports, which is empty.');
    expect(messageOf('https://x.org/a.js')).toContain('URLs are never loaded.');
    expect(messageOf('/etc/passwd')).toContain('absolute paths are never loaded.');
  });

  it('suggests the module of that name if the dot is missing', () => {
    expect(messageOf('a')).toContain("Did you mean './a'?");
  });

  it('stays short for any input', () => {
    const many = Array.from({ length: 500 }, (_, index) => `package-${index}`);
    const message = messageOf('q'.repeat(100_000), undefined, many) as string;
    expect(message).toContain("'package-9' and 490 more");
    expect(message.length).toBeLessThan(600);
  });
});
