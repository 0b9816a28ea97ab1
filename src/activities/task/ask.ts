/**
 * Asks the question that a step has decided on. Whichever attempt takes the step opens the same wait, whose answer is
 * the step's outcome.
 */
import { randomUUID } from 'node:crypto';
import type { ActionOutcome } from '../../core/author/task.ts';
import type { TaskDecision } from '../../core/task/control.ts';
import type { ThoughtOutcome } from '../../core/thread/task-step.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import type { TaskFrame } from './task-frame.ts';

export async function askPeople(
  { store: { waits, tasks }, probe }: ActivityDependencies,
  { run, step, definition, signal }: TaskFrame,
  { question, data, expiresInMs }: Extract<TaskDecision, { kind: 'ask' }>,
): Promise<ThoughtOutcome> {
  // Set before the wait is opened: whoever sees the wait must see a task that waits.
  await tasks.rest({ ...run, waits: true });
  const opened = await retryWhileUnavailable(signal, () =>
    waits.open({
      id: randomUUID(),
      threadId: run.threadId,
      key: `ask:${step}`,
      kind: 'question',
      name: definition.name,
      summary: question,
      data: data ?? null,
      blocks: true,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    }),
  );
  if (opened.kind === 'open') {
    await probe?.('task_asked');
    return toWaitingCall(opened.wait);
  }
  if (opened.kind !== 'over') return { kind: 'terminated' };
  await tasks.endAct({ threadId: run.threadId, step, outcome: toAnswer(opened.wait) });
  return { kind: 'goes_on' };
}

/** The answer as the adapter finds it in its history. */
function toAnswer({ answer, state, reason }: Wait): ActionOutcome {
  if (answer && 'value' in answer) return { ok: true, result: answer.value };
  const refused = answer !== null;
  const why = (answer && 'reason' in answer ? answer.reason : reason) ?? (refused ? 'refused' : state);
  return { ok: false, code: refused ? 'Refused' : 'NotAnswered', error: `It was not answered: ${why}.` };
}
