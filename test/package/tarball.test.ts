/**
 * The package as strangers get it: packed, installed into an empty project outside the clone, with the host's own
 * Node (whatever npm runs on) in front, and used: new, dev, a thread answered.
 */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freeDevPort } from '../cli/support.ts';
import { eventually } from '../support/runtime.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'everthread-package-'));
const project = join(folder, 'project');
const hostNode = process.env.npm_node_execpath ?? 'node';
const inFront = [join(project, 'node_modules', '.bin'), dirname(hostNode)];
const behind = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|EVERTHREAD_|NODE_OPTIONS|OPENAI_)/.test(name)),
  ),
  PATH: [...inFront, ...behind].join(delimiter),
  EVERTHREAD_TASK_QUEUE: `package-${randomUUID()}`,
  // A `dev` of another test would be taken for the server that is there already.
  EVERTHREAD_DEV_PORT: String(await freeDevPort()),
};
const inProject = (command: string, ...args: string[]) =>
  run(command, args, { cwd: project, env, timeout: 180_000 });

beforeAll(async () => {
  mkdirSync(project);
  await run(hostNode, [npmCli(), 'pack', '--pack-destination', folder], {
    // The type check is a step of its own, for all that there is.
    env: { ...env, PATH: process.env.PATH, EVERTHREAD_BUILD_UNCHECKED: '1' },
  });
  const [tarball] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  await inProject('npm', 'init', '-y');
  // What npm has already is not asked for again.
  const options = ['--no-audit', '--no-fund', '--prefer-offline'];
  await inProject('npm', 'install', ...options, join('..', tarball as string));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** npm is run by the host's Node, as a user's shell would; the path npm itself tells when it started us. */
function npmCli(): string {
  return (
    process.env.npm_execpath ??
    join(dirname(hostNode), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  );
}

describe('the published package', () => {
  it('writes a project, checks it, runs it, and answers a thread', async () => {
    await inProject('npx', 'everthread', 'new', '.');
    expect((await inProject('everthread', 'validate')).stdout).toContain('no problems');
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
      await eventually(`everthread dev is up: ${output}`, () => output.includes('everthread chat assistant'));
      const { stdout } = await inProject(
        'everthread',
        'threads',
        'start',
        'assistant',
        'what time is it?',
        '--id',
        'p1',
        '--wait',
      );
      expect(stdout).toMatch(/\d\d:\d\d/);
      const shown = JSON.parse((await inProject('everthread', 'threads', 'show', 'p1', '--json')).stdout);
      expect(shown.thread).toMatchObject({ id: 'p1', agent: 'assistant', status: 'idle' });
      expect(shown.messages.map(({ role }: { role: string }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'assistant',
      ]);
    } finally {
      process.kill(-(dev.pid as number), 'SIGINT');
      await ended;
    }
    expect(existsSync(join(project, '.everthread', 'dev.json'))).toBe(false);
  });

  it('runs code in its sandbox', async () => {
    writeFileSync(join(project, 'sum.ts'), 'export default (a: number, b: number): number => a + b;');
    const { stdout } = await inProject('everthread', 'code', 'run', 'sum.ts', '--args', '[40, 2]');
    expect(stdout.trim()).toBe('42');
  });

  it('gives its five entry points types and code', async () => {
    const script = `
      import { defineAgent, RuntimeClient } from 'everthread';
      import { openaiCompatible, aiSdk } from 'everthread/models';
      import { createEndpointHandler } from 'everthread/server';
      import { createWorker } from 'everthread/worker';
      import { scriptedModel } from 'everthread/testing';
      console.log([defineAgent, RuntimeClient, openaiCompatible, aiSdk, createEndpointHandler, createWorker, scriptedModel]
        .map((x) => typeof x).join());
    `;
    const bundled = join(project, 'node_modules', '.bin', 'node');
    const { stdout } = await inProject(
      existsSync(bundled) ? bundled : 'node',
      '--input-type=module',
      '-e',
      script,
    );
    expect(stdout.trim()).toBe(Array(7).fill('function').join());
    for (const entry of ['index', 'models/index', 'server/index', 'worker/index', 'testing/index']) {
      expect(existsSync(join(project, 'node_modules', 'everthread', 'dist', `${entry}.d.ts`))).toBe(true);
    }
  });
});
