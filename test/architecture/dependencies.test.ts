/** What `npm install` makes of our lock file, on this machine and on every other. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './source-tree.ts';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function readLock(name: string) {
  const text = readFileSync(join(ROOT, name), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
  return { name, text, packages, installed: Object.entries(packages).filter(([path]) => path !== '') };
}

const LOCK = readLock('package-lock.json');
/** That of the Node that runs a clone. */
const TOOLCHAIN = readLock('scripts/toolchain/package-lock.json');
const { packages, installed } = LOCK;

/** Packages whose native parts are published as one package per platform. */
const NATIVE = ['@swc/core', 'typescript', '@biomejs/biome', 'unrs-resolver'];
const PLATFORMS = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'arm64'],
  ['darwin', 'x64'],
  ['win32', 'x64'],
] as const;

describe.each([LOCK, TOOLCHAIN])('$name', ({ text, installed }) => {
  it('names no registry: each machine uses its own', () => {
    expect(installed.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([]);
    expect(text).not.toMatch(/"resolved"/);
  });

  it('pins every package by its content', () => {
    const loose = installed.filter(([, { version, integrity, link }]) => link || !version || !integrity);
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  it('says nothing of the machine that wrote it', () => {
    const strange = text
      .split('\n')
      .filter((line) => /"(file:|link:)|localhost|127\.0\.0\.1|\/(home|root|work|tmp|Users)\//.test(line));
    expect(strange).toEqual([]);
  });
});

describe('the lock file of the package', () => {
  it.each(NATIVE)('has %s for every platform', (name) => {
    const entry = packages[`node_modules/${name}`];
    const parts = Object.entries(entry?.optionalDependencies ?? {});
    expect(parts.length).toBeGreaterThan(0);
    const missing = parts.filter(([part, range]) => {
      const locked =
        packages[`node_modules/${part}`] ?? packages[`node_modules/${name}/node_modules/${part}`];
      return locked?.version !== range || !locked.optional;
    });
    expect(missing).toEqual([]);
    const lacking = PLATFORMS.filter(
      ([os, cpu]) =>
        !parts.some(([part]) => part.includes(`-${os}-${cpu}`) || part.includes(`/${os}-${cpu}`)),
    );
    expect(lacking).toEqual([]);
  });

  it('has no Node, which would run all scripts of a project that installs the package', () => {
    const ofNode = installed.filter(([, { bin = {} }]) => 'node' in bin).map(([path]) => path);
    expect(ofNode).toEqual([]);
  });

  it('leaves the Node of a clone to the toolchain, for every platform that npm has one for', () => {
    const { optionalDependencies = {} } = TOOLCHAIN.packages[''] as LockedPackage;
    const locked = TOOLCHAIN.installed.map(([path, { version }]) => [path.split('/').at(-1), version]);
    expect(Object.fromEntries(locked)).toEqual(optionalDependencies);
    expect(locked.length).toBeGreaterThan(2);
    const manifest = JSON.parse(readFileSync(join(ROOT, 'scripts/toolchain/package.json'), 'utf8'));
    expect(manifest.optionalDependencies).toEqual(optionalDependencies);
  });
});

describe('the packages of Temporal', () => {
  const temporal = installed
    .map(([path]) => path)
    .filter((path) => /^node_modules\/@temporalio\/[^/]+$/.test(path));

  it('are all of one version', () => {
    expect(temporal.length).toBeGreaterThan(5);
    expect(new Set(temporal.map((path) => packages[path]?.version)).size).toBe(1);
  });

  it('share one protobufjs 8, since messages of a second one are not recognised', () => {
    expect(packages['node_modules/protobufjs']?.version).toMatch(/^8\./);
    expect(
      installed.map(([path]) => path).filter((path) => /@temporalio\/.*node_modules\/protobufjs$/.test(path)),
    ).toEqual([]);
    const users = temporal.filter((path) => existsSync(join(ROOT, path, 'package.json')));
    const found = users.flatMap((path) => {
      const manifest = join(ROOT, path, 'package.json');
      const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
        dependencies?: Record<string, string>;
      };
      return 'protobufjs' in dependencies ? [createRequire(manifest).resolve('protobufjs/package.json')] : [];
    });
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set([join(ROOT, 'node_modules/protobufjs/package.json')]));
  });
});
