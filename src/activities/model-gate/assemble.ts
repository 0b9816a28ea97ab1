/**
 * Stages that assemble what all requests of a step share (runtime §4), in the order of definitions §12.2: the rendered
 * prompt and the messages, passed through the hooks, then the final repairs. `model/request.ts` adds what depends on
 * the model.
 *
 * The recent images of a step's messages (definitions §15.5), read once for all models that may be asked.
 * - No problem with a file fails a step: an image that cannot be shown is replaced by words.
 * - Only bytes whose own header identifies them as an image are sent, with the type from that header. A provider
 *   refuses anything else, and would do so in every following step.
 * - If there is not room for all images, the newest are preferred.
 */

import { hash } from 'node:crypto';
import {
  type HookBlocked,
  isHookBlocked,
  type RequestHooks,
  toPublic,
} from '../../author/hooks/assembly-hooks.ts';
import { end, go } from '../../author/policy/gate.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { Compaction } from '../../core/author/hook.ts';
import { chooseMessages, pairResults } from '../../core/context/context.ts';
import { type Picture, type Pictures, recentImages } from '../../core/context/context-attachment.ts';
import { toProviderMessage } from '../../core/context/context-provider.ts';
import { showToSide } from '../../core/context/context-side.ts';
import type { MessageOrigins } from '../../core/context/message-origin.ts';
import { sanitiseHistory } from '../../core/context/sanitise.ts';
import { openWithSummary } from '../../core/context/summary.ts';
import { readImageType } from '../../core/file/image-size.ts';
import { fromLLMMessages, toLLMMessage } from '../../core/message/llm-message.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { ProviderMessage } from '../../core/message/provider.ts';
import { type ActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import { renderPrompt } from '../../core/project/prompt-text.ts';
import { FIRST_WORD } from '../../core/project/subagent.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { readWholeFile } from '../../store/file/file-content.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { NewEvent } from '../../store/transaction/event-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import { type FlowChanges, type HookWork, openHookWork, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { promptVariables } from '../model/step-env.ts';

type Ports = Pick<ActivityDependencies, 'store' | 'registry'>;

export const NO_REQUEST_HOOKS: RequestHooks = {
  compacted: async () => {},
  system: async (text) => text,
  messages: async (messages) => messages,
  history: async (messages) => messages,
};

/** What a request is assembled from. */
export interface RequestMaterial {
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** What an `env` part of a prompt shows. */
  readonly show: (name: string) => string;
  readonly request: RequestHooks;
  /** The summary that was made in this step. */
  readonly compacted?: Compaction;
  /** Set if the begin of the step has already logged `context.trimmed`. */
  readonly noted?: true;
}

/** A hook refused the request. */
export interface BlockedRequest {
  readonly kind: 'blocked';
  readonly by: HookBlocked;
}

/** Logs `context.trimmed` if the request cannot hold all messages. */
export async function noteTrimmed(
  { store }: Ports,
  { context: { thread, step, trimmed: messages, room, assumed }, noted }: RequestMaterial,
) {
  if (messages > 0 && !noted) {
    const data = { messages, room, assumed };
    await emitEvent(store, thread.id, { type: 'context.trimmed', data, step, once: true });
  }
  return go();
}

/** Runs `on_compaction`. */
export async function runCompactionHooks(_ports: unknown, { compacted, request }: RequestMaterial) {
  if (compacted) await request.compacted(compacted);
  return go();
}

/** Renders the system message, and runs `after_system_message`. */
export async function renderSystem(
  { registry }: Ports,
  { context, active: { prompt }, show, request }: RequestMaterial,
) {
  const variables = promptVariables(context);
  const text = renderPrompt({ prompt, prompts: registry().prompts, variables, env: show });
  return go({ system: await request.system(text) });
}

export interface History {
  readonly history: readonly ProviderMessage[];
}

/**
 * Applies `filter_messages` to what the prompt includes; then results join their calls, and roles are those of the
 * acting side.
 */
export async function chooseHistory(
  { store }: Ports,
  { context, active, request, system }: RequestMaterial & { readonly system: string },
) {
  const { thread, executionId, side } = context;
  const { includeChat, includePastTools, recentImageThreshold, reasoning, name } = active.prompt;
  const included = chooseMessages(context.messages, { executionId, includeChat, includePastTools });
  const paired = pairResults(await request.messages(included)).filter(({ role }) => ROLES.has(role));
  const chosen = showToSide(paired, side);
  const pictures = await readPictures(store, thread.id, recentImages(chosen, recentImageThreshold));
  const reasoningOf = reasoning?.include ? name : undefined;
  const view = { pictures, reasoningOf, running: executionId, digest: textDigest };
  const made = chosen.map((message) => toProviderMessage(message, view));
  const history: ProviderMessage[] = [
    ...(system.length > 0 ? [{ role: 'system' as const, content: system }] : []),
    ...openWithSummary(context.summary, chosen),
    ...made,
  ];
  const origins: MessageOrigins = { rows: chosen, made };
  return go({ history, origins });
}

/** The roles that are sent: a hook may make up messages of any kind. */
const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/**
 * Applies `prefilter_llm_history` to a history that could be sent; it may refuse the request. Invalid parts of the list
 * that it returns are logged and left out.
 */
export async function filterHistory(
  { store }: Ports,
  { context: { thread, step }, request, history }: RequestMaterial & History,
) {
  if (request.history === NO_REQUEST_HOOKS.history) return go({ history });
  const given = sanitiseHistory(history);
  const filtered = await request.history(given.map(toLLMMessage)).catch(toBlocked);
  if ('hookId' in filtered) return end({ kind: 'blocked', by: filtered });
  const { messages, problems } = fromLLMMessages(filtered, given);
  if (problems.length > 0) {
    const error = problems.join(' ').slice(0, 1000);
    const data = { id: null, hook: 'prefilter_llm_history' as const, error };
    await emitEvent(store, thread.id, { type: 'hook.failed', data, step });
  }
  return go({ history: messages });
}

function toBlocked(error: unknown): HookBlocked {
  if (isHookBlocked(error)) return error;
  throw error;
}

/** The last stage before a model is asked, so that no hook can produce a history that every provider refuses. */
export function sanitise(
  _ports: unknown,
  { context: { subprompt, trimmed }, active, history }: RequestMaterial & History,
) {
  const whole = sanitiseHistory(history);
  const sent = trimmed > 0 ? beginWithUser(whole) : whole;
  const opened = hasTwoSides(active.agent) ? prependUserMessage(sent) : sent;
  return go({ messages: [...opened, ...toArgumentsMessage(sent, subprompt)] });
}

/**
 * Some providers refuse a request without a message: if a sub-prompt's call passes none, its arguments are the message.
 */
export function toArgumentsMessage(
  sent: readonly ProviderMessage[],
  subprompt: StepContext['subprompt'],
): readonly ProviderMessage[] {
  if (!subprompt || sent.some(({ role }) => role !== 'system')) return [];
  return [{ role: 'user', content: JSON.stringify(subprompt.arguments) }];
}

/** What is left of a history may begin with an answer whose question had no room: some providers refuse that. */
function beginWithUser(sent: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const first = sent.findIndex(({ role }) => role !== 'system');
  const user = sent.findIndex(({ role }) => role === 'user');
  return user > first ? sent.toSpliced(first, user - first) : sent;
}

/**
 * With two sides, the acting side's own words may come first, which some providers refuse: a user message is put before
 * them.
 */
function prependUserMessage(sent: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const first = sent.findIndex(({ role }) => role !== 'system');
  if (sent[first]?.role !== 'assistant') return sent;
  return sent.toSpliced(first, 0, { role: 'user', content: FIRST_WORD });
}

/** If the thread ends in the meantime, the commands that follow report it. */
export async function emitEvent(store: ThreadStore, threadId: string, event: NewEvent): Promise<void> {
  await store.events.append(threadId, event).catch((error: unknown) => {
    if (!isRuntimeError(error, 'ThreadTerminated')) throw error;
  });
}

/** The digest by which a stored answer is known to be unchanged. */
export function textDigest(text: string): string {
  return hash('sha256', text, 'base64url');
}

type Reader = { readonly files: Pick<ThreadStore['files'], 'open' | 'readChunk'> };

/** `images`: newest first. */
export async function readPictures(
  store: Reader,
  threadId: string,
  images: readonly AttachmentRef[],
): Promise<Pictures> {
  const pictures = new Map<string, Picture>();
  let left: number = LIMITS.requestImageBytes;
  for (const { path, size } of images) {
    const bytes = size > left ? 'too large to show' : await read(store, threadId, path, left);
    if (typeof bytes === 'string') {
      pictures.set(path, { kind: 'absent', why: bytes });
      continue;
    }
    left -= bytes.length;
    pictures.set(path, toPicture(bytes));
  }
  return pictures;
}

/**
 * Returns the bytes, or why they cannot be shown. The file's size may have changed since it was stored in the message.
 */
async function read(
  store: Reader,
  threadId: string,
  path: string,
  most: number,
): Promise<Uint8Array | string> {
  try {
    const file = await store.files.open(threadId, path);
    if (!file) return 'unavailable: the file no longer exists';
    if (file.record.size > most) return 'too large to show';
    const content = await readWholeFile(store, threadId, path);
    return content ? new Uint8Array(content) : 'unavailable: the file no longer exists';
  } catch (error) {
    // An unreachable store fails the step, which is then retried.
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return 'unavailable: the file cannot be read';
  }
}

function toPicture(bytes: Uint8Array): Picture {
  const mediaType = readImageType(bytes);
  if (mediaType === undefined) return { kind: 'absent', why: 'not shown: not an image that models can see' };
  return { kind: 'shown', data: Buffer.from(bytes).toString('base64'), mediaType };
}

export interface StepHooks extends HookWork {
  readonly context: StepContext;
  readonly request: RequestHooks;
  /** What the hooks have asked of the flow since the previous call. */
  readonly flow: () => Promise<FlowChanges>;
}

export interface StepHooksInput {
  readonly ref: StepRef;
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** The scratch as left by the hooks that have seen the drained rows: all hooks of a step share one flow. */
  readonly scratch?: Scratch;
}

export function openStepHooks(
  dependencies: ActivityDependencies,
  { ref, context, active: { prompt }, scratch = openScratch(context.scratch) }: StepHooksInput,
): StepHooks {
  const { thread, messages, trimmed: _, scratch: __, ...place } = context;
  const work = openHookWork(dependencies, {
    thread,
    prompt,
    key: `${thread.id}:${ref.step}`,
    signal: abortSignal(dependencies.handover),
    execution: async () => ({ ...place, prompt, history: messages.map(toPublic), flow: scratch.flow }),
  });
  scratch.redactWith(work.env.redactKnown);
  const request = { ...NO_REQUEST_HOOKS, ...work.hooks.request(place.executionId) };
  return { ...work, context, request, flow: watchFlow(work.hooks, scratch) };
}
