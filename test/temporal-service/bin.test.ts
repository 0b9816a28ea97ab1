import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { packagePath } from '../../src/temporal-service/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder, removeFolders } from './support.ts';

/**
 * Makes the running Node report an old version, only in its own process: processes that it starts report the real one.
 */
const OLD = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.20.2"}})';
const PLATFORM_PACKAGE = `node-${process.platform}-${process.arch}`;

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

function installPlatformNode(): void {
  const folder = join(root, 'node_modules', PLATFORM_PACKAGE, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(dirname(folder), 'package.json'), `{"name": "${PLATFORM_PACKAGE}"}`);
  symlinkSync(process.execPath, join(folder, 'node'));
}

interface Run {
  child: ChildProcess;
  output: () => string;
  code: Promise<number | null>;
}

function start(nodeArguments: string[], args: string[]): Run {
  const child = spawn(process.execPath, [...nodeArguments, join(root, 'bin', 'everthread.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return { child, output: () => output, code: once(child, 'close').then(([code]) => code) };
}

const major = process.versions.node.split('.')[0];

test('[bin] on Node 24 the command runs at once, and its number is the exit code', async () => {
  const run = start([], ['3', 'b']);
  expect(await run.code).toBe(3);
  expect(run.output()).toBe(`${major} 3 b\n`);
});

test('[bin] on an older Node the command runs with the Node installed by npm', async () => {
  installPlatformNode();
  const run = start(['--import', OLD], ['3', 'b c']);
  expect(await run.code).toBe(3);
  expect(run.output()).toBe(`${major} 3 b c\n`);
});

test.each(['SIGINT', 'SIGTERM'] as const)('[bin] on an older Node %s reaches the command', async (signal) => {
  installPlatformNode();
  const run = start(['--import', OLD], ['wait']);
  await eventually('the command runs', () => run.output().includes('wait'));
  run.child.kill(signal);
  expect(await run.code).toBe(7);
  expect(run.output()).toContain(`got ${signal}`);
});

test('[bin] on an older Node without one from npm, it prints what to install', async () => {
  const run = start(['--import', OLD], []);
  expect(await run.code).toBe(1);
  expect(run.output()).toContain('needs Node 24');
  expect(existsSync(join(root, 'node_modules'))).toBe(false);
});
