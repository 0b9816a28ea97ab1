/**
 * For a subagent that has used up its rounds, or an execution that asks for help: opens its wait, or reports that the
 * step must be begun again.
 */
import { randomUUID } from 'node:crypto';
import { describeFailures } from '../../core/guard/failure.ts';
import type { PausedStep } from '../../core/thread/waiting-call.ts';
import type { BegunStep } from '../../store/step/step-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { signalAncestors } from '../signals/signal-ancestors.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';

type Paused = Extract<BegunStep, { kind: 'paused' }>;

/** The wait is found by its key: another attempt waits for the same one. */
export async function openPause(
  { store, probe }: Pick<ActivityDependencies, 'store' | 'probe'>,
  threadId: string,
  { pause, ...begun }: Paused,
): Promise<(PausedStep & Pick<Paused, 'swept'>) | 'again' | 'terminated'> {
  const { waits } = store;
  const { spokenTo, key, executionId, agent } = pause;
  if (spokenTo !== undefined) {
    await waits.close(spokenTo, 'spoken to');
    await signalAncestors(store, threadId);
    return 'again';
  }
  const opened = await waits.open({
    ...{ id: randomUUID(), threadId, key, kind: 'paused', name: agent, executionId, blocks: true },
    ...describePause(pause),
  });
  await probe?.('wait_opened');
  if (opened.kind === 'open') return { ...begun, wait: toWaitingCall(opened.wait) };
  return opened.kind === 'terminated' ? 'terminated' : 'again';
}

/** What people see of the wait. */
function describePause({ agent, rounds, failures }: Paused['pause']) {
  if (failures) return { summary: describeFailures(agent, failures), data: failures };
  const { round, maxRounds } = rounds ?? {};
  const summary = `more rounds for ${agent}: it has used ${round} of ${maxRounds} rounds without finishing`;
  return { summary, data: rounds };
}
