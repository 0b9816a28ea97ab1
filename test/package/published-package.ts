/** What strangers do with the package: new, dev, a thread answered, code run, its entry points imported. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
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
      await whileDevRuns(installed, () => seeAnswer(installed));
      expect(existsSync(join(installed.project, '.everthread', 'dev.json'))).toBe(false);
    }, 900_000);

    it('runs code in its sandbox', async () => {
      const source = 'export default (a: number, b: number): number => a + b;';
      writeFileSync(join(installed.project, 'sum.ts'), source);
      const { stdout } = await installed.run('everthread', 'code', 'run', 'sum.ts', '--args', '[40, 2]');
      expect(stdout.trim()).toBe('42');
    });

    it('gives its five entry points types and code', () => seeEntryPoints(installed));
  });
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

async function seeEntryPoints({ project, run }: InstalledPackage): Promise<void> {
  const script = `
    import { defineAgent, RuntimeClient } from 'everthread';
    import { HttpClient } from 'everthread/client';
    import { openaiCompatible, aiSdk } from 'everthread/models';
    import { createEndpointHandler } from 'everthread/server';
    import { createWorker } from 'everthread/worker';
    import { scriptedModel } from 'everthread/testing';
    console.log([defineAgent, RuntimeClient, HttpClient, openaiCompatible, aiSdk, createEndpointHandler, createWorker, scriptedModel]
      .map((x) => typeof x).join());
  `;
  const bundled = join(project, 'node_modules', '.bin', 'node');
  const { stdout } = await run(existsSync(bundled) ? bundled : 'node', '--input-type=module', '-e', script);
  expect(stdout.trim()).toBe(Array(8).fill('function').join());
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
  ]) {
    expect(existsSync(join(project, 'node_modules', 'everthread', 'dist', `${entry}.d.ts`))).toBe(true);
  }
}
