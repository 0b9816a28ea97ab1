/** The hooks of a step that a model answers (definitions §9), and where they come in as its request is made. */
import type { ActiveSide } from '../../core/active-side.ts';
import { toPublic } from '../../state/hooks/assembly-hooks.ts';
import { openScratch, type Scratch } from '../../state/scratch.ts';
import type { StepContext, StepRef } from '../../store/port/step.ts';
import { type FlowChanges, type HookWork, openHookWork, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { type AssemblyHooks, NO_ASSEMBLY_HOOKS } from './assemble.ts';

export interface StepHooks extends HookWork {
  readonly context: StepContext;
  readonly assembly: AssemblyHooks;
  /** What they asked of the flow since this was asked last. */
  readonly flow: () => Promise<FlowChanges>;
}

export interface StepHooksInput {
  readonly ref: StepRef;
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** Of the hooks that have seen what the step drained; one flow for all hooks of a step. */
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
  const assembly = { ...NO_ASSEMBLY_HOOKS, ...work.hooks.request(place.executionId) };
  return { ...work, context, assembly, flow: watchFlow(work.hooks, scratch) };
}
