/** Files of any size are copied as raw memory, even if code in the process has replaced the array iterators. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { copyBytes } from '../../src/core/value/bytes.ts';

const FILES = new URL('../../src/author/state/thread-state.ts', import.meta.url).href;
const SIZE = 1_000_000;

it('copies only the bytes of a view, into memory of their own', () => {
  const given = new Uint8Array([1, 2, 3, 4]);
  const copies = [
    copyBytes(given.subarray(1, 3)),
    copyBytes(given.buffer),
    copyBytes(new DataView(given.buffer, 3)),
  ];
  given.fill(9);
  expect(copies.map((copy) => [...copy])).toEqual([[2, 3], [1, 2, 3, 4], [4]]);
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  expect(copyBytes(shared).buffer).toBeInstanceOf(ArrayBuffer);
});

it('a file is not read through array iterators that other code has replaced', async () => {
  // In a separate process: the engine never undoes the effect of a replaced iterator.
  const program = `
    const { createThreadFiles } = await import(${JSON.stringify(FILES)});
    const iterators = Object.getPrototypeOf([][Symbol.iterator]());
    const { next } = iterators;
    let asked = 0;
    iterators.next = function () { asked += 1; return next.call(this); };
    const kept = [];
    const store = { files: { write: async (_, file) => void kept.push(file.content) } };
    await createThreadFiles(store, 'thread').writeFile('/f', new Uint8Array(${SIZE}), 'image/png').catch(() => {});
    console.log(JSON.stringify({ asked, kept: kept[0]?.length }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  const { asked, kept } = JSON.parse(stdout) as { asked: number; kept?: number };
  expect(kept).toBe(SIZE);
  expect(asked).toBeLessThan(SIZE / 10);
});
