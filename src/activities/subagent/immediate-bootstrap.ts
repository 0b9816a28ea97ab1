/**
 * Makes the first message of an immediate subagent whose entry names variables as hints (runtime §7.4): the model of
 * the owner prompt turns them into a name and a message, once, when the call runs.
 * - The request holds the two values and nothing else of the thread: no history, no prompt, no other variable. By
 *   naming them the author has allowed a model to see them, whatever their type.
 * - If the model fails, or answers anything but the one call, the values themselves are used.
 * - Each request is a row of the step, with its usage and cost, like any model call.
 */
import { Context } from '@temporalio/activity';
import { go } from '../../author/policy/gate.ts';
import { redactIn } from '../../author/state/env.ts';
import { readEnvPlace, readRedactor } from '../../author/state/env-place.ts';
import type { ModelDefinition, PromptDefinition } from '../../core/author/definition.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import { findActivePrompt } from '../../core/project/active-side.ts';
import { resolveVariable } from '../../core/project/env.ts';
import { type Subagent, toThreadName } from '../../core/project/subagent.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { defaultInput, isImmediateCall } from '../model/immediate-subagents.ts';
import { askRecorded, chainOf, NO_ORIGINS } from '../model/model-call-record.ts';
import { findModels } from '../model/request.ts';
import { createSizing } from '../model/request-sizing.ts';
import type { ResumableCall } from '../tool/resumable-call.ts';
import type { ResolvedCall } from './callee.ts';

const BOOTSTRAP_TOOL = 'bootstrap_immediate_subagent';
/** Call numbers reserved for each attempt at a call, and attempts reserved for each call. */
const NUMBERS_PER_CALL = 100;

export interface BootstrapInput {
  /** JSON text of the call's arguments; includes name and message if the entry maps them to arguments. */
  readonly arguments: string;
  /** Name and first message of the child; absent if the call itself provides them. */
  readonly told?: { readonly name: string; readonly content: string };
}

/** Stage, before the call's arguments are read. Only an immediate call with hints is changed. */
export async function bootstrap(ports: ActivityDependencies, { call, subagent }: ResolvedCall) {
  return go({ input: await bootstrapInput(ports, call, subagent) });
}

async function bootstrapInput(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  subagent: Subagent,
): Promise<BootstrapInput> {
  const { arguments: text } = call.begun.call;
  if (!isImmediateCall(call.begun.call)) return { arguments: text };
  const prompt = findActivePrompt(dependencies.registry(), call.begun.thread.agent, call.begun);
  const hints = prompt && (await readHints(dependencies, call.begun.thread, prompt, subagent));
  if (!hints) return { arguments: text };
  const own = defaultInput(subagent);
  const { name, message } = {
    name: (hints.name && toThreadName(hints.name)) ?? own.name,
    message: hints.description ?? hints.name ?? own.message,
    ...(await askForInput(dependencies, call, prompt, { subagent, hints })),
  };
  const { initAgentNameProperty, initUserMessageProperty } = subagent;
  const mapped = {
    ...(initAgentNameProperty === undefined ? {} : { [initAgentNameProperty]: name }),
    ...(initUserMessageProperty === undefined ? {} : { [initUserMessageProperty]: message }),
  };
  const given = { ...(JSON.parse(text) as object), ...(subagent.resumable ? {} : mapped) };
  return { arguments: JSON.stringify(given), told: { name, content: message } };
}

interface Hints {
  readonly name?: string;
  readonly description?: string;
}

/** Undefined if there is nothing to send to a model. */
async function readHints(
  dependencies: ActivityDependencies,
  thread: ThreadRecord,
  prompt: PromptDefinition,
  { immediate, entry }: Subagent,
): Promise<Hints | undefined> {
  if (!immediate || (immediate.nameEnv === undefined && immediate.descriptionEnv === undefined)) return;
  const place = await readEnvPlace(dependencies, thread, { prompt, tool: entry.name });
  const read = (name: string | undefined) =>
    (name === undefined ? undefined : resolveVariable(name, place)?.value.trim()) || undefined;
  const hints = { name: read(immediate.nameEnv), description: read(immediate.descriptionEnv) };
  return hints.name === undefined && hints.description === undefined ? undefined : hints;
}

