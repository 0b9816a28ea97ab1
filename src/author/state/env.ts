/**
 * Variables inside one tool call, hook, effect or endpoint (definitions §3, §16): `state.env` and the like, the check
 * of required variables, and the removal of secrets from results before they are stored.
 * T1. A tool does not run if its thread has values that this worker cannot read: its result could not be redacted.
 * T2. Reads before and after the body wait for an unreachable store: the call has already begun.
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
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import type { StateDependencies } from './dependencies.ts';
import { type EnvReadOptions, readEnvPlace, readRedactor } from './env-place.ts';
import { redactAttachment, redactIn } from './redact-known.ts';
import { createRedactor } from './redaction.ts';
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
  return { ...result, ...Object.fromEntries(texts), ...data, ...(attachments ? { attachments } : {}) };
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
