/**
 * Variables inside one tool call, hook, effect or endpoint (definitions §3, §16): `state.env` and its like, the check of required ones, and what is
 * taken out of the result before it is stored.
 * T1. A tool whose thread has values that this worker cannot read does not run: its result could not be redacted.
 * T2. What is read around the body waits for a store that is away: the call has begun.
 * T3. A secret that the call has read or set is taken out of its result even when it was changed since.
 * T4. A message, an event, a path, arguments and scratch are hidden of what this very code has read: no read for each of them.
 *     What it keeps in values and in the content of files is its own affair.
 */
import type { ToolDefinition } from '../core/definition.ts';
import { type EnvState, resolveVariable, type Variable } from '../core/env.ts';
import { isScoped, requiredBy } from '../core/env-requirement.ts';
import { errorMessage, RuntimeError } from '../core/error.ts';
import type { ToolResult } from '../core/message.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import type { StateDependencies } from './dependencies.ts';
import type { PlaceOptions } from './env-place.ts';
import { readPlace, readRedactor } from './env-place.ts';
import { redactAttachment, redactIn } from './redact-known.ts';
import { createRedactor } from './redaction.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

export interface ThreadEnv {
  /** As this tool sees them: the values of its entry in the prompt are its own. */
  bind(tool: ToolDefinition | undefined): EnvState;
  /** The error result of a tool that may not run; undefined when it may. */
  refuse(tool: ToolDefinition): Promise<ToolResult | undefined>;
  redact(result: ToolResult): Promise<ToolResult>;
  /** Takes out of what this code writes elsewhere the secrets that it has read or set (T4). Texts in it, at any depth. */
  redactKnown<T>(value: T): T;
  /**
   * The variables of another thread of the family, for the same code: a secret that it reads there is taken out of what it
   * writes here, and the other way round (T3, T4).
   */
  of(thread: ThreadRecord): ThreadEnv;
}

export interface EnvPlaceOptions extends Pick<PlaceOptions, 'prompt'> {
  /** Until when a store that is away is waited for. */
  readonly signal: AbortSignal;
}

export function openEnv(
  dependencies: Pick<StateDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  { signal, prompt }: EnvPlaceOptions,
  known: Variable[] = [],
): ThreadEnv {
  const { store, registry } = dependencies;
  const remember = (variable: Variable) => {
    if (variable.type === 'secret') known.push(variable);
  };
  const placeOf = (tool: ToolDefinition | undefined) =>
    readPlace(dependencies, thread, { prompt, tool: tool?.name });
  const read = async (tool: ToolDefinition | undefined, name: string) =>
    resolveVariable(name, await placeOf(tool));
  return {
    bind: (tool) => ({
      async env(name) {
        const variable = await read(tool, name);
        if (!variable) throw missing(name, thread.id);
        remember(variable);
        return variable.value;
      },
      envType: async (name) => (await read(tool, name))?.type ?? 'secret',
      async setEnv(name, value, options = {}) {
        const inherits = (agent: string) => !isScoped(registry(), agent, name);
        const owner = { thread: thread.id };
        const type = await store.setEnv({ owner, name, value, type: options.type, inherits });
        remember({ name, value, type });
      },
    }),
    async refuse(tool) {
      try {
        const place = await retryWhileUnavailable(signal, () => placeOf(tool));
        const names = requiredBy(tool).filter((name) => resolveVariable(name, place) === undefined);
        return names.length === 0 ? undefined : { status: 'error', error: needs(tool, names) };
      } catch (error) {
        // Thrown, it would leave a call that has begun, of unknown outcome; but nothing has run.
        return { status: 'error', error: `The tool did not run: ${errorMessage(error)}` };
      }
    },
    async redact(result) {
      const redact = await retryWhileUnavailable(signal, () => readRedactor(dependencies, thread, known));
      const texts = (['result', 'error', 'stack'] as const).flatMap((field) => {
        const text = result[field];
        return text === undefined ? [] : [[field, redact(text)]];
      });
      const attachments = result.attachments?.map((each) => redactAttachment(each, redact));
      return { ...result, ...Object.fromEntries(texts), ...(attachments ? { attachments } : {}) };
    },
    redactKnown: (value) =>
      known.length === 0 ? value : (redactIn(value, createRedactor(known)) as typeof value),
    of: (other) => openEnv(dependencies, other, { signal }, known),
  };
}

function missing(name: string, threadId: string): RuntimeError {
  return new RuntimeError(
    'MissingVariable',
    `The variable "${name}" has no value for thread "${threadId}". Set it with "everthread env set", or declare a value in the agent or the prompt.`,
  );
}

function needs(tool: ToolDefinition, names: readonly string[]): string {
  const list = names.map((name) => `"${name}"`).join(', ');
  return `The tool "${tool.name}" needs ${names.length === 1 ? 'the variable' : 'the variables'} ${list}, which ${names.length === 1 ? 'has' : 'have'} no value.`;
}
