/** The commands that the page shows for its buttons are commands that exist, with the options that it gives them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from '../../src/cli/command-table.ts';

const FOLDER = join(import.meta.dirname, '../../src/ui');
const source = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
  .join('\n');

const named = [
  ...source.matchAll(/everthread\(\s*'(\w+)',\s*'([\w-]+)'/g),
  ...source.matchAll(/everthread (threads|tasks|tokens|waits) (\w+)/g),
].map(([, group = '', name = '']) => `${group} ${name}`);
const ofThreads = [...source.matchAll(/(?:of|\.\.\.ask)\('(\w+)'/g)].map(([, name]) => `threads ${name}`);
const shown = [...new Set([...named, ...ofThreads])].sort();

interface Described {
  readonly commands?: Readonly<Record<string, Described>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

async function find(path: string): Promise<Described | undefined> {
  const [group = '', name = ''] = path.split(' ');
  const listed = COMMANDS[group]?.below?.[name];
  if (listed) return (await listed.load()) as Described;
  return ((await COMMANDS[group]?.load()) as Described | undefined)?.commands?.[name];
}

describe('a command that the page shows', () => {
  it('is found in its sources', () => {
    expect(shown).toEqual(
      expect.arrayContaining(['threads send', 'threads stop', 'waits answer', 'tasks abort']),
    );
  });

  it.each(shown)('exists: %s', async (path) => {
    expect(await find(path)).toBeDefined();
  });

  it.each([
    ['threads list', ['status', 'agent', 'user', 'organization', 'tag', 'sort']],
    ['threads send', ['attach']],
    ['waits answer', ['approve', 'deny', 'scope', 'reason', 'argumentsFile', 'value', 'valueStdin']],
    ['tokens create', ['scope']],
  ])('has its options: %s', async (path, options) => {
    expect(Object.keys((await find(path))?.options ?? {})).toEqual(expect.arrayContaining(options));
  });
});
