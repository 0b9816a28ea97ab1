/**
 * What users do with the package: `new`, `dev`, an answered thread, `code run`, imports of its entry points; in the
 * long form also tests with the well-known runners.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isLong } from '../support/long-form.ts';
import { OLD_NODE, onOldNode } from '../support/old-node.ts';
import { eventually } from '../support/runtime.ts';
import { type InstalledPackage, installPackage } from './installed-package.ts';

/** Declares the tests of the package, which is installed once into a project that `prepare` fills. */
export function describePublishedPackage(where: string, prepare: (project: string) => void): void {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage(prepare);
  }, 900_000);
  afterAll(() => installed?.remove());

  describe(`the published package, installed ${where}`, () => {
    it('creates a project, validates it, runs it, and answers a thread', async () => {
      await installed.run('npx', 'everthread', 'new', '.');
      expect((await installed.run('everthread', 'validate')).stdout).toContain('no problems');
      // The new project's own test, on the server of TEMPORAL_ADDRESS.
      expect((await installed.run('npm', 'test')).stdout).toMatch(/pass 1\n/);
      await whileDevRuns(installed, () => seeAnswer(installed));
      expect(existsSync(join(installed.project, '.everthread', 'dev.json'))).toBe(false);
    }, 900_000);

    it('advises jest with CommonJS', () => seeRefusal(installed));

    if (isLong)
      it('runs tests of an agent with node:test, vitest and jest', () => seeTests(installed), 900_000);

    it('has code for its entry points', async () => {
      writeFileSync(join(installed.project, 'entries.mjs'), ENTRIES);
      const { stdout } = await installed.run('node', 'entries.mjs');
      expect(stdout).toContain(`entries: ${Array(8).fill('function').join()}`);
    });

    it('runs code in its sandbox', async () => {
      const source = 'export default (a: number, b: number): number => a + b;';
      writeFileSync(join(installed.project, 'sum.ts'), source);
      const { stdout } = await installed.run('everthread', 'code', 'run', 'sum.ts', '--args', '[40, 2]');
      expect(stdout.trim()).toBe('42');
    });

    it('gives its entry points types', () => seeDeclarations(installed));

    it('brings no Node', () => {
      expect(existsSync(join(installed.project, 'node_modules', '.bin', 'node'))).toBe(false);
    });

    onOldNode(() => {
      const version = ['npx', 'everthread', '--version'] as const;

      it('says what to do if it finds no Node 24', async () => {
        const refused = await installed.runWith(OLD_NODE as string, {}, ...version).catch((error) => error);
        expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('needs Node 24 or newer') });
      });

      it('runs with the Node that EVERTHREAD_NODE names, and its tests too', async () => {
        const named = { EVERTHREAD_NODE: process.execPath };
        const { stdout } = await installed.runWith(OLD_NODE as string, named, ...version);
        expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
        await installed.run('npx', 'everthread', 'new', 'other');
        const tested = await installed.runWith(OLD_NODE as string, named, 'npm', 'test', '--prefix', 'other');
        expect(tested.stdout).toMatch(/pass 1\n/);
      }, 900_000);

      it('tells what to install before it runs code, if npm has left out the engine', async () => {
        const engine = join(installed.project, 'node_modules', 'isolated-vm');
        renameSync(engine, `${engine}-away`);
        try {
          writeFileSync(join(installed.project, 'one.ts'), 'export default 1;');
          const code = ['npx', 'everthread', 'code', 'run', 'one.ts'] as const;
          const named = { EVERTHREAD_NODE: process.execPath };
          const refused = await installed.runWith(OLD_NODE as string, named, ...code).catch((error) => error);
          expect(refused.stderr).toMatch(
            /"isolated-vm" is not installed\. Install .* an npm that runs on Node 24\./,
          );
        } finally {
          renameSync(`${engine}-away`, engine);
        }
      });

      if (isLong)
        it('is installed by its npm, which leaves out the engine', async () => {
          const other = join(installed.project, 'installed-by-old');
          mkdirSync(other);
          writeFileSync(join(other, 'package.json'), '{}');
          const { dependencies } = JSON.parse(readFileSync(join(installed.project, 'package.json'), 'utf8'));
          const tarball = resolve(installed.project, dependencies.everthread.slice('file:'.length));
          const install = ['npm', 'install', '--prefix', other, '--prefer-offline', tarball] as const;
          await installed.runWith(OLD_NODE as string, {}, ...install);
          const has = (name: string) => existsSync(join(other, 'node_modules', name));
          expect(['everthread', 'isolated-vm', '.bin/node'].map(has)).toEqual([true, false, false]);
        }, 900_000);

      it('is a client over HTTP', async () => {
        writeFileSync(join(installed.project, 'client.mjs'), CLIENT);
        const { stdout } = await installed.runWith(OLD_NODE as string, {}, 'node', 'client.mjs');
        expect(stdout).toMatch(/^v2\d\..* function, Node 24\n$/);
      });
    });
  });
}

