/**
 * The types of the package, as a project sees them whose compiler is as strict as it can be: what they mention can be named, one of each
 * definition compiles, mistakes are told in words that name them, and so do the examples of the pages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readExamples } from '../docs/page-examples.ts';
import { type Consumer, createConsumer, type Diagnostic } from './consumer.ts';
import { key, readDeclarations } from './declarations.ts';
import { MISTAKES } from './mistakes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FRESH = join(import.meta.dirname, 'fresh-project');

let consumer: Consumer;
let found: ReadonlyMap<string, readonly Diagnostic[]>;

beforeAll(async () => {
  consumer = await createConsumer();
  found = await consumer.check(new Map([...freshProject(), ...mistakes(), ...readExamples()]));
});
afterAll(() => consumer?.remove());

function freshProject(): [string, string][] {
  return readdirSync(FRESH, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`fresh/${file}`, readFileSync(join(FRESH, file), 'utf8')]);
}

function mistakes(): [string, string][] {
  return MISTAKES.map(({ source }, index) => [`mistakes/${index}.ts`, source]);
}

const of = (folder: string) => [...found].filter(([file]) => file.startsWith(folder));

describe('the declarations of the package', () => {
  it('mention no type that no entry exports', () => {
    const { exported, mentions } = readDeclarations(consumer.declarations, entries());
    const unnamed = mentions.filter(({ by, name }) => !OPAQUE.has(by.name) && !exported.has(key(name)));
    expect(exported.size).toBeGreaterThan(200);
    expect(unnamed.map(({ by, name }) => `${key(by)} mentions ${key(name)}`)).toEqual([]);
  });

  it('have no mistake of their own', () => {
    expect(of('node_modules/everthread/')).toEqual([]);
  });
});

/** Callers open it, pass it on and close it; its groups of commands are the runtime's own. */
const OPAQUE = new Set(['ThreadStore']);

function entries(): string[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string | { types: string }>>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.types.replace('./dist/', '')],
  );
}

describe('[definitions 2.1] a project of one definition of each kind', () => {
  it('compiles, with declarations of its own, and with what the author knows of a state', () => {
    expect(of('fresh/')).toEqual([]);
  });
});

describe('what the compiler says', () => {
  it.each(MISTAKES.map((mistake, index) => [mistake.title, mistake, index] as const))(
    'names the mistake: %s',
    (_title, { says }, index) => {
      const lines = (found.get(`mistakes/${index}.ts`)?.[0]?.message ?? '')
        .split('\n')
        .map((line) => line.trim());
      for (const words of says) {
        expect(lines).toContainEqual(expect.stringContaining(words));
      }
    },
  );
});

describe('the examples of the pages', () => {
  it('are many', () => {
    expect(readExamples().size).toBeGreaterThan(19);
  });

  it('compile', () => {
    expect([...of('docs-'), ...of('README.md')]).toEqual([]);
  });
});
