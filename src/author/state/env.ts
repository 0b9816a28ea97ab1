/**
 * Variables inside one tool call, hook, effect or endpoint (definitions §3, §16): `state.env` and the like, the check
 * of required variables, and the removal of secrets from results before they are stored.
 * - A tool does not run if its thread has values that this worker cannot read: its result could not be redacted.
 * - Reads before and after the body wait for an unreachable store: the call has already begun.
 * T3. A secret that the call has read or set is removed from its result, even if it has changed since.
 * T4. Messages, events, paths, arguments and scratch are cleared of the secrets that this code itself has read. So none
 *     of them costs a read. Values and the content of files stay as the author wrote them.
 */

import type { ToolDefinition } from '../../core/author/registry.ts';
import type { EnvState } from '../../core/author/thread-env.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { resolveVariable, type Variable } from '../../core/project/env.ts';
import { isScoped, requiredBy } from '../../core/project/env-requirement.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { kindOf } from '../../core/value/tagged-json.ts';
import { createRedactor, type Redact } from '../../store/env/redaction.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import type { StateDependencies } from './dependencies.ts';
import { type EnvReadOptions, readEnvPlace, readRedactor } from './env-place.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface OpenEnvOptions extends Pick<EnvReadOptions, 'prompt'> {
  /** Ends the waiting for an unreachable store. */
  readonly signal: AbortSignal;
}

/** One thread's variables. `known`: secrets that this code has read or set, from any thread (T3). */
interface OpenedEnv extends OpenEnvOptions {
  readonly dependencies: Pick<StateDependencies, 'store' | 'registry'>;
  readonly thread: ThreadRecord;
  readonly known: Variable[];
}

export function openEnv(
  dependencies: Pick<StateDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  { signal, prompt }: OpenEnvOptions,
  known: Variable[] = [],
): ThreadEnv {
  const opened: OpenedEnv = { dependencies, thread, signal, prompt, known };
  return {
    bind: (tool) => bindTo(opened, tool),
    refuseTool: (tool) => refuseTool(opened, tool),
    redact: (result) => redactResult(opened, result),
    redactKnown: (value) =>
      known.length === 0 ? value : (redactIn(value, createRedactor(known)) as typeof value),
    of: (other) => openEnv(dependencies, other, { signal }, known),
  };
}

function bindTo(opened: OpenedEnv, tool: ToolDefinition | undefined): EnvState {
  const { thread, dependencies } = opened;
  const { store, registry } = dependencies;
  const read = async (name: string) => resolveVariable(name, await placeOf(opened, tool));
  return {
    async env(name) {
      const variable = await read(name);
      if (!variable) throw missingVariable(name, thread.id);
      remember(opened, variable);
      return variable.value;
    },
    envType: async (name) => (await read(name))?.type ?? 'secret',
    async setEnv(name, value, options) {
      const inherits = (agent: string) => !isScoped(registry(), agent, name);
      const owner = { thread: thread.id };
      const known = (await read(name))?.type;
      const type = await store.env.set({ owner, name, value, type: options?.type, known, inherits });
      remember(opened, { name, value, type });
    },
  };
}

function placeOf({ dependencies, thread, prompt }: OpenedEnv, tool: ToolDefinition | undefined) {
  return readEnvPlace(dependencies, thread, { prompt, tool: tool?.name });
}

function remember({ known }: OpenedEnv, variable: Variable): void {
  if (variable.type === 'secret') known.push(variable);
}

async function refuseTool(opened: OpenedEnv, tool: ToolDefinition): Promise<ToolResult | undefined> {
  try {
    const place = await retryWhileUnavailable(opened.signal, () => placeOf(opened, tool));
    const names = requiredBy(tool).filter((name) => resolveVariable(name, place) === undefined);
    return names.length === 0 ? undefined : { status: 'error', error: describeMissing(tool, names) };
  } catch (error) {
    // A throw would leave the call begun and its outcome unknown, although nothing has run.
    return { status: 'error', error: `The tool did not run: ${errorMessage(error)}` };
  }
}

