/** Parts, artifacts, and the actions that policies judge: JSON, with Protolink's names. */
import { randomUUID } from 'node:crypto';
import type { Action } from '../../core/governance/agent-policy.ts';
import type { PreparedAction } from '../../core/governance/prepared-action.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toArtifact } from '../../projections/run/run-artifact.ts';
import { checkNames, type Names } from '../known-names.ts';

/** JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Part {
  readonly type: string;
  readonly content: unknown;
}

export const Part = {
  text: (content: string): Part => ({ type: 'text', content }),
  json: (content: unknown): Part => ({ type: 'json', content }),
  infer: (prompt: string): Part => ({ type: 'infer', content: { prompt } }),
  toolCall: (tool_name: string, args: Fields = {}): Part => ({
    type: 'tool_call',
    content: { tool_name, args },
  }),
};

export interface Artifact {
  readonly id: string;
  readonly kind: string;
  readonly name?: string;
  readonly uri?: string;
  readonly media_type?: string;
  readonly action_id?: string;
  readonly parts: readonly Part[];
}

/**
 * Creates an artifact, with a generated id and the kind `result` unless given.
 * @example
 * ```ts
 * const preview = artifact({ kind: 'preview', name: 'record update', parts: [{ type: 'json', content: 'published' }] });
 * ```
 */
export function artifact(given: Partial<Artifact> = {}): Artifact {
  return { id: randomUUID(), kind: 'result', parts: [], ...given };
}

export interface RunActionFields {
  readonly action_id?: string;
  readonly kind: string;
  readonly name: string;
  readonly payload?: Fields;
  readonly capabilities?: Iterable<string>;
  readonly artifacts?: readonly Partial<Artifact>[];
  readonly description?: string | null;
  /** JSON. Policies and approvers see it, and an approval counts for no other. */
  readonly metadata?: Fields;
}

const ACTION_FIELDS: Names<RunActionFields> = {
  action_id: true,
  kind: true,
  name: true,
  payload: true,
  capabilities: true,
  artifacts: true,
  description: true,
  metadata: true,
};

/** Kind of the artifact that carries an action's metadata through the engine. */
const METADATA = 'metadata';

/**
 * An operation before it is executed. Immutable: methods that change it return a new action.
 * @example
 * ```ts
 * const action = new RunAction({ kind: 'resource.update', name: 'publish_record', capabilities: ['records.write'] })
 *   .withArtifacts([artifact({ kind: 'preview', parts: [{ type: 'json', content: 'published' }] })]);
 * console.log(action.artifacts[0]?.action_id === action.action_id);
 * ```
 */
export class RunAction {
  readonly action_id: string;
  readonly kind: string;
  readonly name: string;
  readonly payload: Fields;
  readonly capabilities: readonly string[];
  readonly artifacts: readonly Artifact[];
  readonly description: string | null;
  readonly metadata: Fields;

  /** Throws `InvalidValue` for a blank kind or name, and for an unknown field. */
  constructor(fields: RunActionFields) {
    checkNames('An action', 'field', fields, ACTION_FIELDS);
    const { action_id = `action_${randomUUID()}`, kind, name, ...more } = fields;
    if (kind.trim() === '' || name.trim() === '')
      throw new RuntimeError('InvalidValue', 'An action needs a "kind" and a "name".');
    this.action_id = action_id;
    this.kind = kind;
    this.name = name;
    this.payload = more.payload ?? {};
    this.capabilities = [...new Set(more.capabilities)].sort();
    const given = more.artifacts ?? [];
    const carried = given.find(({ kind: of }) => of === METADATA)?.parts?.[0]?.content;
    this.metadata = more.metadata ?? ((carried ?? {}) as Fields);
    this.artifacts = given
      .filter(({ kind: of }) => of !== METADATA)
      .map((one) => artifact({ action_id, ...one }));
    this.description = more.description ?? null;
  }

  withArtifacts(artifacts: readonly Artifact[]): RunAction {
    return new RunAction({ ...this, artifacts });
  }

  /** Reads an action from its form in events; other fields are ignored. */
  static fromDict(fields: Fields): RunAction {
    const known = Object.keys(ACTION_FIELDS).map((name) => [name, fields[name]]);
    return new RunAction(Object.fromEntries(known));
  }
}

/** Converts the action of an `actionBuilder` for the engine. Its name, id and arguments are taken from the call. */
export function toPrepared({ description, artifacts, capabilities, metadata }: RunAction): PreparedAction {
  const carrier = artifact({ kind: METADATA, parts: [Part.json(metadata)] });
  const all = Object.keys(metadata).length > 0 ? [...artifacts, carrier] : artifacts;
  return {
    ...(description === null ? {} : { description }),
    capabilities,
    artifacts: all.map(({ id: _, action_id: __, media_type: mediaType, parts: content, ...one }) => ({
      ...one,
      content,
      ...(mediaType === undefined ? {} : { mediaType }),
    })),
  };
}

/** Converts an action that the engine judges to a RunAction. */
export function toAction({ id, artifacts = [], ...action }: Action & { arguments: unknown }): RunAction {
  const payload = { arguments: action.arguments };
  return RunAction.fromDict({
    ...action,
    action_id: id,
    payload,
    artifacts: artifacts.map((one) => toArtifact({ ...one })),
  });
}
