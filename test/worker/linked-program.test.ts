/** A program as one file: what it holds, what it leaves outside, and that it does what its modules do. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { linkedProgram, linkProgram, readyProgram } from '../../src/linked-program.ts';

const MAIN = new URL('./linked-main.ts', import.meta.url);
const PROGRAMS = ['cli/worker/worker-program.ts', 'worker/lone-program.ts'];
const execute = promisify(execFile);

async function run(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await execute(process.execPath, args, { encoding: 'utf8' });
  return JSON.parse(stdout);
}

describe('a linked program', () => {
  it.each(PROGRAMS)('holds all that is ours: %s', async (program) => {
    const text = readFileSync(await linkedProgram(new URL(`../../src/${program}`, import.meta.url)), 'utf8');
    const asked = [...text.matchAll(/\b__outside\('([^'$]+)'\)/g)].map(([, specifier = '']) => specifier);
    const packages = asked.filter((specifier) => !isBuiltin(specifier));
    expect(packages.filter((specifier) => /^[./]/.test(specifier))).toEqual([]);
    expect(packages).toContain('@temporalio/activity');
    expect(packages).not.toContain('kysely');
    expect(packages).not.toContain('zod');
  });

  it('is the same whoever makes it', async () => {
    const path = await linkedProgram(MAIN);
    expect(readFileSync(path, 'utf8')).toBe(await linkProgram(fileURLToPath(MAIN)));
  });

  it('does what its modules do: in their order, on demand, with one copy of each', async () => {
    const linked = await run(await linkedProgram(MAIN));
    expect(linked).toEqual({
      order: ['what is imported begins', 'the program begins', 'what is imported on demand begins'],
      said: 'import("./not-a-module.ts") and import.meta.url in a text stay as they are',
      here: MAIN.href,
      linked: true,
      oneDoor: true,
      oneWorker: true,
      oneZod: true,
    });
    expect(await run(fileURLToPath(MAIN))).toEqual({ ...linked, linked: false });
  });

  it('is what is started, by a process that keeps what it compiles', async () => {
    const program = await readyProgram(MAIN);
    expect(program).toEqual([expect.any(String), pathToFileURL(await linkedProgram(MAIN)).href]);
    expect(await run(...program)).toMatchObject({ linked: true });
  });
});
