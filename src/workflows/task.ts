/**
 * The workflow `task`: the loop of one task (observe, validate, decide, act) until it ends. Its rules are like those of
 * a thread's workflow (thread.ts):
 * - One loop, one phase at a time; handlers never act.
 * - Nothing that an adapter, a tool or a user does fails the workflow; only an invalid start input does.
 * - It ends by itself or on request, and completes with its outcome. An ended task stays ended: every run asks the
 *   store first.
 * - Only time at work counts against the task's time limit: the timer stops during a wait, and then continues with
 *   the remaining time.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  sleep,
} from '@temporalio/workflow';
import type { WaitingCall } from '../core/thread/step.ts';
import { parseTaskStart } from '../core/thread/task-start.ts';
import type { TaskCause, TaskOutcome, TaskPause, ThoughtOutcome } from '../core/thread/task-step.ts';
import { isFailedActivity, toStoredError } from './activities.ts';
import { runAnswerLoop } from './answers.ts';
import { workflowTime } from './clock.ts';
import { mustContinueAsNew, nextRunOf, readStart } from './run.ts';
import { registerTaskHandlers } from './task-handlers.ts';
import { TaskRun } from './task-run.ts';

/** The input arrives as an undecoded letter (interceptors.ts); clients send `{ task, … }`. */
export async function task(input: unknown): Promise<TaskOutcome> {
  const run = new TaskRun(readStart(input, parseTaskStart));
  registerTaskHandlers(run);
  // Cancel in the Web UI means abort. The loop itself is not cancelled: it still has to settle the store.
  CancellationScope.current().cancelRequested.catch(() =>
    run.end({ stoppedBy: 'abort', reason: 'cancelled' }),
  );
  return CancellationScope.nonCancellable(async () => {
    const outcome = await runLoop(run);
    run.showStatus(outcome.status);
    run.showActivity(`${outcome.status}: ${outcome.stoppedBy}`);
    await condition(allHandlersFinished);
    return outcome;
  });
}

/** The main loop: runs until the task ends, or continues as new. */
async function runLoop(run: TaskRun): Promise<TaskOutcome> {
  const { id: _, storeId, ...start } = run.start;
  const opened = await run.activities.openTask(storeId === null ? { start } : {}, 'open');
  run.store.bind(opened.storeId, opened.kind === 'open' ? opened.settings : undefined);
  if (opened.kind === 'over') return opened.outcome;
  run.goTo(opened.step);
  run.open(opened.settings, opened.rootId);
  // Not awaited: an error in it is a fault of this code and fails the workflow task.
  void runAnswerLoop(run);
  if (opened.stops) return end(run);
  const clock = new WorkTime(run, opened.wallLeftMs);
  let { ready } = opened;
  let since = 0;
  while (!run.cause) {
    if (mustContinueAsNew(run.settings)) await continueTask(run);
    // Only signals from here on concern what this attempt asks. With a kept thought the previous attempt has already
    // asked, so the answer may have been signalled.
    if (!run.hasThought) since = run.waits.listen();
    clock.begin();
    const advanced = await advance(run, ready);
    if (advanced === 'ready') ready = true;
    else if (advanced === 'stops') break;
    else if (typeof advanced === 'object') {
      clock.pause();
      if (advanced.kind === 'waits') await awaitAnswer(run, advanced, since);
      else await pause(run, advanced.inMs);
    }
  }
  return end(run, run.cause);
}

function end({ activities, step }: TaskRun, cause?: TaskCause): Promise<TaskOutcome> {
  return activities.endTask({ step, cause }, cause ? `end · ${cause.stoppedBy}` : 'end');
}

type Pause = Extract<TaskPause, { kind: 'waits' | 'looks' }>;

/** Runs one phase. If it is aborted, the loop continues at its top, where it handles the cause. */
async function advance(run: TaskRun, ready: boolean): Promise<'ready' | 'again' | 'stops' | Pause> {
  try {
    return await run.within(() => (ready ? takeStep(run) : checkFirst(run)));
  } catch (error) {
    if (isCancellation(error)) return 'again';
    // A fault of the activity that persisted through all retries. Any other error is a fault of this code: it fails the
    // workflow task, which a repaired worker retries.
    if (!isFailedActivity(error)) throw error;
    run.end({ stoppedBy: 'runtime-error', reason: toStoredError(error).message });
    return 'again';
  }
}

