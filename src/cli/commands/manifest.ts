/** `everthread manifest …`: the manifests of a project, and how they differ from those that tasks have run with. */
import type { Command } from 'commander';
import type { ManifestDocument } from '../../core/author/manifest.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { isRecord } from '../../core/value/record.ts';
import { requireProject } from '../../definitions/index.ts';
import { act, addCommon, type Cli, type CommonOptions, GROUPS } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { note, printJson, printLine } from '../output/output.ts';
import { visible } from '../output/terminal-text.ts';

export function addManifest(program: Command, cli: Cli): void {
  const manifest = program
    .command('manifest')
    .helpGroup(GROUPS.project)
    .summary('manifests of agents/manifests: see "everthread manifest --help"')
    .description(
      'A manifest names what may be edited of an agent, and what it is measured by (docs/tasks.md).',
    );
  const show = manifest
    .command('show')
    .summary('show one with its hash')
    .description(
      'Shows a manifest: of the project by its name, of a task by its id, or by its hash. Without one, all of the project.',
    )
    .argument('[of]', 'name of a manifest, id of a task, or hash');
  addCommon(show).action(act(cli, showManifest));
  const diff = manifest
    .command('diff')
    .summary('show how two differ')
    .description(
      'Shows how one differs from another, or from the one of the project with the same id. Exit code 1 where they differ. With --json: { from, to, changes }.',
    )
    .argument('<from>', 'name of a manifest, id of a task, or hash')
    .argument('[to]', 'the same');
  addCommon(diff).action(act(cli, diffManifests));
}

interface Found {
  readonly hash: string;
  readonly document: ManifestDocument;
}

async function readProject(project: string): Promise<ReadonlyMap<string, Found>> {
  const { registry } = await requireProject(project);
  return new Map([...registry.manifests].map(([name, { hash, document }]) => [name, { hash, document }]));
}

async function find(project: string, own: ReadonlyMap<string, Found>, of: string): Promise<Found> {
  const named = own.get(of) ?? [...own.values()].find(({ hash }) => of.length >= 8 && hash.startsWith(of));
  if (named) return named;
  const stored = await withStore(project, async ({ tasks }) => {
    const task = await tasks.get(of);
    return tasks.getManifest(task ? (task.manifest ?? '') : of);
  });
  if (stored) return stored;
  throw new RuntimeError(
    'DefinitionNotFound',
    `There is no manifest "${of}": give the name of one in agents/manifests, the id of a task that has run with one, or a hash of at least 8 digits.`,
  );
}

async function showManifest(of: string | undefined, { project, json }: CommonOptions): Promise<undefined> {
  const own = await readProject(project);
  const found = of === undefined ? [...own.values()] : [await find(project, own, of)];
  if (json) printJson(of === undefined ? { manifests: found } : found[0]);
  else if (found.length === 0) note('There is nothing in agents/manifests.');
  else
    for (const { hash, document } of found)
      printLine(visible(`${hash}\n${JSON.stringify(document, null, 2)}`));
  return undefined;
}

async function diffManifests(
  from: string,
  to: string | undefined,
  { project, json }: CommonOptions,
): Promise<number> {
  const own = await readProject(project);
  const before = await find(project, own, from);
  const same = [...own.values()].find(({ document }) => document.id === before.document.id);
  const after = to === undefined ? same : await find(project, own, to);
  if (!after)
    throw new RuntimeError(
      'DefinitionNotFound',
      `The project has no manifest "${before.document.id}" any more.`,
    );
  const changes = compare(before.document, after.document);
  if (json) printJson({ from: before.hash, to: after.hash, changes });
  else if (changes.length === 0) note('They are the same.');
  else
    for (const { path, from: was, to: is } of changes)
      printLine(visible(`${path}: ${show(was)} → ${show(is)}`));
  return changes.length === 0 ? EXIT.done : EXIT.failed;
}

interface Change {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function compare(from: unknown, to: unknown, path = ''): Change[] {
  if (
    canonicalJson(from ?? null) === canonicalJson(to ?? null) &&
    (from === undefined) === (to === undefined)
  )
    return [];
  if (!isRecord(from) || !isRecord(to)) return [{ path, from, to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return keys.flatMap((key) => compare(from[key], to[key], path === '' ? key : `${path}.${key}`));
}
