/**
 * Stages before the request is assembled: what the store has of the step, who acts, with which variables, and what may
 * be offered.
 */

import { end, go } from '../../author/policy/gate.ts';
import type { Scratch } from '../../author/tool/scratch.ts';
import type { Compaction } from '../../core/author/hook.ts';
import { type ActiveSide, findStepSide } from '../../core/project/active-side.ts';
import type { AskedSoFar, StoredError } from '../../core/thread/step.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { readClientOffer } from '../model/client-offer.ts';
import { historyWindow } from '../model/history-window.ts';
import { type McpOffer, readMcpOffer } from '../model/mcp-offer.ts';
import { readSubagentOffer } from '../model/offered-tools.ts';
import { agentNotFound } from '../model/request.ts';
import { hasBegun, readStepEnv } from '../model/step-env.ts';
import type { SubagentOffer } from '../model/subagent-tools.ts';

/** A step that is open in the store and waits for its answer: the thread's own, or a sub-prompt's. */
export interface OpenStep {
  readonly ref: StepRef;
  /** The scratch as left by the hooks that have seen the drained rows. */
  readonly scratch?: Scratch;
  /** The context as the step's begin has read it; absent if something may have been written since. */
  readonly context?: StepContext;
  /** Set if the begin of the step has already logged `context.trimmed`. */
  readonly noted?: true;
  /** Set if the step's first model call began with it. */
  readonly called?: true;
  /** Set if an earlier activity was left because a model took no request. */
  readonly asked?: AskedSoFar;
}

/** The step cannot be answered. */
export interface FailedStep {
  readonly kind: 'failed';
  readonly error: StoredError;
}

/** What the stages of this file add. */
export interface ReadStep extends OpenStep {
  /** The summary that the step has made (compact.ts). */
  readonly compacted?: Compaction;
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** What an `env` part of a prompt shows. */
  readonly show: (name: string) => string;
  readonly subagents: SubagentOffer;
  readonly mcp: McpOffer;
}

export async function readStepContext({ store, registry }: ActivityDependencies, { ref, context }: OpenStep) {
  if (context) return go({ context });
  return go({ context: await store.steps.readContext(ref.threadId, ref.step, historyWindow(registry())) });
}

type FoundStep = Pick<ReadStep, 'ref' | 'context'>;

export function resolveSide({ registry }: ActivityDependencies, { ref, context }: FoundStep) {
  const active = findStepSide(registry(), context.thread.agent, context);
  if (active) return go({ active });
  return end({ kind: 'failed', error: agentNotFound(context.thread.agent, ref.threadId) });
}

type ResolvedStep = Pick<ReadStep, 'ref' | 'context' | 'active'>;

export async function requireStepVariables(
  ports: ActivityDependencies,
  { context, active: { prompt } }: ResolvedStep,
) {
  const env = await readStepEnv(ports, context.thread, { begun: hasBegun(context), prompt });
  return env.ok ? go({ show: env.show }) : end({ kind: 'failed', error: env.error });
}

export async function offerSubagents(ports: ActivityDependencies, { context, active }: ResolvedStep) {
  return go({ subagents: await readSubagentOffer(ports, context.thread, active.prompt) });
}

export async function offerMcpTools(ports: ActivityDependencies, { context, active }: ResolvedStep) {
  const [mcp, client] = await Promise.all([
    readMcpOffer(ports, context, active.prompt),
    readClientOffer(ports, context),
  ]);
  return go({ mcp: client.size > 0 ? new Map([...mcp, ...client]) : mcp });
}
