/**
 * Decides when the thread continues as new, and what it carries. Checked at the top of the loop, between steps.
 * - A stop or terminate is never carried over: one that arrives while the queue is spilled is settled first.
 *   Neither is a request to go on unprompted (inbox.ts, P10): that step comes first.
 * - The server refuses continue-as-new if a signal has arrived since, and the task is retried. Everything before the
 *   command can be repeated, so nothing is lost or duplicated.
 */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import { LIMITS } from '../core/value/limit.ts';
import { effectsBlockContinue } from './effects.ts';
import type { ThreadWorkflow } from './messages.ts';
import { mustContinueAsNew, nextRunOf } from './run.ts';
import { spillBatch } from './spill.ts';
import type { ThreadRun } from './thread-run.ts';

/** False while an effect runs, which would be aborted, or a child is being started, whose start might be lost. */
export function mayContinue(run: ThreadRun): boolean {
  return (
    mustContinueAsNew(run.settings) && !effectsBlockContinue(run) && !run.family.booting && !owesStep(run)
  );
}

/** True if the loop must do something first that cannot be carried over. */
function owesStep({ requests, inbox }: ThreadRun): boolean {
  return requests.asked !== undefined || inbox.unprompted;
}

export async function continueThread(run: ThreadRun): Promise<void> {
  do {
    if (!run.mailbox.empty) await condition(() => run.mailbox.empty);
    // Large content goes to the store; what remains is carried (at most 64 KiB in all).
    while (run.inbox.queue.inlineBytes > LIMITS.carriedInlineBytes) {
      if (!(await spillBatch(run))) break;
    }
    if (run.waits.busy) await condition(() => !run.waits.busy);
    await condition(allHandlersFinished);
  } while (!run.mailbox.empty || run.waits.busy);
  const { start, phase, requests } = run;
  const { terminate, stop, canceled } = requests;
  if (phase.kind !== 'open' || terminate || stop || canceled || owesStep(run)) return; // Settled first, never carried
  run.presence.showBeforeContinuing();
  await nextRunOf<ThreadWorkflow>()({
    agent: run.presence.agent,
    threadId: start.threadId,
    userId: start.userId,
    parentId: start.parentId,
    rootId: start.rootId,
    carried: run.toSnapshot(phase.settings),
  });
}
