/**
 * `runSubprompt`: a call that names a prompt, up to the answer of its model (definitions §12.6). Like `modelStep`, it
 * begins, decides in one transaction, answers, and stores; its calls follow like those of a step, and `finishSubprompt`
 * makes its result.
 * - All attempts are the same to the store: the call is begun once, and its step opened once. So a lost worker costs
 *   at most another request to the model, and never an unknown outcome.
 * - Immediate subagents of the prompt come before its model step (runtime §7.3). Their calls are answered first; once
 *   they have their results, this activity is run again.
 *
 * The step opens with its first message, through the hooks around a new message (definitions §9): those of the target
 * prompt, since the message is the first of its conversation.
 * - A step that already exists is found, and its message has passed its hooks. If the worker was lost after the hooks
 *   had run and before the step was stored, they run again.
 */

import { definesHook } from '../../author/hooks/listed.ts';
import { createIds } from '../../author/state/id.ts';
import type { RunningExecution } from '../../author/state/running-execution.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import { fillMessage, toChanges } from '../../core/message/message.ts';
import type {
  FinishCallInput,
  StoredError,
  SubpromptAttempt,
  ToolCallInput,
  ToolCallOutcome,
} from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import { composeSubpromptResult, toSwitches } from '../../core/thread/subprompt-result.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { SubpromptPlace } from '../../store/step/step-place-record.ts';
import type { StepRecord } from '../../store/step/step-record.ts';
import type { OpenedImmediate, OpenedSubprompt, OpenSubprompt } from '../../store/tool/subprompt-record.ts';
import {
  type HookWork,
  openHookWork,
  queueTools,
  takeTools,
  watchFlow,
  withHookWork,
} from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal, hasLeft, throwIfLeaving } from '../base/guard.ts';
import { currentAttempt } from '../base/run-ref.ts';
import { readMessageHistory } from '../model/history-window.ts';
import { immediatePromptCalls } from '../model/immediate-subagents.ts';
import { answerStep } from '../model-gate/model-gate.ts';
import { toAttemptOutcome, toDenied, toSettled } from '../tool/record-tool-outcome.ts';
import {
  beginAsked,
  beginCall,
  keepExistingFiles,
  openGuard,
  type ResumableCall,
  settleCall,
} from '../tool/resumable-call.ts';
import { toStepCalls } from '../tool/tool-dispatch.ts';
import { reopenApproval } from '../tool-gate/approval.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import type { FirstMessage, PromptArguments } from '../tool-gate/prompt-input.ts';
import { findEntry } from '../tool-gate/resolve-call.ts';
import { PROMPT } from '../tool-gate/tool-gate.ts';