/** The names of the two properties in the tool's parameters. */
function propertiesOf({ resumable, initAgentNameProperty, initUserMessageProperty }: Subagent) {
  const own = resumable ? {} : { name: initAgentNameProperty, message: initUserMessageProperty };
  return { name: own.name ?? 'name', message: own.message ?? 'message' };
}

/** Milliseconds to wait for a turn at the model; after that, the subagent starts without what it would have said. */
const BOOTSTRAP_STAY_MS = 60_000;

interface BootstrapTarget {
  readonly subagent: Subagent;
  readonly hints: Hints;
}

/** The name and the message that the model returned; each may be absent. */
async function askForInput(
  ports: ActivityDependencies,
  { key, begun: { thread, side } }: ResumableCall,
  prompt: PromptDefinition,
  pass: BootstrapTarget,
): Promise<{ name?: string; message?: string }> {
  const models = findModels(ports.registry(), { prompt }).filter(
    ({ capabilities }) => capabilities.supportsToolCalls !== false,
  );
  if (models.length === 0) return {};
  const { threadId, runId, step, index } = key;
  const ref = { threadId, runId, step, attempt: 1 };
  // The author lets a model see the values; what is kept of the request does not show secrets.
  const redact = await readRedactor(ports, thread);
  const result = await askRecorded(ports, ref, {
    models,
    request: (model) => toRequest(model, pass, thread.id),
    redact: async (text) => (await readRedactor(ports, thread))(text),
    from: {
      ...NO_ORIGINS,
      chain: chainOf({ side }, { prompt }, 'bootstrap'),
      ownPrompt: true,
      redact: (value) => redactIn(value, redact),
    },
    sizing: createSizing(),
    work: `${threadId}:${step}:${index}`,
    line: { stayMs: BOOTSTRAP_STAY_MS },
    after: firstCallOf(index),
  });
  // If the budget has no room for the request, the child is made without it.
  if (!result.ok) return {};
  const call = result.response.toolCalls?.find(({ name }) => name === BOOTSTRAP_TOOL);
  const { name, message } = propertiesOf(pass.subagent);
  const firstText = toText(call?.arguments[message]);
  const called = toThreadName(toText(call?.arguments[name]) ?? '');
  return { ...(called ? { name: called } : {}), ...(firstText ? { message: firstText } : {}) };
}

/** The two values alone. */
function toRequest(
  model: ModelDefinition,
  { subagent, hints }: BootstrapTarget,
  threadId: string,
): ProviderRequest {
  const { name, message } = propertiesOf(subagent);
  const lines = [
    ...(hints.name === undefined ? [] : [`Name: ${hints.name}`]),
    ...(hints.description === undefined ? [] : [`Description: ${hints.description}`]),
  ];
  return {
    model: model.model,
    messages: [
      {
        role: 'system',
        content: `A subagent is about to start. Call ${BOOTSTRAP_TOOL} with a short name for it and a first message that describes its work. Use only the information below.`,
      },
      { role: 'user', content: lines.join('\n') },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: BOOTSTRAP_TOOL,
          description: 'Sets the name of the subagent and its first message.',
          parameters: {
            type: 'object',
            properties: {
              [name]: { type: 'string', description: 'A short name for people.' },
              [message]: { type: 'string', description: 'The first message to the subagent.' },
            },
            required: [name, message],
            additionalProperties: false,
          },
        },
      },
    ],
    toolChoice: { name: BOOTSTRAP_TOOL },
    parallelToolCalls: false,
    providerOptions: model.providerOptions,
    user: threadId,
  };
}

/** The step is one of calls and asks no model itself, so call numbers are assigned per call and attempt. */
function firstCallOf(index: number): number {
  const { attempt } = Context.current().info;
  return (index * NUMBERS_PER_CALL + (attempt % NUMBERS_PER_CALL)) * NUMBERS_PER_CALL;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
