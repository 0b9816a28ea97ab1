/**
 * `recordToolOutcome`: determines the outcome of a call whose worker was lost, from what the store knows (at most
 * once).
 */
import type {
  AttemptOutcome,
  RecordedOutcome,
  ToolCallInput,
  ToolCallOutcome,
} from '../../core/thread/step.ts';
import type { BegunTool, SettledTool, SettleLost } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentAttempt, fromRun } from '../base/run-ref.ts';
import { wakeForgotten } from '../signals/wake-relatives.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';

export async function recordToolOutcome(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<RecordedOutcome> {
  const { step, index } = input;
  const from = { ...fromRun(dependencies.store, input), activity: currentAttempt() };
  const settled = await settleLost(dependencies, { ...from, step, index });
  if (settled.kind === 'redispatch') return settled;
  return settled.kind === 'waits' ? toWaitingCall(settled.wait) : toSettledOutcome(settled);
}

/** Also wakes relatives that the lost worker may not have woken. */
export async function settleLost(
  { store, registry, probe }: ActivityDependencies,
  key: SettleLost,
): Promise<SettledTool> {
  const asks = (agent: string) => registry().agents.get(agent)?.policy?.onUncertain === 'wait';
  const settled = await store.toolCalls.settleLost({ ...key, asks });
  const isLost = settled.kind === 'settled' && settled.state === 'unknown';
  if (isLost || settled.kind === 'waits') await wakeForgotten(store, key.threadId);
  if (settled.kind === 'waits') await probe?.('wait_opened');
  return settled;
}

export function toSettledOutcome(
  settled: Exclude<SettledTool, { kind: 'redispatch' | 'waits' }>,
): ToolCallOutcome {
  if (settled.kind === 'terminated') return settled;
  const name = settled.name.slice(0, 64);
  if (settled.denied) return { kind: 'exceeded', name, error: settled.denied };
  if (settled.state === 'unknown') return { kind: 'unknown', name };
  const { directive } = settled;
  return {
    kind: 'done',
    name,
    succeeded: settled.status === 'success',
    queued: 0,
    directive,
  };
}

/** The outcome of a call that has a result, whose thread is over, or that waits. */
export function toAttemptOutcome(begun: Exclude<BegunTool, { kind: 'run' }>): AttemptOutcome {
  switch (begun.kind) {
    case 'terminated':
      return begun;
    case 'exceeded':
      return toDenied(begun);
    case 'settled':
      return toSettledOutcome(begun);
    case 'waits':
      return toWaitingCall(begun.wait);
    case 'begun_elsewhere':
      throw new Error('This call can be begun by any attempt.');
  }
}

/** The outcome of a call that the execution's budget denies. */
export function toDenied({
  name,
  error,
}: Pick<Extract<BegunTool, { kind: 'exceeded' }>, 'name' | 'error'>): ToolCallOutcome {
  return { kind: 'exceeded', name: name.slice(0, 64), error };
}

/** The end of an attempt at a call of a prompt or a subagent, or its wait. */
export function toSettled(outcome: AttemptOutcome) {
  return outcome.kind === 'terminated' || outcome.kind === 'waits'
    ? outcome
    : ({ kind: 'settled', outcome } as const);
}