export async function runSubprompt(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubpromptAttempt> {
  const { probe } = dependencies;
  throwIfLeaving(dependencies);
  // Every attempt is the same.
  const begun = await beginAsked(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return toSettled(begun.outcome);
  await probe?.('subprompt_begun');
  const { call } = begun;
  const passed = await PROMPT.pass(dependencies, {
    execution: call.begun,
    executionId: call.executionId,
    guard: openGuard(dependencies, call),
  });
  if (passed.kind === 'end') {
    const { end } = passed;
    if (end.kind === 'not_begun') return toSettled(toAttemptOutcome(end.begun));
    if (end.kind === 'waits') return end;
    const again = await reopenApproval(dependencies, call.begun, end);
    if (again) return again;
    return toSettled(await settleCall(dependencies, call, end));
  }
  const before = await openImmediate(dependencies, call, passed.known);
  if (before.kind === 'terminated') return before;
  if (before.kind === 'stored') return { ...toStep(dependencies, before.record), again: true };
  return answerCall(dependencies, input, call, passed.known);
}

/** Opens the step, or finds it, and has it answered; again with another step, if its answer does not fit its type. */
async function answerCall(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  call: ResumableCall,
  asked: PromptCall,
): Promise<SubpromptAttempt> {
  const { probe } = dependencies;
  const opened = await openStep(dependencies, call, { ...asked, left: hasLeft(input.asked) });
  await probe?.('subprompt_opened');
  switch (opened.kind) {
    case 'terminated':
      return opened;
    case 'over':
      return toSettled(await finishSubprompt(dependencies, input));
    case 'exceeded':
      return toSettled(toDenied({ name: call.begun.call.name, error: opened.error }));
    case 'stored':
      return describe(dependencies, input, opened.record);
    case 'call': {
      const { threadId, runId } = call.key;
      const { step, attempt } = opened;
      const ref = { threadId, runId, step, attempt };
      const answered = await answerStep(dependencies, { ref, asked: input.asked });
      if (answered.kind === 'terminated' || answered.kind === 'blocked') return answered;
      const error =
        answered.kind === 'stored'
          ? answered.record.exceeded
          : answered.kind === 'failed' && isUsedUp(answered)
            ? answered.error
            : undefined;
      if (error) return toSettled(toDenied({ name: call.begun.call.name, error }));
      if (answered.kind === 'stored' && answered.record.directive === 'rejected')
        return answerCall(dependencies, input, call, asked);
      if (answered.kind === 'stored') return describe(dependencies, input, answered.record);
      return toSettled(await finishSubprompt(dependencies, input));
    }
  }
}

/** A step without calls is over with its answer. */
async function describe(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  record: StepRecord,
): Promise<SubpromptAttempt> {
  if (record.calls.length === 0) return toSettled(await finishSubprompt(dependencies, input));
  return toStep(dependencies, record);
}

function toStep({ registry }: ActivityDependencies, { step, calls, parallel }: StepRecord) {
  return { kind: 'step', step, ...toStepCalls(registry(), calls, parallel) } as const;
}

/**
 * `finishSubprompt`: composes the result of a call of a prompt from its stored step (definitions §12.6), and stores it
 * like that of any call, through the hooks around it. Repeatable: a call that has a result keeps it.
 */
export async function finishSubprompt(
  dependencies: ActivityDependencies,
  input: FinishCallInput,
): Promise<ToolCallOutcome> {
  const { probe } = dependencies;
  await probe?.('subprompt_answered');
  const begun = await beginCall(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return begun.outcome;
  const outcome = await settleCall(
    dependencies,
    begun.call,
    await composeResult(dependencies, begun.call, input.error),
  );
  await probe?.('subprompt_finished');
  return outcome;
}

const NOT_ASKED: StoredError = { code: 'Fault', message: 'the prompt could not be run' };

/** `fault`: why the step could not be run; it is more precise than the error of a step that was left open. */
async function composeResult(
  { store, registry }: ActivityDependencies,
  { key, begun }: ResumableCall,
  fault?: StoredError,
): Promise<CallAnswer> {
  const switches = toSwitches(findEntry(registry(), begun)?.extra);
  const stored = await store.subprompts.read(key.threadId, key.step, key.index);
  const { text = null, error = NOT_ASKED, calls = [], attachments = [], directive } = stored ?? {};
  const type = registry().prompts.get(begun.call.name)?.output;
  const parts = { text, error: error && (fault ?? error), calls, isTyped: type !== undefined };
  const result = composeSubpromptResult(parts, switches);
  const present = await keepExistingFiles(store, key.threadId, attachments);
  const files = present.slice(0, LIMITS.attachments);
  return { result: files.length > 0 ? { ...result, attachments: files } : result, directive };
}

export interface PromptCall {
  readonly prompt: PromptDefinition;
  readonly args: PromptArguments;
  readonly message: FirstMessage | undefined;
}

interface AskedPrompt extends PromptCall {
  /** True if the step was left because its model took no request. */
  readonly left: boolean;
}

/**
 * Opens the calls of the prompt's immediate subagents, until each of them has a result. Costs nothing for a prompt that
 * lists none.
 */
export async function openImmediate(
  dependencies: ActivityDependencies,
  { key, begun }: ResumableCall,
  { prompt, args }: PromptCall,
): Promise<OpenedImmediate> {
  const { store } = dependencies;
  const { threadId, step, index } = key;
  const tools = await immediatePromptCalls(
    dependencies,
    begun.thread,
    prompt,
    `${threadId}:${step}:${index}`,
  );
  if (!tools) return { kind: 'none' };
  return store.subprompts.openImmediate({
    ...key,
    activity: currentAttempt(),
    parentId: createParentIds(store, key)(),
    prompt: prompt.name,
    arguments: args,
    tools,
  });
}

/** Generates the ids of a sub-prompt. The first is the parent id of all messages of the prompt. */
function createParentIds(
  store: ActivityDependencies['store'],
  { threadId, step, index }: ResumableCall['key'],
) {
  return createIds(store, `${threadId}:${step}:${index}:prompt`);
}

export async function openStep(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  asked: AskedPrompt,
): Promise<OpenedSubprompt> {
  const { store, registry, handover } = dependencies;
  const { key } = call;
  const nextId = createParentIds(store, key);
  const command: OpenSubprompt = {
    ...key,
    activity: currentAttempt(),
    parentId: nextId(),
    prompt: asked.prompt.name,
    arguments: asked.args,
    left: asked.left || undefined,
    message: asked.message && { id: nextId(), ...asked.message },
  };
  const hooked = command.message && definesHook(registry(), 'before_create_message', 'after_create_message');
  // A step that is there is found.
  if (!hooked || (await store.subprompts.read(key.threadId, key.step, key.index))) {
    return store.subprompts.open(command);
  }
  const scratch = openScratch(call.begun.scratch);
  const work = openHookWork(dependencies, {
    thread: call.begun.thread,
    prompt: asked.prompt,
    key: `${key.threadId}:${key.step}:${key.index}:prompt`,
    signal: abortSignal(handover),
    execution: () => toExecution(dependencies, { call, asked, command, scratch }),
  });
  return withHookWork(work, handover, () =>
    openThroughHooks(dependencies, work, { command, scratch, depth: depthOf(call) }),
  );
}

/** The depth of the sub-prompt that the call opens. */
function depthOf({ begun }: ResumableCall): number {
  return (begun.subprompt?.depth ?? 0) + 1;
}

interface ThroughHooks {
  readonly command: OpenSubprompt;
  readonly scratch: Scratch;
  readonly depth: number;
}

async function openThroughHooks(
  { store }: ActivityDependencies,
  work: HookWork,
  { command, scratch, depth }: ThroughHooks,
): Promise<OpenedSubprompt> {
  const { threadId } = command;
  const { hooks, sink } = work;
  const { id = '', attachments = null, ...said } = command.message ?? {};
  const files = attachments && attachments.length > 0 ? attachments : null;
  const place = { role: 'user', parent_id: command.parentId, depth } as const;
  const after = await hooks.beforeRow(fillMessage({ id, ...said, attachments: files, ...place }));
  const message = { id, ...toChanges(after), content: after.content ?? '' };
  const queuedTools = await takeTools(work);
  const opened = await store.subprompts.open({ ...command, message, queuedTools });
  if (opened.kind !== 'call' || !hooks.ran) return opened;
  const stored = await store.messages.get(threadId, id);
  if (stored) await hooks.messages.afterCreate(stored);
  await queueTools(store, threadId, sink, queuedTools.length)();
  const changes = await watchFlow(hooks, scratch)();
  await store.steps.saveFlow({ threadId, runId: command.runId, step: opened.step, ...changes });
  return opened;
}

interface Opening {
  readonly call: ResumableCall;
  readonly asked: PromptCall;
  readonly command: OpenSubprompt;
  readonly scratch: Scratch;
}

async function toExecution(
  dependencies: ActivityDependencies,
  { call, asked, command, scratch }: Opening,
): Promise<RunningExecution> {
  const { key, begun, executionId } = call;
  // The step is not open yet, so the history is that of the surrounding conversation.
  const history = await readMessageHistory(
    dependencies,
    key.threadId,
    begun.subprompt ? key.step : undefined,
  );
  const { prompt, args } = asked;
  const subprompt: SubpromptPlace = {
    prompt: prompt.name,
    arguments: args,
    depth: depthOf(call),
    parentId: command.parentId,
    path: [...(begun.subprompt?.path ?? []), prompt.name],
  };
  const { step } = key;
  const { stepCount, sideSteps, side, runContext } = begun;
  const where = { executionId, step, stepCount, sideSteps, side, prompt, subprompt, runContext };
  return { ...where, history, flow: scratch.flow };
}
