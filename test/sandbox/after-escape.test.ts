/**
 * After an escape: plain JavaScript in the child's main realm tries to get further. Behind a kernel wall it reaches
 * nothing; without one, the test separates what Node's permission model holds from what it does not.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chooseWall, type Sandbox, type Wall } from '../../src/sandbox/index.ts';
import { isLong } from '../support/long-form.ts';
import { ATTEMPTS, type Attempt } from './after-escape-attempts.ts';
import { openEscaped, runEscaped } from './escaped-child.ts';
import { createFigures } from './figures.ts';

const SECRET = 'everthread-secret-5a0b7c';
const folder = mkdtempSync(join(tmpdir(), 'everthread-escape-'));
const figures = createFigures(
  'after an escape, an attacker who …',
  'behind the wall',
  'behind the wall alone',
  "Node's permission model alone",
);
const servers: Server[] = [];
let wall: Wall;
let walled: Sandbox;
/** The kernel wall without Node's permission model, as if that had been bypassed. */
let kernel: Sandbox;
let bare: Sandbox;
let target: Readonly<Record<string, unknown>>;

const portOf = (server: Server): number => (server.address() as { port: number }).port;

async function listening(...where: [options: object | string]): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  servers.push(server);
  server.listen(...(where as [object]));
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  wall = await chooseWall('auto');
  walled = openEscaped('auto');
  kernel = openEscaped('auto', true);
  bare = openEscaped('none');
  writeFileSync(join(folder, 'store.db'), SECRET);
  const server = await listening({ port: 0, host: '0.0.0.0' });
  const socket = join(folder, 'worker.sock');
  await listening(socket);
  const abstract = `everthread-${process.pid}`;
  await listening({ path: `\0${abstract}` });
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  target = {
    pid: process.pid,
    root: process.getuid?.() === 0,
    store: join(folder, 'store.db'),
    folder,
    home: homedir(),
    code: fileURLToPath(new URL('../../src/sandbox/child/main.ts', import.meta.url)),
    addon: fileURLToPath(
      new URL(
        `../../node_modules/isolated-vm/prebuilds/linux-${process.arch}/isolated-vm.abi137.glibc.node`,
        import.meta.url,
      ),
    ),
    library: unloadedLibrary(),
    port: portOf(server),
    address: addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2',
    socket,
    abstract,
  };
});

afterAll(async () => {
  await Promise.all([walled.close(), kernel.close(), bare.close()]);
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
  const behind = wall.kind === 'none' ? 'no wall here' : wall.kind;
  process.stdout.write(`\n${ATTEMPTS.length} attempts after an escape; the wall: ${behind}\n`);
  if (wall.kind === 'none') {
    const whys = wall.missing.map(({ kind, why }) => `${kind}: ${why}`).join('; ');
    process.stdout.write(`NO WALL HERE (${whys}): what only a wall holds was not held.\n`);
  }
  figures.print();
});

/** Path of a system library that Node has not loaded. */
function unloadedLibrary(): string {
  const folders = ['/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/lib64', '/usr/lib'];
  const found = folders
    .filter((path) => existsSync(path))
    .map((path) => ({
      path,
      name: readdirSync(path).find((name) => /^lib(?:z|lzma|crypt|resolv)\.so/.test(name)),
    }))
    .find(({ name }) => name !== undefined);
  return found ? join(found.path, found.name as string) : '/lib/libz.so.1';
}

interface Outcome {
  readonly held: boolean;
  readonly met: string;
  /**
   * Number of datagrams that arrived. Each attempt has its own port, so that a late one is not counted for the next
   * attempt.
   */
  readonly datagrams: number;
}

/** Most held attempts leave nothing behind: the short form runs these one after another in the same children. */
const tenantOf = ({ alone }: Attempt): string | undefined => (isLong || alone ? undefined : 'attempts');

async function attempt(sandbox: Sandbox, each: Attempt): Promise<Outcome> {
  let datagrams = 0;
  const listener = createSocket('udp4').on('message', () => {
    datagrams += 1;
  });
  listener.bind(0, '127.0.0.1');
  await once(listener, 'listening');
  try {
    const aim = { ...target, udp: listener.address().port };
    const source = `const target = ${JSON.stringify(aim)};\n${each.program}`;
    const outcome = await tryOut(sandbox, source, tenantOf(each));
    return { ...outcome, datagrams };
  } finally {
    listener.close();
  }
}

async function tryOut(
  sandbox: Sandbox,
  source: string,
  tenant: string | undefined,
): Promise<Omit<Outcome, 'datagrams'>> {
  const { status, result, error } = await runEscaped(sandbox, source, tenant);
  if (status !== 'success') return { held: true, met: `${status}: ${error?.message}` };
  const met = String(result);
  return met.startsWith('held')
    ? { held: true, met: met.slice('held'.length).trim() }
    : { held: false, met: `REACHED: ${met}` };
}

describe('after a sandbox escape', () => {
  // Otherwise a child that cannot even start would seem to be held.
  it('an attacker can continue: the attempts run', async () => {
    for (const sandbox of wall.kind === 'none' ? [walled, bare] : [walled, kernel, bare])
      expect(await runEscaped(sandbox, 'return 6 * 7')).toMatchObject({ status: 'success', result: '42' });
  });

  it.each(ATTEMPTS)('an attacker who $name is contained', async (each) => {
    const before = readdirSync(folder).toSorted();
    const met: string[] = [];
    for (const [sandbox, holds] of [
      [walled, each.heldByNone || wall.kind !== 'none'],
      [kernel, wall.kind !== 'none'],
      [bare, each.heldByNone],
    ] as const) {
      // With neither a wall nor Node's permission model nothing is tried: the attempts would succeed.
      if (sandbox === kernel && wall.kind === 'none') continue;
      const outcome = await attempt(sandbox, each);
      met.push(shorten(outcome.met));
      if (!holds) continue;
      expect(outcome).toMatchObject({ held: true, datagrams: 0 });
      expect(readdirSync(folder).toSorted()).toEqual(before);
    }
    figures.add(each.name, ...met);
  });

  it('has at least thirty attempts', () => {
    expect(new Set(ATTEMPTS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(30);
  });
});

const shorten = (text: string): string => text.replace(folder, 'FOLDER').slice(0, 60);
