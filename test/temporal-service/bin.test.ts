import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { packagePath } from '../../src/temporal-service/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { OLD_NODE } from '../support/old-node.ts';
import { makeFolder, removeFolders, writeProgram } from './support.ts';

/**
 * Makes the running Node report an old version, only in its own process: processes that it starts report the real one.
 */
const OLD =
  'data:text/javascript,Object.defineProperties(process,{versions:{value:{node:"20.20.2"}},version:{value:"v20.20.2"}})';
/** The package of npm that has the Node of this machine. */
const PLATFORM_PACKAGE = `node-${process.platform}-${process.arch}`.replace(
  'darwin-arm64',
  'bin-darwin-arm64',
);

let root: string;

/** A package whose `start` prints what it received; its Node comes from a platform package, where npm would put it. */
beforeEach(() => {
  root = makeFolder();
  mkdirSync(join(root, 'bin'));
  mkdirSync(join(root, 'src', 'cli'), { recursive: true });
  copyFileSync(packagePath('bin', 'everthread.js'), join(root, 'bin', 'everthread.js'));
  writeFileSync(join(root, 'package.json'), '{"name": "everthread", "type": "module"}');
  writeFileSync(
    join(root, 'src', 'cli', 'start.ts'),
    `export async function start(argv: string[]): Promise<number> {
       const told = Promise.withResolvers();
       if (argv[0] === 'wait') {
         const timer = setTimeout(() => told.resolve(0), 60_000);
         for (const signal of ['SIGINT', 'SIGTERM']) {
           process.on(signal, () => { console.log('got', signal); clearTimeout(timer); told.resolve(7); });
         }
       }
       // Behind the handlers: whoever reads this may send a signal at once.
       console.log(process.versions.node.split('.')[0], ...argv);
       return argv[0] === 'wait' ? told.promise : Number(argv[0] ?? 0);
     }`,
  );
});
afterEach(removeFolders);

/** Lays a package of Node where npm would install it. */
function installNode(folder: string, name = PLATFORM_PACKAGE, version = '24.0.0'): void {
  const installed = join(folder, 'node_modules', name);
  mkdirSync(join(installed, 'bin'), { recursive: true });
  const manifest = { name, version, bin: { node: 'bin/node' } };
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  symlinkSync(process.execPath, join(installed, 'bin', 'node'));
}

/** Writes a program that is a Node of an old version. */
function writeOldNode(): string {
  return writeProgram(join(root, 'old-node'), `exec '${process.execPath}' --import '${OLD}' "$@"`);
}

interface Run {
  child: ChildProcess;
  output: () => string;
  code: Promise<number | null>;
}

interface Circumstances {
  readonly node?: string;
  readonly cwd?: string;
  readonly named?: string;
}

/** Starts the command in `cwd`, with `node`; EVERTHREAD_NODE is `named`. */
function start(args: string[], { node = process.execPath, cwd = root, named }: Circumstances = {}): Run {
  const { EVERTHREAD_NODE: _, ...env } = process.env;
  const child = spawn(node, [join(root, 'bin', 'everthread.js'), ...args], {
    cwd,
    env: named === undefined ? env : { ...env, EVERTHREAD_NODE: named },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return { child, output: () => output, code: once(child, 'close').then(([code]) => code) };
}

const major = process.versions.node.split('.')[0];

test('[bin] on Node 24 the command runs at once, and its number is the exit code', async () => {
  const run = start(['3', 'b']);
  expect(await run.code).toBe(3);
  expect(run.output()).toBe(`${major} 3 b\n`);
});

describe.each([
  ['that reports an old version', () => writeOldNode()],
  ...(OLD_NODE ? [['of this machine that is older', () => OLD_NODE as string] as const] : []),
])('[bin] a Node %s', (_which, makeOldNode) => {
  let node: string;
  beforeEach(() => {
    node = makeOldNode();
  });

  test.each([PLATFORM_PACKAGE, 'node'])('runs the command with the Node of %s, beside it', async (name) => {
    installNode(root, name);
    const run = start(['3', 'b c'], { node, cwd: makeFolder() });
    expect(await run.code).toBe(3);
    expect(run.output()).toBe(`${major} 3 b c\n`);
  });

  test('runs the command with the Node of the project that it is called in', async () => {
    const project = makeFolder();
    mkdirSync(join(project, 'agents'));
    installNode(project);
    const run = start(['3'], { node, cwd: join(project, 'agents') });
    expect(await run.code).toBe(3);
  });

  test('runs the command with the Node that EVERTHREAD_NODE names, rather than with one of a package', async () => {
    installNode(root, PLATFORM_PACKAGE, '24.99.0');
    rmSync(join(root, 'node_modules', PLATFORM_PACKAGE, 'bin', 'node'));
    writeFileSync(join(root, 'node_modules', PLATFORM_PACKAGE, 'bin', 'node'), '');
    const run = start(['3'], { node, named: process.execPath });
    expect(await run.code).toBe(3);
    expect(run.output()).toBe(`${major} 3\n`);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('passes %s on to the command', async (signal) => {
    const run = start(['wait'], { node, named: process.execPath });
    await eventually('the command runs', () => run.output().includes('wait'));
    run.child.kill(signal);
    expect(await run.code).toBe(7);
    expect(run.output()).toContain(`got ${signal}`);
  });

  test('says in one sentence what to do if there is no Node 24', async () => {
    const run = start([], { node, cwd: makeFolder() });
    expect(await run.code).toBe(1);
    const [, version] = /and this is (v2\d[.\d]+): /.exec(run.output()) ?? [];
    expect(run.output()).toBe(
      `everthread needs Node 24 or newer, and this is ${version}: install it, or add it to the project ` +
        `(npm install ${PLATFORM_PACKAGE}@24), or name one by EVERTHREAD_NODE.\n`,
    );
    expect(existsSync(join(root, 'node_modules'))).toBe(false);
  });

  test('passes over a package of an older Node, and one whose program was not installed', async () => {
    installNode(root, PLATFORM_PACKAGE, '22.1.0');
    installNode(root, 'node');
    rmSync(join(root, 'node_modules', 'node', 'bin'), { recursive: true });
    const run = start([], { node });
    expect(await run.code).toBe(1);
    expect(run.output()).toContain('needs Node 24');
  });

  test('refuses an EVERTHREAD_NODE that is older too', async () => {
    const named = writeOldNode();
    const run = start([], { node, named });
    expect(await run.code).toBe(1);
    expect(run.output()).toMatch(
      /^everthread needs Node 24 or newer, and EVERTHREAD_NODE names v20\.20\.2: .*\n$/,
    );
  });

  test('says that EVERTHREAD_NODE names no program', async () => {
    const run = start([], { node, named: join(root, 'none') });
    expect(await run.code).toBe(1);
    expect(run.output()).toMatch(
      /^everthread could not start .*none, which EVERTHREAD_NODE names: .*ENOENT\n$/,
    );
  });
});
