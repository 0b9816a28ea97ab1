/**
 * A call that waits for an answer: a condition of the workflow, never an activity. The store says what it waits for, and has the answer.
 * C1. It waits for the store's row: a run that continues as new meanwhile, is reset, or is lost, finds the wait again by the call.
 * C2. A signal says that the answer is there, and a timer that its time is up; in either case the call is asked again. The store decides.
 * C3. A run whose history has become too long continues as new while it waits (`Suspended`).
 * C4. A wait is no work: effects run meanwhile (floor.ts, F2).
 * C5. What is paused also goes on where something is put in line, or was while the store was asked: the store tells whether that is enough.
 */
import { condition } from '@temporalio/workflow';
import type { LaterCall, WaitingCall } from '../core/thread/wait-step.ts';
import { workflowTime } from './clock.ts';
import { mayContinue } from './continue.ts';
import { Suspended } from './suspended.ts';
import type { ThreadRun } from './thread-run.ts';

/** Clocks differ: what is past here may not be past there. */
const MIN_PAUSE_MS = 250;

/** Until there is reason to ask the call again. `isOver`: another reason than an answer. */
export async function awaitAnswer(run: ThreadRun, call: WaitingCall, isOver = () => false): Promise<void> {
  const { waits, presence, floor } = run;
  const { waitId: id, waitKind: kind, name, text, expiresAt } = call;
  waits.begin({ id, kind, name });
  presence.showStatus('waiting');
  presence.showActivity(`waiting for ${text}`);
  try {
    const heard = () => waits.hasHeard(id) || isOver();
    const over = () => heard() || mayContinue(run);
    // C4: effects run meanwhile.
    floor.lend();
    if (expiresAt === null) await condition(over);
    else
      await condition(over, Math.max(expiresAt - workflowTime(), MIN_PAUSE_MS), {
        summary: `waiting for ${text}`,
      });
    while (!floor.takeBack()) await floor.awaitEffects();
    if (!heard() && mayContinue(run)) throw new Suspended();
  } finally {
    waits.end(id);
  }
  presence.showStatus('running');
}

/** C3, C4: of a call whose work goes on elsewhere, until it is to be looked at again. The thread works meanwhile, and waits for nobody. */
export async function pauseCall(run: ThreadRun, { name, pauseMs }: LaterCall): Promise<void> {
  const { presence, floor } = run;
  presence.showActivity(`waiting for ${name}`);
  floor.lend();
  await condition(() => mayContinue(run), pauseMs, { summary: `waiting for ${name}` });
  while (!floor.takeBack()) await floor.awaitEffects();
  if (mayContinue(run)) throw new Suspended();
}
