/**
 * The first stage: the beginning of a step (runtime §3.1). Due items are drained in the transaction that decides what the step
 * does. If the project has hooks for it (definitions §9), a new thread is greeted (`after_thread_created`), and each
 * row passes the hooks around a new message.
 * - Hooks run before the transaction that drains, since a hook may take time. Items queued since then have not been
 *   seen by hooks: they wait for the next step, which `commitStatus` ensures.
 * - A step that has already begun drains nothing, nor does one that takes over a stored step. So no hook sees a
 *   stored row twice. A row that was seen and not stored, because the worker was lost in between, is seen again.
 * - A thread is marked as greeted after its hooks have run: if the worker is lost in between, they run again.
 * - If a limit forbids the step (core/thread/step-limit.ts), nothing is drained, and no hook sees a row. Only an item
 *   that arrives in between can lift the limit; the step then takes its rows without hooks.
 * - Hooks after the begin may write messages, and the request shows them: its context is read after them. Only
 *   without such hooks does the begin return the context.
 * I6. The first model call begins with the step if nothing in between could end the step or take time. That means: no
 *     hook on the request, no variable that may be missing, no manifest to log first, no summary to make. The call's
 *     row exists before the request is sent, as for any call.
 */

import { definesHook } from '../../author/hooks/listed.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import type { RunningExecution } from '../../author/state/running-execution.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { Registry } from '../../core/author/registry.ts';
import { type AttachmentRef, toChanges } from '../../core/message/message.ts';
import { findActiveSide, findStepSide, hasTwoSides } from '../../core/project/active-side.ts';
import { rulesOf } from '../../core/project/agent-rules.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { ModelStepInput } from '../../core/thread/step.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { RateLimiter } from '../../models/rate-limiter.ts';
import type {
  PendingItem,
  PendingWork,
  PreparedItem,
  StepContext,
  StepPlace,
} from '../../store/step/step-place-record.ts';
import type { BeginStep, BegunStep, RequestNeeds } from '../../store/step/step-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import {
  type HookWork,
  openHookWork,
  queueTools,
  takeTools,
  watchFlow,
  withHookWork,
} from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal, hasLeft } from '../base/guard.ts';
import { beginningAttempt } from '../base/run-ref.ts';
import { logsManifests } from '../model/call-estimate.ts';
import { dueCompaction } from '../model/due-compaction.ts';
import { historyWindow, readMessageHistory } from '../model/history-window.ts';
import { immediateCalls } from '../model/immediate-subagents.ts';
import { findModels } from '../model/request.ts';
import { hasBegun, needsVariables } from '../model/step-env.ts';
import type { OpenStep } from './read-step.ts';

/** The result of the drain. */
interface ReceivedInput {
  readonly begun: BegunStep;
  /** The flow of the hooks that ran; the hooks of the answer go on with it. */
  readonly scratch?: Scratch;
}

/** The step is open and waits for its answer. */
export interface DrainedStep extends OpenStep {
  readonly kind: 'call';
  readonly swept: number;
  /** Steps counted against the limits, this one included (see `BegunStep`). */
  readonly taken: SideSteps;
  readonly executionId?: string;
  readonly produced?: true;
}

const ROW_HOOKS = ['before_create_message', 'after_create_message'] as const;

export type SettledStep = Exclude<BegunStep, { kind: 'call' }>;

/** Begins the thread's own step. Returns how it was settled if it has no request to make. */
export async function receiveInput(
  dependencies: ActivityDependencies,
  run: FromRun,
  input: ModelStepInput,
): Promise<DrainedStep | SettledStep> {
  const { begun, scratch } = await passHooks(dependencies, run, input);
  if (begun.kind !== 'call') return begun;
  const { step, attempt, ...known } = begun;
  const { asked } = input;
  return {
    ...known,
    ref: { ...run, step, attempt },
    scratch,
    asked,
  };
}

async function passHooks(
  dependencies: ActivityDependencies,
  run: FromRun,
  input: ModelStepInput,
): Promise<ReceivedInput> {
  const registry = dependencies.registry();
  if (registry.manifests.size > 0) await storeManifests(dependencies.store, registry);
  const { ordinal, afterStep } = input;
  const immediate = await immediateCalls(dependencies, { ...run, ordinal, afterStep });
  const command = { ...toCommand(registry, run, input), immediate };
  // A thread that has ended a step was greeted before it.
  if (afterStep === 0 && definesHook(registry, 'after_thread_created'))
    await runThreadCreatedHooks(dependencies, command);
  if (definesHook(registry, ...ROW_HOOKS)) return drainThroughHooks(dependencies, command);
  return { begun: await beginWithoutHooks(dependencies, command) };
}

