/** `everthread manifest …`: the manifests of a project, and how they differ from those that tasks have run with. */
import type { ManifestDocument } from '../../core/author/manifest.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { isRecord } from '../../core/value/record.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { requireProject } from '../../definitions/index.ts';
import type { ThreadStore } from '../../store/store.ts';
import { argument, type CommandDefinition, command, optional } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';

const show = command({
  summary: 'show a manifest with its hash',
  description:
    'Shows a manifest: of the project by its name, of a task or an execution by its id, or by its hash. Without an argument, all manifests of the project.',
  arguments: { of: optional('name of a manifest, id of a task or an execution, or hash') },
  async run({ of, project }) {
    const found =
      of === undefined ? [...(await readProject(project)).values()] : [await findManifest(project, of)];
    const json = of === undefined ? { manifests: found } : found[0];
    if (found.length === 0) return { json, note: 'There are no manifests in agents/manifests.' };
    const texts = found.map(({ hash, document }) => `${hash}\n${JSON.stringify(document, null, 2)}`);
    return { json, text: escapeControls(texts.join('\n')) };
  },
});

const diff = command({
  summary: 'compare two manifests',
  description:
    'Compares a manifest with another one, or with the one of the project that has the same id. Exit code 1 if they differ. With --json: { from, to, changes }.',
  arguments: {
    from: argument('name of a manifest, id of a task or an execution, or hash'),
    to: optional('the other one, given in the same way'),
  },
  async run({ from, to, project }) {
    const before = await findManifest(project, from);
    const after = to === undefined ? await findCurrent(project, before) : await findManifest(project, to);
    const changes = compareValues(before.document, after.document);
    const json = { from: before.hash, to: after.hash, changes };
    if (changes.length === 0) return { json, note: 'The manifests are the same.' };
    const lines = changes.map(
      ({ path, from: was, to: is }) => `${path}: ${valueText(was)} → ${valueText(is)}`,
    );
    return { json, text: escapeControls(lines.join('\n')), exit: EXIT.failed };
  },
});

export const manifestCommands: CommandDefinition = {
  description:
    'A manifest declares what may be edited in an agent, and how the agent is measured (docs/tasks.md).',
  commands: { show, diff },
};

interface FoundManifest {
  readonly hash: string;
  readonly document: ManifestDocument;
}

type Manifests = ReadonlyMap<string, FoundManifest>;

async function readProject(project: string): Promise<Manifests> {
  const { registry } = await requireProject(project);
  return new Map([...registry.manifests].map(([name, { hash, document }]) => [name, { hash, document }]));
}

/** Looks in the store first, so that the manifest of a task needs no project; then in the project. */
async function findManifest(project: string, of: string): Promise<FoundManifest> {
  const stored = await findStored(project, of);
  if (stored) return stored;
  const own = await readProject(project);
  const named = own.get(of) ?? [...own.values()].find(({ hash }) => of.length >= 8 && hash.startsWith(of));
  if (named) return named;
  throw new RuntimeError(
    'DefinitionNotFound',
    `There is no manifest "${of}": give the id of a task or an execution that has run with one, a hash of at least 8 digits, or the name of one in agents/manifests.`,
  );
}

/** Returns null if the store does not have it, or if there is no store yet. */
async function findStored(project: string, of: string): Promise<FoundManifest | null> {
  try {
    return await withStore(project, async (store) => {
      const task = await store.tasks.get(of);
      const hash = task ? task.manifest : await executionManifestHash(store, of);
      return store.tasks.getManifest(hash === undefined ? of : (hash ?? ''));
    });
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound')) return null;
    throw error;
  }
}

/**
 * Returns an execution's manifest hash: undefined if there is no such execution, null if its start event names none.
 */
async function executionManifestHash(
  { executions, events }: ThreadStore,
  executionId: string,
): Promise<string | null | undefined> {
  const found = await executions.find(executionId);
  if (found?.id !== executionId || found.firstSeq === null) return undefined;
  const [begun] = await events.read(found.threadId, found.firstSeq - 1, 1);
  return begun?.type === 'execution.started' ? (begun.data.manifest ?? null) : null;
}

/** Returns the project's current manifest with the same id. Throws `DefinitionNotFound` if there is none. */
async function findCurrent(project: string, { document: { id } }: FoundManifest): Promise<FoundManifest> {
  const found = [...(await readProject(project)).values()].find(({ document }) => document.id === id);
  if (found) return found;
  throw new RuntimeError('DefinitionNotFound', `The project has no manifest "${id}" any more.`);
}

interface Change {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

function valueText(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function compareValues(from: unknown, to: unknown, path = ''): Change[] {
  if (
    canonicalJson(from ?? null) === canonicalJson(to ?? null) &&
    (from === undefined) === (to === undefined)
  )
    return [];
  if (!isRecord(from) || !isRecord(to)) return [{ path, from, to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return keys.flatMap((key) => compareValues(from[key], to[key], path === '' ? key : `${path}.${key}`));
}
