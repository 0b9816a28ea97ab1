/**
 * The state of a thread's workflow in one run, in parts, and the methods that handlers may call.
 * - Handlers are synchronous and only change this state; only the main loop acts on it.
 * - Each part is changed only by its own methods. Changes that concern several parts are methods here.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { IncomingItem, Parsed } from '../core/thread/item.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import {
  type Carried,
  createCarried,
  fromSnapshot,
  type Snapshot,
  toSnapshot,
} from '../core/thread/snapshot.ts';
import type { StartInput } from '../core/thread/start-input.ts';
import type { CommitStatusOutcome } from '../core/thread/step.ts';
import { ENDED_BY_REPORT } from '../core/thread/subagent-report.ts';
import { type BoundActivities, bindActivities, StoreBinding } from './activities.ts';
import { EffectAlarm } from './effect-alarm.ts';
import { BudgetWatch, FamilyWatch } from './family-watch.ts';
import { Floor } from './floor.ts';
import { Inbox } from './inbox.ts';
import { Mailbox } from './mailbox.ts';
import type { EndPayload } from './messages.ts';
import { Presence } from './presence.ts';
import { Refusals } from './refusals.ts';
import { Requests } from './requests.ts';
import { Turn } from './turn.ts';
import { WaitWatch } from './wait-watch.ts';

/** A run is `opening` until the store has returned the state of the thread. */
type Phase =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly settings: Settings }
  /** The thread has ended, as stored. `settings` is absent if the store reported the end when the run opened. */
  | { readonly kind: 'ended'; readonly settings?: Settings };

export class ThreadRun {
  readonly start: StartInput;
  readonly inbox: Inbox;
  readonly refusals: Refusals;
  readonly turn: Turn;
  readonly requests = new Requests();
  readonly presence: Presence;
  readonly effects = new EffectAlarm();
  readonly floor = new Floor(() => this.hasWork);
  readonly family = new FamilyWatch();
  readonly waits = new WaitWatch();
  readonly budget = new BudgetWatch();
  readonly store: StoreBinding;
  readonly activities: BoundActivities;
  readonly mailbox = new Mailbox(() => this.presence.refresh());
  /** True if the project has hooks that must run even if the thread was ended in the store only. */
  tellsEnd = false;
  /** The end of the thread, if an activity has stored it. */
  storedEnd: CommitStatusOutcome | undefined;
  /** The batch that is being moved to the store (spill.ts). */
  spilling: Promise<boolean> | undefined;
  #phase: Phase = { kind: 'opening' };
  #ordinal = 0;

  constructor(start: StartInput) {
    const carried: Carried = start.carried ? fromSnapshot(start.carried) : createCarried(start.agent);
    this.start = start;
    this.inbox = new Inbox(workflowInfo().firstExecutionRunId, carried);
    this.refusals = new Refusals(start.threadId, carried.rejections);
    this.turn = new Turn(carried.turn);
    this.presence = new Presence(this, carried);
    this.store = new StoreBinding(carried.storeId);
    this.activities = bindActivities(start.threadId, this.store, (answer) =>
      this.effects.receiveFrom(answer),
    );
    if (!start.carried) for (const message of start.messages) this.inbox.accept(message);
  }

  get threadId(): string {
    return this.start.threadId;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Undefined until the run has been opened. */
  get settings(): Settings | undefined {
    return this.#phase.kind === 'opening' ? undefined : this.#phase.settings;
  }

  get ended(): boolean {
    return this.#phase.kind === 'ended';
  }

  /** True if the thread has ended, or was asked to terminate. */
  get ending(): boolean {
    return this.ended || this.requests.terminate !== undefined;
  }

  /** True if the loop has a step to take. */
  get hasWork(): boolean {
    return this.turn.open || this.inbox.hasWork;
  }

  get wanted(): boolean {
    return (
      this.ending ||
      this.requests.stop !== undefined ||
      this.requests.canceled ||
      this.hasWork ||
      this.refusals.pending
    );
  }

  open(settings: Settings): void {
    this.#phase = { kind: 'open', settings };
  }

  end(): void {
    this.#phase = { kind: 'ended', settings: this.settings };
  }

  /** Accepts an item of a signal, which cannot return a result: a refused item is logged and becomes an event. */
  acceptOrDrop(parsed: Parsed<IncomingItem>): void {
    if (!parsed.ok) this.refusals.add(parsed.refusal);
    else if (this.ending) {
      const { id } = parsed.value;
      this.refusals.add({ code: 'ThreadTerminated', reason: 'the thread is terminated', id });
    } else this.inbox.accept(parsed.value);
  }

  /** Lets the thread go on with nothing in line. Does nothing while a step runs: the thread goes on after it anyway. */
  goOnUnprompted(): void {
    if (!this.ending && !this.requests.stepGoesOn) this.inbox.goOnUnprompted();
  }

  requestStop(request: EndPayload): void {
    if (this.ending) return;
    this.inbox.park();
    this.requests.requestStop(request);
  }

  requestTerminate(request: EndPayload): void {
    this.requests.requestTerminate(request);
    this.effects.cancel();
  }

  /** Ends the thread of a child that has reported and can receive no further message. `stored`: as an activity stored it. */
  endByReport(stored?: CommitStatusOutcome): void {
    this.storedEnd = stored;
    this.requestTerminate({ reason: ENDED_BY_REPORT });
  }

  /** The first of the next `count` numbers for requests to the store; with the run's id, each is the key of a step. */
  nextOrdinal(count = 1): number {
    const first = this.#ordinal;
    this.#ordinal += count;
    return first;
  }

  toSnapshot(settings: Settings): Snapshot {
    const { agent, status } = this.presence;
    return toSnapshot(
      {
        queue: this.inbox.queue.toState(),
        parked: this.inbox.parked,
        rejections: this.refusals.state,
        turn: this.turn.state,
        agent,
        status,
        storeId: this.store.id,
      },
      settings,
    );
  }
}
