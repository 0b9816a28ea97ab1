/** Parts, artifacts, and the actions that policies judge, under the page's names. */
import { randomUUID } from 'node:crypto';
import type { PreparedAction } from '../core/governance/prepared-action.ts';
import { RuntimeError } from '../core/value/error.ts';

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
  toolCall: (toolName: string, args: Fields = {}): Part => ({
    type: 'tool_call',
    content: { tool_name: toolName, args },
  }),
};

export interface Artifact {
  readonly id: string;
  readonly kind: string;
  readonly name?: string;
  readonly uri?: string;
  readonly mediaType?: string;
  readonly actionId?: string;
  readonly parts: readonly Part[];
}

/**
 * With an id, and of the kind `result` unless it says otherwise.
 * @example
 * ```ts
 * const preview = artifact({ kind: 'preview', name: 'record update', parts: [{ type: 'json', content: 'published' }] });
 * ```
 */
export function artifact(given: Partial<Artifact> = {}): Artifact {
  return { id: randomUUID(), kind: 'result', parts: [], ...given };
}

/** As events tell artifacts. */
export function readArtifact(told: Fields): Artifact {
  const { action_id: actionId, media_type: mediaType, content, parts = toParts(content), ...rest } = told;
  return artifact({
    ...(rest as Partial<Artifact>),
    ...(typeof actionId === 'string' ? { actionId } : {}),
    ...(typeof mediaType === 'string' ? { mediaType } : {}),
    parts: parts as readonly Part[],
  });
}

function toParts(content: unknown): readonly Part[] {
  const isPart = (one: unknown) => typeof one === 'object' && one !== null && 'type' in one;
  if (Array.isArray(content) && content.every(isPart)) return content as Part[];
  return content === undefined ? [] : [Part.json(content)];
}

export interface RunActionFields {
  readonly actionId?: string;
  readonly kind: string;
  readonly name: string;
  readonly payload?: Fields;
  readonly capabilities?: Iterable<string>;
  readonly artifacts?: readonly Artifact[];
  readonly description?: string;
}

/**
 * An operation as it would be done. It never changes: what changes it answers another one.
 * @example
 * ```ts
 * const action = new RunAction({ kind: 'resource.update', name: 'publish_record', capabilities: ['records.write'] })
 *   .withArtifacts([artifact({ kind: 'preview', parts: [{ type: 'json', content: 'published' }] })]);
 * console.log(action.artifacts[0]?.actionId === action.actionId);
 * ```
 */
export class RunAction {
  readonly actionId: string;
  readonly kind: string;
  readonly name: string;
  readonly payload: Fields;
  readonly capabilities: ReadonlySet<string>;
  readonly artifacts: readonly Artifact[];
  readonly description: string | null;

  /** Throws `InvalidValue` for a blank kind or name. */
  constructor({ actionId = `action_${randomUUID()}`, kind, name, ...more }: RunActionFields) {
    if (kind.trim() === '' || name.trim() === '')
      throw new RuntimeError('InvalidValue', 'An action needs a "kind" and a "name".');
    const { payload = {}, capabilities = [], artifacts = [], description = null } = more;
    this.actionId = actionId;
    this.kind = kind;
    this.name = name;
    this.payload = payload;
    this.capabilities = new Set(capabilities);
    this.artifacts = artifacts.map((one) => ({ actionId, ...one }));
    this.description = description;
  }

  withArtifacts(artifacts: readonly Artifact[]): RunAction {
    return this.#with({ artifacts });
  }

  withCapabilities(names: Iterable<string>): RunAction {
    return this.#with({ capabilities: [...this.capabilities, ...names] });
  }

  withPayload(payload: Fields): RunAction {
    return this.#with({ payload });
  }

  /** As events tell actions. */
  static fromDict({ action_id: actionId, artifacts = [], ...told }: Fields): RunAction {
    const fields = told as unknown as RunActionFields;
    const read = (artifacts as readonly Fields[]).map(readArtifact);
    return new RunAction({ ...fields, actionId: String(actionId), artifacts: read });
  }

  #with(change: Partial<RunActionFields>): RunAction {
    const { description, ...own } = this;
    return new RunAction({ ...own, ...(description === null ? {} : { description }), ...change });
  }
}

/** What a tool's `actionBuilder` has made, as the engine prepares actions: name, id and arguments are those of the call. */
export function toPrepared({ description, artifacts, capabilities }: RunAction): PreparedAction {
  return {
    ...(description === null ? {} : { description }),
    capabilities: [...capabilities],
    artifacts: artifacts.map(({ kind, name, mediaType, uri, parts }) => ({
      ...{ kind, content: parts },
      ...(name === undefined ? {} : { name }),
      ...(mediaType === undefined ? {} : { mediaType }),
      ...(uri === undefined ? {} : { uri }),
    })),
  };
}
