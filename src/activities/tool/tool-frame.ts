/** What the parts of one tool call share: its tool, the hooks around it, and what stores its result. */
import { findActivePrompt } from '../../core/active-side.ts';
import type { PromptDefinition } from '../../core/definition.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { RunningExecution } from '../../state/running-execution.ts';
import { openScratch, type Scratch } from '../../state/scratch.ts';
import type { BegunTool } from '../../store/port/tool.ts';
import { type HookWork, openHookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

export interface ToolExecution extends Omit<Extract<BegunTool, { kind: 'run' }>, 'kind'> {
  readonly step: number;
  readonly index: number;
  readonly executionId: string;
  readonly signal: AbortSignal;
}

export interface ToolFrame extends HookWork {
  readonly execution: ToolExecution;
  /** The active one. */
  readonly prompt: PromptDefinition | undefined;
  /** One flow for the tool and its hooks. */
  readonly scratch: Scratch;
  /** For their ThreadStates. */
  place(): Promise<RunningExecution>;
}

export function openToolFrame(dependencies: ActivityDependencies, execution: ToolExecution): ToolFrame {
  const { thread, index, signal, call: _, scratch: __, ...where } = execution;
  const prompt = findActivePrompt(dependencies.registry(), thread.agent, execution);
  const scratch = openScratch(execution.scratch);
  let read: Promise<RunningExecution> | undefined;
  const place = () => {
    read ??= retryWhileUnavailable(signal, () =>
      dependencies.store.getMessages(thread.id, { includeSilent: true }),
    ).then(({ messages: history }) => ({ ...where, prompt, history, flow: scratch.flow }));
    return read;
  };
  const key = `${thread.id}:${where.step}:${index}`;
  const work = openHookWork(dependencies, { thread, prompt, key, signal, execution: place });
  scratch.redactWith(work.env.redactKnown);
  return { ...work, execution, prompt, scratch, place };
}
