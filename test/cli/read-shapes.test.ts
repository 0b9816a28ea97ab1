/** What commands that read print with `--json`: keys and types are those that are checked in (`read-shapes.txt`). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { COMMANDS, type ListedCommand } from '../../src/cli/command-table.ts';
import { buildProgram } from '../../src/cli/main.ts';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { expectCheckedIn } from '../support/checked-in.ts';
import { SEEDED, seedStore } from './seeded-store.ts';
import { shapeOf } from './shape.ts';
import { type CliProject, cliProjectWith, HELPER } from './support.ts';

const { thread, plain, run, request } = SEEDED;
const REPORT = 'report.json';

/** The reads, each with the arguments of its command in the order of the page. */
const READS: readonly (readonly string[])[] = [
  ['threads', 'list'],
  ['threads', 'show', thread, '--debug'],
  ['threads', 'show', plain],
  ['threads', 'tail', thread, '--no-follow'],
  ...['run', 'agenticx', 'tangle'].map((as) => ['threads', 'tail', thread, '--no-follow', '--as', as]),
  ['threads', 'files', thread],
  ['threads', 'files', thread, '/docs/note.md'],
  ['threads', 'values', thread],
  ['threads', 'effects', thread],
  ['threads', 'logs', thread],
  ['threads', 'request', thread],
  ['threads', 'request', thread, 'last'],
  ['threads', 'tree', thread],
  ['threads', 'export', thread],
  ['waits', 'list'],
  ['waits', 'show', SEEDED.wait],
  ['waits', 'show', SEEDED.answered],
  ['grants', 'list', '--all'],
  ['tasks', 'list'],
  ['tasks', 'show', SEEDED.task],
  ['tasks', 'show', SEEDED.asking],
  ['runs', 'list'],
  ['runs', 'show', run],
  ['runs', 'report', run, '--out', REPORT],
  ['runs', 'replay', REPORT],
  ['runs', 'diff', REPORT, REPORT],
  ['variables', 'list', plain],
  ['variables', 'show', request],
  ['actions', 'list', '--state', 'all'],
  ['tokens', 'list'],
  ['manifest', 'show', SEEDED.task],
  ['manifest', 'diff', SEEDED.task, run],
  ['env', 'list', '--thread', thread],
  ['validate'],
];

/** Commands with `--json` that change something, run code, or need a server. */
const NOT_READS = [
  ...['dev', 'worker', 'api', 'mcp', 'chat', 'new', 'doctor', 'code run', 'test'],
  ...['start', 'send', 'fork', 'regenerate', 'edit', 'tool', 'upload', 'effects cancel'].map(
    (name) => `threads ${name}`,
  ),
  ...['stop', 'continue', 'cancel', 'terminate', 'delete'].map((name) => `threads ${name}`),
  ...['tokens create', 'tokens revoke', 'waits answer', 'tasks start', 'tasks abort', 'variables provide'],
  ...['actions reconcile', 'grants revoke', 'env set', 'env unset', 'env rotate'],
];

const env = { EVERTHREAD_ENCRYPTION_KEYS: generateKey('k1') };
let project: CliProject;
beforeAll(async () => {
  project = await cliProjectWith(seedStore);
  project.write(HELPER);
  const owner = ['--thread', thread];
  await project.run(['env', 'set', 'CITY', ...owner, '--type', 'text'], { env, input: 'Rome' });
  await project.run(['env', 'set', 'KEY', ...owner], { env, input: 'swordfish' });
});
afterAll(() => project.remove());

interface Printed {
  readonly type?: string;
  readonly event?: { readonly type?: string };
}

/** Returns what a read prints, as lines of its shape; the events of `tail` are described by their type. */
async function describeRead(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await project.run([...args, '--json'], { env });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  const lines = stdout.trimEnd().split('\n');
  const values: Printed[] = lines[0] === '{' ? [JSON.parse(stdout)] : lines.map((line) => JSON.parse(line));
  const kindOf = (value: Printed) => (args[1] === 'tail' ? (value.event?.type ?? value.type ?? '') : '');
  const kinds = Map.groupBy(values, kindOf);
  return [...kinds]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, each]) =>
      [
        `${args.join(' ')}${kind === '' ? '' : `: ${kind}`}`,
        ...shapeOf(each).map((line) => `  ${line}`),
        '',
      ].join('\n'),
    )
    .join('\n');
}

describe('the output of commands with --json', () => {
  it('has the checked-in keys and types (EVERTHREAD_WRITE=1 writes them)', async () => {
    const texts: string[] = [];
    for (const args of READS) texts.push(await describeRead(args));
    expectCheckedIn('test/cli/read-shapes.txt', texts.join('\n'));
  });

  it('is described for every command with the option, unless the command changes something', async () => {
    const names = (await Promise.all(Object.entries(COMMANDS).flatMap(pathsOf).map(listWithJson))).flat();
    const read = READS.map((args) => names.find((name) => `${args.join(' ')} `.startsWith(`${name} `)));
    expect(new Set(names)).toEqual(new Set([...read, ...NOT_READS]));
  });
});

/** Paths of words that load every command. */
function pathsOf([name, { below }]: readonly [string, ListedCommand]): string[][] {
  return below ? Object.keys(below).map((each) => [name, each]) : [[name]];
}

/** Returns the names of the commands at a path, or below it, that have `--json`. */
async function listWithJson(path: readonly string[]): Promise<string[]> {
  const program = await buildProgram({ exitCode: 0 }, path);
  const named = path.reduce<Command | undefined>(
    (command, name) => command?.commands.find((each) => each.name() === name),
    program,
  );
  const list = (command: Command, words: readonly string[]): string[] => [
    ...(command.options.some(({ long }) => long === '--json') ? [words.join(' ')] : []),
    ...command.commands.flatMap((each) => list(each, [...words, each.name()])),
  ];
  return named ? list(named, path) : [];
}
