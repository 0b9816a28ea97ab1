/** Packed programs, which tests start: they behave as their sources do, and load no module twice. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const COMMAND = join(ROOT, 'bin', 'everthread.js');
const run = promisify(execFile);

/** Starts the command after preloading a source. */
const start = (file: string, ...more: string[]) =>
  run(
    process.execPath,
    [...PROGRAM_OPTIONS, `--import=file://${join(ROOT, file)}`, COMMAND, ...more, '--version'],
    {
      cwd: ROOT,
    },
  );

describe('a packed program', () => {
  it('loads an entry of the package from the pack', async () => {
    expect((await start('src/models/index.ts')).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('refuses a source that is not an entry, which would be loaded twice', async () => {
    await expect(start('src/core/value/limit.ts')).rejects.toMatchObject({
      stderr: expect.stringContaining('src/core/value/limit.ts is loaded beside a packed program'),
    });
  });

  it("loads Temporal's packages from their pack, and refuses a module of theirs that would be loaded twice", async () => {
    const load = (file: string) => start(`node_modules/@temporalio/client/lib/${file}`);
    expect((await load('index.js')).stdout).toMatch(/^\d+\.\d+\.\d+/);
    await expect(load('base-client.js')).rejects.toMatchObject({
      stderr: expect.stringContaining('client/lib/base-client.js is loaded beside the packed one'),
    });
  });
});