async function checkFirst(run: TaskRun): Promise<'ready' | 'stops' | Pause> {
  run.showActivity('checking what it must know');
  const checked = await run.activities.checkTask({ step: run.step }, 'readiness');
  return checked.kind === 'ready' ? 'ready' : toPause(checked);
}

/** Runs a step. If the previous act has already returned the thought of this step, it begins with the act. */
async function takeStep(run: TaskRun): Promise<'again' | 'stops' | Pause> {
  const thought = run.takeThought() ?? (await runThink(run));
  if (thought.kind === 'goes_on') return goToNextStep(run);
  if (thought.kind !== 'acts') return toPause(thought);
  const { step } = run;
  run.showActivity(`acting, step ${step}`);
  const acted = await run.activities.actTask({ step }, `act · step ${step}`);
  if (acted.kind !== 'acted') return toPause(acted);
  goToNextStep(run);
  if (acted.next) run.keepThought(acted.next);
  return 'again';
}

function runThink(run: TaskRun): Promise<ThoughtOutcome> {
  const { step } = run;
  run.showActivity(`thinking, step ${step}`);
  return run.activities.thinkTask({ step }, `think · step ${step}`);
}

function goToNextStep(run: TaskRun): 'again' {
  run.goTo(run.step + 1);
  return 'again';
}

/** `stops`: the task has an end in the store, possibly from elsewhere. */
function toPause(pause: TaskPause): 'stops' | Pause {
  return pause.kind === 'waits' || pause.kind === 'looks' ? pause : 'stops';
}

/** Minimum wait for an expiry: clocks differ, so a time that has passed here may not have passed in the store. */
const MIN_PAUSE_MS = 250;

/** Resolves when the loop must go on: after an answer, an expiry, a request to end, or if the history is too long. */
async function awaitAnswer(
  run: TaskRun,
  { waitId, waitKind, name, text, expiresAt }: WaitingCall,
  since: number,
): Promise<void> {
  const { waits } = run;
  waits.begin({ id: waitId, kind: waitKind, name });
  run.showStatus('waiting');
  run.showActivity(`waiting for ${text}`);
  const over = () =>
    waits.hasAnswer(waitId, since) || run.cause !== undefined || mustContinueAsNew(run.settings);
  if (expiresAt === null) await condition(over);
  else
    await condition(over, Math.max(expiresAt - workflowTime(), MIN_PAUSE_MS), {
      summary: `waiting for ${text}`,
    });
  waits.end(waitId);
  if (!run.cause) run.showStatus('running');
}

/** Waits while a thread that the task depends on continues its work. */
async function pause(run: TaskRun, ms: number): Promise<void> {
  run.showStatus('waiting');
  run.showActivity('waiting for a thread');
  await condition(() => run.cause !== undefined || mustContinueAsNew(run.settings), ms);
  if (!run.cause) run.showStatus('running');
}

/** One timer for all steps until the next wait. */
class WorkTime {
  readonly #run: TaskRun;
  #leftMs: number;
  #running: { readonly timer: CancellationScope; readonly since: number } | undefined;

  constructor(run: TaskRun, leftMs: number) {
    this.#run = run;
    this.#leftMs = leftMs;
  }

  begin(): void {
    if (this.#running) return;
    const timer = new CancellationScope();
    this.#running = { timer, since: workflowTime() };
    timer
      .run(() => sleep(this.#leftMs, { summary: 'time at work' }))
      .then(
        () =>
          this.#run.end({ stoppedBy: 'budget', reason: 'budget exhausted: maxWallMs', limit: 'maxWallMs' }),
        () => undefined,
      );
  }

  pause(): void {
    if (!this.#running) return;
    const { timer, since } = this.#running;
    this.#running = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (workflowTime() - since));
    timer.cancel();
  }
}

/** Carries only the id of the store, which has everything else. Returns if the task must end: that is settled first. */
async function continueTask(run: TaskRun): Promise<void> {
  do {
    if (!run.mailbox.empty) await condition(() => run.mailbox.empty);
    if (run.waits.busy) await condition(() => !run.waits.busy);
    await condition(allHandlersFinished);
  } while (!run.mailbox.empty || run.waits.busy);
  if (run.cause) return;
  const { task: name, userId } = run.start;
  await nextRunOf<typeof task>()({ task: name, userId, storeId: run.store.id });
}
