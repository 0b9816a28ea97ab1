/** Paths of files: each has one normal form, and ambiguous ones are refused. */
import { describe, expect, it } from '@jest/globals';
import { ancestorsOf, nameOf, parentOf, parseFilePath } from '../../src/core/file/file-path.ts';

describe('a path', () => {
  it.each<[string, string]>([
    ['/a/b.txt', '/a/b.txt'],
    ['a/b.txt', '/a/b.txt'],
    ['//a///b', '/a/b'],
    ['/a/', '/a'],
    ['a//', '/a'],
    ['', '/'],
    ['/', '/'],
    ['///', '/'],
    ['/..a/...b/.c', '/..a/...b/.c'],
    ['/a\\b', '/a\\b'],
    ['/ü/日本/😀 x', '/ü/日本/😀 x'],
    [`/${'n'.repeat(255)}`, `/${'n'.repeat(255)}`],
    ['C:/x', '/C:/x'],
    ['/%2e%2e/x', '/%2e%2e/x'],
  ])('%j means %j', (given, path) => {
    expect(parseFilePath(given)).toBe(path);
    expect(parseFilePath(path)).toBe(path);
  });

  it.each<[string, unknown]>([
    ['climbs', '/a/../b'],
    ['climbs at once', '..'],
    ['climbs at the end', '/a/..'],
    ['stays', '/a/./b'],
    ['has a NUL', '/a\0b'],
    ['has a line break', '/a\nb'],
    ['has an escape', '/a\u001b[31m'],
    ['has a C1 control', '/a\u009b'],
    ['has half a character', '/a\ud800'],
    ['has a noncharacter', '/a\ufdd0'],
    ['has a name of 256 bytes', `/${'é'.repeat(128)}`],
    ['is long', '/a'.repeat(600)],
    ['is very long', 'a'.repeat(10_000_000)],
    ['is no text', 7],
    ['is nothing', undefined],
  ])('with %s is refused', (_, path) => {
    expect(() => parseFilePath(path as string)).toThrow(expect.objectContaining({ code: 'InvalidPath' }));
  });

  it('has a parent, a name and ancestor directories', () => {
    expect([parentOf('/a/b/c'), nameOf('/a/b/c'), ancestorsOf('/a/b/c')]).toEqual([
      '/a/b',
      'c',
      ['/a', '/a/b'],
    ]);
    expect([parentOf('/a'), nameOf('/a'), ancestorsOf('/a')]).toEqual(['/', 'a', []]);
    expect([parentOf('/'), nameOf('/'), ancestorsOf('/')]).toEqual(['/', '/', []]);
  });
});
