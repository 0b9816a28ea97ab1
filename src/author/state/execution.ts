/** `state.execution` (definitions §14.1): the state of the running execution, and the controls of its flow. */

import type { Registry } from '../../core/author/registry.ts';
import type { ExecutionState } from '../../core/author/thread-execution.ts';
import { contextOf } from '../../core/governance/run-context.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { freezeDeep } from '../tool/freeze-deep.ts';
import type { CallerContext } from './caller-context.ts';
import type { RunningExecution } from './running-execution.ts';

export function createExecution(registry: Registry, caller: CallerContext): ExecutionState | null {
  const { execution, thread, signal } = caller;
  if (!execution) return null;
  const { flow, executionId, stepCount, sideSteps, side, history, runContext } = execution;
  const place = { executionId, rootId: thread.rootId, agent: thread.agent };
  return Object.freeze({
    flowId: executionId,
    currentSide: side,
    stepCount,
    sideAStepCount: sideSteps.a,
    sideBStepCount: sideSteps.b,
    get stopped() {
      return flow.directive === 'stop';
    },
    get stoppedBy() {
      return flow.directive === 'stop' ? side : undefined;
    },
    messageHistory: history,
    context: freezeDeep(runContext ?? contextOf({}, place)),
    promptPath: promptPath(registry, thread.agent, execution),
    abortSignal: signal,
    throwIfCancelled: () => signal.throwIfAborted(),
    forceTurn(side) {
      if (side !== 'a' && side !== 'b') throw new TypeError('forceTurn takes "a" or "b".');
      flow.directive = side;
    },
    stop() {
      flow.directive = 'stop';
    },
  } satisfies ExecutionState);
}

function promptPath(registry: Registry, agent: string, { side, subprompt }: RunningExecution): string[] {
  const own = findActiveSide(registry, agent, side)?.prompt.name;
  return [...(own === undefined ? [] : [own]), ...(subprompt?.path ?? [])];
}
