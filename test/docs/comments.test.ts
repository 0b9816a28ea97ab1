/** Comments name what they describe: one that begins with "Of" leaves the reader to guess the noun. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['src', 'test', 'scripts', 'bench', 'bin'];
const HEADLESS = /(?:\/\*\*?|\/\/|^\s*\*) Of /;

function headlessIn(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    HEADLESS.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
  );
}

describe('the comments of the sources', () => {
  it('begin with their subject', () => {
    const files = FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:[cm]?js|ts)$/.test(name))
        .map((name) => join(folder, name)),
    );
    expect(files.length).toBeGreaterThan(1000);
    expect(files.flatMap(headlessIn)).toEqual([]);
  });
});
