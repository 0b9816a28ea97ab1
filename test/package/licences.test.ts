/**
 * `scripts/check-licences.mjs` on projects of the test, with a registry that is unreachable, silent, or reports a
 * problem.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'check-licences.mjs');
/** An address at which nothing listens. */
const NOWHERE = 'http://127.0.0.1:9/';

let root: string;
let registry: Server | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'everthread-licences-'));
});
afterEach(() => {
  registry?.closeAllConnections();
  registry?.close();
  registry = undefined;
  rmSync(root, { recursive: true });
});

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** Its package.json, if it is installed. */
  readonly installed?: Record<string, unknown>;
  readonly text?: string;
}

function project(dependencies: Readonly<Record<string, Locked>>): void {
  const packages: Record<string, unknown> = { '': { name: 'fixture', version: '1.0.0' } };
  for (const [name, { installed, text, ...locked }] of Object.entries(dependencies)) {
    const path = `node_modules/${name}`;
    packages[path] = { version: '1.0.0', ...locked };
    if (installed || text) mkdirSync(join(root, path), { recursive: true });
    if (installed) writeFileSync(join(root, path, 'package.json'), JSON.stringify(installed));
    if (text) writeFileSync(join(root, path, 'LICENSE'), text);
  }
  const manifest = { name: 'fixture', version: '1.0.0', dependencies: { known: '1.0.0' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(root, 'package-lock.json'),
    JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages }),
  );
}

async function check(address = NOWHERE): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [SCRIPT, root], {
    env: { ...process.env, npm_config_registry: address, npm_config_cache: join(root, '.npm') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'close');
  return { code, said };
}

async function serve(answer: (path: string) => unknown): Promise<string> {
  registry = createServer((request, response) => {
    const body = answer(request.url ?? '');
    if (body !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
}

describe('licences', () => {
  it('that are permissive pass, wherever they are declared; development-only packages are ignored', async () => {
    project({
      known: { license: 'MIT' },
      'for-another-platform': { license: '(MIT OR GPL-3.0-only) AND ISC', optional: true },
      'of-old': { installed: { licenses: [{ type: 'GPL-2.0' }, { type: 'MIT' }] } },
      'in-words': {
        installed: {},
        text: 'This is free and unencumbered software released into the public domain.',
      },
      tool: { license: 'GPL-3.0-only', dev: true },
    });
    const { code, said } = await check();
    expect(said).toContain('Licences: 4 of 4 packages are permissive.');
    expect(code).toBe(0);
  });

  it('that are not permissive, or missing, fail, each named with its package', async () => {
    project({
      known: { license: 'MIT' },
      copyleft: { license: 'GPL-3.0-only' },
      'beside-a-permissive-one': { license: 'MIT AND AGPL-3.0-only' },
      'changed-since-the-lockfile': { license: 'MIT', installed: { license: 'SSPL-1.0' } },
      'of-another-platform': { license: 'BUSL-1.1', optional: true },
      untold: {},
    });
    const { code, said } = await check();
    for (const words of [
      'copyleft 1.0.0: GPL-3.0-only',
      'beside-a-permissive-one 1.0.0: MIT AND AGPL-3.0-only',
      'changed-since-the-lockfile 1.0.0: SSPL-1.0',
      'of-another-platform 1.0.0: BUSL-1.1',
      'untold 1.0.0: no licence is told',
    ])
      expect(said).toContain(words);
    expect(said).not.toContain('known 1.0.0');
    expect(code).toBe(1);
  });

  it('fail if one of several is not permissive', async () => {
    project({ known: { license: 'MIT' }, bad: { license: 'GPL-3.0-only' } });
    const { code, said } = await check();
    expect(said).toContain('bad 1.0.0: GPL-3.0-only');
    expect(code).toBe(1);
  });
});

describe('known vulnerabilities', () => {
  it('are skipped with one line if the registry is unreachable', async () => {
    project({ known: { license: 'MIT' } });
    const { code, said } = await check();
    expect(said).toMatch(/^Vulnerabilities: skipped, for the registry does not answer \(.+\)\.$/m);
    expect(code).toBe(0);
  });

  it('do not block the check if the registry never answers', async () => {
    project({ known: { license: 'MIT' } });
    const { code, said } = await check(await serve(() => undefined));
    expect(said).toContain('Vulnerabilities: skipped');
    expect(code).toBe(0);
  });

  it('fail the check when they are severe', async () => {
    project({ known: { license: 'MIT' } });
    const advisory = {
      id: 1,
      url: 'https://example.org/1',
      title: 'Runs what it reads',
      severity: 'critical',
      vulnerable_versions: '<=1.0.0',
    };
    const packument = {
      name: 'known',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'known', version: '1.0.0' } },
    };
    const { code, said } = await check(
      await serve((path) => (path.includes('/bulk') ? { known: [advisory] } : packument)),
    );
    expect(said).toMatch(/known .*: critical vulnerability/);
    expect(said).toContain('1 of them severely');
    expect(code).toBe(1);
  });
});
