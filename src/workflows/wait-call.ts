/**
 * Waits, for a call, until its wait has an answer: a condition of the workflow, never an activity. Wait and answer are
 * in the store.
 * - The call waits for a row of the store: a run that continues as new, is reset, or is lost in the meantime finds
 *   the wait again by the call.
 * - A signal announces the answer, and a timer the expiry; in both cases the call is dispatched again. The store
 *   decides.
 * - A run whose history has become too long continues as new while it waits (`Suspended`).
 * - While the call waits, the floor is lent to effects (floor.ts, F2).
 * C4. A paused step also goes on if something is put in line, or was while the store was asked. The store decides
 *     whether that is enough.
 */
import { condition } from '@temporalio/workflow';
import type { BlockedStep, LaterCall, WaitingCall } from '../core/thread/step.ts';
import { workflowTime } from './clock.ts';
import { mayContinue } from './continue.ts';
import type { ThreadRun } from './thread-run.ts';

/** Minimum wait for an expiry: clocks differ, so a time that has passed here may not have passed in the store. */
const MIN_PAUSE_MS = 250;

/**
 * Resolves when the call must be dispatched again. `since`: the point of `waits.listen` before the store was asked.
 * `isOver`: another reason for that than an answer.
 */
export async function awaitAnswer(
  run: ThreadRun,
  call: WaitingCall,
  since: number,
  isOver = () => false,
): Promise<void> {
  const { waits, presence, floor } = run;
  const { waitId: id, waitKind: kind, name, text, expiresAt } = call;
  waits.begin({ id, kind, name });
  presence.showStatus('waiting');
  presence.showActivity(`waiting for ${text}`);
  try {
    const answered = () => waits.hasAnswer(id, since) || isOver();
    const over = () => answered() || mayContinue(run);
    // Effects may run during the wait.
    floor.lend();
    if (expiresAt === null) await condition(over);
    else
      await condition(over, Math.max(expiresAt - workflowTime(), MIN_PAUSE_MS), {
        summary: `waiting for ${text}`,
      });
    while (!floor.takeBack()) await floor.awaitEffects();
    if (!answered() && mayContinue(run)) throw new Suspended();
  } finally {
    waits.end(id);
  }
  showWaiting(run);
}

/** Shows whether a call of the step waits for an answer: another one may still do. */
export function showWaiting({ waits, presence }: Pick<ThreadRun, 'waits' | 'presence'>): void {
  presence.showStatus(waits.open.length > 0 ? 'waiting' : 'running');
}

/** Pauses a call whose work continues elsewhere, until its next check. The thread's status stays `running`. */
export async function pauseCall(run: ThreadRun, { name, pauseMs }: LaterCall): Promise<void> {
  const { presence, floor } = run;
  presence.showActivity(`waiting for ${name}`);
  floor.lend();
  await condition(() => mayContinue(run), pauseMs, { summary: `waiting for ${name}` });
  while (!floor.takeBack()) await floor.awaitEffects();
  if (mayContinue(run)) throw new Suspended();
}

/**
 * Thrown to end a step without a result, because the thread continues as new while a call of the step waits. The store
 * has the whole step, and the next run takes it over.
 */
export class Suspended extends Error {
  override readonly name = 'Suspended';
}

/** What was so before the store was asked. */
interface AskedBefore {
  /** Number of earlier waits. */
  readonly look: number;
  /** Count of signals about the budget. */
  readonly signalCount: number;
  /** The point of `waits.listen`. */
  readonly since: number;
}

/**
 * Waits until a step that is blocked can be asked for again: for an answer, for its model, or for its budget. A wait for
 * a model is a timer: no activity, so any number of threads can wait. The store has stopped the thread's clocks.
 */
export async function awaitBlocked(
  run: ThreadRun,
  { wait, held }: BlockedStep,
  asked: AskedBefore,
): Promise<void> {
  if (wait) return awaitAnswer(run, wait, asked.since);
  if (held) return pauseCall(run, { kind: 'later', name: `the model ${held.model}`, pauseMs: held.pauseMs });
  return awaitBudget(run, asked);
}

const FIRST_BUDGET_PAUSE_MS = 1000;
const MAX_BUDGET_PAUSE_MS = 30_000;

/**
 * Waits for budget that other requests of the family have reserved (core/governance/reservation.ts, R2): until a signal
 * reports that one of them is settled, or a timer fires, at growing intervals, since that signal may be lost. One that
 * came while the store was being asked is not missed: the wait then ends at once.
 */
async function awaitBudget(
  { presence, budget }: ThreadRun,
  { look, signalCount }: AskedBefore,
): Promise<void> {
  presence.showActivity('waiting for its budget, which other requests hold');
  const pause = Math.min(FIRST_BUDGET_PAUSE_MS * 2 ** look, MAX_BUDGET_PAUSE_MS);
  await condition(() => budget.signalCount > signalCount, pause, { summary: 'waiting for its budget' });
}