const CLONE = join(import.meta.dirname, '..', '..');

/** Links packages of the clone into the project, as if they were installed there. */
function borrow({ project }: InstalledPackage, ...names: string[]): void {
  const modules = join(project, 'node_modules');
  for (const name of names)
    if (!existsSync(join(modules, name))) symlinkSync(join(CLONE, 'node_modules', name), join(modules, name));
}

const jestIn = (project: string, match: string) => [
  join(project, 'node_modules', 'jest', 'bin', 'jest.js'),
  ...['--rootDir', project, '--testMatch', match],
];

async function seeRefusal(installed: InstalledPackage): Promise<void> {
  const { project, run } = installed;
  borrow(installed, 'jest');
  const required = "const { testAgent } = require('everthread/testing');\ntest('it', () => testAgent({}));\n";
  writeFileSync(join(project, 'required.test.cjs'), required);
  const command = jestIn(project, '**/required.test.cjs');
  const refused = await run('node', ...command).catch((error) => error);
  expect(refused.stderr).toContain('everthread/testing is an ES module');
}

/**
 * Runs the testing examples on the server of TEMPORAL_ADDRESS. The short form covers node:test too, by the project's
 * own test.
 */
async function seeTests(installed: InstalledPackage): Promise<void> {
  const { project, run } = installed;
  borrow(installed, 'jest', 'vitest');
  cpSync(join(CLONE, 'examples', 'testing'), join(project, 'examples'), { recursive: true });
  const { stdout } = await run(
    'node',
    ...['--test', '--test-isolation=none', '--test-reporter=tap', 'examples/node-test.test.mts'],
  );
  expect(stdout).toMatch(/^# pass 2$/m);
  await run('node', join(project, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'examples/vitest.test.ts');
  await run('node', '--experimental-vm-modules', ...jestIn(project, '**/jest.test.mjs'));
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
  // Waits for `close` instead of `exit`: npx may end before the command that it runs, which still writes below this
  // folder.
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

/** A program in the project that imports the entry points. */
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

/** A program of an older Node that imports what clients over HTTP and authors import. */
const CLIENT = `
import { openStore } from 'everthread';
import { HttpClient } from 'everthread/client';
import 'everthread/models';
import 'everthread/testing';
const refused = await openStore('sqlite:store.db', '.').catch(({ message }) => message);
console.log(process.version, typeof HttpClient + ',', /needs (Node 24)/.exec(refused)[1]);
`;

function seeDeclarations({ project }: InstalledPackage): void {
  for (const entry of [
    'index',
    'client/index',
    'models/index',
    'server/index',
    'worker/index',
    'otel',
    'testing/index',
    'faces/agenticx/index',
    'faces/protolink/index',
    'faces/tangle/index',
    'faces/tangle/models',
    'faces/tangle/worker',
  ]) {
    expect(existsSync(join(project, 'node_modules', 'everthread', 'dist', `${entry}.d.ts`))).toBe(true);
  }
}
