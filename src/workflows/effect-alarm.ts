/**
 * When this workflow looks for effects that are due (definitions §10). The store knows them; the answers of activities only
 * say in how many milliseconds to look, kept here as a point of the workflow's own time.
 * A1. The earliest hint counts. Too early a look finds nothing, and its answer has the right hint.
 * A2. Hints that differ by less than SLACK_MS count as one: each change of the timer is two events of history.
 * A3. Without a hint there is no timer: the history of a thread without effects has none.
 */
import type { CancellationScope } from '@temporalio/workflow';
import type { EffectsDue } from '../core/thread/effect-batch.ts';
import { toIsoTime, workflowTime } from './clock.ts';

const SLACK_MS = 100;
/** Beyond the latest time that an effect may be scheduled for. */
const LONGEST_MS = 400 * 24 * 60 * 60 * 1000;

export class EffectAlarm {
  #dueAt: number | undefined;
  #notBefore = 0;
  #scope: CancellationScope | undefined;
  #held = false;
  #looked = false;

  /** From the answer of an activity. */
  hear({ effectsInMs }: EffectsDue): void {
    if (typeof effectsInMs === 'number') this.lookIn(effectsInMs);
  }

  lookIn(milliseconds: number): void {
    const at = workflowTime() + Math.ceil(Math.min(Math.max(0, milliseconds), LONGEST_MS));
    if (this.#dueAt === undefined || at < this.#dueAt - SLACK_MS) this.#dueAt = at;
  }

  /** No look before so many milliseconds have passed, whatever the hints say. */
  rest(milliseconds: number): void {
    this.#notBefore = workflowTime() + milliseconds;
  }

  /** The workflow's time of the next look. */
  get lookAt(): number | undefined {
    return this.#dueAt === undefined ? undefined : Math.max(this.#dueAt, this.#notBefore);
  }

  /** Effects run. */
  get busy(): boolean {
    return this.#scope !== undefined;
  }

  /** Effects were looked for in this run: its history may have grown without any work of the loop. */
  get looked(): boolean {
    return this.#looked;
  }

  get held(): boolean {
    return this.#held;
  }

  /** A batch begins. Hints from before it are void. */
  begin(scope: CancellationScope): void {
    this.#dueAt = undefined;
    this.#scope = scope;
    this.#looked = true;
  }

  end(): void {
    this.#scope = undefined;
  }

  /** Aborts the handler that runs. */
  cancel(): void {
    this.#scope?.cancel();
  }

  /** While `work` lasts no effect begins, and one that runs is aborted. */
  async hold(work: () => Promise<void>): Promise<void> {
    this.#held = true;
    this.cancel();
    await work();
    // Not in a `finally`: continue-as-new throws, and no effect may begin after it.
    this.#held = false;
  }

  /** For people; empty where nothing waits. */
  toText(): string {
    if (this.busy) return 'runs now';
    return this.#dueAt === undefined ? '' : toIsoTime(this.#dueAt);
  }
}
