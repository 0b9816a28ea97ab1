/**
 * Opens the step of a sub-prompt with its first message, through the hooks around a new message (definitions §9,
 * §12.6). The hooks are those of the target prompt, since the message is the first of its conversation.
 * O1. A step that already exists is found, and its message has passed its hooks. If the worker was lost after the hooks
 *     had run and before the step was stored, they run again.
 */

import { definesHook } from '../../author/hooks/listed.ts';
import { createIds } from '../../author/state/id.ts';
import type { RunningExecution } from '../../author/state/running-execution.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import { fillMessage, toChanges } from '../../core/message/message.ts';
import type { SubpromptPlace } from '../../store/step/step-place-record.ts';
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
import { abortSignal } from '../base/guard.ts';
import { readMessageHistory } from '../model/history-window.ts';
import { immediatePromptCalls } from '../model/immediate-subagents.ts';
import type { ResumableCall } from '../tool/resumable-call.ts';
import type { FirstMessage, PromptArguments } from '../tool-gate/prompt-input.ts';

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
    parentId: nextId(),
    prompt: asked.prompt.name,
    arguments: asked.args,
    ...(asked.left && { left: true }),
    ...(asked.message && { message: { id: nextId(), ...asked.message } }),
  };
  const hooked = command.message && definesHook(registry(), 'before_create_message', 'after_create_message');
  // O1: a step that is there is found.
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
