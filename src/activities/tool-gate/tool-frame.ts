/** What the stages of one tool call share: the hooks around it, its variables, the scratch, and where queued work goes. */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { RunningExecution } from '../../author/state/running-execution.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import { findActivePrompt } from '../../core/project/active-side.ts';
import { type HookWork, openHookWork, withHookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { readMessageHistory } from '../model/history-window.ts';
import type { BegunCallInfo } from './call-info.ts';

export interface ToolExecution extends BegunCallInfo {
  readonly executionId: string;
  /** The attempt that holds a tool's call; absent if any attempt may go on with the call. */
  readonly attempt?: string;
  readonly signal: AbortSignal;
}

export interface ToolFrame extends HookWork {
  readonly execution: ToolExecution;
  /** The active prompt. */
  readonly prompt: PromptDefinition | undefined;
  /** Shared by the tool and its hooks: they have one flow. */
  readonly scratch: Scratch;
  /** The execution as ThreadStates of the call show it. */
  running(): Promise<RunningExecution>;
}

/**
 * Opens the frame while `use` runs. At SIGTERM a call is not handed over like a model call: it has its grace period,
 * then the worker cancels it.
 */
export function withToolFrame<T>(
  dependencies: ActivityDependencies,
  call: Omit<ToolExecution, 'signal'>,
  use: (frame: ToolFrame) => Promise<T>,
): Promise<T> {
  const frame = openToolFrame(dependencies, { ...call, signal: abortSignal() });
  return withHookWork(frame, undefined, use);
}

function openToolFrame(dependencies: ActivityDependencies, execution: ToolExecution): ToolFrame {
  const {
    thread,
    index,
    signal,
    history,
    call: _,
    scratch: __,
    attempt: ___,
    waits: ____,
    pending: _____,
    leftMs: ______,
    ...where
  } = execution;
  const prompt = findActivePrompt(dependencies.registry(), thread.agent, execution);
  const scratch = openScratch(execution.scratch);
  const readHistory = async () => {
    // A call of the thread's own step brings its history along; within a sub-prompt the conversation is the
    // sub-prompt's own.
    if (history && !where.subprompt) return history;
    const subprompt = where.subprompt ? where.step : undefined;
    return retryWhileUnavailable(signal, () => readMessageHistory(dependencies, thread.id, subprompt));
  };
  let read: Promise<RunningExecution> | undefined;
  const running = () => {
    read ??= readHistory().then((known) => ({ ...where, prompt, history: known, flow: scratch.flow }));
    return read;
  };
  const key = `${thread.id}:${where.step}:${index}`;
  const work = openHookWork(dependencies, { thread, prompt, key, signal, execution: running });
  scratch.redactWith(work.env.redactKnown);
  return { ...work, execution, prompt, scratch, running };
}
