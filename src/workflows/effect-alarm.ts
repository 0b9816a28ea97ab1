/**
 * Decides when this workflow checks for due effects (definitions §10). The store has the effects; the results of
 * activities only contain the number of milliseconds until the next check, kept here as a point of the workflow's own
 * time.
 * - The earliest hint counts. A check that comes too early runs nothing, and its result has the right hint.
 * - Hints that differ by less than SLACK_MS count as one: each change of the timer costs two events of history.
 * - Without a hint there is no timer: the history of a thread without effects has none.
 * - The alarm receives a result right before the caller continues, and does not delay it: two flows that continue
 *   within one activation issue their commands in the order of recorded histories.
 * A5. Of a tool call, it receives the final outcome alone, not that of each attempt or of `recordToolOutcome`.
 */
import type { CancellationScope } from '@temporalio/workflow';
import type { EffectsDue } from '../core/thread/step.ts';
import { toIsoTime, workflowTime } from './clock.ts';

const SLACK_MS = 100;
/** Upper bound of a delay; longer than any effect may be scheduled ahead. */
const MAX_DELAY_MS = 400 * 24 * 60 * 60 * 1000;

export class EffectAlarm {
  #dueAt: number | undefined;
  #notBefore = 0;
  #scope: CancellationScope | undefined;
  #held = false;

  /** Takes the hint, if any, from the result of an activity. */
  receive({ effectsInMs }: EffectsDue): void {
    if (typeof effectsInMs === 'number') this.lookIn(effectsInMs);
  }

  /** The reaction is attached to this same promise before the caller's. */
  receiveFrom<Outcome>(answer: Promise<Outcome & EffectsDue>): Promise<Outcome> {
    answer.then(
      (outcome) => this.receive(outcome),
      () => undefined,
    );
    return answer;
  }

  lookIn(milliseconds: number): void {
    const at = workflowTime() + Math.ceil(Math.min(Math.max(0, milliseconds), MAX_DELAY_MS));
    if (this.#dueAt === undefined || at < this.#dueAt - SLACK_MS) this.#dueAt = at;
  }

  /** Prevents any check before this many milliseconds have passed, whatever the hints. */
  rest(milliseconds: number): void {
    this.#notBefore = workflowTime() + milliseconds;
  }

  /** The workflow time of the next check; undefined without a hint. */
  get lookAt(): number | undefined {
    return this.#dueAt === undefined ? undefined : Math.max(this.#dueAt, this.#notBefore);
  }

  /** True while a batch of effects runs. */
  get busy(): boolean {
    return this.#scope !== undefined;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Called when a batch begins. Discards earlier hints. */
  begin(scope: CancellationScope): void {
    this.#dueAt = undefined;
    this.#scope = scope;
  }

  end(): void {
    this.#scope = undefined;
  }

  /** Aborts the running handler, if any. */
  cancel(): void {
    this.#scope?.cancel();
  }

  /** Runs `work` without effects: a running one is aborted, and none begins until `work` is done. */
  async hold(work: () => Promise<void>): Promise<void> {
    this.#held = true;
    this.cancel();
    await work();
    // Not in a `finally`: continue-as-new throws, and no effect may begin after it.
    this.#held = false;
  }

  /** Text for people; empty if no effect is scheduled. */
  toText(): string {
    if (this.busy) return 'runs now';
    return this.#dueAt === undefined ? '' : toIsoTime(this.#dueAt);
  }
}
