/** What strangers do with the package: new, dev, a thread answered, code run, its entry points imported. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/runtime.ts';
import { type InstalledPackage, installPackage } from './installed-package.ts';

/** Declares the tests of the package, installed once into a project that `prepare` fills. */
export function describePublishedPackage(where: string, prepare: (project: string) => void): void {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage(prepare);
  }, 900_000);
  afterAll(() => installed?.remove());

  describe(`the published package, installed ${where}`, () => {
    it('writes a project, checks it, runs it, and answers a thread', async () => {
      await installed.run('npx', 'everthread', 'new', '.');
      expect((await installed.run('everthread', 'validate')).stdout).toContain('no problems');
      // Its own test, on the server of TEMPORAL_ADDRESS.
      expect((await installed.run('npm', 'test')).stdout).toMatch(/pass 1\n/);
      await whileDevRuns(installed, () => seeAnswer(installed));
      expect(existsSync(join(installed.project, '.everthread', 'dev.json'))).toBe(false);
    }, 900_000);

    it(
      'runs tests of an agent with node:test, vitest and jest, tells jest with CommonJS what to do, and gives its entry points code',
      () => seeTests(installed),
      900_000,
    );

    it('runs code in its sandbox', async () => {
      const source = 'export default (a: number, b: number): number => a + b;';
      writeFileSync(join(installed.project, 'sum.ts'), source);
      const { stdout } = await installed.run('everthread', 'code', 'run', 'sum.ts', '--args', '[40, 2]');
      expect(stdout.trim()).toBe('42');
    });

    it('gives its entry points types', () => seeDeclarations(installed));
  });
}

const CLONE = join(import.meta.dirname, '..', '..');

/** The examples, in the project that was made before; on the server of TEMPORAL_ADDRESS. */
async function seeTests({ project, run }: InstalledPackage): Promise<void> {
  const modules = join(project, 'node_modules');
  for (const name of ['vitest', 'jest']) {
    if (!existsSync(join(modules, name))) symlinkSync(join(CLONE, 'node_modules', name), join(modules, name));
  }
  cpSync(join(CLONE, 'examples', 'testing'), join(project, 'examples'), { recursive: true });
  const required = "const { testAgent } = require('everthread/testing');\ntest('it', () => testAgent({}));\n";
  writeFileSync(join(project, 'examples', 'required.test.cjs'), required);
  const bundled = join(modules, '.bin', 'node');
  const node = existsSync(bundled) ? bundled : 'node';
  const jest = [join(modules, 'jest', 'bin', 'jest.js'), '--rootDir', project];
  writeFileSync(join(project, 'entries.mjs'), ENTRIES);
  // In one process: as others start them, `npm test` has shown.
  const together = ['--import', './entries.mjs', '--test', '--test-isolation=none', '--test-reporter=tap'];
  const { stdout } = await run(node, ...together, 'examples/node-test.test.mts');
  expect(stdout).toContain(`entries: ${Array(8).fill('function').join()}`);
  expect(stdout).toMatch(/^# pass 2$/m);
  await run(node, join(modules, 'vitest', 'vitest.mjs'), 'run', 'examples/vitest.test.ts');
  await run(node, '--experimental-vm-modules', ...jest, '--testMatch', '**/jest.test.mjs');
  const refused = await run(node, ...jest, '--testMatch', '**/required.test.cjs').catch((error) => error);
  expect(refused.stderr).toContain('everthread/testing is an ES module');
}

async function whileDevRuns({ project, env }: InstalledPackage, use: () => Promise<void>): Promise<void> {
  const dev = spawn('npx', ['everthread', 'dev'], {
    cwd: project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  dev.stdout.on('data', (chunk) => (output += chunk));
  dev.stderr.on('data', (chunk) => (output += chunk));
  // Not its exit: npx may be gone before the command that it runs, which still writes below this folder.
  const ended = new Promise((resolve) => dev.once('close', resolve));
  try {
    const isUp = () => output.includes('everthread chat assistant');
    await eventually('everthread dev is up', isUp).catch((error: Error) => {
      throw new Error(`${error.message}\n${output}`);
    });
    await use();
  } finally {
    process.kill(-(dev.pid as number), 'SIGINT');
    await ended;
  }
}

async function seeAnswer({ run }: InstalledPackage): Promise<void> {
  const start = ['threads', 'start', 'assistant', 'what time is it?', '--id', 'p1', '--wait'];
  expect((await run('everthread', ...start)).stdout).toMatch(/\d\d:\d\d/);
  const shown = JSON.parse((await run('everthread', 'threads', 'show', 'p1', '--json')).stdout);
  expect(shown.thread).toMatchObject({ id: 'p1', agent: 'assistant', status: 'idle' });
  expect(shown.messages.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
}

/** What programs import, in the project. */
const ENTRIES = `
import { defineAgent, RuntimeClient } from 'everthread';
import { HttpClient } from 'everthread/client';
import { openaiCompatible, aiSdk } from 'everthread/models';
import { createEndpointHandler } from 'everthread/server';
import { createWorker } from 'everthread/worker';
import { scriptedModel } from 'everthread/testing';
console.log('entries: ' + [defineAgent, RuntimeClient, HttpClient, openaiCompatible, aiSdk, createEndpointHandler, createWorker, scriptedModel]
  .map((x) => typeof x).join());
`;

function seeDeclarations({ project }: InstalledPackage): void {
  for (const entry of [
    'index',
    'client/index',
    'models/index',
    'server/index',
    'worker/index',
    'testing/index',
    'agenticx/index',
    'protolink/index',
    'tangle/index',
    'tangle/models',
    'tangle/worker',
  ]) {
    expect(existsSync(join(project, 'node_modules', 'everthread', 'dist', `${entry}.d.ts`))).toBe(true);
  }
}