async function redactResult(
  { dependencies, thread, signal, known }: OpenedEnv,
  result: ToolResult,
): Promise<ToolResult> {
  const redact = await retryWhileUnavailable(signal, () => readRedactor(dependencies, thread, known));
  const texts = (['result', 'error', 'stack', 'error_code'] as const).flatMap((field) => {
    const text = result[field];
    return text === undefined ? [] : [[field, redact(text)]];
  });
  const attachments = result.attachments?.map((each) => redactAttachment(each, redact));
  const data = result.error_data === undefined ? {} : { error_data: redactIn(result.error_data, redact) };
  const output = result.output && { output: redactIn(result.output, redact) };
  return {
    ...result,
    ...Object.fromEntries(texts),
    ...data,
    ...output,
    ...(attachments ? { attachments } : {}),
  };
}

function missingVariable(name: string, threadId: string): RuntimeError {
  return new RuntimeError(
    'MissingVariable',
    `The variable "${String(name)}" has no value for thread "${threadId}". Set it with "everthread env set", or declare a value in the agent or the prompt.`,
  );
}

function describeMissing(tool: ToolDefinition, names: readonly string[]): string {
  const list = names.map((name) => `"${name}"`).join(', ');
  return `The tool "${tool.name}" needs ${names.length === 1 ? 'the variable' : 'the variables'} ${list}, which ${names.length === 1 ? 'has' : 'have'} no value.`;
}

/**
 * Applies a redactor to JSON values at any depth, and to the visible fields of an attachment. Redacts a value: plain
 * data, maps, sets and errors. What is anything else stays unchanged, and is refused or dropped where it is written.
 * Cycles and shared objects are preserved.
 */
export function redactIn(value: unknown, redact: Redact, made = new Map<object, object>()): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  const before = made.get(value);
  if (before) return before;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    made.set(value, list);
    for (const each of value) list.push(redactIn(each, redact, made));
    return list;
  }
  if (!isPlain(value)) return redactInOther(value, redact, made);
  const record: Record<string, unknown> = {};
  made.set(value, record);
  for (const [key, member] of Object.entries(value)) {
    // Not an assignment: a key may be `__proto__`.
    const property = {
      value: redactIn(member, redact, made),
      enumerable: true,
      writable: true,
      configurable: true,
    };
    Object.defineProperty(record, redact(key), property);
  }
  return record;
}

/** Values that structured clone knows: a scratch may hold them. Bytes are opaque. */
function redactInOther(value: object, redact: Redact, made: Map<object, object>): object {
  const kind = kindOf(value);
  if (kind === 'Map') {
    const map = new Map<unknown, unknown>();
    made.set(value, map);
    for (const [key, member] of value as Map<unknown, unknown>)
      map.set(redactIn(key, redact, made), redactIn(member, redact, made));
    return map;
  }
  if (kind === 'Set') {
    const set = new Set<unknown>();
    made.set(value, set);
    for (const member of value as Set<unknown>) set.add(redactIn(member, redact, made));
    return set;
  }
  if (kind !== 'Error') return value;
  const error: Error = structuredClone(value as Error);
  made.set(value, error);
  for (const field of ['message', 'stack', 'cause'] as const)
    if (Object.hasOwn(error, field))
      Object.defineProperty(error, field, {
        value: redactIn(error[field], redact, made),
        configurable: true,
      });
  return error;
}

/** Works across realms: an object of another realm has another Object.prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

type Attachment = NonNullable<ToolResult['attachments']>[number];

/** Redacts name, description and path of a file. Its content stays as the author wrote it (docs/operations.md). */
export function redactAttachment(attachment: Attachment, redact: Redact): Attachment {
  if (typeof attachment === 'string') return redact(attachment);
  if (typeof attachment !== 'object' || attachment === null) return attachment;
  const { name, description } = attachment;
  const path = 'path' in attachment ? attachment.path : undefined;
  return {
    ...attachment,
    ...(typeof name === 'string' ? { name: redact(name) } : {}),
    ...(typeof description === 'string' ? { description: redact(description) } : {}),
    ...(typeof path === 'string' ? { path: redact(path) } : {}),
  };
}
