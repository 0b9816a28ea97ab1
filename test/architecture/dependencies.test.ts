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
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const TEXT = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(TEXT) as { packages: Readonly<Record<string, LockedPackage>> };
const installed = Object.entries(packages).filter(([path]) => path !== '');

/** Packages whose native parts are published as one package per platform. */
const NATIVE = ['@swc/core', 'typescript', '@biomejs/biome', 'unrs-resolver'];
const PLATFORMS = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'arm64'],
  ['darwin', 'x64'],
  ['win32', 'x64'],
] as const;

describe('the lock file', () => {
  it('names no registry: each machine uses its own', () => {
    expect(installed.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([]);
    expect(TEXT).not.toMatch(/"resolved"/);
  });

  it('pins every package by its content', () => {
    const loose = installed.filter(([, { version, integrity, link }]) => link || !version || !integrity);
    expect(loose.map(([path]) => path)).toEqual([]);
  });

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

  it('has the Node of every platform for which we provide one', () => {
    const { optionalDependencies = {} } = packages[''] as LockedPackage;
    const missing = Object.entries(optionalDependencies).filter(
      ([name, version]) => packages[`node_modules/${name}`]?.version !== version,
    );
    expect(missing).toEqual([]);
  });

  it('has no trace of the machine that wrote it', () => {
    const strange = TEXT.split('\n').filter((line) =>
      /"(file:|link:)|localhost|127\.0\.0\.1|\/(home|root|work|tmp|Users)\//.test(line),
    );
    expect(strange).toEqual([]);
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