/** No hook writes anything after the begin, so the begin also returns the context of the request. */
async function beginWithoutHooks(
  { store, registry, probe, limiter }: ActivityDependencies,
  command: BeginStep,
): Promise<BegunStep> {
  const begun = await store.steps.begin({ ...command, request: requestNeeds(registry(), limiter) });
  await probe?.('step_begun');
  return begun;
}

/** Input without an agent comes from a thread that began before agents had two sides. */
function toCommand(
  registry: Registry,
  run: FromRun,
  {
    ordinal,
    executionId,
    afterStep,
    items,
    rejections,
    agent = '',
    session,
    unprompted,
    asked,
  }: ModelStepInput,
): BeginStep {
  const rules = (name: string) => rulesOf(registry, name);
  const flags = { unprompted, left: hasLeft(asked) || undefined };
  const from = { ...run, activity: beginningAttempt() };
  const command = { ...from, ordinal, executionId, afterStep, items, rejections, ...flags, rules };
  return hasTwoSides(registry.agents.get(agent)) ? { ...command, twoSides: true, session } : command;
}

/** Runs the hooks of side A, outside any execution, since none has begun. */
async function runThreadCreatedHooks(dependencies: ActivityDependencies, command: BeginStep): Promise<void> {
  const { store, handover } = dependencies;
  const { thread, greeted } = await store.queue.readPending(command);
  if (greeted || thread.terminatedAt !== null) return;
  const signal = abortSignal(handover);
  const work = openHookWork(dependencies, { thread, key: `${thread.id}:created`, signal });
  await withHookWork(work, handover, async ({ hooks, sink }) => {
    if (!hooks.has('after_thread_created')) return;
    await hooks.threadCreated();
    await queueTools(store, thread.id, sink)();
    await store.threads.markGreeted(thread.id);
  });
}

async function drainThroughHooks(
  dependencies: ActivityDependencies,
  command: BeginStep,
): Promise<ReceivedInput> {
  const { store, handover } = dependencies;
  const pending = await store.queue.readPending(command);
  const scratch = openScratch(pending.scratch);
  const work = openHookWork(dependencies, {
    thread: pending.thread,
    prompt: findActiveSide(dependencies.registry(), pending.thread.agent, pending.side)?.prompt,
    key: `${command.threadId}:${command.runId}:${command.ordinal}`,
    signal: abortSignal(handover),
    execution: () => toExecution(dependencies, command, pending, scratch),
  });
  scratch.redactWith(work.env.redactKnown);
  return withHookWork(work, handover, async () =>
    work.hooks.has(...ROW_HOOKS)
      ? beginThroughHooks(dependencies, work, { command, pending, scratch })
      : { begun: await beginWithoutHooks(dependencies, command) },
  );
}

interface PendingStep {
  readonly command: BeginStep;
  readonly pending: PendingWork;
  readonly scratch: Scratch;
}

async function beginThroughHooks(
  dependencies: ActivityDependencies,
  work: HookWork,
  { command, pending, scratch }: PendingStep,
): Promise<ReceivedInput> {
  const { store } = dependencies;
  const { threadId } = command;
  // No hook sees a row of a step that a limit forbids.
  if (pending.limited) return { begun: await store.steps.begin(command) };
  const prepared: PreparedItem[] = [];
  for (const item of pending.rows) prepared.push(await prepareItem(dependencies, work, item, threadId));
  const flow = watchFlow(work.hooks, scratch);
  const queuedTools = await takeTools(work);
  const begun = await store.steps.begin({ ...command, prepared, queuedTools, ...(await flow()) });
  await dependencies.probe?.('step_begun');
  await runAfterCreateHooks(dependencies, work, threadId, prepared);
  await queueTools(store, threadId, work.sink, queuedTools.length)();
  if (begun.kind !== 'stored') return { begun, scratch };
  // A step of queued tools commits nothing else.
  const changes = await flow();
  const { record } = begun;
  const { directive } = changes;
  await store.steps.saveFlow({ ...command, step: record.step, ...changes });
  return { begun: { ...begun, record: { ...record, ...(directive && { directive }) } } };
}

async function runAfterCreateHooks(
  { store }: ActivityDependencies,
  { hooks }: HookWork,
  threadId: string,
  prepared: readonly PreparedItem[],
): Promise<void> {
  if (!hooks.has('after_create_message')) return;
  for (const { id } of prepared) {
    const message = await store.messages.get(threadId, id);
    // A row that was deleted, or whose thread ended, was not stored.
    if (message?.status === 'completed') await hooks.messages.afterCreate(message);
  }
}

