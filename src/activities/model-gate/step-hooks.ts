/** The hooks of a step that a model answers (definitions §9): those on its request, and those around its answer. */

import { type RequestHooks, toPublic } from '../../author/hooks/assembly-hooks.ts';
import { openScratch, type Scratch } from '../../author/tool/scratch.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import { type FlowChanges, type HookWork, openHookWork, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { NO_REQUEST_HOOKS } from './assemble.ts';

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
