/** The production page and the compose file fit the program: compared as text, without a container engine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readConfiguration } from '../../src/configuration.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly stop_grace_period?: string;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
};
const { worker } = compose.services;
const PAGE = read('docs/production.md');
const OPERATIONS = read('docs/operations.md');

/** Replaces `${NAME:-default}` by the default, and `${NAME:?why}` of the required keys by a value. */
const filled = (value: string) =>
  value
    .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
    .replace(/\$\{EVERTHREAD_ENCRYPTION_KEYS:\?[^}]*\}/g, `k1:${'0'.repeat(64)}`);

describe('docker-compose.yml', () => {
  it('names existing services, conditions and volumes', () => {
    for (const [name, { depends_on = {}, volumes = [] }] of Object.entries(compose.services)) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([other])]);
        if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck).toBeDefined();
      }
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        expect(source.startsWith('.') ? existsSync(join(ROOT, source)) : source in compose.volumes).toBe(
          true,
        );
      }
    }
  });

  it('gives the worker a PostgreSQL store, keys, a health endpoint for its probe, and a grace period below its stop timeout', () => {
    const environment = Object.fromEntries(
      Object.entries(worker?.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    );
    const configuration = readConfiguration(environment);
    expect(configuration).toMatchObject({ health: '0.0.0.0:9464', log: { level: 'info', format: 'json' } });
    expect(configuration.store).toMatch(/^postgres:\/\/temporal:temporal@postgres:5432\/everthread/);
    expect(configuration.encryptionKeys).toBeDefined();
    for (const name of Object.keys(environment).filter((each) => each.startsWith('EVERTHREAD_')))
      expect(OPERATIONS).toContain(`\`${name}\``);
    expect(worker?.healthcheck?.test.join(' ')).toContain('9464/readyz');
    expect(worker?.ports).toEqual(['127.0.0.1:9464:9464']);
    const stopMs = Number.parseInt(worker?.stop_grace_period ?? '', 10) * 1000;
    expect(stopMs).toBeGreaterThan(Math.max(configuration.modelGraceMs, configuration.toolGraceMs) + 5000);
  });

  it('runs commands that a shell can read', () => {
    for (const { command } of Object.values(compose.services))
      if (command) execFileSync('sh', ['-nc', command.at(-1) as string]);
  });
});

/** The instructions of a Dockerfile: name and rest. */
const instructions = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)] as const);

describe('the Dockerfile', () => {
  const [, shown = ''] = /```dockerfile\n([\s\S]*?)```/.exec(PAGE) ?? [];

  it.each([
    ['of this repository', read('Dockerfile'), 'bin/everthread.js'],
    ['of the production page', shown, 'node_modules/everthread/bin/everthread.js'],
  ])(
    '%s starts the command with node itself, as another user, on existing files',
    (_whose, text, program) => {
      const all = instructions(text);
      const of = (name: string) => all.filter(([each]) => each === name).map(([, rest]) => rest);
      expect(of('FROM').join()).toMatch(/^node:24-bookworm-slim/);
      expect(of('USER')).toEqual(['node']);
      expect((JSON.parse(of('CMD').join()) as string[]).slice(0, 3)).toEqual(['node', program, 'worker']);
      expect(existsSync(join(ROOT, program.replace('node_modules/everthread/', '')))).toBe(true);
      for (const source of of('COPY').flatMap((rest) => rest.split(' ').slice(0, -1)))
        expect([source, existsSync(join(ROOT, source))]).toEqual([source, true]);
    },
  );
});

describe('docs/operations.md', () => {
  it('lists every setting that is read', () => {
    const names = new Set(read('src/configuration.ts').match(/EVERTHREAD_[A-Z_]+/g));
    const settings = OPERATIONS.slice(0, OPERATIONS.indexOf('## The store'));
    expect([...names].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  });
});