async function toExecution(
  dependencies: ActivityDependencies,
  { threadId, executionId }: BeginStep,
  pending: PendingWork,
  scratch: Scratch,
): Promise<RunningExecution> {
  const history = await readMessageHistory(dependencies, threadId);
  const { side, sideSteps } = pending;
  return {
    executionId: pending.executionId ?? pending.nextExecutionId ?? executionId,
    step: pending.thread.lastStep + 1,
    stepCount: pending.stepCount + 1,
    sideSteps: { ...sideSteps, [side]: sideSteps[side] + 1 },
    side,
    prompt: findActiveSide(dependencies.registry(), pending.thread.agent, side)?.prompt,
    subprompt: null,
    runContext: pending.runContext,
    history,
    flow: scratch.flow,
  };
}

/** For each store, the projects whose manifests it already has. */
const STORED_PROJECTS = new WeakMap<ThreadStore, WeakSet<Registry>>();

/** Stores manifests of agents before an execution names one by its hash, once per project of this process. */
async function storeManifests(store: ThreadStore, registry: Registry): Promise<void> {
  const kept = STORED_PROJECTS.get(store) ?? new WeakSet();
  STORED_PROJECTS.set(store, kept);
  if (kept.has(registry)) return;
  for (const { run, hash, document } of registry.manifests.values())
    if (run !== null && registry.agents.has(run)) await store.tasks.saveManifest(hash, document);
  kept.add(registry);
}

/** Passes an item that a step is about to drain through the hooks before a new message (definitions §9). */
async function prepareItem(
  { store }: ActivityDependencies,
  { hooks }: HookWork,
  { id, message, files: named }: PendingItem,
  threadId: string,
): Promise<PreparedItem> {
  if (!message) return { id };
  const files = await findFiles(store, threadId, id, named);
  // The role of a call or a result stays: only an assistant can call.
  const written = message.tool_calls === null && message.role !== 'tool';
  const before = { ...message, attachments: files.length > 0 ? files : null };
  const after = await hooks.beforeRow(before, { written });
  const { attachments, ...changes } = toChanges(after);
  const changed = JSON.stringify(attachments) !== JSON.stringify(before.attachments);
  return {
    id,
    ...changes,
    // The drain reports a missing file, unless the hook has chosen other files.
    ...(changed || (files.length > 0 && files.length === named.length) ? { attachments } : {}),
    ...(written ? { role: after.role as PreparedItem['role'] } : {}),
  };
}

/** Hooks receive AttachmentRefs; a sender names paths. */
async function findFiles(
  store: ThreadStore,
  threadId: string,
  id: string,
  attachments: readonly (string | AttachmentRef)[],
): Promise<AttachmentRef[]> {
  const found: AttachmentRef[] = [];
  for (const [index, each] of attachments.entries()) {
    // The id that the file would have without hooks (store/message/drain.ts).
    const place = { store, threadId, nextId: () => `${id}:${index}` };
    if (typeof each !== 'string') found.push(each);
    else found.push(...(await storeAttachments(place, [each]).catch(ignoreRuntimeError)));
  }
  return found;
}

function ignoreRuntimeError(error: unknown): [] {
  if (isRuntimeError(error) && !isStoreFault(error)) return [];
  throw error;
}

const REQUEST_HOOKS = ['after_system_message', 'filter_messages', 'prefilter_llm_history'] as const;

/** What a step's begin must return for the request of the step. */
function requestNeeds(
  registry: Registry,
  limiter?: Pick<RateLimiter, 'mayHold'>,
): (place: StepPlace) => RequestNeeds {
  const window = historyWindow(registry);
  const hooked = definesHook(registry, ...REQUEST_HOOKS);
  return (place) => ({ window: window(place), ...(hooked ? {} : firstCall(registry, place, limiter)) });
}

/** I6: the call of the first model. */
function firstCall(
  registry: Registry,
  place: StepPlace,
  limiter: Pick<RateLimiter, 'mayHold'> | undefined,
): Pick<RequestNeeds, 'call' | 'delays'> {
  const active = findStepSide(registry, place.thread.agent, place);
  if (!active) return {};
  const { prompt } = active;
  // A manifest is known only once the request is assembled.
  if (logsManifests(active, place)) return {};
  const [model] = findModels(registry, active);
  // A request that may have to wait is recorded when it is sent.
  if (model?.concurrency !== undefined || (model && limiter?.mayHold(model.name))) return {};
  if (!model || needsVariables(registry, place.thread, { begun: hasBegun(place), prompt })) return {};
  // A summary is made before the first call.
  const delays = (context: StepContext) => dueCompaction(registry, active, context) !== undefined;
  return { call: { model: model.name, modelId: model.model }, delays };
}
