/** Patterns of findFiles. */
import { describe, expect, it } from '@jest/globals';
import { compileGlob } from '../../src/core/file/glob.ts';

describe('a glob', () => {
  it.each<[string, string, boolean]>([
    ['/a.txt', '/a.txt', true],
    ['/a.txt', '/b/a.txt', false],
    ['/*', '/a/b/c', true],
    ['/**', '/a', true],
    ['/a/*.txt', '/a/b/c.txt', true],
    ['/a/*.txt', '/b/c.txt', false],
    ['/a/**/c.txt', '/a/b/c.txt', true],
    ['/?.txt', '/a.txt', true],
    ['/?.txt', '/ab.txt', false],
    ['/?.txt', '/😀.txt', true],
    ['/a?b', '/a/b', true],
    ['a.txt', '/b/a.txt', true],
    ['*.txt', '/b/a.txt', true],
    ['*.txt', '/b/a.txt2', false],
    ['txt', '/b/a.txt', true],
    ['', '/a', true],
    ['*', '/a', true],
    ['?', '/a', true],
    ['/', '/a', false],
    ['/a*b*c', '/axxbyybzzc', true],
    ['/a*b*c', '/axxbyybzz', false],
    ['/[ab].txt', '/a.txt', false],
    ['/[ab].txt', '/[ab].txt', true],
    ['/a+(b).{c}', '/a+(b).{c}', true],
    ['/A', '/a', false],
  ])('%j and %j: %j', (pattern, path, matches) => {
    expect(compileGlob(pattern)(path)).toBe(matches);
  });

  it('matches in bounded time, whatever the pattern', () => {
    const matches = compileGlob(`/${'*a'.repeat(400)}*b`);
    const path = `/${'a'.repeat(1000)}`;
    for (let n = 0; n < 20; n++) expect(matches(path)).toBe(false);
  });
});
